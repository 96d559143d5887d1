"""Conversions of what the served v1alpha1 schemas hold, as golden files: text, comments and messages to the letter."""

from pathlib import Path

import pytest

from aim_api.kinds import AIM_KINDS
from aim_api.tree import JsonObject, get_str
from aim_template_migration.manifests.converting import Conversion, Options, convert_files
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.given_values import parse_values
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.mapping.recipes.context import Values
from tests.support.controlplane.server import ControlPlane

FOLDER = Path(__file__).parent / "served"
NAMES = sorted(path.name.removesuffix(".before.yaml") for path in FOLDER.glob("*.before.yaml"))
KINDS = {(kind.name, kind.version): kind for kind in AIM_KINDS}
REFUSED = {"overrides": "AIMService/undecided", "settings-of-custom-templates": "AIMProfileSet/acme-tuned"}
"""Outputs with something to decide about, which a server refuses."""


def convert(name: str) -> Conversion:
    before = ManifestFile(f"{name}.yaml", read_manifest((FOLDER / f"{name}.before.yaml").read_bytes()))
    path = FOLDER / f"{name}.values.yaml"
    values = parse_values(path.read_bytes()) if path.exists() else Values()
    return convert_files([before], Options(values=values))


def messages(conversion: Conversion) -> str:
    return "".join(f"{finding}\n" for finding in findings_of(conversion.ledger))


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_the_golden_one(name: str) -> None:
    conversion = convert(name)
    assert conversion.files[0].text == (FOLDER / f"{name}.after.yaml").read_text()
    assert messages(conversion) == (FOLDER / f"{name}.messages.txt").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_converting_again_changes_nothing(name: str) -> None:
    again = convert_files([ManifestFile("again.yaml", read_manifest(convert(name).files[0].data))])
    assert not again.files[0].changed


@pytest.mark.parametrize("name", NAMES)
def test_a_real_server_accepts_all_but_what_has_to_be_decided(
    aim_plane: ControlPlane, namespace: str, name: str
) -> None:
    for value in convert(name).files[0].objects():
        kind = KINDS.get((get_str(value, "kind") or "", (get_str(value, "apiVersion") or "").rpartition("/")[2]))
        if kind is None:
            continue
        metadata = value["metadata"]
        assert isinstance(metadata, dict)
        sent: JsonObject = {**value, "metadata": {key: item for key, item in metadata.items() if key != "namespace"}}
        query = {"fieldValidation": "Strict", "fieldManager": "tests", "dryRun": "All"}
        answer = aim_plane.client().post(kind.path(namespace if kind.namespaced else None), sent, query=query)
        expected = (400, 422) if REFUSED.get(name) == f"{kind.name}/{metadata['name']}" else (201,)
        assert answer.status in expected, answer.body
