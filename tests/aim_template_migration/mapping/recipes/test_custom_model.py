"""Details of custom models that long runs of random inputs have found."""

import pytest

from aim_api.tree import Json, JsonObject
from aim_template_migration.mapping.recipes.context import Values
from aim_template_migration.mapping.recipes.conversion import ObjectConversion
from aim_template_migration.mapping.recipes.draft import Draft
from aim_template_migration.mapping.recipes.ledger import Path
from tests.aim_template_migration.mapping.recipes.sound_inputs import refusals

SOURCES = [{"modelId": "a/b", "sourceUri": "hf://a/b"}]
GIVEN = Values({"AIMModel/m": {"baseModelName": "base"}})


def converted(spec: JsonObject, *, inline: bool = False) -> Draft:
    whole: JsonObject = {"custom": {"versionPolicy": "any"}, "aimId": "a/b", "modelSources": SOURCES, **spec}
    model: JsonObject = {
        "apiVersion": "aim.eai.amd.com/v1alpha1",
        "kind": "AIMModel",
        "metadata": {"name": "m"},
        "spec": whole,
    }
    # A fine-tune has no templates, so one keeps the model a custom one.
    whole.setdefault("customTemplates", [{"name": "t"}])
    (draft,) = ObjectConversion([model], values=GIVEN, inline=inline).drafts
    assert draft is not None
    return draft


def lost(draft: Draft) -> list[tuple[object, ...]]:
    return [fate.path for fate in draft.fates() if fate.lost]


def test_a_runtime_config_of_an_inline_model_is_left_to_be_decided() -> None:
    draft = converted({"image": "r/i:1", "runtimeConfigName": "fast"}, inline=True)
    assert lost(draft) == [("spec", "runtimeConfigName")]
    assert "spec.runtimeConfigName" in refusals(draft.value)
    empty = converted({"image": "r/i:1", "runtimeConfigName": ""}, inline=True)
    assert not lost(empty)
    assert refusals(empty.value) == []


def test_two_base_images_are_left_to_be_decided() -> None:
    draft = converted({"image": "r/i:1", "custom": {"image": "r/j:1"}})
    assert lost(draft) == [("spec", "custom", "image")]
    assert [made.value["spec"] for made in draft.beside] == [{"image": "r/i:1"}]
    assert refusals(draft.value)


def test_engine_arguments_that_are_no_object_stay_where_they_are_refused() -> None:
    template: JsonObject = {"name": "t", "customProfile": {"engineArgs": [1]}}
    draft = converted({"image": "r/i:1", "customTemplates": [template]})
    assert lost(draft) == [("spec", "customTemplates", 0, "customProfile", "engineArgs", 0)]
    profile = draft.beside[-1].value
    assert profile["kind"] == "AIMProfile"
    assert refusals(profile) == ["spec.customProfile"]


def test_variables_keep_their_places_beside_what_is_none() -> None:
    template: JsonObject = {"name": "t", "env": [1, {"name": "A", "value": "x"}]}
    draft = converted({"image": "r/i:1", "customTemplates": [template]})
    assert lost(draft) == [("spec", "customTemplates", 0, "env", 0)]
    assert draft.beside[-1].origins["spec", "overrides", "containerEnv", 0] == (
        "spec", "customTemplates", 0, "env", 1,
    )  # fmt: skip


def test_a_template_with_another_identity_is_not_covered_by_the_derivation() -> None:
    same = converted({"image": "r/i:1", "customTemplates": [{"name": "t", "modelId": "a/b"}]})
    assert [made.value["kind"] for made in same.beside] == ["AIMModel"]
    other = converted({"image": "r/i:1", "customTemplates": [{"name": "t", "modelId": "a/c"}]})
    assert [made.value["kind"] for made in other.beside] == ["AIMModel", "AIMProfileSet"]
    assert other.beside[-1].value["spec"]["overrides"]["modelId"] == "a/c"  # type: ignore[index,call-overload]
    assert not lost(same)
    assert not lost(other)


