"""Kustomize takes no new object from a patch, and finds no object of a version that is gone."""

from pathlib import Path

import pytest

from aim_template_migration.manifests.converting import Conversion, convert_files
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
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
    (service,) = patch.objects()
    assert service["spec"] == {"model": {"name": "y-2-875a7394"}}
    sentence = "Kustomize takes no new object from a patch; write this one to a file of the resources"
    assert to_decide(conversion) == [f"p/x.yaml:4: AIMModel/y-2-875a7394 kind: {sentence}"]
    assert "name: y-2-875a7394" in built(conversion, tmp_path)


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
