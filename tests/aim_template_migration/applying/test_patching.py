"""The cutover patch: what it tests, what it changes, and which differences are seen."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_api.kinds import AIM_SERVICE
from aim_rehearsal.apiserver.json_patch import PatchError, apply_json_patch, read_operations
from aim_template_migration.applying.patching import (
    apply_operations,
    fields_not_stored,
    fit_operations,
    guarded_operations,
    unexpected_differences,
)
from aim_template_migration.kube.requests import build_json_patch

PIN = {PRESERVE_UID: "u1", PRESERVE_GENERATION: "2"}
POINTER = "/metadata/annotations/migration.aim.eai.amd.com~1preserve-"
WHOLE = (
    {"op": "remove", "path": "/spec/template"},
    {"op": "add", "path": "/spec/profile", "value": {"name": "p"}},
    {"op": "add", "path": "/metadata/annotations", "value": PIN},
)
SINGLE = (
    *WHOLE[:2],
    {"op": "add", "path": f"{POINTER}inference-service-uid", "value": "u1"},
    {"op": "add", "path": f"{POINTER}generation", "value": "2"},
)


def service(annotations=None, **spec):
    metadata = {"name": "s", "namespace": "n", "uid": "u0", "generation": 1, "resourceVersion": "5"}
    if annotations is not None:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": {"model": {"name": "m"}, "template": {"name": "t"}, **spec}}


def sent(live, operations, stored=None):
    """Let a server carry out the guarded patch, as it goes over the wire, on what is stored."""
    request = build_json_patch(AIM_SERVICE, "s", "n", guarded_operations(live, operations), dry_run=False)
    decoded = guarded_operations(live, operations)
    return apply_json_patch(copy.deepcopy(stored or live), read_operations(request.body, decoded))


@pytest.mark.parametrize("operations", [WHOLE, SINGLE])
@pytest.mark.parametrize("annotations", [None, {"team": "search", "kubectl.kubernetes.io/last": '{"a":"<&>"}'}])
def test_whatever_the_plan_saw_the_pin_is_added_and_nothing_is_dropped(operations, annotations):
    live = service(annotations)
    fitted = fit_operations(live, operations)
    patched = sent(live, fitted)
    assert patched["metadata"]["annotations"] == {**(annotations or {}), **PIN}
    assert patched["spec"] == {"model": {"name": "m"}, "profile": {"name": "p"}}
    assert patched == apply_operations(live, fitted)


def test_an_empty_template_is_removed_and_an_absent_one_is_not_touched():
    empty = service(template={})
    assert "template" not in sent(empty, fit_operations(empty, WHOLE))["spec"]
    absent = service()
    del absent["spec"]["template"]
    assert sent(absent, fit_operations(absent, WHOLE[1:]))["spec"]["profile"] == {"name": "p"}


@pytest.mark.parametrize(
    "change",
    [
        lambda obj: obj["metadata"].update(uid="other"),
        lambda obj: obj["metadata"].update(generation=2),
        lambda obj: obj["spec"].update(replicas=2),
        lambda obj: obj["spec"]["template"].update(allowUnoptimized=True),
        lambda obj: obj["metadata"].update(annotations={"new": "one"}),
    ],
)
def test_any_edit_between_reading_and_writing_is_refused(change):
    live = service()
    stored = copy.deepcopy(live)
    change(stored)
    with pytest.raises(PatchError, match="testing value failed"):
        sent(live, fit_operations(live, WHOLE), stored)


def test_status_and_resource_version_churn_is_tolerated():
    live = service({"a": "b"})
    stored = copy.deepcopy(live)
    stored["metadata"]["resourceVersion"] = "6"
    stored["status"] = {"status": "Running"}
    assert sent(live, fit_operations(live, WHOLE), stored)["spec"]["profile"] == {"name": "p"}


TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=10)


@given(st.dictionaries(TEXT.filter(bool), TEXT, max_size=3), st.dictionaries(TEXT.filter(bool), TEXT, max_size=3))
def test_strings_of_any_kind_pass_their_own_test(annotations, extra):
    live = service(annotations, labels=extra)
    patched = sent(live, fit_operations(live, SINGLE))
    assert patched["metadata"]["annotations"] == annotations | PIN


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/spec/profile", "value": 1},
        {"op": "remove", "path": "/spec/absent"},
        {"op": "remove", "path": "/absent/below"},
        {"op": "add", "path": "/absent/below", "value": 1},
        {"op": "add", "path": "", "value": 1},
        {"op": "test", "path": "/spec", "value": {}},
        {},
    ],
)
def test_operations_that_a_cutover_never_has_are_refused(operation):
    with pytest.raises(ValueError, match=r"is no operation of a cutover|absent"):
        apply_operations(service(), [operation])


def test_applying_leaves_the_original_alone():
    live = service()
    before = copy.deepcopy(live)
    apply_operations(live, WHOLE)
    assert live == before


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda obj: obj["spec"].update(replicas=1), "spec.replicas"),
        (lambda obj: obj["spec"]["model"].update(name="x"), "spec.model.name"),
        (lambda obj: obj["spec"].pop("model"), "spec.model"),
        (lambda obj: obj["metadata"].update(generation=3), "metadata.generation"),
        (lambda obj: obj["metadata"].update(labels={"a": "b"}), "metadata.labels"),
        (lambda obj: obj["metadata"].update(finalizers=["x"]), "metadata.finalizers"),
        (lambda obj: obj["metadata"].update(ownerReferences=[{"uid": "x"}]), "metadata.ownerReferences"),
        (lambda obj: obj["metadata"].update(uid="x"), "metadata.uid"),
        (lambda obj: obj["spec"].update(list=[{"a": 2}]), "spec.list[0].a"),
        (lambda obj: obj["spec"].update(flag=1), "spec.flag"),
    ],
)
def test_every_unexpected_difference_is_named(change, field):
    expected = service(list=[{"a": 1}], flag=True)
    answered = copy.deepcopy(expected)
    assert unexpected_differences(expected, answered) == []
    change(answered)
    assert unexpected_differences(expected, answered) == [field]


def test_status_and_managed_fields_are_no_difference():
    expected, answered = service(), service()
    answered["status"] = {"x": 1}
    answered["metadata"] |= {"resourceVersion": "9", "managedFields": [{}]}
    assert unexpected_differences(expected, answered) == []


@pytest.mark.parametrize(
    ("answered", "missing"),
    [
        ({"spec": {"a": 1, "b": [1, {"c": True}], "d": {}}, "metadata": {"labels": {"x": "y"}}}, []),
        (
            {
                "spec": {"a": 1, "b": [1, {"c": True, "more": 1}], "d": {}, "more": 1},
                "metadata": {"labels": {"x": "y"}},
            },
            [],
        ),
        ({"spec": {"b": [1, {"c": True}], "d": {}}, "metadata": {"labels": {"x": "y"}}}, ["spec.a"]),
        ({"spec": {"a": 2, "b": [1, {"c": True}]}, "metadata": {"labels": {"x": "y"}}}, ["spec.a"]),
        ({"spec": {"a": 1, "b": [1]}, "metadata": {"labels": {"x": "y"}}}, ["spec.b"]),
        ({"spec": {"a": 1, "b": [1, {"c": 1}]}, "metadata": {"labels": {"x": "y"}}}, ["spec.b[1].c"]),
        ({"spec": {"a": 1, "b": [1, {"c": True}]}, "metadata": {"labels": {"x": "z"}}}, ["metadata.labels.x"]),
        ({"spec": {"a": 1, "b": [1, {"c": True}]}, "metadata": {}}, ["metadata.labels"]),
        ({}, ["spec", "metadata.labels"]),
    ],
)
def test_fields_that_were_sent_and_not_stored_are_named(answered, missing):
    sent_object = {"spec": {"a": 1, "b": [1, {"c": True}], "d": {}, "n": None}, "metadata": {"labels": {"x": "y"}}}
    assert fields_not_stored(sent_object, answered) == missing
