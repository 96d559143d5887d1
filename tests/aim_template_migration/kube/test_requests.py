import dataclasses
import hashlib
import json

import pytest

from aim_api.kinds import AIM_ARTIFACT, AIM_CLUSTER_PROFILE, AIM_PROFILE, AIM_SERVICE, POD
from aim_template_migration.kube.requests import (
    build_access_review,
    build_create,
    build_get,
    build_json_patch,
    build_list,
    build_write,
)

PROFILE = {
    "apiVersion": "aim.eai.amd.com/v1alpha2",
    "kind": "AIMProfile",
    "metadata": {"name": "llama", "namespace": "team-a"},
    "spec": {"engineArgs": {"max-model-len": 2**63}},
}
OPERATIONS = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]


def without_dry_run(request):
    return dataclasses.replace(request, query=tuple(pair for pair in request.query if pair != ("dryRun", "All")))


@pytest.mark.parametrize(
    "build",
    [
        lambda dry_run: build_create(AIM_PROFILE, PROFILE, "team-a", dry_run=dry_run),
        lambda dry_run: build_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=dry_run),
    ],
)
def test_a_dry_run_differs_from_the_real_write_in_one_query_parameter_alone(build):
    dry, real = build(True), build(False)
    assert dry != real
    assert without_dry_run(dry) == real
    assert set(dry.query) - set(real.query) == {("dryRun", "All")}
    assert (dry.dry_run, real.dry_run) == (True, False)


def test_every_write_names_the_field_manager_asks_for_strict_validation_and_bounds_the_servers_time():
    request = build_json_patch(AIM_ARTIFACT, "weights", "team-a", OPERATIONS, dry_run=False, timeout=12.5)
    assert dict(request.query) == {
        "fieldManager": "aim-template-migration",
        "fieldValidation": "Strict",
        "timeout": "12.5s",
    }
    assert request.server_timeout == 12.5
    assert request.timeout > request.server_timeout


def test_a_create_goes_to_the_collection_and_carries_the_object_with_exact_integers():
    request = build_create(AIM_PROFILE, PROFILE, "team-a", dry_run=False)
    assert (request.method, request.path) == ("POST", "/apis/aim.eai.amd.com/v1alpha2/namespaces/team-a/aimprofiles")
    assert dict(request.headers)["Content-Type"] == "application/json"
    assert json.loads(request.body) == PROFILE
    assert b"9223372036854775808" in request.body
    assert request.body_sha256 == hashlib.sha256(request.body).hexdigest()


def test_a_patch_goes_to_the_object_at_the_version_of_the_kind():
    request = build_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False)
    assert request.method == "PATCH"
    assert request.path == "/apis/aim.eai.amd.com/v1alpha2/namespaces/team-a/aimservices/llama"
    assert dict(request.headers)["Content-Type"] == "application/json-patch+json"
    assert json.loads(request.body) == OPERATIONS


def test_reads_are_no_writes_and_carry_no_write_parameters():
    reads = [
        build_get(POD, "p", "team-a"),
        build_list(POD, "team-a", limit=500, continue_token="x y", label_selector="a=b", field_selector="c=d"),
        build_access_review("patch", AIM_SERVICE, "team-a", name="llama", subresource="status"),
    ]
    assert not any(read.is_write or read.dry_run for read in reads)
    assert not any("fieldManager" in read.target for read in reads)
    assert reads[1].target == (
        "/api/v1/namespaces/team-a/pods?limit=500&labelSelector=a%3Db&fieldSelector=c%3Dd&continue=x+y"
    )
    assert json.loads(reads[2].body)["spec"]["resourceAttributes"] == {
        "verb": "patch",
        "group": "aim.eai.amd.com",
        "version": "v1alpha2",
        "resource": "aimservices",
        "subresource": "status",
        "namespace": "team-a",
        "name": "llama",
    }


@pytest.mark.parametrize("name", ["", ".", "..", "../../secrets/x", "a/b", "a%2fb"])
def test_a_name_cannot_lead_to_another_url(name):
    with pytest.raises(ValueError, match="no valid name"):
        build_get(AIM_SERVICE, name, "team-a")
    with pytest.raises(ValueError, match="no valid name"):
        build_json_patch(AIM_SERVICE, name, "team-a", OPERATIONS, dry_run=False)
    with pytest.raises(ValueError, match="no valid namespace"):
        build_list(AIM_SERVICE, name, limit=1)


def test_other_characters_of_a_name_are_encoded():
    assert build_get(AIM_CLUSTER_PROFILE, "a?b#c d").path.endswith("/aimclusterprofiles/a%3Fb%23c%20d")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"metadata": {"namespace": "team-a"}}, "needs metadata.name"),
        ({"kind": "AIMService"}, "must say aim.eai.amd.com/v1alpha2 AIMProfile"),
        ({"apiVersion": "aim.eai.amd.com/v1alpha1"}, "must say aim.eai.amd.com/v1alpha2 AIMProfile"),
        ({"metadata": {"name": "llama", "namespace": "team-b"}}, "another namespace"),
    ],
)
def test_a_body_that_is_not_what_the_arguments_say_is_refused(change, reason):
    with pytest.raises(ValueError, match=reason):
        build_create(AIM_PROFILE, PROFILE | change, "team-a", dry_run=True)


def test_scope_and_verb_must_fit():
    with pytest.raises(ValueError, match="needs a namespace"):
        build_write("create", AIM_PROFILE, namespace=None, name="x", content={}, dry_run=True)
    with pytest.raises(ValueError, match="needs a namespace"):
        build_get(AIM_PROFILE, "x")
    with pytest.raises(ValueError, match="has no namespace"):
        build_get(AIM_CLUSTER_PROFILE, "x", "team-a")
    with pytest.raises(ValueError, match="no write of this tool"):
        build_write("delete", AIM_PROFILE, namespace="team-a", name="x", content={}, dry_run=False)
    with pytest.raises(ValueError, match="needs operations"):
        build_json_patch(AIM_PROFILE, "x", "team-a", [], dry_run=False)


def test_messages_name_verb_kind_and_object_and_no_representation_holds_the_body():
    secret = {"op": "add", "path": "/spec/env", "value": "hunter2"}
    request = build_json_patch(AIM_SERVICE, "llama", "team-a", [secret], dry_run=True)
    assert str(request.action) == "patch (dry run) AIMService team-a/llama"
    assert str(build_get(AIM_CLUSTER_PROFILE, "llama").action) == "get AIMClusterProfile llama"
    assert str(build_list(POD, "team-a", limit=5).action) == "list Pod in namespace team-a"
    assert str(build_list(POD, limit=5).action) == "list Pod"
    assert "hunter2" not in repr(request)
