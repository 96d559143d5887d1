"""The checklist on fleets: every prerequisite answered, and what cannot be looked at said so."""

import pytest

from aim_api.kinds import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from aim_template_migration.inspecting.access import questions
from aim_template_migration.inspecting.preflight import must_stop, run_preflight
from aim_template_migration.kube.errors import Forbidden, Unauthorized
from aim_template_migration.kube.permissions import OPERATOR, PERMISSIONS, OperatorPlace, operator_permission
from aim_template_migration.kube.requests import Action
from tests.support.fleet import AIM1, NOW, Fleet, FleetCluster, add_service, condition, happy_fleet, owner

CODES = [
    "CrdsSuitable", "SameBuild", "OperatorAtWork", "NamespacesReadable", "TemplatePipeline", "BridgeProven",
    "PredecessorsServing", "OneInferenceService", "ClosureResolved", "NothingGoingAway", "NotManagedElsewhere",
    "ReadsPermitted", "WritesPermitted", "DryRunsPossible",
]  # fmt: skip


class PreflightCluster(FleetCluster):
    """A read-only connection that also answers reviews of access."""

    server = "https://fleet.example"

    def __init__(self, fleet, denied=()):
        super().__init__(fleet)
        self.denied = set(denied)
        self.reviewed = []
        self.review_error = None

    def access_review(self, verb, kind, namespace, *, name=None, subresource=None):
        if self.review_error is not None:
            raise self.review_error
        self.reviewed.append((verb, kind.plural, namespace, name))
        return (verb, kind.plural) not in self.denied

    def list(self, kind, namespace=None, **_):
        if kind.name in self.fleet.forbidden:
            raise Forbidden(Action("list", kind.name), status=403, reason="Forbidden", message="not allowed")
        return [obj for obj in self.fleet.objects.values() if obj["kind"] == kind.name]


def checked(fleet, *namespaces, cluster=None):
    return run_preflight(cluster or PreflightCluster(fleet), namespaces or fleet.namespaces(), now=NOW)


def line(preflight, code):
    return next(item for item in preflight.prerequisites if item.code == code)


def answers(preflight):
    return {item.code: item.answer for item in preflight.prerequisites}


def test_a_healthy_namespace_stops_nothing():
    preflight = checked(happy_fleet())
    assert [item.code for item in preflight.prerequisites] == CODES
    assert {code: answer for code, answer in answers(preflight).items() if answer != "ok"} == {
        "SameBuild": "unchecked", "OperatorAtWork": "unchecked"
    }  # fmt: skip
    assert not must_stop(preflight)
    assert preflight.counts == {"ok": 12, "attention": 0, "stop": 0, "unchecked": 2}
    assert "excluded from that proof" in preflight.exclusion


def test_the_uids_to_record():
    fleet = happy_fleet()
    (service,) = checked(fleet).services
    found = {(item.role, item.uid) for item in service.recorded}
    kinds = {
        "service": "AIMService", "inferenceService": "InferenceService", "templateCache": "AIMTemplateCache",
        "artifact": "AIMArtifact", "pvc": "PersistentVolumeClaim",
    }  # fmt: skip
    assert found == {(role, fleet.only(kind)["metadata"]["uid"]) for role, kind in kinds.items()}
    assert (service.pipeline, service.bridge, service.inference_service_current) == (
        "template", "BridgeCompatible", "own"
    )  # fmt: skip


def test_it_only_reads():
    cluster = PreflightCluster(happy_fleet())
    checked(cluster.fleet, cluster=cluster)
    assert not hasattr(cluster, "send")
    assert "Secret" not in cluster.read


def conditions(fleet, *items):
    fleet.only("AIMService")["status"]["conditions"] = list(items)


def second_inference_service(fleet):
    labels = {"aim.eai.amd.com/service.name": "qwen-chat"}
    references = [owner(fleet.only("AIMService"))]
    fleet.add(
        "InferenceService", "serving.kserve.io/v1beta1", "other", "team-a",
        metadata={"labels": labels, "ownerReferences": references},
    )  # fmt: skip


def argo(fleet):
    fleet.only("AIMService")["metadata"]["labels"] = {"argocd.argoproj.io/instance": "prod"}


