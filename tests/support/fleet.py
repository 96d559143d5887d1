"""A fleet of raw objects as an API server returns them, and a read-only connection to it, for tests of planning.

Values follow the facts about the legacy pipeline; UIDs are derived from kind, namespace and name, so that equal fleets
give equal plans. Tests change the objects in place and look at what planning makes of it.
"""

import copy
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import TypeVar

from aim_api.crds import load_crds
from aim_api.kinds import CRD, NAMESPACE, Kind
from aim_api.tree import JsonObject
from aim_template_migration.documents.plan import Plan, Unit
from aim_template_migration.kube.errors import Forbidden, IncompleteList, NotFound, NotServed
from aim_template_migration.kube.requests import Action
from aim_template_migration.planning.inventory import read_cluster_scope, read_namespace
from aim_template_migration.planning.make import PlanFiles, Settings, make_plan
from aim_template_migration.planning.snapshot import Snapshot

T = TypeVar("T")
NOW = datetime(2026, 6, 2, 9, 0, tzinfo=UTC)
AIM1, AIM2 = "aim.eai.amd.com/v1alpha1", "aim.eai.amd.com/v1alpha2"
OPERATOR = "aim-service-controller"


def uid_of(kind: str, namespace: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{kind}/{namespace}/{name}"))


def condition(kind: str, status: str = "True", **more: object) -> JsonObject:
    return {"type": kind, "status": status, "reason": "Ready", "lastTransitionTime": "2026-06-02T09:00:00Z", **more}


@cache
def _definitions() -> dict[str, JsonObject]:
    definitions = {}
    for definition in load_crds():
        name = definition["metadata"]["name"]
        definition["metadata"]["uid"] = uid_of("CustomResourceDefinition", "", name)
        definitions[name] = definition
    return definitions


class Fleet:
    """Objects by id, ``Kind/namespace/name``."""

    def __init__(self) -> None:
        self.objects: dict[str, JsonObject] = {}
        self.definitions = dict(_definitions())
        self.forbidden: set[str] = set()
        self.incomplete: set[str] = set()
        self.add("Namespace", "v1", "kube-system")

    def add(self, kind: str, api_version: str, name: str, namespace: str = "", **parts: object) -> JsonObject:
        metadata: JsonObject = {
            "name": name,
            "uid": uid_of(kind, namespace, name),
            "resourceVersion": str(1000 + len(self.objects)),
            "generation": 1,
            "creationTimestamp": "2026-06-01T08:00:00Z",
        }
        if namespace:
            metadata["namespace"] = namespace
        metadata |= parts.pop("metadata", {})
        manager = parts.pop("manager", OPERATOR)
        metadata["managedFields"] = [
            {"manager": manager, "operation": "Apply", "apiVersion": api_version, "fieldsV1": {}}
        ]
        obj: JsonObject = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **copy.deepcopy(parts)}
        self.objects["/".join(part for part in (kind, namespace, name) if part)] = obj
        return obj

    def definition(self, name: str) -> JsonObject:
        """Return a CRD of this fleet alone, to change it."""
        self.definitions[name] = copy.deepcopy(self.definitions[name])
        return self.definitions[name]

    def of(self, kind: str) -> list[JsonObject]:
        return [obj for obj in self.objects.values() if obj["kind"] == kind]

    def only(self, kind: str) -> JsonObject:
        (found,) = self.of(kind)
        return found

    def named(self, kind: str, name: str) -> JsonObject:
        (found,) = [obj for obj in self.of(kind) if obj["metadata"]["name"] == name]
        return found

    def remove(self, kind: str, name: str) -> None:
        self.objects = {
            key: obj for key, obj in self.objects.items() if (obj["kind"], obj["metadata"]["name"]) != (kind, name)
        }

    def namespaces(self) -> tuple[str, ...]:
        return tuple(
            sorted({obj["metadata"]["namespace"] for obj in self.objects.values() if "namespace" in obj["metadata"]})
        )

    def settings(self, **more: object) -> Settings:
        return Settings(**{"namespaces": self.namespaces(), "runtime_projection_mode": "Both", **more})

    def snapshot(self) -> Snapshot:
        cluster = FleetCluster(self)
        return Snapshot(read_cluster_scope(cluster), [read_namespace(cluster, name) for name in self.namespaces()])

    def files(self, **more: object) -> PlanFiles:
        return make_plan(FleetCluster(self), self.settings(**more), now=NOW, plan_id="0000")

    def plan(self, **more: object) -> Plan:
        return self.files(**more).plan

    def unit(self, name: str = "qwen-chat", **more: object) -> Unit:
        (unit,) = [
            unit
            for unit in self.plan(**more).units
            if unit.id.endswith(f"/{name}") and unit.id.startswith("AIMService/")
        ]
        return unit

    def codes(self, name: str = "qwen-chat", **more: object) -> list[str]:
        unit = self.unit(name, **more)
        codes = list(dict.fromkeys(reason.code for reason in unit.reasons))
        assert unit.outcome == (codes[0] if codes else "SharedNoRollout") or unit.outcome in codes
        return codes


