"""What both pipelines render alike of an InferenceService (identity, labels, annotations, scaling) and read of it.

Facts: legacy pipeline (InferenceService metadata, replicas), profile pipeline (InferenceService).
"""

from dataclasses import dataclass

from aim_api import labels, names
from aim_api.kinds import INFERENCE_SERVICE, LEGACY_VERSION, POD
from aim_api.tree import Json, JsonObject, get_int, get_map, get_str, get_strings
from aim_rehearsal.operator.conditions import Condition, is_true
from aim_rehearsal.operator.hardware import merge_resources, profile_resources
from aim_rehearsal.operator.projection import CACHE_ROOT
from aim_rehearsal.operator.settings import NameFormulas
from aim_rehearsal.operator.store import controller_uid, name, namespace, uid
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.writes import owner_reference

SERVICE_MANAGER = "aim-service-controller"
SERVICE_OWNER_VERSION = f"aim.eai.amd.com/{LEGACY_VERSION}"
_MODEL_PORT = "8000"


@dataclass(frozen=True, slots=True)
class Scaling:
    """The replica bounds of a service and whether they are autoscaled."""

    minimum: int
    maximum: int
    automatic: bool

    def status(self) -> JsonObject:
        """Return ``status.runtime`` of a service; without an autoscaler the numbers come from the spec."""
        display = (
            str(self.minimum) if self.minimum == self.maximum else f"{self.minimum} ({self.minimum}-{self.maximum})"
        )
        return {
            "currentReplicas": self.minimum,
            "desiredReplicas": self.minimum,
            "minReplicas": self.minimum,
            "maxReplicas": self.maximum,
            "replicas": display,
        }


def scaling(service: JsonObject) -> Scaling:
    """Return a service's scaling: any of minReplicas, maxReplicas and autoScaling makes it automatic."""
    spec = get_map(service, "spec")
    if not {"minReplicas", "maxReplicas", "autoScaling"} & spec.keys():
        replicas = get_int(spec, "replicas")
        count = 1 if replicas is None else replicas
        return Scaling(count, count, automatic=False)
    low = get_int(spec, "minReplicas")
    minimum = 1 if low is None else low
    return Scaling(minimum, get_int(spec, "maxReplicas") or max(minimum, 1), automatic=True)


def inference_service(
    service: JsonObject, own_name: str, marks: JsonObject, notes: JsonObject, predictor: JsonObject
) -> JsonObject:
    """Return an InferenceService's manifest; ``marks`` and ``notes`` are the pipeline's own labels and annotations."""
    bounds = scaling(service)
    service_marks: JsonObject = {
        key: value for key, value in get_strings(service, "metadata", "labels").items() if key.startswith(labels.PREFIX)
    }
    annotations: JsonObject = dict(notes)
    annotations[labels.AUTOSCALER_CLASS] = "external" if bounds.automatic else "none"
    if bounds.automatic:
        annotations |= {
            "sidecar.opentelemetry.io/inject": f"{own_name}-predictor",
            "prometheus.kserve.io/port": _MODEL_PORT,
        }
    for key, value in get_strings(service, "metadata", "annotations").items():
        if key.startswith("cluster-auth/"):
            annotations[key] = value
    return {
        "apiVersion": INFERENCE_SERVICE.api_version,
        "kind": INFERENCE_SERVICE.name,
        "metadata": {
            "name": own_name,
            "namespace": namespace(service),
            "labels": service_marks
            | {
                labels.COMPONENT: "inference",
                labels.MANAGED_BY: labels.MANAGED_BY_AIM_ENGINE,
                labels.SERVICE: names.label_value(name(service)),
                labels.SERVICE_NAME: name(service),
            }
            | marks,
            "annotations": annotations,
            "ownerReferences": [owner_reference(service, SERVICE_OWNER_VERSION, "AIMService")],
        },
        "spec": {"predictor": {"minReplicas": bounds.minimum, "maxReplicas": bounds.maximum} | predictor},
    }


def service_fields(service: JsonObject) -> JsonObject:
    """Return the predictor fields that come straight from the service in both pipelines."""
    spec = get_map(service, "spec")
    return {
        field: spec[field]
        for field in ("imagePullSecrets", "serviceAccountName", "priorityClassName")
        if spec.get(field)
    }


