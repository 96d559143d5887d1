"""An input with a directory for each cluster: none of them gets what only another has."""

import json

import pytest

from aim_api.tree import JsonObject, get, get_str
from aim_template_migration.manifests.converting import Conversion, Options, convert_files
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.mapping.recipes.context import Values
from aim_template_migration.mapping.recipes.places import Placed, places_of
from tests.aim_template_migration.mapping.recipes.sound_inputs import SoundInputs

HEAD = "apiVersion: aim.eai.amd.com/v1alpha1\nkind: {}\nmetadata: {{name: {}, namespace: ml}}\nspec: {}\n"
SERVICE = HEAD.format("AIMService", "s", "{model: {image: 'a/b:1'}}")
SOURCES = "[{modelId: a/b, sourceUri: 'hf://a/b'}]"
TEMPLATE = HEAD.format(
    "AIMServiceTemplate", "t", f"{{modelName: m, image: 'a/b:1', aimId: a/b, modelId: a/b, modelSources: {SOURCES}}}"
)
CACHE = HEAD.format("AIMTemplateCache", "c", "{templateName: t, templateScope: Namespace}")
WEIGHTS = f"{{aimId: a/b, modelSources: {SOURCES}, custom: {{versionPolicy: any}}, customTemplates: [{{name: x}}]"
CUSTOM = HEAD.format("AIMModel", "m", f"{WEIGHTS}, image: 'a/b:1'}}")


def convert(files: dict[str, str], options: Options | None = None) -> Conversion:
    return convert_files([ManifestFile(name, read_manifest(text.encode())) for name, text in files.items()], options)


def to_decide(conversion: Conversion) -> list[str]:
    return [str(finding) for finding in findings_of(conversion.ledger) if finding.lost]


def objects(conversion: Conversion) -> dict[str, list[str]]:
    """Return the objects of each file, in words."""
    return {
        file.file.name: [f"{value.get('kind')}/{get_str(value, 'metadata', 'name')}" for value in file.objects()]
        for file in conversion.files
    }


def test_each_directory_gets_the_model_of_an_image() -> None:
    conversion = convert({"c1/s.yaml": SERVICE, "c2/s.yaml": SERVICE})
    assert to_decide(conversion) == []
    found = objects(conversion)
    assert found["c1/s.yaml"] == found["c2/s.yaml"]
    assert [name.partition("/")[0] for name in found["c2/s.yaml"]] == ["AIMModel", "AIMService"]
    again = convert({file.file.name: file.text for file in conversion.files})
    assert not any(file.changed for file in again.files)
    assert to_decide(again) == []


def test_the_model_of_one_directory_is_none_of_another() -> None:
    model = HEAD.format("AIMModel", "own", "{image: 'a/b:1'}")
    conversion = convert({"c1/s.yaml": SERVICE, "c1/m.yaml": model, "c2/s.yaml": SERVICE})
    assert to_decide(conversion) == []
    found = objects(conversion)
    assert [len(found[name]) for name in ("c1/s.yaml", "c1/m.yaml", "c2/s.yaml")] == [1, 1, 2]


def test_a_directory_that_all_use_gives_its_model_to_all() -> None:
    model = HEAD.format("AIMModel", "own", "{image: 'a/b:1'}")
    conversion = convert({"base/m.yaml": model, "c1/s.yaml": SERVICE, "c2/s.yaml": SERVICE})
    assert to_decide(conversion) == []
    assert all(len(names) == 1 for names in objects(conversion).values())


def test_each_directory_gets_the_base_model_of_a_custom_one() -> None:
    values = Values({"AIMModel/ml/m": {"baseModelName": "aim-base"}})
    conversion = convert({"d1/m.yaml": CUSTOM, "d2/m.yaml": CUSTOM}, Options(values=values))
    assert to_decide(conversion) == []
    assert all("AIMModel/aim-base" in names for names in objects(conversion).values())