def managed_config(fleet):
    config = fleet.add("AIMClusterRuntimeConfig", AIM1, "default", spec={})
    config["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "Helm"}


def migrated(fleet):
    service = fleet.only("AIMService")
    del service["spec"]["template"]
    service["spec"]["profile"] = {"name": "p"}


def pipeline_annotation(fleet):
    service = fleet.only("AIMService")
    service["metadata"]["annotations"] = {"aim.eai.amd.com/reconciler-pipeline": "template"}


READY = condition("Ready")
SITUATIONS = {
    "service not ready": (
        lambda fleet: fleet.only("AIMService")["status"].update(status="Failed"), {"PredecessorsServing": "stop"}
    ),
    "InferenceService not ready": (
        lambda fleet: fleet.only("InferenceService")["status"].update(conditions=[condition("Ready", "False")]),
        {"PredecessorsServing": "stop"},
    ),
    "rollout in progress": (
        lambda fleet: fleet.only("Deployment")["status"].update(updatedReplicas=0), {"PredecessorsServing": "stop"}
    ),
    "bridge warning": (
        lambda fleet: conditions(fleet, READY, condition("BridgeCompatible", "False", observedGeneration=1)),
        {"BridgeProven": "stop"},
    ),
    "bridge by observed generation": (lambda fleet: conditions(fleet, READY), {"BridgeProven": "attention"}),
    "no bridge": (
        lambda fleet: (conditions(fleet, READY), fleet.only("AIMService")["status"].pop("observedGeneration")),
        {"BridgeProven": "stop"},
    ),
    "two InferenceServices": (
        second_inference_service, {"OneInferenceService": "stop"}
    ),
    "GitOps of the cluster": (managed_config, {"NotManagedElsewhere": "attention"}),
    "GitOps": (argo, {"NotManagedElsewhere": "attention"}),
    "paused": (
        lambda fleet: fleet.only("AIMTemplateCache")["metadata"].update(
            annotations={"aim.eai.amd.com/reconciliation-paused": "true"}
        ),
        {"NothingGoingAway": "attention"},
    ),
    "already migrated": (migrated, {"TemplatePipeline": "attention"}),
    "pipeline annotation": (pipeline_annotation, {"TemplatePipeline": "attention"}),
    "label missing": (
        lambda fleet: fleet.only("InferenceService")["metadata"]["labels"].pop("aim.eai.amd.com/template"),
        {"TemplatePipeline": "attention"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SITUATIONS)
def test_what_stops_and_what_asks_for_attention(what):
    change, expected = SITUATIONS[what]
    fleet = happy_fleet()
    change(fleet)
    preflight = checked(fleet)
    found = {code: answer for code, answer in answers(preflight).items() if answer in ("stop", "attention")}
    assert found == expected
    assert must_stop(preflight) == ("stop" in expected.values())
    for code in expected:
        shown = line(preflight, code)
        assert shown.message
        assert shown.findings or what == "bridge by observed generation"
        assert all(item.advice for item in shown.findings)


def test_cluster_scoped_objects_of_another_tool_are_named_once_and_denied_never():
    fleet = happy_fleet()
    add_service(fleet, "second")
    managed_config(fleet)
    shown = line(checked(fleet), "NotManagedElsewhere")
    assert shown.answer == "attention"
    assert shown.message == (
        "managed from outside, cluster-scoped and only read, so that they keep no unit manual: "
        "AIMClusterRuntimeConfig/default"
    )
    assert [(item.object, item.message) for item in shown.findings] == [
        ("AIMClusterRuntimeConfig/default", "it is marked as managed by Helm")
    ]
    argo(fleet := happy_fleet())
    managed_config(fleet)
    message = line(checked(fleet), "NotManagedElsewhere").message
    assert "qwen-chat: it is marked as managed by Argo CD; managed from outside, cluster-scoped" in message


def test_a_service_that_is_migrated_already_is_no_trouble_beside_others():
    fleet = happy_fleet()
    add_service(fleet, "second")
    service = fleet.named("AIMService", "second")
    del service["spec"]["template"]
    service["spec"]["profile"] = {"name": "p"}
    preflight = checked(fleet)
    shown = line(preflight, "TemplatePipeline")
    assert (shown.answer, shown.message) == ("ok", "on the template pipeline: 1 of 2 services")
    assert {item.id.rpartition("/")[2]: item.pipeline for item in preflight.services} == {
        "qwen-chat": "template", "second": "profile",
    }  # fmt: skip


def test_a_missing_crd_stops():
    fleet = happy_fleet()
    del fleet.definitions["aimprofilecaches.aim.eai.amd.com"]
    shown = line(checked(fleet), "CrdsSuitable")
    assert (shown.answer, shown.findings[0].object) == ("stop", "aimprofilecaches.aim.eai.amd.com")


def test_a_crd_that_stores_another_version_stops():
    fleet = happy_fleet()
    for version in fleet.definition("aimservices.aim.eai.amd.com")["spec"]["versions"]:
        version["storage"] = version["name"] == "v1alpha1"
    shown = line(checked(fleet), "CrdsSuitable")
    assert "stores v1alpha1, not v1alpha2" in shown.message


def test_namespaces_that_are_absent_empty_or_terminating():
    fleet = happy_fleet()
    shown = line(checked(fleet, "team-a", "nowhere"), "NamespacesReadable")
    assert (shown.answer, shown.findings[0].object) == ("stop", "Namespace/nowhere")
    fleet.add("ConfigMap", "v1", "x", "empty")
    shown = line(checked(fleet, "team-a", "empty"), "NamespacesReadable")
    assert (shown.answer, shown.findings[0].code) == ("attention", "NamespaceWithoutServices")
    assert line(checked(fleet, "empty"), "NamespacesReadable").answer == "stop"
    fleet.add("Namespace", "v1", "team-a", metadata={"deletionTimestamp": "2026-06-02T09:00:00Z"})
    assert "terminating" in line(checked(fleet, "team-a"), "NamespacesReadable").message


def test_every_row_of_the_table_is_asked_for_every_namespace():
    asked = {(item.row, item.namespace) for item in questions(["a", "b"])}
    for row in (*PERMISSIONS, operator_permission()):
        places = [row.namespace] if row.namespace else ["a", "b"] if row.kind.namespaced else [None]
        assert {(row, place) for place in places} <= asked
    assert {item.name for item in questions(["a"]) if item.row.kind.name == "Namespace"} == {"a", "kube-system"}


def test_missing_reads_stop_and_missing_writes_do_not():
    preflight = checked(happy_fleet(), cluster=PreflightCluster(happy_fleet(), [("patch", "aimservices")]))
    shown = line(preflight, "WritesPermitted")
    assert (shown.answer, shown.message) == (
        "attention", "AIMService/team-a: the identity may not patch aimservices.aim.eai.amd.com in namespace team-a"
    )  # fmt: skip
    assert not must_stop(preflight)
    preflight = checked(happy_fleet(), cluster=PreflightCluster(happy_fleet(), [("get", "aimartifacts")]))
    assert line(preflight, "ReadsPermitted").answer == "stop"


def test_a_namespace_whose_lists_are_denied_is_not_read_and_the_rest_is_still_answered():
    cluster = PreflightCluster(happy_fleet(), [("list", "aimservices")])
    preflight = checked(cluster.fleet, cluster=cluster)
    assert "AIMService" not in cluster.read
    assert line(preflight, "NamespacesReadable").answer == "stop"
    assert line(preflight, "CrdsSuitable").answer == "ok"


def test_optional_reads_are_said_and_not_fatal():
    denied = [("list", "mutatingwebhookconfigurations"), ("get", "deployments")]
    fleet = happy_fleet()
    fleet.forbidden.add(MUTATING_WEBHOOKS.name)
    preflight = checked(fleet, cluster=PreflightCluster(fleet, denied[:1]))
    shown = line(preflight, "ReadsPermitted")
    assert shown.answer == "ok"
    assert "mutatingwebhookconfigurations" in shown.evidence[0]
    shown = line(preflight, "DryRunsPossible")
    assert (shown.answer, "not allowed" in shown.message) == ("unchecked", True)


def test_where_access_cant_be_reviewed_it_is_unchecked():
    cluster = PreflightCluster(happy_fleet())
    action = Action("review", "SelfSubjectAccessReview")
    cluster.review_error = Forbidden(action, status=403, reason="Forbidden", message="no reviews")
    preflight = checked(cluster.fleet, cluster=cluster)
    assert {line(preflight, code).answer for code in ("ReadsPermitted", "WritesPermitted")} == {"unchecked"}
    assert not must_stop(preflight)
    cluster.review_error = Unauthorized(action, status=401, reason="Unauthorized", message="expired")
    with pytest.raises(Unauthorized):
        checked(cluster.fleet, cluster=cluster)


def test_where_the_crds_may_not_be_read_the_rest_is_answered():
    fleet = happy_fleet()
    fleet.forbidden.add("CustomResourceDefinition")
    cluster = PreflightCluster(fleet, [("get", "customresourcedefinitions")])
    preflight = checked(fleet, cluster=cluster)
    assert line(preflight, "CrdsSuitable").answer == "stop"
    assert line(preflight, "ReadsPermitted").answer == "stop"
    assert preflight.services == ()
    assert must_stop(preflight)


def webhook(fleet, **more):
    rule = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}
    fleet.add(
        VALIDATING_WEBHOOKS.name, VALIDATING_WEBHOOKS.api_version, "guard",
        webhooks=[{"name": "guard.example.org", "sideEffects": "Some", "rules": [rule], **more}],
    )  # fmt: skip


def test_a_webhook_with_side_effects_stops():
    fleet = happy_fleet()
    webhook(fleet)
    shown = line(checked(fleet), "DryRunsPossible")
    assert shown.answer == "stop"
    assert "webhook guard.example.org declares side effects (Some)" in shown.message


def test_a_webhook_whose_selectors_may_leave_the_writes_out_asks_for_attention():
    fleet = happy_fleet()
    webhook(fleet, namespaceSelector={"matchLabels": {"guarded": "yes"}})
    assert line(checked(fleet), "DryRunsPossible").answer == "attention"


def with_operator(version, place=OPERATOR, **status):
    """Return a fleet whose CRDs are of build 0.3.0, with an operator whose sidecar comes first."""
    fleet = happy_fleet()
    for name in list(fleet.definitions):
        fleet.definition(name)["metadata"]["labels"] = {"app.kubernetes.io/version": "0.3.0"}
    containers = [
        {"name": "proxy", "image": "registry.example/proxy:0.3.0"},
        {"name": "manager", "image": f"docker.io/amdenterpriseai/aim-engine:{version}"},
    ]
    fleet.add(
        "Deployment", "apps/v1", place.name, place.namespace,
        spec={"replicas": 1, "template": {"spec": {"containers": containers}}},
        status={"observedGeneration": 1, "updatedReplicas": 1, "availableReplicas": 1, **status},
    )  # fmt: skip
    return fleet


def test_builds_are_compared():
    assert line(checked(with_operator("0.3.0"), "team-a"), "SameBuild").answer == "ok"
    assert line(checked(with_operator("0.4.0"), "team-a"), "SameBuild").answer == "stop"


def test_an_operator_elsewhere_is_named_and_its_permission_asked_there():
    place = OperatorPlace("platform", "bridge")
    cluster = PreflightCluster(with_operator("0.3.0", place))
    for name in list(cluster.fleet.definitions):
        annotations = {"meta.helm.sh/release-namespace": "platform"}
        cluster.fleet.definition(name)["metadata"]["annotations"] = annotations
    lost = checked(cluster.fleet, "team-a", cluster=cluster)
    assert line(lost, "SameBuild").answer == line(lost, "OperatorAtWork").answer == "unchecked"
    assert "name it with --operator NAMESPACE/NAME (the CRDs' Helm release is in platform)" in (
        line(lost, "OperatorAtWork").message
    )
    found = run_preflight(cluster, ["team-a"], now=NOW, operator=place)
    assert line(found, "SameBuild").answer == line(found, "OperatorAtWork").answer == "ok"
    assert ("get", "deployments", "platform", "bridge") in cluster.reviewed


@pytest.mark.parametrize(
    ("status", "answer", "words"),
    [
        ({"availableReplicas": 0}, "stop", "has no available pod"),
        ({"updatedReplicas": 0}, "attention", "a pod of another build may be at work"),
        ({"observedGeneration": 0}, "attention", "is not rolled out"),
    ],
)
def test_an_operator_that_is_not_at_work_proves_nothing(status, answer, words):
    preflight = checked(with_operator("0.3.0", **status), "team-a")
    shown = line(preflight, "OperatorAtWork")
    assert (shown.answer, words in shown.message) == (answer, True)
    assert must_stop(preflight) is (answer == "stop")


def test_a_dedicated_cache_is_as_whole_as_a_shared_one():
    fleet = happy_fleet()
    fleet.only("AIMService")["spec"]["caching"]["mode"] = "Dedicated"
    cache = fleet.only("AIMTemplateCache")
    cache["spec"]["mode"] = "Dedicated"
    cache["metadata"]["ownerReferences"] = [owner(fleet.only("AIMService"))]
    assert line(checked(fleet), "ClosureResolved").answer == "ok"
    cache["status"]["status"] = "Failed"
    assert line(checked(fleet), "ClosureResolved").answer == "attention"


def test_an_artifact_that_is_not_there_can_be_recorded_by_nobody():
    fleet = happy_fleet()
    fleet.only("AIMArtifact")["status"]["status"] = "Failed"
    shown = line(checked(fleet), "ClosureResolved")
    assert (shown.answer, shown.findings[0].code) == ("attention", "ArtifactUnresolved")


def test_many_services_are_all_recorded():
    fleet = Fleet()
    for number in range(12):
        add_service(fleet, f"svc-{number:02}", f"team-{number % 3}")
    preflight = checked(fleet)
    assert len(preflight.services) == 12
    assert all(len(service.recorded) == 5 for service in preflight.services)
