"""Each custom template serves afterwards what it served before: hardware, environment, engine arguments and identity.

What a template serves is worked out here from the rules of v1alpha1 alone (v1alpha1 facts, AIMModel and model
handling): its hardware over that of the model field by field, where the value that is not zero wins, and the
environment of a namespaced model below its own.
"""

import json
from dataclasses import dataclass, field
from random import Random

import pytest

from aim_api.tree import Json, JsonObject, get, get_map, get_objects, get_str
from aim_template_migration.mapping.recipes.context import Values
from aim_template_migration.mapping.recipes.conversion import ObjectConversion
from aim_template_migration.mapping.recipes.draft import Draft
from tests.aim_template_migration.mapping.recipes.sound_inputs import refusals

SOURCES: list[Json] = [{"modelId": "acme/x", "sourceUri": "s3://acme/x"}]
BASE = "registry.example/base:1"
QUICK = 1500


@dataclass(frozen=True)
class Served:
    """What a template serves; None where anything will do."""

    model: Json = None
    count: Json = None
    metric: Json = None
    precision: Json = None
    env: dict[str, Json] = field(default_factory=dict)
    arguments: Json = None
    aim_id: Json = None
    model_id: Json = None


def environment(*levels: list[JsonObject]) -> tuple[dict[str, Json], JsonObject]:
    """Return variables by name and the engine arguments of environments, lowest first."""
    env: dict[str, Json] = {}
    arguments: JsonObject = {}
    for item in (item for level in levels for item in level):
        if item["name"] == "AIM_ENGINE_ARGS":
            arguments |= json.loads(str(item["value"]))
        else:
            env[str(item["name"])] = item["value"]
    return env, arguments


def served_before(model: JsonObject, template: JsonObject) -> Served:
    spec = get_map(model, "spec")
    merged = {
        name: get(template, "hardware", "gpu", name) or get(spec, "custom", "hardware", "gpu", name)
        for name in ("model", "requests")
    }
    inherited = [] if model["kind"] == "AIMClusterModel" else get_objects(spec, "env")
    env, stated = environment(inherited, get_objects(template, "env"))
    arguments = get_map(template, "customProfile", "engineArgs") | stated  # the environment decides in the container
    sources = get_objects(spec, "modelSources")
    return Served(
        merged["model"] or None,
        merged["requests"],
        get(template, "profile", "metric"),
        get(template, "profile", "precision"),
        env,
        arguments,
        template.get("aimId") or (spec.get("aimId") if sources else None),
        template.get("modelId") or (sources[0]["modelId"] if sources else None),
    )


def served_after(value: JsonObject) -> Served:
    """Return what a profile, a profile set or a model that derives profiles serves."""
    spec = get_map(value, "spec")
    profiles = get_map(spec, "profiles")
    selected = get_map(profiles, "derivedFrom", "selector") or get_map(spec, "selector") or spec
    settings = get_map(profiles, "overrides") or get_map(spec, "overrides") or spec
    env, _ = environment(get_objects(settings, "containerEnv"))
    return Served(
        selected.get("acceleratorModel"),
        selected.get("acceleratorCount"),
        selected.get("metric"),
        selected.get("precision"),
        env,
        get_map(settings, "engineArgs"),
        settings.get("aimId"),
        settings.get("modelId"),
    )


def stands_for(draft: Draft, template: JsonObject) -> JsonObject | None:
    """Return the object of a template, None where the model's own derivation covers it."""
    name = f"{draft.name}-{get_str(template, 'name')}"
    return next((made.value for made in draft.beside if get_str(made.value, "metadata", "name") == name), None)


def check(model: JsonObject) -> Draft:
    values = Values({f"{model['kind']}/m": {"baseModelName": "base"}})
    (draft,) = ObjectConversion([model], values=values).drafts
    assert draft is not None
    for template in get_objects(model, "spec", "customTemplates"):
        before, made = served_before(model, template), stands_for(draft, template)
        if made is None:
            check_covered(before, served_after(draft.value))
        elif before.count == 0:
            assert refusals(made), "it asks for no accelerator, and a server takes it"
        else:
            assert served_after(made) == before
    return draft


def check_covered(before: Served, derived: Served) -> None:
    """Assert that a derivation has the definitions that a template means, with the template's settings."""
    for name in ("model", "count", "metric", "precision"):
        assert getattr(derived, name) in (None, getattr(before, name)), f"the derivation selects another {name}"
    assert (derived.env, derived.arguments) == (before.env, before.arguments)
    assert (derived.aim_id, derived.model_id) == (before.aim_id, before.model_id)


def model_with(
    *templates: JsonObject, hardware: JsonObject | None = None, kind: str = "AIMModel", **spec: Json
) -> JsonObject:
    custom: JsonObject = {"hardware": {"gpu": hardware}} if hardware is not None else {"versionPolicy": "any"}
    named = [{"name": f"t{index}", **template} for index, template in enumerate(templates)]
    whole: JsonObject = {"image": BASE, "aimId": "acme/x", "modelSources": SOURCES, "custom": custom, **spec}
    return {
        "apiVersion": "aim.eai.amd.com/v1alpha1",
        "kind": kind,
        "metadata": {"name": "m"},
        "spec": {**whole, "customTemplates": [*named]},
    }


