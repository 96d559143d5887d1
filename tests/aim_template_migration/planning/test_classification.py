"""Every condition of automatic handling both ways: what makes a unit manual, with its code, and what does not.

Each case changes the one healthy service of the fleet; ``codes`` are all reasons that the plan then gives, in order.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from aim_template_migration.documents.codes import CODES
from aim_template_migration.planning.assess import assess, judge_unit
from aim_template_migration.planning.rows import ROWS
from tests.support.fleet import AIM1, AIM2, Fleet, add_service, condition, happy_fleet, owner

CLAIM = "hf---qwen-qwen3-32b-fp8-0123456789-cache-01234567"
ARTIFACT = "hf---qwen-qwen3-32b-fp8-0123456789"
CACHE = "qwen3-32b-latency-cache-9ceb7e8f"
PROFILE_SPEC = {
    "image": "registry.example.org/aim/qwen3-32b:0.10.0",
    "aimId": "qwen/qwen3-32b",
    "modelId": "Qwen/Qwen3-32B-FP8",
    "metric": "latency",
    "precision": "fp8",
    "type": "optimized",
    "acceleratorModel": "MI300X",
    "acceleratorType": "gpu",
    "acceleratorCount": 1,
    "acceleratorPartitioningMode": "unpartitioned",
    "autoSelectionPolicy": "optimized",
    "primary": False,
    "manualSelectionOnly": False,
    "modelSources": [{"modelId": "Qwen/Qwen3-32B-FP8", "sourceUri": "hf://Qwen/Qwen3-32B-FP8", "size": "34Gi"}],
}
CACHE_SPEC = {"profileName": "qwen3-32b-latency", "profileScope": "Namespace", "mode": "Shared"}


@dataclass(frozen=True)
class Change:
    name: str
    codes: tuple[str, ...]
    apply: Callable[[Fleet], object]
    settings: tuple[tuple[str, object], ...] = ()


def service(fleet: Fleet):
    return fleet.named("AIMService", "qwen-chat")


def isvc(fleet: Fleet):
    return fleet.only("InferenceService")


def annotate(kind: str, key: str, value: str) -> Callable[[Fleet], object]:
    return lambda fleet: fleet.of(kind)[0]["metadata"].setdefault("annotations", {}).update({key: value})


def label(kind: str, key: str, value: str) -> Callable[[Fleet], object]:
    return lambda fleet: fleet.of(kind)[0]["metadata"].setdefault("labels", {}).update({key: value})


def put(kind: str, *path_and_value: object) -> Callable[[Fleet], object]:
    """Set a field of the first object of a kind; missing parents are made."""
    *path, last, value = path_and_value

    def change(fleet: Fleet) -> None:
        node = fleet.of(kind)[0]
        for key in path:
            node = node.setdefault(key, {}) if isinstance(node, dict) else node[key]
        node[last] = value

    return change


def drop(kind: str, *path: object) -> Callable[[Fleet], object]:
    def change(fleet: Fleet) -> None:
        node = fleet.of(kind)[0]
        for key in path[:-1]:
            node = node[key]
        del node[path[-1]]

    return change


def manager(kind: str, name: str, **entry: object) -> Callable[[Fleet], object]:
    return lambda fleet: fleet.of(kind)[0]["metadata"]["managedFields"].append({"manager": name, **entry})


def bridge(*conditions: dict) -> Callable[[Fleet], object]:
    return put("AIMService", "status", "conditions", [condition("Ready"), *conditions])


def add_profile(fleet: Fleet, name: str = "qwen3-32b-latency", **spec: object):
    return fleet.add("AIMProfile", AIM2, name, "team-a", spec=PROFILE_SPEC | spec, status={"status": "Ready"})


def add_cache(fleet: Fleet, name: str = CACHE, **spec: object):
    return fleet.add("AIMProfileCache", AIM2, name, "team-a", spec=CACHE_SPEC | spec, status={"status": "Ready"})


def second_inference_service(fleet: Fleet, *, owned: bool) -> None:
    twin = fleet.add("InferenceService", "serving.kserve.io/v1beta1", "qwen-chat-old", "team-a", spec={"predictor": {}})
    twin["metadata"]["labels"] = {"aim.eai.amd.com/service.name": "qwen-chat"}
    if owned:
        twin["metadata"]["ownerReferences"] = [owner(service(fleet))]


def second_artifact(fleet: Fleet, **parts: object) -> None:
    spec = {"sourceUri": "hf://Qwen/Qwen3-32B-FP8", "modelId": "Qwen/Qwen3-32B-FP8"}
    fleet.add("AIMArtifact", AIM1, "a-second-artifact", "team-a", spec=spec, status={"status": "Ready"}, **parts)


def own_artifact(fleet: Fleet) -> None:
    fleet.only("AIMArtifact")["metadata"]["ownerReferences"] = [owner(fleet.only("AIMTemplateCache"))]


def other_service(fleet: Fleet, spec: dict, **parts: object) -> None:
    fleet.add("AIMService", AIM2, "other", "team-a", spec=spec, status={"status": "Running"}, **parts)


def cluster_template(fleet: Fleet, *, with_profile: bool, **spec: object) -> None:
    template = fleet.only("AIMServiceTemplate")
    fleet.remove("AIMServiceTemplate", "qwen3-32b-latency")
    fleet.add("AIMClusterServiceTemplate", AIM1, "qwen3-32b-latency", spec=template["spec"], status=template["status"])
    uid = fleet.only("AIMClusterServiceTemplate")["metadata"]["uid"]
    service(fleet)["status"]["resolvedTemplate"] = {"name": "qwen3-32b-latency", "scope": "Cluster", "uid": uid}
    fleet.only("AIMTemplateCache")["spec"]["templateScope"] = "Cluster"
    if with_profile:
        fleet.add("AIMClusterProfile", AIM2, "qwen3-32b-latency", spec=PROFILE_SPEC | spec, status={"status": "Ready"})


def generated_template(fleet: Fleet) -> None:
    template = fleet.only("AIMServiceTemplate")
    template["metadata"]["labels"] = {"aim.eai.amd.com/origin": "auto-generated"}
    template["metadata"]["ownerReferences"] = [owner(fleet.only("AIMModel"))]


def without_crd(name: str) -> Callable[[Fleet], object]:
    return lambda fleet: fleet.definitions.pop(name)


def store_legacy(fleet: Fleet) -> None:
    for version in fleet.definition("aimservices.aim.eai.amd.com")["spec"]["versions"]:
        version["storage"] = version["name"] == "v1alpha1"


def converted_by(strategy: str, crd: str = "aimservices.aim.eai.amd.com") -> Callable[[Fleet], object]:
    def change(fleet: Fleet) -> None:
        fleet.definition(crd)["spec"]["conversion"] = {"strategy": strategy}

    return change


def engine_args(fleet: Fleet, value: object) -> None:
    fleet.only("AIMServiceTemplate")["spec"]["env"] = [
        {"name": "AIM_ENGINE_ARGS", **({"value": value} if isinstance(value, str) else value)}
    ]


def disagree(fleet: Fleet) -> None:
    add_service(fleet, "qwen-batch")
    fleet.named("AIMService", "qwen-batch")["spec"]["caching"]["env"] = [{"name": "A", "value": "b"}]


def both(*changes: Callable[[Fleet], object]) -> Callable[[Fleet], object]:
    return lambda fleet: [change(fleet) for change in changes]


PIPELINE = "aim.eai.amd.com/reconciler-pipeline"
PAUSED = "aim.eai.amd.com/reconciliation-paused"

MANUAL = [
    Change("profile block", ("AlreadyMigrated",), put("AIMService", "spec", "profile", {"name": "p"})),
    Change("profile annotation", ("AlreadyMigrated",), annotate("AIMService", PIPELINE, "profile")),
    Change("template annotation", ("PipelineAnnotation",), annotate("AIMService", PIPELINE, "template")),
    Change(
        "template annotation beside a profile block",
        ("PipelineAnnotation",),
        both(
            annotate("AIMService", PIPELINE, "template"),
            put("AIMService", "spec", "profile", {"name": "qwen3-32b-latency"}),
        ),
    ),
    Change(
        "Dedicated", ("DedicatedHandoffRequiresQuiescence",), put("AIMService", "spec", "caching", "mode", "Dedicated")
    ),
    Change("Never", ("DedicatedHandoffRequiresQuiescence",), put("AIMService", "spec", "caching", "mode", "Never")),
    Change("Reduced", ("ReducedProjectionMode",), lambda fleet: None, (("runtime_projection_mode", "Reduced"),)),
    Change("no bridge condition", ("BridgeNotProven",), bridge()),
    Change("stale bridge condition", ("BridgeNotProven",), bridge(condition("BridgeCompatible", observedGeneration=0))),
    Change("bridge condition without a generation", ("BridgeNotProven",), bridge(condition("BridgeCompatible"))),
    Change(
        "bridge unknown", ("BridgeNotProven",), bridge(condition("BridgeCompatible", "Unknown", observedGeneration=1))
    ),
    Change(
        "bridge incompatible",
        ("BridgeCompatibilityWarning",),
        bridge(condition("BridgeCompatible", "False", observedGeneration=1)),
    ),
    Change(
        "bridge incompatible, observed generation accepted",
        ("BridgeCompatibilityWarning",),
        bridge(condition("BridgeCompatible", "False", observedGeneration=1)),
        (("accept_observed_generation", True),),
    ),
    Change(
        "observed generation accepted but absent",
        ("BridgeNotProven",),
        both(bridge(), drop("AIMService", "status", "observedGeneration")),
        (("accept_observed_generation", True),),
    ),
    Change("no profile CRD", ("CrdVersionsUnsuitable",), without_crd("aimprofiles.aim.eai.amd.com")),
    Change("old storage version", ("CrdVersionsUnsuitable",), store_legacy),
    Change("conversion by a webhook", ("CrdVersionsUnsuitable",), converted_by("Webhook")),
    Change("dynamic adapters, none yet", ("AdaptersUnsupported",), put("AIMService", "spec", "adapterMode", "dynamic")),
    Change(
        "adapters",
        ("AdaptersUnsupported",),
        put("AIMService", "spec", "adapters", [{"name": "a", "kind": "AIMArtifact"}]),
    ),
    Change("adapter rank", ("AdaptersUnsupported",), put("AIMService", "spec", "adapterRuntime", {"maxRank": 32})),
    Change("overrides", ("OverridesPresent",), put("AIMService", "spec", "overrides", {"metric": "latency"})),
    Change("empty overrides", ("OverridesPresent",), put("AIMService", "spec", "overrides", {})),
    Change(
        "service env", ("ServiceSettingNotCarried",), put("AIMService", "spec", "env", [{"name": "A", "value": "1"}])
    ),
    Change("KV cache", ("ServiceSettingNotCarried",), put("AIMService", "spec", "kvCache", {"name": "x"})),
    Change(
        "inline custom model", ("CustomModel",), put("AIMService", "spec", "model", {"custom": {"baseImage": "b:1"}})
    ),
    Change(
        "custom model",
        ("CustomModel",),
        put("AIMModel", "spec", "modelSources", [{"modelId": "a/b", "sourceUri": "hf://a/b"}]),
    ),
    Change("custom model by label", ("CustomModel",), label("AIMModel", "aim.eai.amd.com/custom-model", "true")),
    Change(
        "model not reported", ("ModelUnresolved", "ImputationNotSafe"), drop("AIMService", "status", "resolvedModel")
    ),
    Change("model replaced", ("ModelUnresolved", "ImputationNotSafe"), put("AIMModel", "metadata", "uid", "another")),
    Change(
        "other model of the template", ("ModelUnresolved",), put("AIMServiceTemplate", "spec", "modelName", "llama")
    ),
    Change(
        "two models of one image",
        ("ModelUnresolved",),
        both(
            put("AIMService", "spec", "model", {"image": "registry.example.org/aim/qwen3-32b:0.10.0"}),
            lambda fleet: fleet.add(
                "AIMClusterModel", AIM2, "twin", spec={"image": "registry.example.org/aim/qwen3-32b:0.10.0"}
            ),
        ),
    ),
    Change("template not reported", ("TemplateUnresolved",), drop("AIMService", "status", "resolvedTemplate")),
    Change("template replaced", ("TemplateUnresolved",), put("AIMServiceTemplate", "metadata", "uid", "another")),
    Change(
        "another template asked for", ("TemplateUnresolved",), put("AIMService", "spec", "template", {"name": "other"})
    ),
    Change(
        "template not available", ("TemplateUnresolved",), put("AIMServiceTemplate", "status", "status", "NotAvailable")
    ),
    Change(
        "cluster template beside a namespaced one of that name",
        ("TemplateUnresolved",),
        lambda fleet: [
            cluster_template(fleet, with_profile=True),
            fleet.add("AIMServiceTemplate", AIM1, "qwen3-32b-latency", "team-a", spec={"modelName": "qwen3-32b"}),
        ],
    ),
    Change("cache not reported", ("CacheUnresolved",), drop("AIMService", "status", "cache")),
    Change("cache replaced", ("CacheUnresolved",), put("AIMTemplateCache", "metadata", "uid", "another")),
    Change(
        "two Shared caches of the template",
        ("CacheUnresolved",),
        lambda fleet: fleet.add(
            "AIMTemplateCache",
            AIM1,
            "second",
            "team-a",
            spec={"templateName": "qwen3-32b-latency"},
            status={"status": "Ready"},
        ),
    ),
    Change(
        "two InferenceServices",
        ("AmbiguousInferenceService",),
        lambda fleet: second_inference_service(fleet, owned=True),
    ),
    Change(
        "a labelled InferenceService of nobody",
        ("AmbiguousInferenceService",),
        lambda fleet: second_inference_service(fleet, owned=False),
    ),
    Change(
        "no InferenceService",
        ("AmbiguousInferenceService",),
        lambda fleet: fleet.remove("InferenceService", "qwen-chat-66a1c54b"),
    ),
    Change(
        "InferenceService of a replaced service",
        ("AmbiguousInferenceService", "ExternallyManaged"),
        lambda fleet: isvc(fleet)["metadata"]["ownerReferences"][0].update({"uid": "gone"}),
    ),
    *(
        Change(
            f"terminating {kind}", ("Terminating",), put(kind, "metadata", "deletionTimestamp", "2026-06-02T09:00:00Z")
        )
        for kind in (
            "AIMService",
            "AIMModel",
            "AIMServiceTemplate",
            "AIMTemplateCache",
            "PersistentVolumeClaim",
            "InferenceService",
            "Deployment",
        )
    ),
    Change(
        "terminating artifact",
        ("Terminating", "ArtifactUnresolved"),
        put("AIMArtifact", "metadata", "deletionTimestamp", "2026-06-02T09:00:00Z"),
    ),
    Change(
        "terminating namespace",
        ("Terminating",),
        lambda fleet: fleet.add("Namespace", "v1", "team-a", metadata={"deletionTimestamp": "2026-06-02T09:00:00Z"}),
    ),
    *(
        Change(f"paused {kind}", ("Paused",), annotate(kind, PAUSED, "true"))
        for kind in ("AIMService", "AIMModel", "AIMServiceTemplate", "AIMTemplateCache", "AIMArtifact")
    ),
    Change("Argo CD", ("ExternallyManaged",), annotate("AIMService", "argocd.argoproj.io/tracking-id", "x")),
    Change("Flux", ("ExternallyManaged",), label("AIMServiceTemplate", "kustomize.toolkit.fluxcd.io/name", "x")),
    Change("Helm", ("ExternallyManaged",), label("AIMModel", "app.kubernetes.io/managed-by", "Helm")),
    Change("Helm release", ("ExternallyManaged",), annotate("AIMService", "meta.helm.sh/release-name", "x")),
    Change("Terraform", ("ExternallyManaged",), manager("AIMService", "Terraform")),
    Change("Pulumi", ("ExternallyManaged",), manager("AIMServiceTemplate", "pulumi-kubernetes-1a2b")),
    Change("Argo CD's controller", ("ExternallyManaged",), manager("AIMService", "argocd-controller")),
    Change("a manager nobody knows", ("ExternallyManaged",), manager("AIMArtifact", "curl")),
    Change("KServe's manager elsewhere", ("ExternallyManaged",), manager("AIMService", "manager")),
    Change(
        "a foreign owner",
        ("ExternallyManaged",),
        put(
            "AIMService",
            "metadata",
            "ownerReferences",
            [{"apiVersion": "x/v1", "kind": "App", "name": "x", "uid": "1"}],
        ),
    ),
    Change(
        "a token",
        ("SecretLiteral",),
        put("AIMServiceTemplate", "spec", "env", [{"name": "HF_TOKEN", "value": "s3cr3t-value"}]),
    ),
    Change(
        "service not Ready",
        ("PredecessorNotReady",),
        put("AIMService", "status", "conditions", 0, condition("Ready", "False")),
    ),
    Change("service Starting", ("PredecessorNotReady",), put("AIMService", "status", "status", "Starting")),
    Change(
        "service not observed",
        ("PredecessorNotReady",),
        both(
            put("AIMService", "metadata", "generation", 2), bridge(condition("BridgeCompatible", observedGeneration=2))
        ),
    ),
    Change(
        "InferenceService not Ready",
        ("PredecessorNotReady",),
        put("InferenceService", "status", "conditions", [condition("Ready", "False")]),
    ),
    Change(
        "InferenceService of an older generation",
        ("InferenceServiceNotCurrent",),
        both(
            put("InferenceService", "metadata", "generation", 3),
            put("InferenceService", "status", "observedGeneration", 2),
        ),
    ),
    Change(
        "InferenceService observes nothing",
        ("InferenceServiceNotCurrent",),
        drop("InferenceService", "status", "observedGeneration"),
    ),
    Change(
        "no Deployment",
        ("InferenceServiceNotCurrent",),
        lambda fleet: fleet.remove("Deployment", "qwen-chat-66a1c54b-predictor"),
    ),
    Change("Deployment rolling", ("InferenceServiceNotCurrent",), put("Deployment", "status", "updatedReplicas", 0)),
    Change("Deployment not observed", ("InferenceServiceNotCurrent",), put("Deployment", "metadata", "generation", 2)),
    Change("Deployment short of a replica", ("InferenceServiceNotCurrent",), put("Deployment", "spec", "replicas", 2)),
    Change(
        "no template label",
        ("LegacyLabelsInvalid",),
        drop("InferenceService", "metadata", "labels", "aim.eai.amd.com/template"),
    ),
    Change("empty template label", ("LegacyLabelsInvalid",), label("InferenceService", "aim.eai.amd.com/template", "")),
    Change(
        "another template's label",
        ("LegacyLabelsInvalid",),
        label("InferenceService", "aim.eai.amd.com/template", "other"),
    ),
    Change("profile label", ("LegacyLabelsInvalid",), label("InferenceService", "aim.eai.amd.com/profile", "p")),
    Change("cache not Ready", ("CacheNotReady",), put("AIMTemplateCache", "status", "status", "Degraded")),
    Change("cache Dedicated", ("CacheNotReady",), put("AIMTemplateCache", "spec", "mode", "Dedicated")),
    Change("no artifact", ("ArtifactUnresolved",), lambda fleet: fleet.remove("AIMArtifact", ARTIFACT)),
    Change("two artifacts", ("ArtifactUnresolved",), second_artifact),
    Change("artifact not Ready", ("ArtifactUnresolved",), put("AIMArtifact", "status", "status", "Progressing")),
    Change("adapter artifact", ("ArtifactUnresolved",), put("AIMArtifact", "spec", "type", "adapter")),
    Change(
        "cache reports another artifact",
        ("ArtifactUnresolved", "PvcUnresolved"),
        put("AIMTemplateCache", "status", "artifacts", ARTIFACT, "uid", "x"),
    ),
    Change(
        "storage class that the target cache would not take",
        ("ArtifactUnresolved",),
        put("AIMService", "spec", "storage", {"defaultStorageClassName": "fast"}),
    ),
    Change(
        "two sources of one model",
        ("ArtifactUnresolved",),
        lambda fleet: [
            fleet.only("AIMServiceTemplate")[part]["modelSources"].append(
                {"modelId": "Qwen/Qwen3-32B-FP8", "sourceUri": "hf://Qwen/Other"}
            )
            for part in ("spec", "status")
        ],
    ),
    Change("artifact owned by the cache", ("ArtifactOwned",), own_artifact),
    Change(
        "artifact owned by a stranger",
        ("ExternallyManaged", "ArtifactOwned"),
        put(
            "AIMArtifact",
            "metadata",
            "ownerReferences",
            [{"apiVersion": "x/v1", "kind": "App", "name": "x", "uid": "1"}],
        ),
    ),
    Change("claim missing", ("PvcUnresolved",), lambda fleet: fleet.remove("PersistentVolumeClaim", CLAIM)),
    Change("claim lost", ("PvcUnresolved",), put("PersistentVolumeClaim", "status", "phase", "Lost")),
    Change("claim of nobody", ("PvcUnresolved",), drop("PersistentVolumeClaim", "metadata", "ownerReferences")),
    Change("claim not mounted", ("PvcUnresolved",), put("InferenceService", "spec", "predictor", "volumes", [])),
    Change(
        "cache reports another claim",
        ("PvcUnresolved",),
        put("AIMTemplateCache", "status", "artifacts", ARTIFACT, "persistentVolumeClaim", "x"),
    ),
    Change(
        "another profile of that name",
        ("TargetProfileConflict",),
        lambda fleet: add_profile(fleet, metric="throughput"),
    ),
    Change(
        "a profile that states more",
        ("TargetProfileConflict",),
        lambda fleet: add_profile(fleet, containerEnv=[{"name": "A", "value": "1"}]),
    ),
    Change(
        "an overlay of that name",
        ("TargetProfileConflict",),
        lambda fleet: add_profile(fleet)["metadata"].update({"annotations": {"aim.eai.amd.com/overlay-service": "x"}}),
    ),
    Change("generated template, no profile", ("TargetNotDiscovered",), generated_template),
    Change(
        "origin derived, no profile",
        ("TargetNotDiscovered",),
        label("AIMServiceTemplate", "aim.eai.amd.com/origin", "derived"),
    ),
    Change("unknown template field", ("UnmappedField",), put("AIMServiceTemplate", "spec", "brandNew", 1)),
    Change("unknown caching mode", ("UnmappedField",), put("AIMService", "spec", "caching", "mode", "Sometimes")),
    Change("unknown adapter mode", ("AdaptersUnsupported",), put("AIMService", "spec", "adapterMode", "sometimes")),
    Change("unknown service field", ("UnmappedField",), put("AIMService", "spec", "brandNew", 1)),
    Change("unknown model field", ("UnmappedField",), put("AIMModel", "spec", "brandNew", 1)),
    Change("unknown cache field", ("UnmappedField",), put("AIMTemplateCache", "spec", "brandNew", 1)),
    Change(
        "minimum of video memory",
        ("UnmappedField",),
        put("AIMServiceTemplate", "spec", "hardware", "gpu", "minVram", "64Gi"),
    ),
    Change(
        "another device",
        ("UnmappedField",),
        put("AIMServiceTemplate", "spec", "hardware", "gpu", "resourceName", "nvidia.com/gpu"),
    ),
    Change("CPU hardware", ("UnmappedField",), put("AIMServiceTemplate", "spec", "hardware", "cpu", {"requests": "4"})),
    Change(
        "another runtime config of the template",
        ("UnmappedField",),
        put("AIMServiceTemplate", "spec", "runtimeConfigName", "gold"),
    ),
    Change(
        "a variable that is the framework's",
        ("UnmappedField",),
        put("AIMServiceTemplate", "spec", "env", [{"name": "AIM_ID", "value": "x"}]),
    ),
    Change("no AIM id anywhere", ("ImputationNotSafe",), drop("AIMServiceTemplate", "spec", "aimId")),
    Change("AIM ids that differ", ("ImputationNotSafe",), put("AIMModel", "spec", "aimId", "qwen/other")),
    Change(
        "engine args from elsewhere",
        ("ImputationNotSafe",),
        lambda fleet: engine_args(fleet, {"valueFrom": {"configMapKeyRef": {"name": "x", "key": "y"}}}),
    ),
    Change("engine args that are no object", ("ImputationNotSafe",), lambda fleet: engine_args(fleet, "[1]")),
    Change(
        "resolved hardware differs",
        ("ImputationNotSafe",),
        put("AIMServiceTemplate", "status", "resolvedHardware", "gpu", "requests", 2),
    ),
    Change(
        "precision auto, nothing found", ("ImputationNotSafe",), put("AIMServiceTemplate", "spec", "precision", "auto")
    ),
    Change(
        "another image runs",
        ("ImputationNotSafe",),
        put("AIMModel", "spec", "image", "registry.example.org/aim/qwen3-32b:0.11.0"),
    ),
    Change(
        "cluster template, no cluster profile",
        ("ClusterTargetMissing",),
        lambda fleet: cluster_template(fleet, with_profile=False),
    ),
    Change(
        "cluster template, another cluster profile",
        ("TargetProfileConflict",),
        lambda fleet: cluster_template(fleet, with_profile=True, metric="throughput"),
    ),
    Change(
        "cluster template, a namespaced profile that would win",
        ("TargetProfileConflict",),
        lambda fleet: [cluster_template(fleet, with_profile=True), add_profile(fleet)],
    ),
    Change(
        "a selector that would choose the new profile",
        ("TargetWouldCapture",),
        lambda fleet: other_service(fleet, {"profile": {"selector": {"aimId": "qwen/qwen3-32b"}}}),
    ),
    Change(
        "a service that waits for a profile of that name",
        ("TargetWouldCapture",),
        lambda fleet: other_service(fleet, {"profile": {"name": "qwen3-32b-latency"}}),
    ),
    Change(
        "an InferenceService that uses the runtime's name",
        ("TargetWouldCapture",),
        lambda fleet: fleet.add(
            "InferenceService",
            "serving.kserve.io/v1beta1",
            "native",
            "team-a",
            spec={"predictor": {"model": {"runtime": "aim-qwen-qwen3-32b"}}},
        ),
    ),
    Change(
        "template with a cache of its own",
        ("TargetProfileOwnsCache",),
        put("AIMServiceTemplate", "spec", "caching", {"enabled": True}),
    ),
    Change(
        "profile with a cache of its own",
        ("TargetProfileOwnsCache",),
        lambda fleet: add_profile(fleet, caching={"enabled": True}),
    ),
    Change("another cache of the profile", ("AnotherMatchingCache",), lambda fleet: add_cache(fleet, "warm-up")),
    Change(
        "owned target cache",
        ("TargetCacheOwned",),
        lambda fleet: add_cache(fleet)["metadata"].update({"ownerReferences": [owner(service(fleet))]}),
    ),
    Change(
        "another content of the target cache",
        ("TargetCacheConflict",),
        lambda fleet: add_cache(fleet, storageClassName="fast"),
    ),
    Change("two services that want different caches", ("TargetDisagreement",), disagree),
]

AUTOMATIC = [
    *(Change(f"caching {word}", (), put("AIMService", "spec", "caching", "mode", word)) for word in ("Auto", "Always")),
    Change("conversion by version alone", (), converted_by("None")),
    Change(
        "a conversion of KServe's that is never called",
        (),
        converted_by("Webhook", "inferenceservices.serving.kserve.io"),
    ),
    Change("caching unset", (), drop("AIMService", "spec", "caching")),
    Change("mode Exhaustive", (), lambda fleet: None, (("runtime_projection_mode", "Exhaustive"),)),
    Change("annotation of another value", (), annotate("AIMService", PIPELINE, "auto")),
    Change("observed generation accepted", (), bridge(), (("accept_observed_generation", True),)),
    Change("static adapter mode", (), put("AIMService", "spec", "adapterMode", "static")),
    Change("empty adapters", (), put("AIMService", "spec", "adapters", [])),
    Change("empty env", (), put("AIMService", "spec", "env", [])),
    Change(
        "settings that both pipelines read",
        (),
        both(
            put("AIMService", "spec", "routing", {"enabled": True, "annotations": {"a": "b"}}),
            put("AIMService", "spec", "resources", {"limits": {"memory": "64Gi"}}),
            put("AIMService", "spec", "imagePullSecrets", [{"name": "pull"}]),
            put("AIMService", "spec", "serviceAccountName", "runner"),
            put("AIMService", "spec", "priorityClassName", "high"),
            put("AIMService", "spec", "autoScaling", {"metrics": [{"type": "PodMetric"}], "pollingInterval": 5}),
            put("AIMService", "spec", "minReplicas", 1),
            put("AIMService", "spec", "maxReplicas", 3),
        ),
    ),
    Change(
        "model by image",
        (),
        put("AIMService", "spec", "model", {"image": "registry.example.org/aim/qwen3-32b:0.10.0"}),
    ),
    Change(
        "an unselected Dedicated cache of the template",
        (),
        lambda fleet: fleet.add(
            "AIMTemplateCache",
            AIM1,
            "dedicated",
            "team-a",
            spec={"templateName": "qwen3-32b-latency", "mode": "Dedicated"},
        ),
    ),
    Change("pause of another value", (), annotate("AIMService", PAUSED, "True")),
    Change("status writers", (), manager("AIMService", "curl", subresource="status")),
    Change("kubectl edit", (), manager("AIMServiceTemplate", "kubectl-edit")),
    Change("older operator", (), manager("InferenceService", "aim-service-v1alpha1-controller")),
    Change("KServe's manager", (), manager("InferenceService", "manager")),
    Change("this tool", (), manager("AIMService", "aim-template-migration")),
    Change("scheduler on a claim", (), manager("PersistentVolumeClaim", "kube-scheduler")),
    Change(
        "Deployment's counter copied",
        (),
        both(
            put("InferenceService", "metadata", "generation", 3),
            put("InferenceService", "status", "observedGeneration", 4),
            put("Deployment", "metadata", "generation", 4),
            put("Deployment", "status", "observedGeneration", 4),
        ),
    ),
    Change(
        "scaled to zero",
        (),
        both(
            put("Deployment", "spec", "replicas", 0),
            put("Deployment", "status", {"observedGeneration": 1}),
        ),
    ),
    Change("older operators do not observe", (), drop("AIMService", "status", "observedGeneration")),
    Change("protected artifact", (), annotate("AIMArtifact", "aim.eai.amd.com/eviction-protected", "true")),
    Change(
        "someone else's Dedicated artifact of the same source",
        (),
        lambda fleet: second_artifact(
            fleet,
            metadata={"ownerReferences": [{"apiVersion": AIM1, "kind": "AIMTemplateCache", "name": "x", "uid": "7"}]},
        ),
    ),
    Change(
        "cache without a storage class asked for", (), put("AIMService", "spec", "storage", {"pvcHeadroomPercent": 10})
    ),
    Change("the same profile exists", (), add_profile),
    Change(
        "the same profile, with what a template can't say",
        (),
        lambda fleet: add_profile(fleet, engine="vllm", primary=True),
    ),
    Change("generated template, profile discovered", (), both(generated_template, add_profile)),
    Change("origin manual", (), label("AIMServiceTemplate", "aim.eai.amd.com/origin", "manual")),
    Change("a profile that states a default", (), lambda fleet: add_profile(fleet, caching={"enabled": False})),
    Change("the same cache exists", (), add_cache),
    Change("a Dedicated cache of the profile", (), lambda fleet: add_cache(fleet, "mine", mode="Dedicated")),
    Change("cluster template, equal cluster profile", (), lambda fleet: cluster_template(fleet, with_profile=True)),
    Change(
        "runtime config of the template, named alike",
        (),
        put("AIMServiceTemplate", "spec", "runtimeConfigName", "default"),
    ),
    Change(
        "CPU count zero",
        (),
        both(
            put("AIMServiceTemplate", "spec", "hardware", "gpu", "requests", 0),
            put("AIMServiceTemplate", "status", "resolvedHardware", "gpu", "requests", 0),
        ),
    ),
    Change(
        "a selector for other hardware",
        (),
        lambda fleet: other_service(
            fleet, {"profile": {"selector": {"aimId": "qwen/qwen3-32b", "acceleratorModel": "MI325X"}}}
        ),
    ),
    Change(
        "a selector by model, which no hand-made profile answers",
        (),
        lambda fleet: other_service(
            fleet, {"model": {"name": "qwen3-32b"}, "profile": {"selector": {"metric": "latency"}}}
        ),
    ),
    Change(
        "a selector with a better profile",
        (),
        lambda fleet: [
            other_service(fleet, {"profile": {"selector": {"aimId": "qwen/qwen3-32b"}}}),
            add_profile(fleet, "better", primary=True),
        ],
    ),
    Change("two services that share everything", (), lambda fleet: add_service(fleet, "qwen-batch")),
]


@pytest.mark.parametrize("change", MANUAL, ids=lambda change: change.name)
def test_what_makes_a_unit_manual(change: Change):
    fleet = happy_fleet()
    change.apply(fleet)
    unit = fleet.unit(**dict(change.settings))
    assert tuple(dict.fromkeys(reason.code for reason in unit.reasons)) == change.codes
    assert unit.outcome == change.codes[0]
    assert unit.disposition == ("skip" if unit.outcome == "AlreadyMigrated" else "manual")
    assert unit.steps == ()
    assert all(reason.object and reason.message and reason.advice for reason in unit.reasons)


@pytest.mark.parametrize("change", AUTOMATIC, ids=lambda change: change.name)
def test_what_leaves_a_unit_automatic(change: Change):
    fleet = happy_fleet()
    change.apply(fleet)
    unit = fleet.unit(**dict(change.settings))
    assert [(reason.code, reason.message) for reason in unit.reasons] == []
    assert (unit.disposition, unit.outcome) == ("automatic", "SharedNoRollout")


def test_every_code_of_every_row_has_a_case():
    shown = {code for change in MANUAL for code in change.codes}
    assert shown == {code for row in ROWS for code in row.codes}
    assert shown <= CODES.keys()


def test_every_finding_is_reported_and_the_first_row_is_the_outcome():
    fleet = happy_fleet()
    service(fleet)["spec"]["env"] = [{"name": "A", "value": "1"}]
    service(fleet)["metadata"]["annotations"] = {PAUSED: "true"}
    isvc(fleet)["status"]["conditions"] = [condition("Ready", "False")]
    unit = fleet.unit(runtime_projection_mode="Reduced")
    assert [reason.code for reason in unit.reasons] == [
        "ReducedProjectionMode",
        "ServiceSettingNotCarried",
        "Paused",
        "PredecessorNotReady",
    ]
    assert unit.outcome == "ReducedProjectionMode"


def test_in_mode_reduced_every_unit_is_manual_one_that_was_migrated_already_too():
    fleet = happy_fleet()
    add_service(fleet, "moved")
    del fleet.named("AIMService", "moved")["spec"]["template"]
    fleet.named("AIMService", "moved")["spec"]["profile"] = {"name": "p"}
    units = fleet.plan(runtime_projection_mode="Reduced").units
    assert {unit.disposition for unit in units} == {"manual"}
    assert {unit.id.split("/")[2]: (unit.outcome, [reason.code for reason in unit.reasons]) for unit in units} == {
        "moved": ("AlreadyMigrated", ["AlreadyMigrated", "ReducedProjectionMode"]),
        "qwen-chat": ("ReducedProjectionMode", ["ReducedProjectionMode"]),
    }
    assert {unit.disposition for unit in fleet.plan().units} == {"automatic", "skip"}


def test_disagreement_marks_every_unit_that_takes_part_and_no_manual_one():
    fleet = happy_fleet()
    disagree(fleet)
    add_service(fleet, "qwen-third")
    fleet.named("AIMService", "qwen-third")["spec"]["env"] = [{"name": "A", "value": "1"}]
    outcomes = {unit.id.split("/")[2]: [reason.code for reason in unit.reasons] for unit in fleet.plan().units}
    assert outcomes == {
        "qwen-batch": ["TargetDisagreement"],
        "qwen-chat": ["TargetDisagreement"],
        "qwen-third": ["ServiceSettingNotCarried"],
    }


@pytest.mark.parametrize("change", [*MANUAL, *AUTOMATIC], ids=lambda change: change.name)
def test_one_service_is_classified_alone_as_among_all_others(change: Change):
    fleet = happy_fleet()
    change.apply(fleet)
    settings = fleet.settings(**dict(change.settings))
    snapshot = fleet.snapshot()
    for unit in assess(snapshot, settings).units:
        if unit.id.startswith("AIMService/"):
            alone = judge_unit(snapshot, settings, unit.id)
            assert (alone.outcome, alone.reasons, alone.pins) == (unit.outcome, unit.reasons, unit.pins)
