"""The guide's own examples (G), each before and after, as golden files."""

from pathlib import Path

import pytest

from aim_api.kinds import AIM_KINDS, Kind
from aim_api.tree import Json, JsonObject, get_objects, get_str
from aim_template_migration.manifests.converting import Conversion, Options, convert_files
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.objects import objects_of
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.mapping.recipes.context import Values
from tests.support.controlplane.server import ControlPlane

FOLDER = Path(__file__).parent / "guide"
RECIPES = sorted(path.name.removesuffix(".before.yaml") for path in FOLDER.glob("*.before.yaml"))
KINDS = {(kind.name, kind.version): kind for kind in AIM_KINDS}


def objects(path: Path) -> list[JsonObject]:
    return [place.value for place in objects_of(read_manifest(path.read_bytes()))]


def convert(recipe: str, *, inline: bool = False, values: bool = True) -> Conversion:
    before = ManifestFile("before.yaml", read_manifest((FOLDER / f"{recipe}.before.yaml").read_bytes()))
    path = FOLDER / f"{recipe}.values.yaml"
    given = read_manifest(path.read_bytes()).documents[0].value if values and path.exists() else {}
    assert isinstance(given, dict)
    by_id = {key: value for key, value in given.items() if isinstance(value, dict)}
    # The guide's cache states no namespace, and the profile that it belongs to does.
    return convert_files([before], Options(values=Values(by_id), inline=inline, namespace="ml-team"))


@pytest.mark.parametrize("recipe", RECIPES)
def test_it_becomes_what_the_guide_shows(recipe: str) -> None:
    conversion = convert(recipe)
    assert conversion.files[0].objects() == objects(FOLDER / f"{recipe}.after.yaml")
    assert conversion.ledger.complete, findings_of(conversion.ledger)


@pytest.mark.parametrize("recipe", RECIPES)
def test_converting_again_changes_nothing(recipe: str) -> None:
    converted = convert(recipe).files[0]
    again = convert_files([ManifestFile("after.yaml", read_manifest(converted.data))])
    assert not again.files[0].changed
    assert again.ledger.complete


def test_base_image_and_profiles_go_into_one_model_where_that_is_wanted() -> None:
    conversion = convert("custom-model", inline=True)
    assert conversion.files[0].objects() == objects(FOLDER / "custom-model-inline.after.yaml")
    assert conversion.ledger.complete


def test_without_values_a_custom_model_is_refused_by_the_server_and_says_what_it_needs() -> None:
    conversion = convert("custom-model", values=False)
    base, derived = conversion.files[0].objects()
    assert "name" not in (base["metadata"] or {})  # type: ignore[operator]
    selector = derived["spec"]["profiles"]["derivedFrom"]["selector"]  # type: ignore[index, call-overload]
    assert selector == {"role": "base", "modelRef": {}}
    assert [need.field for need in conversion.ledger.needs] == ["metadata.name"]


def test_without_values_a_profile_is_refused_by_the_server_and_says_what_it_needs() -> None:
    conversion = convert("template", values=False)
    profile = conversion.files[0].objects()[0]["spec"]
    assert isinstance(profile, dict)
    assert not profile.keys() & {"image", "aimId", "modelId"}
    assert profile["modelSources"] == [{}]
    assert {need.field for need in conversion.ledger.needs} == {
        "spec.image",
        "spec.aimId",
        "spec.modelId",
        "spec.modelSources",
    }


def kind_of(value: JsonObject) -> Kind:
    version = (get_str(value, "apiVersion") or "").rpartition("/")[2]
    return KINDS[get_str(value, "kind") or "", version]


def create(plane: ControlPlane, namespace: str, value: JsonObject) -> tuple[int, Json]:
    kind = kind_of(value)
    metadata = value["metadata"]
    assert isinstance(metadata, dict)
    sent: JsonObject = {**value, "metadata": {key: item for key, item in metadata.items() if key != "namespace"}}
    query = {"fieldValidation": "Strict", "fieldManager": "tests", "dryRun": "All"}
    answer = plane.client().post(kind.path(namespace if kind.namespaced else None), sent, query=query)
    return answer.status, answer.body


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_real_server_accepts_it(aim_plane: ControlPlane, namespace: str, recipe: str, inline: bool) -> None:
    for value in convert(recipe, inline=inline).files[0].objects():
        status, body = create(aim_plane, namespace, value)
        assert status == 201, body


@pytest.mark.parametrize("recipe", ["custom-model", "template"])
def test_a_real_server_refuses_it_while_values_are_missing(
    aim_plane: ControlPlane, namespace: str, recipe: str
) -> None:
    for value in convert(recipe, values=False).files[0].objects():
        status, body = create(aim_plane, namespace, value)
        assert status == 422, body
        assert get_objects(body, "details", "causes")
