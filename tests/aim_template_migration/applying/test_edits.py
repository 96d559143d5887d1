"""Which hand edits are allowed: a closed list, and everything else is refused."""

import copy

import msgspec
import pytest

from aim_template_migration.applying.edits import (
    EDITABLE_PROFILE_FIELDS,
    edited_bodies,
    find_edits,
    made_automatic,
    made_manual,
)
from aim_template_migration.documents.plan import Plan, decode_plan, encode_plan
from tests.support.fleet import happy_fleet

PROFILE_ID = "AIMProfile/team-a/qwen3-32b-latency"


@pytest.fixture(scope="module")
def generated():
    return happy_fleet().plan()


def edited(plan, change):
    """Change the plan as JSON and read it again."""
    document = msgspec.json.decode(encode_plan(plan))
    change(document)
    return decode_plan(msgspec.json.encode(document))


def body_of(document, kind):
    (found,) = [target["body"] for target in document["targets"] if target["id"].startswith(f"{kind}/")]
    return found


def test_an_unedited_plan_has_no_edits(generated):
    assert find_edits(generated, generated) == ()
    assert edited_bodies(generated, generated) == {}


def test_a_unit_may_be_deleted(generated):
    changed = edited(generated, lambda document: document["units"].clear())
    (edit,) = find_edits(generated, changed)
    assert (edit.where, edit.allowed) == ("units[AIMService/team-a/qwen-chat]", True)


def test_an_automatic_unit_may_be_made_manual_and_nothing_else(generated):
    def to(disposition):
        return edited(generated, lambda document: document["units"][0].update(disposition=disposition))

    (edit,) = find_edits(generated, to("manual"))
    assert edit.allowed
    assert made_manual(generated, to("manual")) == {"AIMService/team-a/qwen-chat"}
    (edit,) = find_edits(generated, to("skip"))
    assert not edit.allowed
    (edit,) = find_edits(to("manual"), generated)
    assert (edit.allowed, "only plan makes a unit automatic, so plan again" in edit.what) == (False, True)
    assert made_automatic(to("manual"), generated) == ("AIMService/team-a/qwen-chat",)
    assert made_manual(to("manual"), generated) == frozenset()


TOKEN = "hf_abcdefghijklmnopqrstuvwxyz0123"


@pytest.mark.parametrize(
    ("field", "value", "at"),
    [
        ("containerEnv", [{"name": "HF_TOKEN", "value": TOKEN}], "spec.containerEnv[0].value"),
        ("engineEnv", [{"name": "DB_PASSWORD", "value": "correct-horse"}], "spec.engineEnv[0].value"),
        ("engineArgs", {"api-key": TOKEN}, "spec.engineArgs.api-key"),
    ],
)
def test_a_literal_that_looks_like_a_secret_is_refused_and_not_repeated(generated, field, value, at):
    changed = edited(generated, lambda document: body_of(document, "AIMProfile")["spec"].update({field: value}))
    (edit,) = [edit for edit in find_edits(generated, changed) if not edit.allowed]
    assert edit.where == f"targets[{PROFILE_ID}].body.{at}"
    assert edit.what.startswith(f"{at} of {PROFILE_ID} holds what looks like a secret (")
    assert TOKEN not in edit.what
    assert "correct-horse" not in edit.what


def test_a_reference_to_a_secret_may_be_added(generated):
    variable = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}
    changed = edited(
        generated, lambda document: body_of(document, "AIMProfile")["spec"].update(containerEnv=[variable])
    )
    assert all(edit.allowed for edit in find_edits(generated, changed))


@pytest.mark.parametrize("field", EDITABLE_PROFILE_FIELDS)
def test_five_fields_of_a_profile_may_be_changed_added_and_removed(generated, field):
    def add(document):
        body_of(document, "AIMProfile")["spec"][field] = {"x": 1}

    with_field = edited(generated, add)
    edits = find_edits(generated, with_field)
    assert edits
    assert all(edit.allowed and f"spec.{field}" in edit.where for edit in edits)
    assert all(edit.allowed for edit in find_edits(with_field, generated))
    assert edited_bodies(generated, with_field)[PROFILE_ID]["spec"][field] == {"x": 1}


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("AIMProfile", ("spec", "image"), "other"),
        ("AIMProfile", ("spec", "modelSources"), []),
        ("AIMProfile", ("spec", "caching"), {"enabled": True}),
        ("AIMProfile", ("spec", "engineArgsMore"), {}),
        ("AIMProfile", ("metadata", "labels"), {"a": "b"}),
        ("AIMProfile", ("metadata", "name"), "other"),
        ("AIMProfile", ("kind",), "Secret"),
        ("AIMProfile", ("engineArgs",), {}),
        ("AIMProfileCache", ("spec", "engineArgs"), {}),
        ("AIMProfileCache", ("spec", "env"), []),
        ("AIMProfileCache", ("spec", "mode"), "Dedicated"),
    ],
)
def test_any_other_field_of_a_target_is_refused(generated, kind, path, value):
    def change(document):
        below = body_of(document, kind)
        for key in path[:-1]:
            below = below.setdefault(key, {})
        below[path[-1]] = value

    assert [edit.allowed for edit in find_edits(generated, edited(generated, change))].count(False) >= 1