@pytest.mark.parametrize("names", [("c1/t.yaml", "c2/t.yaml"), ("one.yaml", "two.yaml")])
def test_copies_of_a_template_are_no_loss(names: tuple[str, str]) -> None:
    conversion = convert(dict.fromkeys(names, TEMPLATE))
    assert to_decide(conversion) == []
    assert all(names == ["AIMProfile/t"] for names in objects(conversion).values())


def test_templates_of_one_name_that_differ_are_named_where_one_would_be_lost() -> None:
    other = TEMPLATE.replace("a/b:1", "a/b:2")
    (line,) = to_decide(convert({"one.yaml": TEMPLATE, "two.yaml": other}))
    assert "AIMProfile/ml/t is written twice" in line
    assert to_decide(convert({"c1/t.yaml": TEMPLATE, "c2/t.yaml": other})) == []


def enabled(conversion: Conversion) -> dict[str, bool]:
    profiles: list[tuple[str, JsonObject]] = [
        (file.file.name, value) for file in conversion.files for value in file.objects()
    ]
    return {name: get(value, "spec", "caching", "enabled") is True for name, value in profiles}


def test_each_directory_caches_what_its_own_cache_asks_for() -> None:
    both = {"c1/t.yaml": TEMPLATE, "c2/t.yaml": TEMPLATE}
    assert enabled(convert({**both, "c1/c.yaml": CACHE, "c2/c.yaml": CACHE})) == dict.fromkeys(both, True)
    assert enabled(convert({**both, "c2/c.yaml": CACHE})) == {"c1/t.yaml": False, "c2/t.yaml": True}
    together = {"one.yaml": TEMPLATE, "two.yaml": TEMPLATE}
    assert enabled(convert({**together, "c.yaml": CACHE})) == dict.fromkeys(together, True)


def test_a_cache_stays_where_only_another_directory_has_its_template() -> None:
    files = {"c1/s.yaml": SERVICE, "c2/s.yaml": SERVICE, "c1/t.yaml": TEMPLATE, "c2/c.yaml": CACHE}
    (line,) = [line for line in to_decide(convert(files)) if "c.yaml" in line]
    assert "c2 has no template and no profile t" in line


@pytest.mark.parametrize(
    ("names", "copies", "places"),
    [
        (["c1/a/s", "c2/s", "base/m", "c1/x"], ["c1/a/s", "c2/s"], ["c1", "c2", "", "c1"]),
        (["./x/c1/s", "x\\c2\\s", "x/c3/s"], ["./x/c1/s", "x\\c2\\s", "x/c3/s"], ["x/c1", "x/c2", "x/c3"]),
        (["a.yaml", "b.yaml", "c/a.yaml"], ["a.yaml", "b.yaml", "c/a.yaml"], ["", "", ""]),
        (["/r/c1/s", "/r/c2/s"], ["/r/c1/s", "/r/c1/s"], ["", ""]),
    ],
)
def test_directories_are_told_by_the_copies_in_them(names: list[str], copies: list[str], places: list[str]) -> None:
    assert places_of(names, {"AIMService/s": copies}) == places


MODELS = [HEAD.format("AIMModel", "m", f"{{image: 'a/b:{number}'}}") for number in (1, 2)]
CONFIGS = [HEAD.format("AIMRuntimeConfig", "default", f"{{env: [{{name: A, value: '{n}'}}]}}") for n in (1, 2)]
OF_THE_MODEL = HEAD.format(
    "AIMServiceTemplate", "t", f"{{modelName: m, aimId: a/b, modelId: a/b, modelSources: {SOURCES}}}"
)


def test_a_template_takes_image_and_environment_of_its_own_cluster() -> None:
    files = {f"c{number}/a.yaml": f"{MODELS[number]}---\n{CONFIGS[number]}" for number in (0, 1)}
    files |= {f"c{number}/t.yaml": OF_THE_MODEL for number in (0, 1)}
    conversion = convert(files)
    assert to_decide(conversion) == []
    assert not [note for note in conversion.ledger.notes if "stands at" in note.message]
    profiles = [file.objects()[0] for file in conversion.files if file.file.name.endswith("t.yaml")]
    found = [(get_str(one, "spec", "image"), get(one, "spec", "containerEnv", 0, "value")) for one in profiles]
    assert found == [("a/b:1", "1"), ("a/b:2", "2")]


