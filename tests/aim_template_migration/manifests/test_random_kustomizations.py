"""What is built of a converted Kustomization is the conversion of what was built of it."""

from pathlib import Path

import pytest

from aim_api.tree import JsonObject, get, get_str, has
from aim_template_migration.mapping.defaulting import normalised
from tests.aim_template_migration.manifests.kubectl import built_by_kustomize
from tests.aim_template_migration.manifests.random_kustomizations import RandomKustomization
from tests.aim_template_migration.manifests.test_kustomizations import convert, to_decide


def build(files: dict[str, str], folder: Path) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return built_by_kustomize(folder / "overlay")


def services(text: str) -> list[JsonObject]:
    """Return the converted services, without the annotation that says again what spec.profile says."""
    found = [value for file in convert({"all.yaml": text}).files for value in file.objects()]
    for value in found:
        if has(value, "spec", "profile"):
            value["metadata"] = {key: get(value, "metadata", key) for key in ("name", "namespace", "labels")}
    kept = (normalised(value) for value in found if get_str(value, "kind") == "AIMService")
    found = [value for value in kept if isinstance(value, dict)]
    return sorted(
        ({"spec": {}, **value} for value in found), key=lambda value: get_str(value, "metadata", "name") or ""
    )


def check(seed: int, folder: Path) -> bool:
    """Check one input; return whether there was something to compare."""
    files = RandomKustomization(seed).files
    before = build(files, folder / "before")
    if "kind: AIMService" not in before:
        return False  # Kustomize refuses the patches as they are
    conversion = convert(files)
    texts = {file.file.name: file.text for file in conversion.files}
    again = convert(texts)
    assert not any(file.changed for file in again.files), seed
    if to_decide(conversion):
        return False
    assert services(build(texts, folder / "after")) == services(before), seed
    return True


@pytest.mark.parametrize("seed", range(12))
def test_a_build_is_converted_alike(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.slow
def test_many_builds_are_converted_alike(tmp_path: Path) -> None:
    compared = sum(check(seed, tmp_path / str(seed)) for seed in range(1000, 1100))
    assert compared > 15
