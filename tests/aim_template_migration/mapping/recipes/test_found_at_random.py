"""Cases that random conversions have found, each in plain terms; their seeds are tried in the tests of the long run."""

import pytest

from aim_api.tree import Json, JsonObject, get
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.context import Values
from aim_template_migration.mapping.recipes.conversion import ObjectConversion
from aim_template_migration.mapping.recipes.draft import Draft
from aim_template_migration.mapping.recipes.ledger import LeafFate
from tests.aim_template_migration.mapping.recipes.sound_inputs import refusals
from tests.aim_template_migration.mapping.recipes.test_properties import outputs

GROUP = "aim.eai.amd.com"
SOURCES: list[Json] = [{"modelId": "a/b", "sourceUri": "hf://a/b"}]
PROFILE: JsonObject = {"image": "x:1", "aimId": "a/b", "modelId": "a/b", "modelSources": SOURCES}


def made(kind: str, name: str, spec: Json, version: str = "v1alpha1") -> JsonObject:
    metadata: JsonObject = {"name": name, "namespace": "team"}
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": metadata, "spec": spec}


def service(**spec: Json) -> JsonObject:
    return made("AIMService", "chat", dict(spec))


def template(name: str = "one", **spec: Json) -> JsonObject:
    return made("AIMServiceTemplate", name, {"modelName": "m", "aimId": "a/b", "modelSources": SOURCES, **spec})


def cache(name: str, **spec: Json) -> JsonObject:
    return made("AIMTemplateCache", name, {"templateName": "one", "templateScope": "Namespace", **spec})


def converted(objects: list[JsonObject], values: Values | None = None, *, inline: bool = False) -> list[Draft]:
    """Convert objects, and see that a second conversion changes nothing."""
    drafts = ObjectConversion(objects, values=values, inline=inline).drafts
    written = outputs(objects, drafts)
    again = ObjectConversion(written, values=values, inline=inline).drafts
    assert outputs(written, again) == written
    return [draft for draft in drafts if draft is not None]


def lost(draft: Draft) -> dict[str, LeafFate]:
    return {".".join(map(str, fate.path)): fate for fate in draft.fates() if fate.lost}


def given(**values: Json) -> Values:
    return Values({"AIMService/team/chat": dict(values)})


class TestACacheWithSeveralProfiles:
    """Before, the cache went to the template's profile at first, and to the other one when it was converted again."""

    def test_of_a_template_and_of_a_profile_of_one_name(self) -> None:
        profile = made("AIMProfile", "one", PROFILE, "v1alpha2")
        found, _, kept = converted([profile, template(), cache("c")])
        assert not kept.removed
        assert {fate.reason for fate in lost(kept).values()} == {
            "the input gives several profiles one, and nothing says which of them was cached"
        }
        assert found.value == profile

    def test_copies_of_one_template_get_it_all(self) -> None:
        first, second, gone = converted([template(), template(), cache("c")])
        assert gone.removed
        assert [draft.get("spec", "caching") for draft in (first, second)] == [{"enabled": True}] * 2


class TestTwoCachesOfOneTemplate:
    """Before, the variables of the later one replaced those of the earlier one, of which the ledger said otherwise."""

    def test_whose_variables_contradict_each_other(self) -> None:
        profile, first, second = converted(
            [
                template(),
                cache("c", env=[{"name": "HF_HOME", "value": "/a"}]),
                cache("d", env=[{"name": "TOKEN", "value": "t"}, {"name": "HF_HOME", "value": "/b"}]),
            ]
        )
        assert (first.removed, second.removed) == (True, False)
        assert profile.get("spec", "caching", "env") == [{"name": "HF_HOME", "value": "/a"}]
        assert "has another value of the variable HF_HOME" in lost(second)["spec.templateName"].reason

    def test_whose_variables_go_together(self) -> None:
        variables: list[Json] = [{"name": "HF_HOME", "value": "/a"}, {"name": "TOKEN", "value": "t"}]
        profile, first, second = converted([template(), cache("c", env=variables[:1]), cache("d", env=variables)])
        assert first.removed
        assert second.removed
        assert profile.get("spec", "caching", "env") == variables

    def test_that_contradicts_the_profile(self) -> None:
        own: JsonObject = {"env": [{"name": "HF_HOME", "value": "/a"}]}
        profile, kept = converted([template(caching=own), cache("c", env=[{"name": "HF_HOME", "value": "/b"}])])
        assert not kept.removed
        assert profile.get("spec", "caching") == own


