import json
from collections.abc import Iterator

import pytest

from aim_api.kinds import AIM_GROUP
from aim_api.tree import Json, JsonObject
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.traps import TRAPS
from aim_template_migration.manifests.validating import Definition, resolve_field, server_errors, validate_files
from aim_template_migration.manifests.violations import Validation, Violation
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
    text = json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Other"}, item]}, indent=2
    )
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
         "spec.hardware", "use spec.acceleratorModel and spec.acceleratorCount: "),
        ("AIMService", "{model: {name: a}, overrides: {env: []}}",
         "spec.overrides.env", "decide about spec.profileOverrides.containerEnv: "),
        ("AIMService", "{model: {name: a}, overrides: {modelSources: []}}",
         "spec.overrides.modelSources", "use spec.profileOverrides.modelSources: "),
        ("AIMService", "{model: {name: a}, modelSources: []}",
         "spec.modelSources", "did you mean spec.profileOverrides.modelSources?"),
        ("AIMService", "{model: {name: a}, selector: {}}", "spec.selector", "did you mean spec.profile.selector?"),
        ("AIMModel", "{image: a, profiles: {selector: {}}}",
         "spec.profiles.selector", "did you mean spec.profiles.derivedFrom.selector?"),
        ("AIMModel", "{image: a, profiles: {sourceRef: {}}}",
         "spec.profiles.sourceRef", "did you mean spec.profiles.derivedFrom.sourceRef?"),
        ("AIMModel", "{image: a, engineArgs: {}}",
         "spec.engineArgs", "did you mean spec.profiles.overrides.engineArgs?"),
        ("AIMProfile", "{image: a, customProfile: {}}",
         "spec.customProfile", "use spec.engineArgs and spec.engineEnv: "),
        ("AIMProfileCache", "{profileName: a, profileScope: Namespace, templateName: b}",
         "spec.templateName", "did you mean profileName?"),
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
    ("kind", "spec"),
    [
        ("AIMModel", "{image: a, template: {}}"),
        ("AIMModel", "{image: a, customTemplate: {}}"),
        ("AIMService", "{model: {name: a}, templates: {}}"),
        ("AIMService", "{model: {name: a}, override: {}}"),
        ("AIMClusterProfile", "{image: a, cachin: {}}"),
    ],
)
def test_no_field_is_proposed_that_is_refused(kind: str, spec: str) -> None:
    text = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\n"
    (found,) = errors(validate(text))
    assert (found.reason, found.equivalent) == ("FieldValueUnknown", "")


def test_a_field_that_is_found_at_several_places_is_not_guessed() -> None:
    head = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMService\nmetadata: {{name: a}}\n"
    text = f"{head}spec: {{model: {{name: a}}, name: b}}\n"
    assert [item.equivalent for item in errors(validate(text))] == [""]


def test_caching_of_a_cluster_profile_is_named_beside_other_faults() -> None:
    head = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMClusterProfile\n"
    text = f"{head}metadata: {{name: a}}\nspec: {{caching: {{}}}}\n"
    found = {item.field: item for item in errors(validate(text))}
    assert set(found) == {"spec.image", "spec.caching"}
    assert "is not part of AIMClusterProfile" in found["spec.caching"].message
    assert found["spec.caching"].equivalent.startswith("set spec.caching.enabled on an AIMProfile")
    own = text.replace("AIMClusterProfile", "AIMProfile")
    assert [item.field for item in errors(validate(own))] == ["spec.image"]


@pytest.mark.parametrize(
    ("kind", "field", "advice"),
    [
        ("AIMServiceTemplate", "acceleratorModel", "use AIMProfile, which has it; convert does that"),
        ("AIMClusterServiceTemplate", "image", "use AIMClusterProfile, which has it; convert does that"),
        ("AIMServiceTemplate", "unheard", ""),
        ("AIMTemplateCache", "image", ""),
    ],
)
def test_a_field_of_the_kind_that_replaces_a_template(kind: str, field: str, advice: str) -> None:
    text = f"apiVersion: {AIM_GROUP}/v1alpha1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{{field}: b}}\n"
    found = next(item for item in errors(validate(text)) if item.reason == "FieldValueUnknown")
    assert (found.field, found.equivalent) == (f"spec.{field}", advice)


