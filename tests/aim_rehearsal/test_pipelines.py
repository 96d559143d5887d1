"""Both pipelines from nothing to Running and away again, as a person sees them with kubectl."""

import dataclasses

import pytest

from aim_api import names
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    CONFIG_MAP,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    JOB,
    NAMESPACE,
    POD,
    PVC,
    REPLICA_SET,
    SERVING_RUNTIME,
)
from aim_api.tree import get, get_map, get_objects, get_str
from aim_rehearsal.client import ApiError, Client
from aim_rehearsal.operator import BridgeOperator, Settings
from aim_rehearsal.roles import OPERATOR
from tests.aim_rehearsal.stage import condition, eventually, name_of

HARDWARE = Settings(hardware=frozenset({"MI300X"}))
SOURCES = [{"modelId": "acme/tiny", "sourceUri": "s3://weights/acme/tiny", "size": "10Gi"}]


@pytest.fixture(
    scope="module", params=["local", pytest.param("real", marks=[pytest.mark.controlplane, pytest.mark.slow])]
)
def at_work(request):
    """A client and an operator at work, on an API server that starts without any service of these tests."""
    if request.param == "real":
        plane = request.getfixturevalue("aim_plane")
        request.getfixturevalue("controllers")
        admin = operator = Client(plane.url, token=plane.token("admin"), ca_pem=plane.ca_file.read_text())
    else:
        server = request.getfixturevalue("local_server")
        admin, operator = (
            Client(server.url, token=server.token(identity), ca_pem=server.ca_pem) for identity in ("admin", OPERATOR)
        )
    with BridgeOperator(operator, HARDWARE) as running:
        yield admin, running


@pytest.fixture
def place(at_work):
    """A namespace of the test's own."""
    admin, operator = at_work
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "place-"}}
    return Place(admin, operator, name_of(admin.create(NAMESPACE, manifest)))


@dataclasses.dataclass
class Place:
    client: Client
    operator: BridgeOperator
    namespace: str

    def create(self, kind, name, spec, **metadata):
        manifest = {
            "apiVersion": kind.api_version,
            "kind": kind.name,
            "metadata": {"name": name, "namespace": self.namespace} | metadata,
            "spec": spec,
        }
        return self.client.create(kind, manifest, manager="kubectl-create")

    def get(self, kind, name):
        return self.client.get(kind, self.namespace, name)

    def all(self, kind):
        return self.client.list_all(kind, self.namespace).items

    def one(self, kind):
        (found,) = self.all(kind)
        return found

    def patch(self, kind, name, patch):
        self.client.merge_patch(kind, self.namespace, name, patch)
        self.settle()

    def delete(self, kind, name):
        self.client.delete(kind, self.namespace, name)
        self.settle()

    def settle(self):
        self.operator.settle()

    def template_service(self, **spec):
        self.create(AIM_MODEL, "tiny", {"image": "registry.example.org/aim/acme-tiny:1.0.0"})
        self.create(
            AIM_SERVICE_TEMPLATE,
            "tiny-mi300x",
            {
                "modelName": "tiny",
                "aimId": "acme/tiny",
                "modelId": "acme/tiny",
                "metric": "latency",
                "precision": "fp8",
                "type": "optimized",
                "hardware": {"gpu": {"model": "MI300X", "requests": 1}},
                "modelSources": SOURCES,
            },
        )
        service = AIM_SERVICE.at("v1alpha1")
        self.create(service, "chat", {"model": {"name": "tiny"}, "template": {"name": "tiny-mi300x"}} | spec)
        self.settle()

    def profile_service(self, **spec):
        self.create(
            AIM_PROFILE,
            "tiny-mi300x",
            {
                "aimId": "acme/tiny",
                "modelId": "acme/tiny",
                "image": "registry.example.org/aim/acme-tiny:1.0.0",
                "metric": "latency",
                "precision": "fp8",
                "type": "optimized",
                "acceleratorType": "gpu",
                "acceleratorModel": "MI300X",
                "acceleratorCount": 1,
                "modelSources": SOURCES,
            },
        )
        self.create(AIM_SERVICE, "chat", {"profile": {"name": "tiny-mi300x"}} | spec)
        self.settle()


