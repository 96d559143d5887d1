"""A world on an API server with the operator at work, and the cutover as a migration does it, by hand."""

import contextlib
import time
from dataclasses import dataclass, field

from aim_api import bridge, names
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    JOB,
    POD,
    PVC,
)
from aim_api.tree import get, get_int, get_map, get_objects, get_str
from aim_rehearsal.client import Client
from aim_rehearsal.operator import BridgeOperator, Settings
from aim_rehearsal.worlds import apply_world

WAIT_SECONDS = 30


@dataclass
class Stage:
    """One world, loaded, and the operator that serves it."""

    client: Client
    operator_client: Client
    world: object
    settings: Settings = field(default_factory=Settings)
    objects: dict = field(default_factory=dict)
    operator: BridgeOperator | None = None

    @contextlib.contextmanager
    def up(self):
        self.objects = apply_world(self.world, self.client)
        with BridgeOperator(self.operator_client, self.settings) as self.operator:
            self.operator.settle()
            yield self

    def unit(self, place):
        """Return the nth service of the world, in the order of its namespaces."""
        namespace = self.world.namespaces[place]
        found = next(key for key in self.objects if key.startswith(f"AIMService/{namespace}/"))
        return Unit(self, namespace, found.rpartition("/")[2])


@dataclass
class Unit:
    """One service and what belongs to it."""

    stage: Stage
    namespace: str
    name: str

    @property
    def service(self):
        return self.stage.client.get(AIM_SERVICE, self.namespace, self.name)

    @property
    def template(self):
        wanted = get_str(self.stage.objects[f"AIMService/{self.namespace}/{self.name}"], "spec", "template", "name")
        return self.stage.client.get(AIM_SERVICE_TEMPLATE, self.namespace, wanted)

    @property
    def inference_service(self):
        (found,) = [
            item
            for item in self.all(INFERENCE_SERVICE)
            if get_str(item, "metadata", "labels", "aim.eai.amd.com/service.name") == self.name
        ]
        return found

    @property
    def cache_name(self):
        return names.shared_profile_cache_name(name_of(self.template), self.namespace, "Namespace")

    def all(self, kind):
        return self.stage.client.list_all(kind, self.namespace).items

    def profile_manifest(self):
        """Return the AIMProfile that says what the template and its model say."""
        spec = get_map(self.template, "spec")
        model = self.stage.client.get(AIM_MODEL, self.namespace, get_str(spec, "modelName"))
        return {
            "apiVersion": AIM_PROFILE.api_version,
            "kind": "AIMProfile",
            "metadata": {"name": name_of(self.template), "namespace": self.namespace},
            "spec": {
                "image": get_str(model, "spec", "image"),
                "acceleratorModel": get_str(spec, "hardware", "gpu", "model"),
                "acceleratorCount": get_int(spec, "hardware", "gpu", "requests"),
                "acceleratorType": "gpu",
                "acceleratorVendor": "amd",
            }
            | {key: spec[key] for key in ("aimId", "modelId", "metric", "precision", "type", "modelSources")},
        }

    def cache_manifest(self):
        """Return the Shared profile cache that the service controller would make."""
        return {
            "apiVersion": AIM_PROFILE_CACHE.api_version,
            "kind": "AIMProfileCache",
            "metadata": {"name": self.cache_name, "namespace": self.namespace},
            "spec": {"profileName": name_of(self.template), "profileScope": "Namespace", "mode": "Shared"},
        }

    def prepare(self):
        """Create profile and cache, and wait until both are ready."""
        client = self.stage.client
        profile = client.create(AIM_PROFILE, self.profile_manifest(), manager="aim-template-migration")
        self.await_ready(AIM_PROFILE, name_of(profile))
        cache = client.create(AIM_PROFILE_CACHE, self.cache_manifest(), manager="aim-template-migration")
        return self.await_ready(AIM_PROFILE_CACHE, name_of(cache))

    def await_ready(self, kind, name):
        return eventually(lambda: _ready(self.stage.client.get(kind, self.namespace, name)), f"{name} is ready")

    def await_observed(self):
        """Wait until the operator has looked at the service's present generation."""

        def observed():
            service = self.service
            same = get_int(service, "status", "observedGeneration") == get_int(service, "metadata", "generation")
            return service if same else None

        return eventually(observed, f"{self.name} is observed")

    def cut_over(self, *, pin=True, uid=None, generation_ahead=1):
        """Send the service patch of the migration; with ``uid`` the pin names another InferenceService."""
        service = self.service
        target = get_int(service, "metadata", "generation") + generation_ahead
        operations = [
            {"op": "test", "path": "/metadata/uid", "value": get_str(service, "metadata", "uid")},
            {"op": "remove", "path": "/spec/template"},
            {"op": "add", "path": "/spec/profile", "value": {"name": name_of(self.template)}},
        ]
        if pin:
            live_uid = get_str(self.inference_service, "metadata", "uid")
            marks = bridge.Pin(uid or live_uid, target).annotations()
            operations.append({"op": "add", "path": "/metadata/annotations", "value": marks})
        return self.stage.client.json_patch(
            AIM_SERVICE, self.namespace, self.name, operations, manager="aim-template-migration"
        )

    def workload(self):
        """Return what must not change during a migration."""
        inference = self.inference_service
        return {
            "inferenceService": {
                "uid": get(inference, "metadata", "uid"),
                "generation": get(inference, "metadata", "generation"),
                "spec": get(inference, "spec"),
                "labels": get(inference, "metadata", "labels"),
                "annotations": get(inference, "metadata", "annotations"),
                "ownerReferences": get(inference, "metadata", "ownerReferences"),
            },
            "deployments": {name_of(item): get(item, "metadata", "generation") for item in self.all(DEPLOYMENT)},
            "pods": sorted(get_str(item, "metadata", "uid") for item in self.all(POD)),
        }

    def storage(self):
        """Return the identities of artifacts and claims, and the Jobs."""
        return {
            kind.plural: sorted(get_str(item, "metadata", "uid") for item in self.all(kind))
            for kind in (AIM_ARTIFACT, PVC, JOB)
        }


def eventually(look, what):
    """Return what ``look`` finds as soon as it finds something."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {WAIT_SECONDS} s")


def name_of(obj):
    return get_str(obj, "metadata", "name")


def condition(obj, kind):
    """Return status and reason of a condition."""
    found = next((item for item in get_objects(obj, "status", "conditions") if item["type"] == kind), {})
    return found.get("status"), found.get("reason")


def _ready(obj):
    current = get_int(obj, "status", "observedGeneration") == get_int(obj, "metadata", "generation")
    return obj if current and get_str(obj, "status", "status") == "Ready" else None
