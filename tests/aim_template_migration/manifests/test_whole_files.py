"""Files that kubectl takes or refuses whatever their objects are."""

import pytest

from aim_api.kinds import AIM_GROUP
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.validating import validate_files
from aim_template_migration.manifests.violations import Validation
from tests.aim_template_migration.manifests.file_cases import FILES, SERVICE, FileCase

HEAD = f"apiVersion: {AIM_GROUP}/v1alpha2\nkind: AIMService\n"


def validate(text: str) -> Validation:
    return validate_files([ManifestFile("f.yaml", read_manifest(text.encode()))])


@pytest.mark.parametrize("case", FILES, ids=str)
def test_a_file_is_judged_as_kubectl_judges_it(case: FileCase) -> None:
    validation = validate(case.text)
    errors = [item for item in validation.violations if item.level == "error"]
    assert validation.valid is case.taken
    assert tuple((item.line, item.field) for item in errors) == case.places
    assert case.message in (errors[0].message if errors else "")


@pytest.mark.parametrize("text", ["any text\n", "- op: replace\n  path: /spec\n", "a: b\n", "{}\n", "kind: X\n"])
def test_files_without_objects_of_the_aim_api_are_none_of_ours(text: str) -> None:
    assert validate(text).violations == ()
    both = [ManifestFile(name, read_manifest(content.encode())) for name, content in (("a", text), ("b", SERVICE))]
    assert validate_files(both).violations == ()


def test_an_item_of_a_refused_list_is_refused() -> None:
    case = next(case for case in FILES if case.name == "a typed list with another kind")
    assert (validate(case.text).objects, validate(case.text).refused) == (2, 2)


def test_the_way_out_of_a_typed_list_is_named() -> None:
    case = next(case for case in FILES if case.name == "a typed list of a replaced kind")
    assert validate(case.text).violations[0].equivalent.startswith("name the list apiVersion: v1 and kind: List")


def test_a_key_that_stands_twice_is_a_warning_of_its_own() -> None:
    validation = validate(f"{HEAD}metadata: {{name: a}}\nspec: {{model: {{name: b}}, replicas: 1, replicas: 2}}\n")
    (found,) = validation.violations
    assert (found.level, found.reason, found.line, found.column) == ("warning", "DuplicateKey", 4, 39)
    assert (found.object, found.field) == ("AIMService/a", "replicas")
    assert "kubectl takes the last one" in found.message
    assert (validation.valid, validation.flawless, validation.refused) == (True, False, 0)


def test_a_key_that_stands_twice_belongs_to_the_item_that_it_stands_in() -> None:
    item = "  metadata: {name: N}\n  spec: {model: {name: b, name: b}}\n"
    text = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        f"- {HEAD.replace(chr(10), chr(10) + '  ').rstrip(' ')}{item.replace('N', name)}" for name in "ab"
    )
    assert [item.object for item in validate(text).violations] == ["AIMService/a", "AIMService/b"]


def test_keys_that_stand_twice_in_objects_of_other_apis_are_none_of_ours() -> None:
    foreign = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1', x: '2'}\n"
    assert validate(f"{foreign}---\n{SERVICE}").violations == ()


def test_findings_of_a_file_come_in_its_order() -> None:
    text = f"{HEAD}metadata: {{name: A}}\nspec: {{model: {{name: b, name: c}}}}\n---\na: {{{{ b }}}}\n---\nany text\n"
    assert [(item.line, item.reason) for item in validate(text).violations] == [
        (3, "FieldValueInvalid"),
        (4, "DuplicateKey"),
        (6, "Unreadable"),
        (8, "NotAnObject"),
    ]