@pytest.mark.parametrize(
    ("head", "message", "advice"),
    [
        (
            "apiVersion: aim.eai.amd.com/v1alpha2\nkind: AIMServiceTemplate",
            "no matches for kind",
            "use AIMProfile; convert does that",
        ),
        (
            "apiVersion: aim.eai.amd.com/v1alpha2\nkind: AIMTemplateCache",
            "no matches for kind",
            "use spec.caching of the AIMProfile; convert does that",
        ),
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


OWNER = "{apiVersion: v1, kind: F, name: x, uid: z, controller: true}"


def test_unreadable_parts_are_findings() -> None:
    assert [(item.line, item.reason) for item in errors(validate("a: b\n---\na: {{ b }}\n"))] == [(3, "Unreadable")]


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ("5", "metadata"),
        ("[]", "metadata"),
        ("{name: a, namespace: Team_A}", "metadata.namespace"),
        ("{name: a, namespace: 5}", "metadata.namespace"),
        ("{name: a, finalizers: [a b]}", "metadata.finalizers[0]"),
        ("{name: a, finalizers: [a/b, 1]}", "metadata.finalizers[1]"),
        ("{name: a, finalizers: [orphan, foregroundDeletion]}", "metadata.finalizers"),
        ("{name: a, generateName: UPPER_}", "metadata.generateName"),
        ("{generateName: a.-}", "metadata.generateName"),
        ("{name: a, ownerReferences: [{apiVersion: v1, kind: Foo, name: x}]}", "metadata.ownerReferences[0].uid"),
        (
            "{name: a, ownerReferences: [{apiVersion: a/b/c, kind: Foo, name: x, uid: z}]}",
            "metadata.ownerReferences[0].apiVersion",
        ),
        ("{name: a, ownerReferences: [{apiVersion: v1, kind: Event, name: x, uid: z}]}", "metadata.ownerReferences[0]"),
        (
            "{name: a, ownerReferences: [{apiVersion: v1, kind: Foo, name: x, uid: z, foo: w}]}",
            "metadata.ownerReferences[0].foo",
        ),
        (f"{{name: a, ownerReferences: [{OWNER}, {OWNER.replace('z', 'w')}]}}", "metadata.ownerReferences[1]"),
        ("{name: a, selfLink: 5}", "metadata.selfLink"),
        ("{name: a, uid: 5}", "metadata.uid"),
        ("{name: a, generation: x}", "metadata.generation"),
        ("{name: a, creationTimestamp: yesterday}", "metadata.creationTimestamp"),
        ("{name: a, creationTimestamp: ''}", "metadata.creationTimestamp"),
        ("{name: a, managedFields: [{foo: 1}]}", "metadata.managedFields[0].foo"),
        ("{name: a, annotations: {a: " + "x" * 262144 + "}}", "metadata.annotations"),
        ("{name: a, annotations: {'a b': c}}", "metadata.annotations"),
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


def test_faults_of_metadata_say_what_the_server_says_and_what_to_write() -> None:
    text = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMModel\nmetadata:\n  name: a\n  labels:\n    b: 1\n    c d: e\n"
    found = {item.line: item for item in errors(validate(text + "  labelz: {}\nspec: {image: b}\n"))}
    assert found[6].message == "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"
    assert found[6].equivalent.startswith("write text, in quotes")
    assert found[7].message.startswith('Invalid value: "c d": name part must consist of')
    assert found[8].equivalent == "did you mean labels?"


def test_the_namespace_of_a_cluster_object_does_not_count() -> None:
    head = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMClusterModel\n"
    text = f"{head}metadata: {{name: a, namespace: B}}\nspec: {{image: b}}\n"
    assert errors(validate(text)) == []


SOUND = (
    "{generateName: a-}",
    "{name: a.b-1, labels: {a.b/c: '', d: E_f.g}, uid: ''}",
    "{name: a, labels: null, annotations: {A/b: null}, creationTimestamp: null, generation: -1}",
    "{name: a, finalizers: [a, a], resourceVersion: '5', creationTimestamp: '2026-11-30T1:00:00Z'}",
    f"{{name: a, ownerReferences: [{OWNER}, {OWNER}]}}",
)


@pytest.mark.parametrize("metadata", SOUND)
def test_sound_metadata(metadata: str) -> None:
    text = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMModel\nmetadata: {metadata}\nspec: {{image: b}}\n"
    assert errors(validate(text)) == []


def fields() -> Iterator[tuple[str, tuple[object, ...]]]:
    yield "spec.env[1].name", ("spec", "env", 1, "name")
    yield "spec.map.a.b/c", ("spec", "map", "a.b/c")
    yield "spec.map[a.b/c]", ("spec", "map", "a.b/c")
    yield "spec.env[7].name", ("spec", "env")
    yield "spec.map.a.b/c.d", ("spec", "map", "a.b/c")
    yield "spec.map[e[0]]", ("spec", "map", "e[0]")
    yield "spec.map.e[0]", ("spec", "map", "e[0]")
    yield "spec.absent.name", ("spec",)
    yield "", ()


@pytest.mark.parametrize(("field", "path"), list(fields()))
def test_fields_of_messages_are_found(field: str, path: tuple[object, ...]) -> None:
    value = {"spec": {"env": [{}, {"name": "x"}], "map": {"a": {"b/c": 1}, "a.b/c": 2, "e[0]": 3}}}
    assert resolve_field(value, field) == path


def definition_with(rule: str) -> Definition:
    spec: JsonObject = {"type": "object", "properties": {"size": {"type": "integer", "maximum": 3}}}
    return Definition(
        {
            "type": "object",
            "properties": {"metadata": {"type": "object"}, "spec": spec},
            "x-kubernetes-validations": [{"rule": rule, "message": "broken"}],
        }
    )


def sized(name: str, size: Json) -> JsonObject:
    return {"metadata": {"name": name}, "spec": {"size": size}}


def test_objects_of_one_value_are_judged_once_whatever_their_names() -> None:
    found = definition_with("self.spec.size != 2")
    for name in ("a", "b"):
        assert server_errors(sized(name, 1), found) == ([], [])
        assert [error.message for error in server_errors(sized(name, 2), found)[1]] == ["Invalid value: broken"]
        assert server_errors(sized(name, True), found)[1]
    assert len(found.judged) == 3


def test_objects_of_other_names_are_judged_anew_where_a_rule_reads_metadata() -> None:
    found = definition_with("self.metadata.name != 'b'")
    assert [len(server_errors(sized(name, 1), found)[1]) for name in ("a", "b", "a")] == [0, 1, 0]


def test_what_a_caller_does_with_a_judgement_does_not_change_it() -> None:
    found = definition_with("true")
    value = {**sized("a", 5), "other": 1}
    for _ in range(2):
        unknown, errors = server_errors(value, found)
        assert (unknown, len(errors)) == (["other"], 1)
        unknown.clear()
        errors.clear()


def test_a_value_that_has_no_json_is_judged_all_the_same() -> None:
    found = definition_with("true")
    assert len(server_errors({**sized("a", 5), "other": "\ud800"}, found)[1]) == 1
    assert found.judged == {}
