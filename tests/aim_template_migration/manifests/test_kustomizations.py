"""Kustomize takes no new object from a patch, and finds no object of a version that is gone."""

from pathlib import Path

import pytest

from aim_template_migration.manifests.converting import Conversion, convert_files
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.validating import validate_files
from tests.aim_template_migration.manifests.kubectl import built_by_kustomize

HEAD = "apiVersion: aim.eai.amd.com/v1alpha1\nkind: {}\nmetadata: {{name: s}}\nspec: {}\n"
PATCHED = "resources: [base/a.yaml]\npatches:\n- path: p/x.yaml\n"


def convert(files: dict[str, str]) -> Conversion:
    return convert_files([ManifestFile(name, read_manifest(text.encode())) for name, text in files.items()])


def to_decide(conversion: Conversion) -> list[str]:
    return [str(finding) for finding in findings_of(conversion.ledger) if finding.lost]


def built(conversion: Conversion, folder: Path) -> str:
    """Return what Kustomize makes of the files, or its complaint."""
    for file in conversion.files:
        path = folder / file.file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
    return built_by_kustomize(folder)


@pytest.mark.parametrize("first", ["kustomization.yaml", "p/x.yaml"])
def test_a_patch_gets_no_object_beside_it(first: str, tmp_path: Path) -> None:
    files = {
        "kustomization.yaml": PATCHED,
        "p/x.yaml": HEAD.format("AIMService", "{model: {image: 'x/y:2'}}"),
        "base/a.yaml": HEAD.format("AIMService", "{model: {image: 'x/y:1'}}"),
    }
    ordered = {first: files[first], **files}
    conversion = convert(ordered)
    patch = next(file for file in conversion.files if file.file.name == "p/x.yaml")
    assert not patch.changed
    (line,) = to_decide(conversion)
    assert line.startswith("p/x.yaml:2: AIMModel/y-2-875a7394 kind: Kustomize takes no new object from a patch, so the")
    assert (
        "write AIMModel/y-2-875a7394 with spec.image: x/y:2 to a file of the resources and name it in the patch" in line
    )
    assert "no matches for Id" in built(conversion, tmp_path)  # which is loud
    model = HEAD.format("AIMModel", "{image: 'x/y:2'}").replace("name: s", "name: y-2")
    again = convert({**files, "base/m.yaml": model})
    assert to_decide(again) == []
    assert next(file for file in again.files if file.file.name == "p/x.yaml").text.endswith("{model: {name: y-2}}\n")


def test_no_other_patch_takes_the_model_that_one_alone_knows() -> None:
    patch = HEAD.format("AIMService", "{model: {image: 'x/y:2'}}")
    files = {
        "kustomization.yaml": f"{PATCHED}- path: p/z.yaml\n",
        "p/x.yaml": patch,
        "p/z.yaml": patch,
        "base/a.yaml": HEAD.format("AIMService", "{model: {image: 'x/y:1'}}"),
    }
    conversion = convert(files)
    assert [line.partition(":")[0] for line in to_decide(conversion)] == ["p/x.yaml", "p/z.yaml"]
    assert [file.changed for file in conversion.files] == [False, False, False, True]


BASE = "{model: {name: m}, template: {name: t}, overrides: {engineArgs: {a: 1}}}"
SELECTS = "{model: {name: m}, template: {allowUnoptimized: true}}"


@pytest.mark.parametrize(
    ("base", "patch"),
    [
        (BASE, "{overrides: null, replicas: 2}"),
        (BASE, "{overrides: {engineArgs: null}}"),
        (BASE, "{overrides: {engineArgs: {b: 2}}}"),
        (BASE, "{template: null}"),
        ("{template: {name: t}, env: [{name: AIM_ENGINE_ARGS, value: '{\"a\": 1}'}]}", "{env: []}"),
        (SELECTS, "{template: {name: x}}"),
        (SELECTS, "{template: {allowUnoptimized: null}}"),
        ("", "{template: {name: x}}"),
        ("", "{overrides: null}"),
    ],
)
def test_a_patch_that_means_another_thing_converted_stays(base: str, patch: str) -> None:
    files = {"kustomization.yaml": PATCHED, "p/x.yaml": HEAD.format("AIMService", patch)}
    if base:
        files["base/a.yaml"] = HEAD.format("AIMService", base)
    conversion = convert(files)
    assert not conversion.files[1].changed
    (line,) = to_decide(conversion)
    assert line.startswith("p/x.yaml:2: AIMService/s kind: what becomes of this patch depends on the service")