def test_a_template_service_comes_up(place):
    place.template_service()
    service = place.get(AIM_SERVICE, "chat")
    assert get_str(service, "status", "status") == "Running"
    assert get(service, "metadata", "finalizers") == ["aim.eai.amd.com/cache-cleanup"]
    cache, artifact, claim = place.one(AIM_TEMPLATE_CACHE), place.one(AIM_ARTIFACT), place.one(PVC)
    assert name_of(cache) == names.shared_template_cache_name("tiny-mi300x", place.namespace)
    assert get_objects(cache, "metadata", "ownerReferences") == []
    assert name_of(artifact) == names.artifact_name("s3://weights/acme/tiny", [], "")
    assert get_objects(artifact, "metadata", "ownerReferences") == []
    assert name_of(claim) == names.pvc_name(name_of(artifact), get_str(artifact, "metadata", "uid"))
    assert get_str(claim, "status", "phase") == "Bound"
    assert get_str(claim, "spec", "resources", "requests", "storage") == "11Gi"
    inference = place.one(INFERENCE_SERVICE)
    assert name_of(inference) == names.inference_service_name("chat", place.namespace)
    assert get_str(inference, "metadata", "labels", "aim.eai.amd.com/template") == "tiny-mi300x"
    assert get_str(place.one(JOB), "metadata", "labels", "aim.eai.amd.com/component") == "download"
    assert condition(place.one(POD), "Ready")[0] == "True"
    (owner,) = get_objects(inference, "metadata", "ownerReferences")
    assert (owner["apiVersion"], "blockOwnerDeletion" in owner) == ("aim.eai.amd.com/v1alpha1", False)


def test_a_profile_service_comes_up(place):
    place.profile_service()
    service = place.get(AIM_SERVICE, "chat")
    assert get_str(service, "status", "status") == "Running"
    assert get_str(service, "status", "resolvedProfile", "name") == "tiny-mi300x"
    assert get_str(service, "status", "resolvedModel", "name") == "acme/tiny"
    cache = place.one(AIM_PROFILE_CACHE)
    assert name_of(cache) == names.shared_profile_cache_name("tiny-mi300x", place.namespace, "Namespace")
    assert get_objects(cache, "metadata", "ownerReferences") == []
    runtime = place.get(SERVING_RUNTIME, names.runtime_name("tiny-mi300x"))
    assert name_of(place.one(CONFIG_MAP)) == name_of(runtime)
    assert {name_of(item) for item in place.all(SERVING_RUNTIME)} == {name_of(runtime), "aim-acme-tiny"}
    artifact = name_of(place.one(AIM_ARTIFACT))
    (container,) = get_objects(runtime, "spec", "containers")
    assert {"name": artifact, "mountPath": "/workspace/cache/acme/tiny"} in container["volumeMounts"]
    inference = place.one(INFERENCE_SERVICE)
    assert get_str(inference, "spec", "predictor", "model", "runtime") == name_of(runtime)
    assert get_str(inference, "metadata", "labels", "aim.eai.amd.com/profile") == "tiny-mi300x"
    (pod,) = place.all(POD)
    assert get_objects(pod, "spec", "containers")[0]["image"] == "registry.example.org/aim/acme-tiny:1.0.0"


def test_a_profile_cache_adopts_what_a_template_cache_downloaded(place):
    place.template_service()
    place.create(
        AIM_PROFILE,
        "tiny-mi300x",
        {"image": "x:1", "aimId": "acme/tiny", "modelId": "acme/tiny", "modelSources": SOURCES},
    )
    place.create(
        AIM_PROFILE_CACHE, "any-name", {"profileName": "tiny-mi300x", "profileScope": "Namespace", "mode": "Shared"}
    )
    place.settle()
    (entry,) = get_map(place.get(AIM_PROFILE_CACHE, "any-name"), "status", "artifacts").values()
    assert entry["uid"] == get_str(place.one(AIM_ARTIFACT), "metadata", "uid")
    assert len(place.all(JOB)) == 1


