import json
from collections.abc import Iterator

import pytest

from aim_api.kinds import AIM_GROUP
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.traps import TRAPS
from aim_template_migration.manifests.validating import Validation, Violation, resolve_field, validate_files
from tests.aim_api.crd_cases import TRAPS as ROWS
from tests.aim_api.crd_cases import RuleCase, examples, rule_cases

CASES = [case for case in rule_cases() if case.old is None and case.kind.group == AIM_GROUP]
UNSERVED_RULES = ("unknown field",)


def validate(text: str) -> Validation:
    return validate_files([ManifestFile("f.yaml", read_manifest(text.encode()))])


def errors(validation: Validation) -> list[Violation]:
    return [violation for violation in validation.violations if violation.level == "error"]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_says_what_the_definitions_say(case: RuleCase) -> None:
    found = errors(validate(emit(case.object)))
    if case.refused is None:
        assert found == []
        return
    matching = [violation for violation in found if case.refused in violation.message]
    if not case.refused.startswith("unknown field"):
        assert case.field in [violation.field for violation in matching], found
    assert matching
    if case.trap is not None and case.kind.version == "v1alpha2":
        assert case.trap in [violation.trap for violation in matching], matching
        assert all(violation.equivalent for violation in matching if violation.trap)


def test_every_row_of_the_guide_is_shown_by_a_case() -> None:
    shown = {case.trap for case in CASES if case.refused and case.kind.version == "v1alpha2"}
    assert shown >= set(ROWS)
    assert {trap.row for trap in TRAPS} == {0, *ROWS}
    for row, fields in ROWS.items():
        assert {trap.field for trap in TRAPS if trap.row == row} == fields


@pytest.mark.parametrize("example", [item for item in examples() if item.kind.group == AIM_GROUP], ids=str)
def test_examples_are_valid(example) -> None:
    assert errors(validate(emit(example.object))) == []


BROKEN = """\
# a comment
apiVersion: aim.eai.amd.com/v1alpha2
kind: AIMService
metadata:
  name: Bad_Name
spec:
  model: {name: x}
  template:
    name: y   # kubectl reads true
  replicas: "3"
  env:
  - {name: a}
  - {name: a}
"""


def places(validation: Validation) -> set[tuple[int, int, str, str]]:
    return {(item.line, item.column, item.field, item.reason) for item in errors(validation)}


def test_findings_have_their_place() -> None:
    assert places(validate(BROKEN)) == {
        (5, 3, "metadata.name", "FieldValueInvalid"),
        (8, 3, "spec.template", "FieldValueForbidden"),
        (9, 5, "spec.template.name", "FieldValueTypeInvalid"),
        (10, 3, "spec.replicas", "FieldValueTypeInvalid"),
        (13, 5, "spec.env[1]", "FieldValueDuplicate"),
    }


def test_traps_are_named_although_the_server_would_stop_at_other_faults() -> None:
    trap = next(item for item in validate(BROKEN).violations if item.trap)
    assert (trap.trap, trap.field) == (13, "spec.template")
    assert trap.message == "Forbidden: spec.template is not part of v1alpha2: use spec.profile, with name or selector"
    assert trap.equivalent == "use spec.profile, with name or selector"


def test_places_in_lists_and_in_json() -> None:
    item = {"apiVersion": f"{AIM_GROUP}/v1alpha2", "kind": "AIMProfile", "metadata": {"name": "a"}, "spec": {}}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [{"kind": "Other"}, item]}, indent=2)
    found = errors(validate(text))
    assert [(violation.field, violation.reason) for violation in found] == [("spec.image", "FieldValueRequired")]
    assert text.splitlines()[found[0].line - 1].strip() == '"spec": {}'


def test_items_of_a_list_of_one_kind_are_validated_as_that_kind() -> None:
    text = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMProfileList\nitems:\n- metadata: {{name: a}}\n  spec: {{}}\n"
    assert [(item.line, item.object, item.field) for item in errors(validate(text))] == [
        (5, "AIMProfile/a", "spec.image")
    ]


def test_places_of_merged_and_aliased_values() -> None:
    text = (
        "x: &x {replicas: a}\napiVersion: aim.eai.amd.com/v1alpha2\nkind: AIMService\nmetadata: {name: a}\n"
        "spec:\n  model: {name: b}\n  <<: *x\n"
    )
    found = {(item.line, item.field) for item in errors(validate(text))}
    assert found == {(1, "x"), (1, "spec.replicas")}


@pytest.mark.parametrize(
    ("kind", "spec", "field", "advice"),
    [
        ("AIMService", "{model: {name: a}, template: {selectionCriteria: {metric: latency}}}",
         "spec.template.selectionCriteria", "use spec.profile.selector: "),
        ("AIMService", "{model: {name: a}, overrides: {engineArgs: {a: b}}}",
         "spec.overrides.engineArgs", "use spec.profileOverrides.engineArgs: "),
        ("AIMService", "{model: {name: a}, runtimeConfigRef: {name: b}}",
         "spec.runtimeConfigRef", "did you mean runtimeConfigName?"),
        ("AIMService", "{model: {name: a}, replica: 1}", "spec.replica", "did you mean replicas?"),
        ("AIMModel", "{custom: {image: a}}", "spec.custom.image", "use spec.image: "),
        ("AIMProfile", "{image: a, modelName: b}", "spec.modelName", "state spec.image: "),
        ("AIMProfile", "{image: a, env: []}", "spec.env", "use spec.containerEnv: "),
        ("AIMClusterProfile", "{image: a, hardware: {gpu: {model: a}}}",
         "spec.hardware", "use spec.acceleratorModel: "),
        ("AIMProfile", "{image: a, modelSources: [{modelId: a/b, sourceUri: 'hf://a', sourceURI: b}]}",
         "spec.modelSources[0].sourceURI", "did you mean sourceUri?"),
    ],
)  # fmt: skip
def test_unknown_fields_come_with_what_to_write_instead(kind: str, spec: str, field: str, advice: str) -> None:
    text = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"
    found = next(item for item in errors(validate(text)) if item.reason == "FieldValueUnknown")
    assert found.field == field
    assert found.equivalent.startswith(advice)