class TestAGivenProfileName:
    """Before, a name that is given was put in only once what stands for nothing was gone."""

    def test_beside_criteria_that_select_nothing(self) -> None:
        nothing: JsonObject = {"allowUnoptimized": False, "selectionCriteria": {}}
        arguments: JsonObject = {"engineArgs": {"max-model-len": "32768"}}
        (draft,) = converted(
            [service(model={"name": "m"}, template=nothing, overrides=arguments)], given(profileName="p")
        )
        assert draft.get("spec", "profile") == {"name": "p"}
        assert draft.get("spec", "profileOverrides", "engineArgs") == {"max-model-len": 32768}

    @pytest.mark.parametrize("shape", [["a"], 1.5, "one"])
    def test_beside_a_template_that_is_none(self, shape: Json) -> None:
        overrides: JsonObject = {"modelSources": SOURCES, "hardware": {"gpu": {"requests": 2}}}
        (draft,) = converted([service(template=shape, overrides=overrides)], given(profileName="p"))
        assert draft.get("spec", "profile") == {"name": "p"}
        assert "spec.overrides.hardware.gpu.requests" in lost(draft)


class TestAGivenModelName:
    """Before, the image was said to stand in a model that has another image, or that was written nowhere."""

    def test_of_two_images(self) -> None:
        services = [made("AIMService", name, {"model": {"image": f"r/{name}:1"}}) for name in ("a", "b")]
        values = Values({f"AIMService/team/{name}": {"modelName": "m"} for name in ("a", "b")})
        first, second = converted(services, values)
        assert [made.value["spec"] for made in (*first.beside, *second.beside)] == [
            {"image": "r/a:1"},
            {"image": "r/b:1"},
        ]
        assert [gap.object for gap in (*first.gaps, *second.gaps)] == ["AIMModel/team/m"]

    def test_other_than_that_of_the_model_in_the_input(self) -> None:
        model = made("AIMModel", "known", {"image": "r/a:1"})
        _, draft = converted([model, service(model={"image": "r/a:1"})], given(modelName="mine"))
        assert draft.get("spec", "model") == {"name": "mine"}
        assert [beside.id for beside in draft.beside] == ["AIMModel/team/mine"]

    def test_none_beside_a_cluster_scoped_model_in_the_input(self) -> None:
        model = made("AIMClusterModel", "known", {"image": "r/a:1"})
        del model["metadata"]["namespace"]  # type: ignore[union-attr,call-overload,index]
        _, draft = converted([model, service(model={"image": "r/a:1"})])
        assert draft.get("spec", "model") == {"name": "known"}
        (image,) = [fate for fate in draft.fates() if fate.path == ("spec", "model", "image")]
        assert image.object == "AIMClusterModel/known"


def test_a_given_base_image_replaces_one_that_is_no_text_and_says_so() -> None:
    model = made("AIMModel", "m", {"image": 1, "aimId": "a/b", "modelSources": SOURCES, "custom": {"hardware": {}}})
    (draft,) = converted([model], Values({"AIMModel/team/m": {"baseImage": "r/i:1"}}), inline=True)
    assert draft.get("spec", "image") == "r/i:1"
    (image,) = [fate for fate in draft.fates() if fate.path == ("spec", "image")]
    assert (image.fate, image.reason) == (Fate.TYPED, "the given values name the base image")