def test_a_dedicated_cache_owns_its_artifact_and_goes_with_the_service(place):
    place.template_service(caching={"mode": "Dedicated"})
    artifact = place.one(AIM_ARTIFACT)
    assert get_str(artifact, "status", "mode") == "Dedicated"
    (owner,) = get_objects(artifact, "metadata", "ownerReferences")
    assert owner["uid"] == get_str(place.one(AIM_TEMPLATE_CACHE), "metadata", "uid")
    place.create(
        AIM_PROFILE,
        "tiny-mi300x",
        {"image": "x:1", "aimId": "acme/tiny", "modelId": "acme/tiny", "modelSources": SOURCES},
    )
    cache = {"profileName": "tiny-mi300x", "profileScope": "Namespace", "mode": "Shared"}
    place.create(AIM_PROFILE_CACHE, "any-name", cache)
    place.settle()
    assert len(place.all(AIM_ARTIFACT)) == 2  # an owned artifact is never adopted: the weights download again


def test_scaling_adds_a_pod_and_rolls_nothing(place):
    place.template_service()
    before = place.one(POD)
    place.patch(AIM_SERVICE, "chat", {"spec": {"replicas": 2}})
    uids = {get_str(pod, "metadata", "uid") for pod in place.all(POD)}
    assert len(uids) == 2
    assert get_str(before, "metadata", "uid") in uids
    assert len(place.all(REPLICA_SET)) == 1
    assert get(place.get(AIM_SERVICE, "chat"), "status", "runtime", "replicas") == "2"


def test_a_new_image_rolls_visibly(place):
    place.template_service()
    before, deployment = place.one(POD), place.one(DEPLOYMENT)
    place.patch(AIM_MODEL, "tiny", {"spec": {"image": "registry.example.org/aim/acme-tiny:1.0.1"}})
    after = place.one(POD)
    assert get_str(after, "metadata", "uid") != get_str(before, "metadata", "uid")
    assert get(place.one(DEPLOYMENT), "metadata", "uid") == get(deployment, "metadata", "uid")
    sets = {get(item, "spec", "replicas") for item in place.all(REPLICA_SET)}
    assert sets == {0, 1}
    status = get_map(place.one(DEPLOYMENT), "status")
    assert (status["updatedReplicas"], status["availableReplicas"], status["replicas"]) == (1, 1, 1)


def test_a_deleted_pod_comes_back_as_another(place):
    place.template_service()
    before = place.one(POD)
    place.delete(POD, name_of(before))
    after = place.one(POD)
    assert get_str(after, "metadata", "uid") != get_str(before, "metadata", "uid")
    assert get_str(place.get(AIM_SERVICE, "chat"), "status", "status") == "Running"


def test_a_deleted_shared_cache_is_made_again_without_a_download(place):
    place.template_service()
    place.delete(AIM_TEMPLATE_CACHE, name_of(place.one(AIM_TEMPLATE_CACHE)))
    assert get_str(place.one(AIM_TEMPLATE_CACHE), "status", "status") == "Ready"
    assert (len(place.all(AIM_ARTIFACT)), len(place.all(JOB))) == (1, 1)


def test_a_paused_service_is_left_alone_until_it_is_not(place):
    place.template_service()
    place.patch(AIM_SERVICE, "chat", {"metadata": {"annotations": {"aim.eai.amd.com/reconciliation-paused": "true"}}})
    place.patch(AIM_SERVICE, "chat", {"spec": {"replicas": 2}})
    service = place.get(AIM_SERVICE, "chat")
    assert get(service, "status", "observedGeneration") < get(service, "metadata", "generation")
    assert len(place.all(POD)) == 1
    place.patch(AIM_SERVICE, "chat", {"metadata": {"annotations": {"aim.eai.amd.com/reconciliation-paused": None}}})
    assert len(place.all(POD)) == 2