@pytest.mark.parametrize(
    ("head", "message", "advice"),
    [
        ("apiVersion: aim.eai.amd.com/v1alpha2\nkind: AIMServiceTemplate", "no matches for kind", "use AIMProfile"),
        ("apiVersion: aim.eai.amd.com/v1alpha1\nkind: AIMProfile", "no matches for kind", "served at"),
        ("apiVersion: aim.eai.amd.com/v1\nkind: AIMService", "no matches for kind", "served at"),
        ("apiVersion: aim.eai.amd.com/v1alpha1\nkind: AIMUnheard", "no matches for kind", ""),
    ],
)
def test_kinds_that_no_server_serves(head: str, message: str, advice: str) -> None:
    found = errors(validate(f"{head}\nmetadata: {{name: a}}\nspec: {{}}\n"))
    assert [item.reason for item in found] == ["UnknownKind"]
    assert message in found[0].message
    assert advice in found[0].equivalent


def test_what_is_at_v1alpha1_is_taken_with_a_note() -> None:
    validation = validate(
        f"apiVersion: {AIM_GROUP}/v1alpha1\nkind: AIMModel\nmetadata: {{name: a}}\nspec: {{image: b}}\n"
    )
    assert validation.valid
    assert [(item.level, item.reason) for item in validation.violations] == [("note", "LegacyVersion")]


@pytest.mark.parametrize(
    ("kind", "spec", "instead"),
    [
        ("AIMServiceTemplate", "{modelName: b}", "use AIMProfile;"),
        ("AIMClusterServiceTemplate", "{modelName: b}", "use AIMClusterProfile;"),
        ("AIMTemplateCache", "{templateName: b, templateScope: Namespace}", "use spec.caching of the AIMProfile;"),
    ],
)
def test_kinds_of_the_template_pipeline_are_taken_with_a_note(kind: str, spec: str, instead: str) -> None:
    validation = validate(f"apiVersion: {AIM_GROUP}/v1alpha1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n")
    assert validation.valid
    (note,) = validation.violations
    assert (note.level, note.reason, note.field, note.line) == ("note", "LegacyVersion", "kind", 2)
    assert note.equivalent.startswith(instead)


def test_foreign_objects_are_counted_and_left_alone() -> None:
    validation = validate("apiVersion: v1\nkind: Pod\nspec: {nonsense: true}\n---\nkind: X\n")
    assert (validation.valid, validation.objects, validation.others) == (True, 0, 2)


def test_duplicate_keys_and_unreadable_parts_are_findings() -> None:
    text = (
        f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMModel\nmetadata: {{name: a}}\nspec: {{image: b, image: c}}\n"
        "---\na: {{ b }}\n"
    )
    assert [(item.line, item.reason) for item in errors(validate(text))] == [(6, "Unreadable"), (4, "DuplicateKey")]


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ("{}", "metadata.name"),
        ("{name: ''}", "metadata.name"),
        ("{name: a_b}", "metadata.name"),
        ("{name: 1}", "metadata.name"),
        ("{name: a, labels: {a: 1}}", "metadata.labels.a"),
        ("{name: a, labels: {'a b': c}}", "metadata.labels"),
        ("{name: a, labels: {a: 'b c'}}", "metadata.labels.a"),
        ("{name: a, annotations: {a: true}}", "metadata.annotations.a"),
        ("{name: a, annotations: []}", "metadata.annotations"),
        ("{name: a, labelz: {}}", "metadata.labelz"),
    ],
)
def test_metadata(metadata: str, field: str) -> None:
    text = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMModel\nmetadata: {metadata}\nspec: {{image: b}}\n"
    assert field in {item.field for item in errors(validate(text))}


@pytest.mark.parametrize("metadata", ["{generateName: a-}", "{name: a.b-1, labels: {a.b/c: '', d: E_f.g}, uid: ''}"])
def test_sound_metadata(metadata: str) -> None:
    text = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMModel\nmetadata: {metadata}\nspec: {{image: b}}\n"
    assert errors(validate(text)) == []


def fields() -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "spec.env[1].name", ("spec", "env", 1, "name")
    yield "spec.map.a.b/c", ("spec", "map", "a.b/c")
    yield "spec.map[a.b/c]", ("spec", "map", "a.b/c")
    yield "spec.env[7].name", ("spec", "env")
    yield "spec.absent.name", ("spec",)
    yield "", ()


@pytest.mark.parametrize(("field", "path"), list(fields()))
def test_fields_of_messages_are_found(field: str, path: tuple[object, ...]) -> None:
    value = {"spec": {"env": [{}, {"name": "x"}], "map": {"a": {"b/c": 1}, "a.b/c": 2}}}
    assert resolve_field(value, field) == path