def test_given_values_decide_about_what_a_template_or_a_model_states() -> None:
    model = made("AIMModel", "m", {"image": "x:1", "aimId": "a/b", "modelSources": SOURCES, "custom": {"hardware": {}}})
    values = Values(
        {
            "AIMModel/team/m": {"aimId": "c/d", "baseModelName": "base"},
            "AIMServiceTemplate/team/one": {"image": "y:1", "precision": "fp16"},
        }
    )
    found, profile = converted([model, template(image="x:1", precision="fp8")], values)
    assert found.get("spec", "profiles", "overrides", "aimId") == "c/d"
    assert (profile.get("spec", "image"), profile.get("spec", "precision")) == ("y:1", "fp16")
    typed = [fate.path for draft in (found, profile) for fate in draft.fates() if "given values" in fate.reason]
    assert set(typed) == {("spec", "aimId"), ("spec", "precision"), ("spec", "image")}


def test_a_custom_model_whose_base_image_nobody_knows_is_refused_in_one_model_too() -> None:
    model = made("AIMModel", "m", {"aimId": "a/b", "modelSources": SOURCES, "custom": {"versionPolicy": "any"}})
    model["spec"]["custom"]["hardware"] = {"gpu": {"requests": 8}}  # type: ignore[call-overload,index]
    (draft,) = converted([model], inline=True)
    assert [gap.path for gap in draft.gaps] == [("spec", "image")]
    assert "spec.image" in refusals(draft.value)


class TestEngineSettingsInDoubt:
    """Before, a server took the profile although it lacked what could not be known."""

    def test_what_discovery_found_has_another_shape(self) -> None:
        source = {**template(image="x:1", modelId="a/b"), "status": {"profile": {"engine_args": "text"}}}
        (draft,) = converted([source])
        assert [gap.path for gap in draft.gaps] == [("spec", "engineArgs")]
        assert "spec.customProfile" in refusals(draft.value)

    def test_discovery_found_more_than_the_custom_profile_states(self) -> None:
        custom: JsonObject = {"engineArgs": {"a": 1}, "envVars": {"A": "1"}}
        status: JsonObject = {"profile": {"engine_args": {"a": 1, "b": 2}, "env_vars": {"B": "1"}}}
        source = {**template(image="x:1", modelId="a/b", customProfile=custom), "status": status}
        (draft,) = converted([source])
        assert draft.get("spec", "customProfile") == custom
        assert set(lost(draft)) == {"spec.customProfile.engineArgs.a", "spec.customProfile.envVars.A"}
        assert "spec.customProfile" in refusals(draft.value)

    def test_arguments_of_the_environment_stay_in_it(self) -> None:
        env: list[Json] = [{"name": "AIM_ENGINE_ARGS", "value": '{"a": 1}'}]
        source = {**template(image="x:1", modelId="a/b", env=env), "status": {"profile": {"engine_args": [1]}}}
        (draft,) = converted([source])
        assert draft.get("spec", "containerEnv") == env
        assert "spec.env.0.value" in lost(draft)

    def test_accelerators_that_discovery_resolved_otherwise(self) -> None:
        status: JsonObject = {"resolvedHardware": {"gpu": {"requests": 8}}}
        hardware: JsonObject = {"gpu": {"requests": 4}}
        source = {**template(image="x:1", modelId="a/b", hardware=hardware), "status": status}
        (draft,) = converted([source])
        assert "its status resolved 8" in lost(draft)["spec.hardware.gpu.requests"].reason
        assert "spec.hardware" in refusals(draft.value)


def test_cpu_quantities_that_only_discovery_resolved_stand_where_servers_refuse_them() -> None:
    cpu: JsonObject = {"requests": "8"}
    source = {**template(image="x:1", modelId="a/b"), "status": {"resolvedHardware": {"cpu": cpu}}}
    (draft,) = converted([source])
    assert [gap.path for gap in draft.gaps] == [("status", "resolvedHardware", "cpu")]
    assert draft.get("spec", "hardware") == {"cpu": cpu}
    assert "spec.hardware" in refusals(draft.value)