def gpu(**fields: Json) -> JsonObject:
    return {"hardware": {"gpu": fields}}


OWN: JsonObject = {"env": [{"name": "A", "value": "b"}]}
ENGINE: JsonObject = {"customProfile": {"engineArgs": {"x": 1}}, "aimId": "acme/x", "modelId": "acme/x"}
TWO: JsonObject = {"model": "MI300X", "requests": 2}


@pytest.mark.parametrize("kind", ["AIMModel", "AIMClusterModel"])
@pytest.mark.parametrize("settings", [{}, OWN, ENGINE])
@pytest.mark.parametrize("own", [{}, gpu(requests=1), gpu(model="MI325X"), gpu(model="MI300X"), gpu(requests=0)])
def test_a_template_takes_the_hardware_of_its_model_where_it_states_none(
    own: JsonObject, settings: JsonObject, kind: str
) -> None:
    draft = check(model_with({**own, **settings}, hardware=TWO, kind=kind))
    assert not [fate for fate in draft.fates() if fate.lost]
    assert not [field for made in draft.beside for field in refusals(made.value)]


@pytest.mark.parametrize(
    ("own", "covered"),
    [
        ({}, True),
        (gpu(model="MI300X", requests=2), True),
        (gpu(requests=0), True),
        (gpu(model="MI325X", requests=1), False),
        (gpu(requests=4), False),
        ({"acceleratorModel": "MI325X"}, False),
        ({"acceleratorCount": 2}, True),
    ],
)
def test_a_derivation_covers_only_templates_whose_hardware_it_selects(own: JsonObject, covered: bool) -> None:
    draft = check(model_with(own, hardware=TWO)) if "hardware" in own else converted(model_with(own, hardware=TWO))
    kinds = [made.value["kind"] for made in draft.beside]
    assert kinds == (["AIMModel"] if covered else ["AIMModel", "AIMProfileSet"])


def converted(model: JsonObject) -> Draft:
    (draft,) = ObjectConversion([model], values=Values({"AIMModel/m": {"baseModelName": "base"}})).drafts
    assert draft is not None
    return draft


def test_without_own_weights_the_hardware_goes_to_the_templates_alone() -> None:
    draft = check(model_with(OWN, gpu(requests=1), hardware=TWO, modelSources=[]))
    assert draft.value["spec"] == {"image": BASE, "aimId": "acme/x"}
    assert not [fate for fate in draft.fates() if fate.lost]


def test_video_memory_that_a_template_takes_from_its_model_keeps_servers_from_taking_its_object() -> None:
    draft = converted(model_with(OWN, hardware={"minVram": "192Gi"}))
    assert "spec.hardware" in refusals(draft.beside[-1].value)
    assert refusals(draft.value)


def test_a_field_that_is_unknown_keeps_servers_from_taking_the_object_of_the_template() -> None:
    for template in ({"bogus": 1}, {"selector": {"aimId": "a/b"}}, {**OWN, "bogus": [1]}, {**ENGINE, "bogus": 1}):
        draft = converted(model_with(template))
        assert [fate.path[:3] for fate in draft.fates() if fate.lost] == [("spec", "customTemplates", 0)]
        made = draft.beside[-1].value
        assert refusals(made) == ["spec.customTemplate"]
        assert get(made, "spec", "customTemplate", next(reversed(template))) == template[next(reversed(template))]


class RandomModels:
    """Random models with custom templates of the served schema."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def model(self) -> JsonObject:
        templates = [self.template() for _ in range(self.random.randint(1, 4))]
        spec: JsonObject = {"env": self.env()}
        if self.random.random() < 0.3:
            spec["modelSources"] = []
        hardware = self.gpu() if self.random.random() < 0.8 else None
        kind = self.random.choice(("AIMModel", "AIMClusterModel"))
        return model_with(*templates, hardware=hardware, kind=kind, **spec)

    def gpu(self) -> JsonObject:
        found: JsonObject = {
            "model": self.random.choice(("", "MI300X", "MI325X")),
            "requests": self.random.choice((0, 1, 2)),
        }
        return {name: value for name, value in found.items() if self.random.random() < 0.7}

    def env(self) -> list[Json]:
        names = [name for name in ("A", "B", "AIM_ENGINE_ARGS") if self.random.random() < 0.3]
        return [{"name": name, "value": self.value(name)} for name in names]

    def value(self, name: str) -> str:
        number = self.random.randint(1, 3)
        return json.dumps({self.random.choice("xy"): number}) if name == "AIM_ENGINE_ARGS" else str(number)

    def template(self) -> JsonObject:
        found: JsonObject = {
            "hardware": {"gpu": self.gpu()},
            "profile": {"metric": "latency", "precision": "fp8"},
            "env": self.env(),
            "aimId": self.random.choice(("acme/x", "acme/z")),
            "modelId": self.random.choice(("acme/x", "acme/z")),
            "customProfile": {"engineArgs": {"x": 9}},
        }
        found = {name: value for name, value in found.items() if self.random.random() < 0.5}
        if "customProfile" in found:  # whose identity a server wants stated
            found |= {"aimId": "acme/x", "modelId": "acme/x"}
        return found


def test_random_models() -> None:
    for seed in range(QUICK):
        try:
            check(RandomModels(seed).model())
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