@pytest.mark.parametrize(
    ("patch", "becomes"),
    [
        ("{template: {name: x}}", "{profile: {name: x}}"),
        ("{replicas: null}", "{replicas: null}"),
        ("{replicas: 2, model: {name: n}, template: {name: x}}", "{replicas: 2, model: {name: n}, profile: {name: x}}"),
    ],
)
def test_a_patch_that_means_the_same_is_converted(patch: str, becomes: str) -> None:
    files = {"base/a.yaml": HEAD.format("AIMService", BASE), "p/x.yaml": HEAD.format("AIMService", patch)}
    conversion = convert({"kustomization.yaml": PATCHED, **files})
    assert to_decide(conversion) == []
    expected = HEAD.replace("v1alpha1", "v1alpha2").format("AIMService", becomes)
    assert conversion.files[2].text == expected


def test_the_model_of_a_patch_is_one_of_the_resources() -> None:
    service = HEAD.format("AIMService", "{model: {image: 'x/y:1'}}")
    files = {"kustomization.yaml": PATCHED, "p/x.yaml": service, "base/a.yaml": service}
    conversion = convert(files)
    assert to_decide(conversion) == []
    assert [len(file.objects()) for file in conversion.files] == [1, 1, 2]


@pytest.mark.parametrize(
    "patches", ["patchesStrategicMerge: [./p/x.yaml]", "patches: [{path: p/../p/x.yaml, target: {kind: AIMService}}]"]
)
def test_a_patch_is_a_part_of_an_object(patches: str) -> None:
    patch = HEAD.format("AIMService", "{replicas: 2}")
    files = {"d/kustomization.yaml": f"{patches}\n", "d/p/x.yaml": patch}
    assert to_decide(convert(files)) == []
    assert len(to_decide(convert({**files, "d/kustomization.yaml": "resources: [p/x.yaml]\n"}))) == 1


@pytest.mark.parametrize("kind", ["AIMServiceTemplate", "AIMTemplateCache", "AIMModel"])
def test_a_patch_of_another_kind_stays_and_is_named(kind: str) -> None:
    files = {"kustomization.yaml": PATCHED, "p/x.yaml": HEAD.format(kind, "{env: [{name: A, value: b}]}")}
    conversion = convert(files)
    assert not any(file.changed for file in conversion.files)
    (line,) = to_decide(conversion)
    assert line.startswith(f"p/x.yaml:2: {kind}/s kind: this patches an object of the kind {kind}, and only the whole")


@pytest.mark.parametrize("field", ["patchesStrategicMerge:\n- |-\n", "patches:\n- patch: |-\n"])
def test_a_patch_that_a_kustomization_holds_itself_is_to_be_written_anew(field: str) -> None:
    patch = "".join(f"    {line}\n" for line in HEAD.format("AIMService", "{template: {name: t}}").splitlines())
    files = {"kustomization.yaml": f"resources: [a.yaml]\n{field}{patch}"}
    (line,) = to_decide(convert(files))
    assert line.endswith("stays as it is; write it anew for the converted object")
    files["kustomization.yaml"] = files["kustomization.yaml"].replace("v1alpha1", "v1alpha2")
    assert to_decide(convert(files)) == []


def test_a_patch_is_no_second_object() -> None:
    model = HEAD.format("AIMModel", "{image: 'x/y:1'}")
    files = {"kustomization.yaml": PATCHED, "p/x.yaml": model, "base/m.yaml": model}
    notes = [note.message for note in convert(files).ledger.notes]
    assert not [message for message in notes if "stands at" in message]
    del files["kustomization.yaml"]
    assert [note.message for note in convert(files).ledger.notes if "stands at p/x.yaml:1 as well" in note.message]


SOUND = HEAD.replace("v1alpha1", "v1alpha2")


def judged(patch: str, *, named: bool = True) -> list[tuple[str, str, str]]:
    """Return what validate says of a patch."""
    files = {
        "kustomization.yaml": PATCHED if named else "resources: [p/x.yaml]\n",
        "p/x.yaml": SOUND.format("AIMService", patch),
    }
    found = validate_files([ManifestFile(name, read_manifest(text.encode())) for name, text in files.items()])
    return [(item.level, item.field, item.reason) for item in found.violations]


NOTE = ("note", "kind", "KustomizePatch")


@pytest.mark.parametrize("patch", ["{replicas: 2}", "{replicas: null}", "{profile: {name: x}}", "{$patch: delete}"])
def test_a_patch_is_valid_as_a_part(patch: str) -> None:
    assert judged(patch) == [NOTE]
    assert any(level == "error" for level, _, _ in judged("{replicas: 2}", named=False))


@pytest.mark.parametrize(
    ("patch", "field", "reason"),
    [
        ("{replica: 2}", "spec.replica", "FieldValueUnknown"),
        ("{replicas: two}", "spec.replicas", "FieldValueTypeInvalid"),
        ("{caching: {mode: Sometimes}}", "spec.caching.mode", "FieldValueNotSupported"),
        ("{template: {name: t}}", "spec.template", "FieldValueForbidden"),
    ],
)
def test_what_no_object_has_is_wrong_in_a_patch_too(patch: str, field: str, reason: str) -> None:
    assert [(where, why) for level, where, why in judged(patch) if level == "error"] == [(field, reason)]