@pytest.mark.parametrize(
    ("stated", "path", "reason", "advice"),
    [
        ({"name": 7}, ("name",), "spec.customTemplates[0].name is text, and here it is a number", "put it in quotes"),
        (
            {"name": True},
            ("name",),
            "spec.customTemplates[0].name is text, and here it is a boolean",
            "put it in quotes",
        ),
        (
            {"profile": ["latency"]},
            ("profile", 0),
            "spec.customTemplates[0].profile is an object in v1alpha1, and here it is a list",
            "write it as an object, or remove it",
        ),
        ({"color": "red"}, ("color",), "a custom template has no such field", "remove it"),
    ],
)
def test_a_field_of_a_template_with_a_wrong_type_is_no_unknown_one(
    stated: JsonObject, path: Path, reason: str, advice: str
) -> None:
    draft = converted({"image": "r/i:1", "customTemplates": [{"engine": "vllm", "env": [{"name": "A"}], **stated}]})
    (found,) = [fate for fate in draft.fates() if fate.lost]
    assert found.path == ("spec", "customTemplates", 0, *path)
    assert (found.reason, found.advice) == (reason, advice)


def model(name: str, spec: JsonObject) -> JsonObject:
    metadata: JsonObject = {"name": name}
    return {"apiVersion": "aim.eai.amd.com/v1alpha1", "kind": "AIMModel", "metadata": metadata, "spec": spec}


def custom(name: str, **settings: Json) -> JsonObject:
    hardware: JsonObject = {"gpu": {"model": "MI300X"}}
    spec = {"image": "r/i:1", "aimId": "a/b", "modelSources": SOURCES, "custom": {"hardware": hardware}, **settings}
    return model(name, spec)


class TestASettingOfTheBaseImage:
    def test_that_its_model_states_as_well_is_nothing_to_decide(self) -> None:
        base = model("base", {"image": "r/i:1", "runtimeConfigName": "fast", "discovery": {"extractMetadata": False}})
        stated = custom("m", runtimeConfigName="fast", discovery={"extractMetadata": False})
        _, draft = ObjectConversion([base, stated]).drafts
        assert draft is not None
        assert not lost(draft)
        assert refusals(draft.value) == []
        (fate,) = [fate for fate in draft.fates() if fate.path == ("spec", "runtimeConfigName")]
        assert (fate.object, fate.target) == ("AIMModel/base", ("spec", "runtimeConfigName"))

    @pytest.mark.parametrize("first", [{}, {"runtimeConfigName": "fast"}])
    def test_goes_to_the_model_that_another_custom_model_needs_as_well(self, first: JsonObject) -> None:
        values = Values({f"AIMModel/{name}": {"baseModelName": "base"} for name in "mn"})
        drafts = ObjectConversion([custom("m", **first), custom("n", runtimeConfigName="fast")], values=values).drafts
        whole = [draft for draft in drafts if draft is not None]
        assert [lost(draft) for draft in whole] == [[], []]
        (base,) = [made.value for draft in whole for made in draft.beside]
        assert base["spec"] == {"image": "r/i:1", "runtimeConfigName": "fast"}

    @pytest.mark.parametrize("other", [{}, {"runtimeConfigName": "slow"}])
    def test_that_its_model_of_the_input_does_not_have_is_left(self, other: JsonObject) -> None:
        _, draft = ObjectConversion(
            [model("base", {"image": "r/i:1", **other}), custom("m", runtimeConfigName="fast")]
        ).drafts
        assert draft is not None
        assert lost(draft) == [("spec", "runtimeConfigName")]
        assert refusals(draft.value)

    def test_without_a_value_is_left_out(self) -> None:
        _, draft = ObjectConversion([model("base", {"image": "r/i:1"}), custom("m", runtimeConfigName="")]).drafts
        assert draft is not None
        assert not lost(draft)
        assert refusals(draft.value) == []