def test_the_whole_spec_of_a_profile_cannot_be_removed(generated):
    changed = edited(generated, lambda document: body_of(document, "AIMProfile").pop("spec"))
    assert [edit.allowed for edit in find_edits(generated, changed)] == [False]


@pytest.mark.parametrize("field", [field.encode_name for field in msgspec.structs.fields(Plan)])
def test_every_field_of_the_head_is_guarded(generated, field):
    if field in ("units", "targets"):
        return
    changes = {
        "cluster": {"kubeSystemUid": "x", "crds": []},
        "namespaces": ["other"],
        "runtimeProjectionMode": "Exhaustive",
        "acceptObservedGeneration": True,
        "forecast": {"requests": {}, "deadlineSeconds": 1, "bytes": 1},
        "warnings": [{"code": "x", "object": "y", "message": "z"}],
    }
    value = changes.get(field, "other")
    attribute = next(item.name for item in msgspec.structs.fields(Plan) if item.encode_name == field)
    kind = next(item.type for item in msgspec.structs.fields(Plan) if item.encode_name == field)
    typed = 2 if field == "schemaVersion" else msgspec.convert(value, kind)
    changed = msgspec.structs.replace(generated, **{attribute: typed})
    assert [(edit.where, edit.allowed) for edit in find_edits(generated, changed)] == [(field, False)]


@pytest.mark.parametrize(
    "change",
    [
        lambda unit: unit.update(outcome="Other"),
        lambda unit: unit["pins"].pop(),
        lambda unit: unit["pins"][0].update(uid="x"),
        lambda unit: unit["steps"].pop(),
        lambda unit: unit["steps"].reverse(),
        lambda unit: unit.update(warnings=[]) if unit.get("warnings") else unit.update(resolvedProfile="x"),
        lambda unit: unit.update(reasons=[{"code": "x", "object": "y", "message": "z"}]),
        lambda unit: unit.update(evidence={"file": "f", "sha256": "0"}),
        lambda unit: unit.update(proofs={}),
        lambda unit: unit.update(afterExpiry={}),
    ],
)
def test_nothing_else_of_a_unit_may_change(generated, change):
    changed = edited(generated, lambda document: change(document["units"][0]))
    edits = find_edits(generated, changed)
    assert edits
    assert not any(edit.allowed for edit in edits)


def test_units_and_targets_can_neither_be_added_nor_repeated_nor_renamed(generated):
    def rename(document):
        document["units"][0]["id"] = "AIMService/team-a/other"

    def repeat(document):
        document["units"].append(copy.deepcopy(document["units"][0]))

    def repeat_target(document):
        document["targets"].append(copy.deepcopy(document["targets"][0]))

    def rename_target(document):
        document["targets"][0]["id"] = "AIMProfile/team-a/other"

    def drop_target(document):
        del document["targets"][0]

    for change in (rename, repeat, repeat_target, rename_target, drop_target):
        edits = find_edits(generated, edited(generated, change))
        assert any(not edit.allowed for edit in edits), change


def test_units_cannot_change_places(generated):
    fleet = happy_fleet()
    from tests.support.fleet import add_service

    add_service(fleet, "second", template="t2", model="m2", uri="hf://a/b")
    plan = fleet.plan()
    changed = edited(plan, lambda document: document["units"].reverse())
    assert [edit.allowed for edit in find_edits(plan, changed)] == [False]


def test_a_unit_made_skip_is_told_the_one_change_that_is_allowed(generated):
    changed = edited(generated, lambda document: document["units"][0].update(disposition="skip"))
    (edit,) = find_edits(generated, changed)
    assert not edit.allowed
    assert edit.what.endswith("to skip; the only change allowed is from automatic to manual")
