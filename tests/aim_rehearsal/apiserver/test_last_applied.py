"""kubectl's server-side apply takes over from its own client-side apply."""

import json

import pytest

from aim_rehearsal.apiserver.last_applied import ANNOTATION
from tests.aim_rehearsal.apiserver.api import Api, widget

A = f"{Api.widgets}/a"
MERGE = "application/merge-patch+json"


@pytest.fixture
def client_side(api):
    """A widget that kubectl applied client-side."""
    manifest = widget("a", color="red", size=2)
    made = {**manifest, "metadata": {**manifest["metadata"], "annotations": {ANNOTATION: json.dumps(manifest)}}}
    assert api.send("POST", f"{Api.widgets}?fieldManager=kubectl-client-side-apply", made).status == 201
    return api


def annotation(body):
    return json.loads(body["metadata"]["annotations"][ANNOTATION])


def test_kubectl_takes_over_and_the_annotation_follows(client_side):
    answer = client_side.apply(A, widget("a", color="blue"), "kubectl")
    assert answer.status == 200
    assert answer.body["spec"]["color"] == "blue"
    assert annotation(answer.body) == widget("a", color="blue")
    assert answer.body["metadata"]["annotations"][ANNOTATION].endswith("\n")


def test_only_kubectl_may(client_side):
    answer = client_side.apply(A, widget("a", color="blue"), "gitops")
    assert (answer.status, answer.reason) == (409, "Conflict")


def test_what_somebody_else_changed_since_is_a_conflict(client_side):
    client_side.send("PATCH", f"{A}?fieldManager=hand", {"spec": {"size": 9}}, MERGE)
    answer = client_side.apply(A, widget("a", color="blue", size=3), "kubectl")
    assert answer.status == 409
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == [".spec.size"]


@pytest.mark.parametrize("content", ["{", "[]", '{"apiVersion": "example.com/v1", "kind": "Gadget"}'])
def test_an_annotation_of_something_else_forgives_nothing(client_side, content):
    client_side.send("PATCH", A, {"metadata": {"annotations": {ANNOTATION: content}}}, MERGE)
    assert client_side.apply(A, widget("a", color="blue"), "kubectl").status == 409


def test_without_the_annotation_none_is_made(api):
    body = api.apply(A, widget("a", color="red"), "kubectl").body
    assert "annotations" not in body["metadata"]


def test_an_annotation_that_would_be_too_large_goes(client_side):
    large = widget("a", color="blue")
    large["metadata"]["annotations"] = {"a": "x" * 200_000}
    body = client_side.apply(A, large, "kubectl").body
    assert list(body["metadata"]["annotations"]) == ["a"]