def test_adapters_of_a_service_that_names_no_model_have_to_be_decided_about() -> None:
    adapters: list[Json] = [{"name": "tuned", "kind": "AIMArtifact"}]
    (draft,) = converted([service(model={"name": ""}, template={}, adapters=adapters)])
    assert refusals(draft.value) == ["spec.adapters"]
    assert set(lost(draft)) == {"spec.adapters.0.name", "spec.adapters.0.kind"}


def test_a_field_of_a_custom_template_that_is_no_text_is_named_where_the_derivation_covers_the_template() -> None:
    spec: JsonObject = {"image": "x:1", "aimId": "a/b", "modelSources": SOURCES, "custom": {"hardware": {}}}
    wrong: JsonObject = {"name": {"a": 1}, "acceleratorModel": "MI300X", "precision": ["fp8"]}
    model = made("AIMModel", "m", {**spec, "customTemplates": [wrong]})
    (draft,) = converted([model], Values({"AIMModel/team/m": {"baseModelName": "base"}}))
    assert set(lost(draft)) == {"spec.customTemplates.0.name.a", "spec.customTemplates.0.precision.0"}


class TestPartsOfAWrongType:
    """Before, what is empty and has another type was left out without a word, and what is all of spec stayed so."""

    @pytest.mark.parametrize(
        ("kind", "spec", "leaf", "message"),
        [
            ("AIMService", {"template": []}, "spec.template", "spec.template is an object"),
            ("AIMService", {"template": ""}, "spec.template", "spec.template is an object"),
            ("AIMService", {"template": {"name": []}}, "spec.template.name", "spec.template.name is a single value"),
            ("AIMService", {"overrides": []}, "spec.overrides", "spec.overrides is an object"),
            ("AIMService", {"caching": "x"}, "spec.caching", "spec.caching is an object"),
            ("AIMService", {"model": []}, "spec.model", "spec.model is an object"),
            ("AIMService", {"env": {}}, "spec.env", "spec.env is a list"),
            ("AIMModel", {"customTemplates": {"a": "b"}}, "spec.customTemplates.a", "spec.customTemplates is a list"),
            (
                "AIMModel",
                {"customTemplates": [{"name": []}]},
                "spec.customTemplates.0.name",
                "[0].name is a single value",
            ),
            ("AIMModel", {"modelSources": {}}, "spec.modelSources", "spec.modelSources is a list"),
            ("AIMServiceTemplate", {"hardware": []}, "spec.hardware", "spec.hardware is an object"),
            ("AIMServiceTemplate", {"customProfile": {"engineArgs": []}}, "spec.customProfile.engineArgs", "an object"),
        ],
    )
    def test_in_spec(self, kind: str, spec: JsonObject, leaf: str, message: str) -> None:
        (draft,) = converted([made(kind, "a", {"image": "x:1", **spec} if kind == "AIMModel" else spec)])
        assert message in lost(draft)[leaf].reason
        assert "in v1alpha1, and here it is" in lost(draft)[leaf].reason

    @pytest.mark.parametrize(
        ("kind", "place", "value"),
        [
            ("AIMService", ("spec",), []),
            ("AIMServiceTemplate", ("spec",), "x"),
            ("AIMRuntimeConfig", ("spec",), []),
            ("AIMService", ("metadata", "labels"), 3),
            ("AIMModel", ("metadata", "annotations"), []),
        ],
    )
    def test_that_every_object_has(self, kind: str, place: tuple[str, ...], value: Json) -> None:
        source = made(kind, "a", {"image": "x:1"})
        container = source if len(place) == 1 else source["metadata"]
        container[place[-1]] = value  # type: ignore[call-overload,index]
        (draft,) = converted([source])
        assert draft.value == source
        assert [gap.path for gap in draft.gaps] == [place]
        assert draft.gaps[0].message.endswith("the object stays as it is")
        assert get(source, *place) == value

    def test_an_unknown_field_is_named_itself_whatever_is_below_it(self) -> None:
        (draft,) = converted([service(model={"name": "m"}, other={"a": {"b": 1}})])
        assert lost(draft)["spec.other.a.b"].reason.startswith("spec.other is no field of v1alpha1 that is known")