def test_the_annotation_keeps_a_service_on_the_template_pipeline_in_spite_of_a_profile(place):
    place.template_service()
    place.patch(
        AIM_SERVICE,
        "chat",
        {
            "metadata": {"annotations": {"aim.eai.amd.com/reconciler-pipeline": "template"}},
            "spec": {"template": None, "profile": {"name": "tiny-mi300x"}},
        },
    )
    assert "containers" in get_map(place.one(INFERENCE_SERVICE), "spec", "predictor")
    assert get_map(place.get(AIM_SERVICE, "chat"), "status", "resolvedProfile") == {}


def test_deleting_a_service_takes_its_workload_and_leaves_the_weights(place):
    place.template_service()
    place.delete(AIM_SERVICE, "chat")
    with pytest.raises(ApiError, match="not found"):
        place.get(AIM_SERVICE, "chat")
    eventually(lambda: not place.all(POD) and not place.all(INFERENCE_SERVICE), "the workload is gone")
    assert len(place.all(AIM_TEMPLATE_CACHE)) == len(place.all(AIM_ARTIFACT)) == len(place.all(PVC)) == 1


def test_overrides_of_a_profile_become_an_overlay_of_the_service(place):
    place.profile_service(profileOverrides={"engineArgs": {"max-model-len": 4096}})
    service = place.get(AIM_SERVICE, "chat")
    overlay = next(item for item in place.all(AIM_PROFILE) if name_of(item) != "tiny-mi300x")
    assert get_str(service, "status", "resolvedProfile", "name") == name_of(overlay)
    assert get(overlay, "spec", "engineArgs") == {"max-model-len": 4096}
    assert get_str(overlay, "metadata", "annotations", "aim.eai.amd.com/overlay-service") == "chat"
    assert get_str(service, "status", "status") == "Running"


def test_a_profile_without_its_hardware_is_not_available_and_serves_nobody(place):
    place.create(
        AIM_PROFILE,
        "tiny-mi999",
        {
            "image": "x:1",
            "aimId": "acme/tiny",
            "modelId": "acme/tiny",
            "acceleratorModel": "MI999",
            "acceleratorCount": 1,
            "modelSources": SOURCES,
        },
    )
    place.create(AIM_SERVICE, "chat", {"profile": {"name": "tiny-mi999"}})
    place.settle()
    profile = place.get(AIM_PROFILE, "tiny-mi999")
    assert get_str(profile, "status", "status") == "NotAvailable"
    assert condition(profile, "HardwareAvailable") == ("False", "HardwareNotAvailable")
    assert condition(place.get(AIM_SERVICE, "chat"), "ProfileReady") == ("False", "ProfileNotReady")
    assert place.all(INFERENCE_SERVICE) == place.all(SERVING_RUNTIME) == []


def test_a_profile_with_caching_makes_its_own_cache_and_the_service_uses_it(place):
    place.create(
        AIM_PROFILE,
        "tiny",
        {
            "image": "x:1",
            "aimId": "acme/tiny",
            "modelId": "acme/tiny",
            "modelSources": SOURCES,
            "caching": {"enabled": True},
        },
    )
    place.create(AIM_SERVICE, "chat", {"profile": {"name": "tiny"}})
    place.settle()
    cache = place.one(AIM_PROFILE_CACHE)
    assert name_of(cache) == "tiny"
    assert get_str(place.get(AIM_SERVICE, "chat"), "status", "cache", "profileCacheRef", "name") == "tiny"
    assert get_str(place.get(AIM_SERVICE, "chat"), "status", "status") == "Running"


def test_what_can_never_work_is_tried_again_and_does_not_keep_the_operator_busy(at_work):
    admin, operator = at_work
    namespace = f"n{'x' * 55}"
    admin.create(NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    place = Place(admin, operator, namespace)
    place.profile_service()
    assert place.all(INFERENCE_SERVICE) == []
    admin.delete(AIM_SERVICE, namespace, "chat")
    place.settle()


def test_a_label_that_somebody_took_off_comes_back(place):
    place.profile_service()
    inference = name_of(place.one(INFERENCE_SERVICE))
    place.patch(INFERENCE_SERVICE, inference, {"metadata": {"labels": {"aim.eai.amd.com/profile": None}}})
    assert get_str(place.one(INFERENCE_SERVICE), "metadata", "labels", "aim.eai.amd.com/profile") == "tiny-mi300x"