def owned_inference_services(service: JsonObject, view: View) -> list[JsonObject]:
    """Return the InferenceServices that a service controls, in name order."""
    return view.store.owned(INFERENCE_SERVICE, service)


def current_inference_service(service: JsonObject, view: View) -> tuple[str, JsonObject | None]:
    """Return the name under which this build renders a service, and the InferenceService there if it is its own.

    The bridge keeps an InferenceService that the service already owns, whatever its name; other builds look only for
    the name of their own formula and would make a second one.
    """
    owned = owned_inference_services(service, view)
    if view.settings.bridge and len(owned) == 1:
        return name(owned[0]), owned[0]
    if view.settings.names is NameFormulas.OLDER:
        limit = names.MAX_NAME - len("-predictor-") - len(namespace(service))
        wanted = names.derive_name([name(service)], [namespace(service)], limit=limit)
    else:
        wanted = names.inference_service_name(name(service), namespace(service))
    found = view.store.find(INFERENCE_SERVICE, namespace(service), wanted)
    return wanted, found if found is not None and controller_uid(found) == uid(service) else None


def workload_conditions(inference: JsonObject | None, view: View) -> list[Condition]:
    """Return what a service reports of its InferenceService and its pods."""
    if inference is None:
        return [Condition("InferenceServiceReady", true=False, reason="CreatingRuntime", message="There is none yet.")]
    ready = is_true(inference, "Ready")
    found = [
        Condition(
            "InferenceServiceReady",
            ready,
            "RuntimeReady" if ready else "CreatingRuntime",
            f"{name(inference)} was read.",
        )
    ]
    pods = [
        pod
        for pod in view.store.all(POD, namespace(inference))
        if get_strings(pod, "metadata", "labels").get(labels.KSERVE_INFERENCE_SERVICE) == name(inference)
    ]
    serving = any(is_true(pod, "Ready") for pod in pods)
    reason = "PodsReady" if serving else ("PodsStarting" if pods else "NoPods")
    return [*found, Condition("InferenceServicePodsReady", serving, reason, f"{len(pods)} pod(s).")]


def service_word(word: str) -> str:
    """Return a root status word as AIMService spells it; its enum has no NotAvailable."""
    return {"Ready": "Running", "Progressing": "Starting", "NotAvailable": "Pending"}.get(word, word)


def caching_mode(service: JsonObject) -> str:
    """Return a service's caching mode with the older spellings resolved (v1alpha1 reference, caching)."""
    mode = get_str(service, "spec", "caching", "mode") or "Shared"
    return "Dedicated" if mode in {"Dedicated", "Never"} else "Shared"


def merged_resources(profile: JsonObject, over: JsonObject) -> JsonObject:
    """Return a profile's resources with a service's over them; a device on one side is mirrored to the other."""
    merged = merge_resources(profile_resources(profile), over)
    requests, limits = get_map(merged, "requests"), get_map(merged, "limits")
    for device in ("amd.com/gpu", "nvidia.com/gpu"):
        wanted = get_map(over, "limits").get(device) or get_map(over, "requests").get(device)
        if wanted is not None:
            requests, limits = requests | {device: wanted}, limits | {device: wanted}
    return merged | {side: value for side, value in (("requests", requests), ("limits", limits)) if value}


def cache_volumes(cache: JsonObject) -> tuple[list[Json], list[Json]]:
    """Return the volumes and mounts of a cache's Ready artifacts, in name order."""
    volumes: list[Json] = []
    mounts: list[Json] = []
    for artifact, entry in sorted(get_map(cache, "status", "artifacts").items()):
        claim = get_str(entry, "persistentVolumeClaim")
        if not claim or get_str(entry, "status") != "Ready":
            continue
        path = get_str(entry, "mountPoint") or f"{CACHE_ROOT}/{get_str(entry, 'model') or ''}"
        volumes.append({"name": artifact, "persistentVolumeClaim": {"claimName": claim}})
        mounts.append({"name": artifact, "mountPath": path.replace("..", "")})
    return volumes, mounts