@pytest.mark.parametrize("name", ["A.b/C", "MI300X-", "x" * 64])
def test_a_model_of_accelerators_that_no_profile_can_have_is_left_where_servers_refuse_it(name: str) -> None:
    (draft,) = converted([made("AIMServiceTemplate", "a", {"hardware": {"gpu": {"model": name, "requests": 1}}})])
    assert lost(draft)["spec.hardware.gpu.model"].reason == "no profile can have an accelerator model of this name"
    assert draft.get("spec", "hardware") == {"gpu": {"model": name}}
    assert draft.get("spec", "acceleratorCount") == 1


@pytest.mark.parametrize("inline", [True, False])
def test_an_image_that_is_no_text_gives_way_to_none_beside_it_without_a_word(inline: bool) -> None:
    sources = [{"modelId": "m", "sourceUri": "hf://org/m"}]
    model = made("AIMModel", "a", {"image": 1.5, "custom": {"image": "x/base:1"}, "modelSources": sources})
    (draft,) = converted([model], inline=inline)
    assert lost(draft)["spec.custom.image"].reason == "spec.image names a base image as well"


class TestNull:
    """Before, an empty key such as Helm renders, ``env:`` without a value, was to be decided where a list belongs."""

    @pytest.mark.parametrize(
        "spec",
        [
            {"env": None, "imagePullSecrets": None, "adapters": None},
            {"caching": None},
            {"caching": {"env": None}},
            {"template": {"name": "one", "selectionCriteria": None}},
            {"model": {"name": "m", "custom": None}},
        ],
    )
    def test_in_a_service_states_nothing(self, spec: JsonObject) -> None:
        (found,) = converted([service(**{"model": {"name": "m"}, "template": {"name": "one"}, **spec})])
        assert not lost(found)
        assert refusals(found.value) == []

    def test_in_a_template_states_nothing(self) -> None:
        nothing: JsonObject = dict.fromkeys(("env", "imagePullSecrets", "hardware", "customProfile", "caching"))
        (found,) = converted([template(image="x:1", precision="fp8", metric="latency", **nothing)])
        assert not lost(found)
        assert refusals(found.value) == []

    def test_in_a_model_states_nothing(self) -> None:
        nothing: JsonObject = dict.fromkeys(("env", "imagePullSecrets", "modelSources", "customTemplates"))
        (found,) = converted([made("AIMModel", "m", {"image": "x:1", **nothing})])
        assert not lost(found)
        assert refusals(found.value) == []


class TestAGivenBaseImage:
    VALUES = Values({"AIMModel/team/m": {"baseImage": "base:2", "baseModelName": "base", "aimId": "a/b"}})

    @pytest.mark.parametrize(
        ("model", "image"),
        [
            ([], "base:2"),
            (
                [made("AIMModel", "m", {"image": "x:1", "custom": {"type": "optimized"}, "modelSources": SOURCES})],
                "base:2",
            ),
            ([made("AIMModel", "m", {"image": "x:1"})], "x:1"),
        ],
    )
    def test_is_that_of_the_templates_of_a_model_without_another(self, model: list[JsonObject], image: str) -> None:
        profile = ObjectConversion([template(precision="fp8", metric="latency"), *model], values=self.VALUES).drafts[0]
        assert profile is not None
        assert get(profile.value, "spec", "image") == image
        assert not profile.gaps

    @pytest.mark.parametrize("given", [{}, {"image": "z:1"}])
    def test_leaves_the_image_that_a_template_states_or_has_been_given(self, given: JsonObject) -> None:
        values = Values({**self.VALUES.by_id, "AIMServiceTemplate/team/one": given})
        stated: JsonObject = {} if given else {"image": "y:1"}
        (profile,) = ObjectConversion([template(precision="fp8", **stated)], values=values).drafts
        assert profile is not None
        assert get(profile.value, "spec", "image") == given.get("image", "y:1")