def test_what_several_clusters_have_otherwise_is_nobodys_guess() -> None:
    files = {"c0/m.yaml": MODELS[0], "c1/m.yaml": MODELS[1], "base/t.yaml": OF_THE_MODEL}
    (line,) = to_decide(convert(files))
    assert "base/t.yaml:2: AIMProfile/ml/t spec.image" in line
    assert to_decide(convert({**files, "c1/m.yaml": MODELS[0]})) == []


OTHER = SERVICE.replace("name: s", "name: other")


def notes_of_models(files: dict[str, str]) -> list[str]:
    return [note.message for note in convert(files).ledger.notes if "which is written in" in note.message]


def test_overlays_of_one_base_are_apart_without_a_common_object() -> None:
    files = {
        "base/kustomization.yaml": "resources: [t.yaml]\n",
        "base/t.yaml": TEMPLATE,
        "o/east/kustomization.yaml": "resources: [../../base, s.yaml]\n",
        "o/east/s.yaml": SERVICE,
        "o/west/kustomization.yaml": "resources: [../../base, s.yaml]\n",
        "o/west/s.yaml": OTHER,
    }
    found = objects(convert(files))
    assert all(found[name][0].startswith("AIMModel/") for name in ("o/east/s.yaml", "o/west/s.yaml"))
    assert notes_of_models(files) == []
    files["all/kustomization.yaml"] = "resources: [../o/east, ../o/west]\n"
    found = objects(convert(files))  # one build has both
    assert [len(found[name]) for name in ("o/east/s.yaml", "o/west/s.yaml")] == [2, 1]


def test_a_model_that_two_directories_share_is_named_where_nothing_tells_them_apart() -> None:
    files = {"c/east/s.yaml": SERVICE, "c/west/s.yaml": OTHER, "c/west/t.yaml": OTHER.replace("other", "third")}
    (note,) = notes_of_models(files)
    assert "AIMModel/ml/b-1-" in note
    assert "which is written in c/east/s.yaml" in note
    assert "convert each of them on its own" in note
    assert notes_of_models({"c/s.yaml": SERVICE, "c/west/s.yaml": OTHER}) == []
    assert notes_of_models({**files, "c/kustomization.yaml": "resources: [east/s.yaml, west/s.yaml]\n"}) != []
    together = "resources: [east/s.yaml, west/s.yaml, west/t.yaml]\n"
    assert notes_of_models({**files, "c/kustomization.yaml": together}) == []


def test_a_place_has_what_stands_in_it_and_above_and_below_of_it_in_the_order_of_the_input() -> None:
    placed: Placed[int] = Placed()
    for number, place in enumerate(["envs/prod/east", "envs/dev", "", "envs/prod", "envs", "c10", "envs/prod"]):
        placed.add(place, number)
    assert list(placed.near("envs/prod")) == [0, 2, 3, 4, 6]
    assert list(placed.near("envs/prod/east")) == [0, 2, 3, 4, 6]
    assert list(placed.near("envs/dev")) == [1, 2, 4]
    assert list(placed.near("c1")) == [2]
    assert list(placed.near("")) == [*range(7)]


@pytest.mark.parametrize("seed", range(40))
def test_copies_in_two_directories_become_what_one_of_them_becomes_alone(seed: int) -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": SoundInputs(seed).several()})
    options = Options(inline=seed % 2 == 0, namespace="ml" if seed % 3 else "")
    alone, both = (
        convert({"c1/a.json": text}, options),
        convert(dict.fromkeys(("c1/a.json", "c2/a.json"), text), options),
    )
    assert [file.text for file in both.files] == [alone.files[0].text] * 2
    assert both.ledger.complete == alone.ledger.complete
