"""Small objects for decision tests; every one is complete enough to be decided about."""

from aim_rehearsal.operator import Settings
from aim_rehearsal.operator.store import Store
from aim_rehearsal.operator.view import View

NOW = "2026-06-01T12:00:00Z"
NS = "team-a"
SOURCE = {"modelId": "acme/tiny", "sourceUri": "hf://acme/tiny"}


def obj(kind, name, *, spec=None, status=None, namespace=NS, api="aim.eai.amd.com/v1alpha1", generation=1, **metadata):
    place = {"namespace": namespace} if namespace else {}
    identity = {"name": name, "uid": f"u-{name}", "generation": generation} | place | metadata
    return {"apiVersion": api, "kind": kind, "metadata": identity, "spec": spec or {}, "status": status or {}}


def profile(name="p", *, ready=True, **fields):
    spec = {"image": "registry.example.org/x:1.0.0", "aimId": "acme/tiny", "modelId": "acme/tiny"}
    spec |= {"modelSources": [SOURCE]} | fields.pop("spec", {})
    status = {"status": "Ready", "observedGeneration": 1} if ready else {}
    kind = fields.pop("kind", "AIMProfile")
    return obj(kind, name, spec=spec, status=status, api="aim.eai.amd.com/v1alpha2", **fields)


def artifact(name="weights", *, uri="hf://acme/tiny", word="Ready", **fields):
    status = {"status": word, "persistentVolumeClaim": f"{name}-cache"} if word else {}
    spec = {"sourceUri": uri} | fields.pop("spec", {})
    return obj("AIMArtifact", name, spec=spec, status=status, **fields)


def profile_cache(name="c", *, word="Ready", observed=1, **fields):
    spec = {"profileName": "p", "profileScope": "Namespace", "mode": "Shared"} | fields.pop("spec", {})
    status = {"status": word, "observedGeneration": observed}
    return obj("AIMProfileCache", name, spec=spec, status=status, api="aim.eai.amd.com/v1alpha2", **fields)


def service(name="s", **fields):
    return obj("AIMService", name, **fields)


def inference_service(name="s-1", *, owner="s", labels=None, ready=True, **fields):
    owners = [{"kind": "AIMService", "name": owner, "uid": f"u-{owner}", "controller": True}]
    status = {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    marks = {"aim.eai.amd.com/template": "t"} if labels is None else labels
    return obj("InferenceService", name, status=status, ownerReferences=owners, labels=marks, **fields)


def view(*objects, settings=None, loaded=()):
    from aim_rehearsal.operator.view import fingerprint

    fingerprints = {item["metadata"]["uid"]: fingerprint(item) for item in loaded}
    return View(Store([*objects, *loaded]), settings or Settings(), NOW, fingerprints)


def said(conditions):
    """Return conditions as a map from type to (status, reason)."""
    return {item["type"]: (item["status"], item["reason"]) for item in conditions}