class FleetCluster:
    """A connection that only reads, as ``kube.Cluster`` does."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.read: list[str] = []

    def server_version(self, *, within: float | None = None) -> JsonObject:
        return {"gitVersion": "v1.36.2"}

    def get(self, kind: Kind, name: str, namespace: str | None = None, *, within: float | None = None) -> JsonObject:
        self.read.append(kind.name)
        action = Action("get", kind.name, namespace, name)
        if kind.name in self.fleet.forbidden:
            raise Forbidden(action, status=403, reason="Forbidden", message="not allowed")
        if kind == CRD:
            found = self.fleet.definitions.get(name)
        elif kind == NAMESPACE and name in self.fleet.namespaces():
            found = self.fleet.objects.get(f"Namespace/{name}") or {
                "metadata": {"name": name, "uid": uid_of("Namespace", "", name)}
            }
        else:
            found = self.fleet.objects.get("/".join(part for part in (kind.name, namespace, name) if part))
        if found is None:
            raise NotFound(action, status=404, reason="NotFound", message="not found")
        return found if kind == CRD else copy.deepcopy(found)

    def list_reduced(
        self, kind: Kind, namespace: str | None, reduce: Callable[[JsonObject], T], **_: object
    ) -> list[T]:
        self.read.append(kind.name)
        action = Action("list", kind.name, namespace)
        if kind.name in self.fleet.forbidden:
            raise Forbidden(action, status=403, reason="Forbidden", message="not allowed")
        if kind.name in self.fleet.incomplete:
            raise IncompleteList(action, "the list ended early")
        definition = self.fleet.definitions.get(kind.crd_name)
        if kind.group.endswith(("amd.com", "kserve.io")) and not _serves(definition, kind.version):
            raise NotServed(action, status=404, reason="NotFound", message="not served")
        return [reduce(obj) for obj in self._in(kind, namespace)]

    def _in(self, kind: Kind, namespace: str | None) -> Iterator[JsonObject]:
        for obj in self.fleet.of(kind.name):
            if obj["metadata"].get("namespace") == namespace:
                yield copy.deepcopy(obj) | {"apiVersion": kind.api_version}


def _serves(definition: JsonObject | None, version: str) -> bool:
    return definition is not None and any(
        item["name"] == version and item["served"] for item in definition["spec"]["versions"]
    )


def owner(obj: JsonObject, **flags: object) -> JsonObject:
    metadata = obj["metadata"]
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        **flags,
    }


def happy_fleet() -> Fleet:
    """Return one service that every condition of automatic handling holds for."""
    fleet = Fleet()
    add_service(fleet)
    return fleet


def add_service(
    fleet: Fleet,
    service: str = "qwen-chat",
    namespace: str = "team-a",
    *,
    model: str = "qwen3-32b",
    template: str = "qwen3-32b-latency",
    uri: str = "hf://Qwen/Qwen3-32B-FP8",
) -> None:
    """Add a service with its closure; a model, template, cache and artifact that exist already are shared."""
    image = f"registry.example.org/aim/{model}:0.10.0"
    source: JsonObject = {"modelId": "Qwen/Qwen3-32B-FP8", "sourceUri": uri, "size": "34Gi"}
    artifact_name = uri.lower().replace("://", "---").replace("/", "-").replace(".", "-") + "-0123456789"
    claim, cache_name = f"{artifact_name}-cache-01234567", f"{template}-0badcafe"
    if f"AIMModel/{namespace}/{model}" not in fleet.objects:
        fleet.add(
            "AIMModel",
            AIM2,
            model,
            namespace,
            manager="kubectl-create",
            spec={"image": image},
            status={"status": "Ready"},
        )
    if f"AIMServiceTemplate/{namespace}/{template}" not in fleet.objects:
        _add_template(fleet, namespace, template, model, source)
    template_object = fleet.objects[f"AIMServiceTemplate/{namespace}/{template}"]
    if f"AIMArtifact/{namespace}/{artifact_name}" not in fleet.objects:
        _add_artifact(fleet, namespace, artifact_name, claim, source)
    artifact = fleet.objects[f"AIMArtifact/{namespace}/{artifact_name}"]
    if f"AIMTemplateCache/{namespace}/{cache_name}" not in fleet.objects:
        entry = {
            "name": artifact_name,
            "uid": artifact["metadata"]["uid"],
            "model": source["modelId"],
            "status": "Ready",
            "persistentVolumeClaim": claim,
        }
        fleet.add(
            "AIMTemplateCache",
            AIM1,
            cache_name,
            namespace,
            spec={
                "templateName": template,
                "templateScope": "Namespace",
                "mode": "Shared",
                "storageClassName": "shared-nfs",
            },
            status={"status": "Ready", "artifacts": {artifact_name: entry}, "conditions": [condition("Ready")]},
        )
    cache_object = fleet.objects[f"AIMTemplateCache/{namespace}/{cache_name}"]
    model_object = fleet.objects[f"AIMModel/{namespace}/{model}"]
    service_object = fleet.add(
        "AIMService",
        AIM2,
        service,
        namespace,
        manager="kubectl-client-side-apply",
        metadata={"finalizers": ["aim.eai.amd.com/cache-cleanup"]},
        spec={"model": {"name": model}, "template": {"name": template}, "replicas": 1, "caching": {"mode": "Shared"}},
        status={
            "status": "Running",
            "observedGeneration": 1,
            "resolvedModel": {"name": model, "scope": "Namespace", "uid": model_object["metadata"]["uid"]},
            "resolvedTemplate": {
                "name": template,
                "namespace": namespace,
                "scope": "Namespace",
                "uid": template_object["metadata"]["uid"],
            },
            "cache": {
                "templateCacheRef": {"name": cache_name, "namespace": namespace, "uid": cache_object["metadata"]["uid"]}
            },
            "conditions": [condition("Ready"), condition("BridgeCompatible", observedGeneration=1)],
        },
    )
    _add_workload(fleet, service_object, template, image, claim)


def _add_template(fleet: Fleet, namespace: str, name: str, model: str, source: JsonObject) -> None:
    gpu = {"model": "MI300X", "requests": 1}
    fleet.add(
        "AIMServiceTemplate",
        AIM1,
        name,
        namespace,
        manager="kubectl-create",
        spec={
            "modelName": model,
            "aimId": "qwen/qwen3-32b",
            "modelId": "Qwen/Qwen3-32B-FP8",
            "metric": "latency",
            "precision": "fp8",
            "type": "optimized",
            "hardware": {"gpu": gpu},
            "modelSources": [source],
        },
        status={
            "status": "Ready",
            "modelSources": [source],
            "resolvedHardware": {"gpu": {**gpu, "resourceName": "amd.com/gpu"}},
            "conditions": [condition("Ready")],
        },
    )


def _add_artifact(fleet: Fleet, namespace: str, name: str, claim: str, source: JsonObject) -> None:
    artifact = fleet.add(
        "AIMArtifact",
        AIM1,
        name,
        namespace,
        manager="aim-template-cache-controller",
        metadata={"labels": {"template-created": "true"}},
        spec={**source, "storageClassName": "shared-nfs"},
        status={
            "status": "Ready",
            "mode": "Shared",
            "persistentVolumeClaim": claim,
            "conditions": [condition("Ready")],
        },
    )
    claimed = fleet.add(
        "PersistentVolumeClaim",
        "v1",
        claim,
        namespace,
        manager="aim-artifact-controller",
        metadata={"ownerReferences": [owner(artifact)], "finalizers": ["kubernetes.io/pvc-protection"]},
        spec={
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "shared-nfs",
            "volumeName": "pv-7",
            "resources": {"requests": {"storage": "38Gi"}},
        },
        status={"phase": "Bound"},
    )
    del claimed["metadata"]["generation"]


def _add_workload(fleet: Fleet, service: JsonObject, template: str, image: str, claim: str) -> None:
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    container = {
        "name": "kserve-container",
        "image": image,
        "env": [
            {"name": "AIM_CACHE_PATH", "value": "/workspace/cache"},
            {"name": "VLLM_ENABLE_METRICS", "value": "true"},
        ],
    }
    inference_service = fleet.add(
        "InferenceService",
        "serving.kserve.io/v1beta1",
        f"{name}-66a1c54b",
        namespace,
        metadata={
            "labels": {
                "app.kubernetes.io/managed-by": "aim-engine",
                "aim.eai.amd.com/service": name,
                "aim.eai.amd.com/service.name": name,
                "aim.eai.amd.com/template": template,
            },
            "annotations": {"serving.kserve.io/autoscalerClass": "none"},
            "ownerReferences": [owner(service | {"apiVersion": AIM1})],
        },
        spec={
            "predictor": {
                "minReplicas": 1,
                "maxReplicas": 1,
                "containers": [container],
                "volumes": [
                    {"name": "dshm", "emptyDir": {"medium": "Memory"}},
                    {"name": "weights", "persistentVolumeClaim": {"claimName": claim}},
                ],
            }
        },
        status={"observedGeneration": 1, "conditions": [condition("PredictorReady"), condition("Ready")]},
    )
    fleet.add(
        "Deployment",
        "apps/v1",
        f"{name}-66a1c54b-predictor",
        namespace,
        manager="manager",
        metadata={"ownerReferences": [owner(inference_service, blockOwnerDeletion=True)]},
        spec={"replicas": 1, "template": {"spec": {"containers": [container]}}},
        status={"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1},
    )
