"""What a conversion did without a word, or refused to do, and what it says and does now."""

import pytest

from aim_api.kinds import AIM_MODEL, Kind
from aim_api.tree import Json, JsonObject, get
from aim_template_migration.mapping.recipes.context import Values
from aim_template_migration.mapping.recipes.conversion import ObjectConversion
from aim_template_migration.mapping.recipes.draft import Draft
from tests.aim_template_migration.mapping.recipes.sound_inputs import refusals
from tests.aim_template_migration.mapping.recipes.test_found_at_random import (
    PROFILE,
    SOURCES,
    cache,
    converted,
    lost,
    made,
    template,
)

BASE = "registry.example/base:1"
KEPT = "is no longer in the manifests, and nothing says that it may be deleted"


def notes(draft: Draft) -> list[str]:
    return [note.message for note in draft.notes]


def custom(name: str, **spec: Json) -> JsonObject:
    whole: JsonObject = {
        "image": BASE,
        "aimId": "a/b",
        "modelSources": SOURCES,
        "custom": {"hardware": {"gpu": {"model": "MI300X"}}},
    }
    return made("AIMModel", name, {**whole, **spec})


def names(*models: str) -> Values:
    return Values({f"AIMModel/{model}": {"baseModelName": "base"} for model in models})


class TestObjectsThatLeaveTheManifests:
    """A GitOps controller that prunes would delete them, which no conversion authorizes (G)."""

    def test_are_named_each_once(self) -> None:
        found = converted([template(image="x:1", modelId="a/b"), cache("c")])
        assert [[note.split(maxsplit=1)[0] for note in notes(draft) if KEPT in note] for draft in found] == [
            ["AIMServiceTemplate/team/one"],
            ["AIMTemplateCache/team/c"],
        ]

    def test_a_cache_does_not_turn_on_what_a_profile_says_is_off(self) -> None:
        profile = made("AIMProfile", "one", {**PROFILE, "caching": {"enabled": False}}, "v1alpha2")
        off, kept = converted([profile, cache("c")])
        assert off.get("spec", "caching", "enabled") is False
        assert not kept.removed
        assert lost(kept)["spec.templateName"].reason == (
            "the profile says spec.caching.enabled: false, and the cache asks for it"
        )

    def test_a_cache_of_a_template_that_makes_none_itself_says_what_it_turns_on(self) -> None:
        profile, gone = converted([template(image="x:1", modelId="a/b", caching={"enabled": False}), cache("c")])
        assert profile.get("spec", "caching", "enabled") is True
        assert gone.removed
        assert "spec.caching.enabled: false of AIMProfile/team/one becomes true" in " ".join(notes(gone))


class TestTheModelOfABaseImage:
    def test_gets_what_every_user_states(self) -> None:
        users = [custom("m1", imagePullSecrets=[{"name": "a"}]), custom("m2", imagePullSecrets=[{"name": "b"}])]
        first, second = converted(users, names("m1", "m2"))
        assert not second.beside
        (base,) = first.beside
        assert base.value["spec"] == {"image": BASE, "imagePullSecrets": [{"name": "a"}, {"name": "b"}]}
        assert get(second.value, "spec", "imagePullSecrets") == [{"name": "b"}]

    def test_has_one_service_account_and_a_note_names_another(self) -> None:
        users = [custom("m1", serviceAccountName="a"), custom("m2", serviceAccountName="b")]
        first, second = converted(users, names("m1", "m2"))
        assert get(first.beside[0].value, "spec", "serviceAccountName") == "a"
        assert any("AIMModel/team/base states otherwise" in note for note in notes(second))

    def test_stays_as_it_stands_in_the_input_and_a_note_names_what_it_lacks(self) -> None:
        base = made("AIMModel", "mine", {"image": BASE})
        known, user = converted([base, custom("m", imagePullSecrets=[{"name": "a"}])])
        assert known.value["spec"] == {"image": BASE}
        assert any("AIMModel/team/mine states otherwise" in note for note in notes(user))
        same = made("AIMModel", "mine", {"image": BASE, "imagePullSecrets": [{"name": "a"}]})
        _, user = converted([same, custom("m", imagePullSecrets=[{"name": "a"}])])
        assert not notes(user)

    def test_is_one_for_models_and_services_of_the_image(self) -> None:
        # Two models of one image are an error to the profile pipeline.
        chat = made("AIMService", "chat", {"model": {"image": BASE}})
        model, other, service = converted([custom("m"), custom("n"), chat], names("m"))
        assert [made.id for made in model.beside] == ["AIMModel/team/base"]
        assert not other.beside
        assert not other.gaps
        assert not service.beside
        assert service.get("spec", "model", "name") == "base"


class Cluster:
    """Models of a cluster, and what was asked for."""

    def __init__(self, *models: JsonObject) -> None:
        self.models = models
        self.asked: list[tuple[str, str]] = []

    def list(self, kind: Kind, namespace: str) -> list[JsonObject]:
        self.asked.append((kind.name, namespace))
        return [model for model in self.models if model["kind"] == kind.name]


class TestModelsOfTheCluster:
    LIVE = Cluster(made("AIMModel", "other", {"image": "r/o:1"}), made("AIMModel", "live", {"image": BASE}, "v1alpha2"))

    def test_give_a_base_image_its_name(self) -> None:
        (draft,) = ObjectConversion([custom("m")], live_models=self.LIVE.list).drafts
        assert draft is not None
        assert draft.get("spec", "profiles", "derivedFrom", "selector", "modelRef") == {"name": "live"}
        assert not draft.beside
        assert not draft.gaps

    def test_give_the_image_of_a_service_its_model(self) -> None:
        (draft,) = ObjectConversion(
            [made("AIMService", "chat", {"model": {"image": BASE}})], live_models=self.LIVE.list
        ).drafts
        assert draft is not None
        assert draft.get("spec", "model") == {"name": "live"}
        assert not draft.beside

    def test_are_not_asked_for_what_the_input_has(self) -> None:
        cluster = Cluster()
        ObjectConversion([made("AIMModel", "mine", {"image": BASE}), custom("m")], live_models=cluster.list)
        assert cluster.asked == []

    def test_do_not_count_where_the_input_gives_them_another_image(self) -> None:
        moved = made("AIMModel", "live", {"image": "registry.example/base:2"})
        _, draft = ObjectConversion([moved, custom("m")], live_models=self.LIVE.list).drafts
        assert draft is not None
        assert [gap.path for gap in draft.gaps] == [("metadata", "name")]

    def test_are_those_of_the_namespace_that_objects_without_one_have(self) -> None:
        cluster = Cluster()
        model = custom("m")
        del model["metadata"]["namespace"]  # type: ignore[union-attr,index,call-overload]
        ObjectConversion([model], live_models=cluster.list, namespace="team")
        assert cluster.asked[0] == (AIM_MODEL.name, "team")


class TestTheNamespaceOfObjectsThatStateNone:
    def test_is_the_same_as_one_that_is_stated(self) -> None:
        one = template(image="x:1", modelId="a/b")
        del one["metadata"]["namespace"]  # type: ignore[union-attr,index,call-overload]
        for namespace, gone in (("team", True), ("", False), ("other", False)):
            drafts = ObjectConversion([one, cache("c")], namespace=namespace).drafts
            assert drafts[1] is not None
            assert drafts[1].removed == gone
            assert drafts[0] is not None
            assert drafts[0].value["metadata"] == {"name": "one"}

    def test_is_that_of_values_too(self) -> None:
        model = custom("m")
        del model["metadata"]["namespace"]  # type: ignore[union-attr,index,call-overload]
        values = Values({"AIMModel/team/m": {"baseModelName": "base"}}, namespace="team")
        (draft,) = ObjectConversion([model], values=values, namespace="team").drafts
        assert draft is not None
        assert not draft.gaps

    def test_makes_two_objects_of_one_name_one(self) -> None:
        profile = made("AIMProfile", "one", PROFILE, "v1alpha2")
        del profile["metadata"]["namespace"]  # type: ignore[union-attr,index,call-overload]
        one = template(image="x:1", modelId="a/b")
        apart = ObjectConversion([profile, one]).drafts
        assert not [gap for draft in apart if draft for gap in draft.gaps]
        together = ObjectConversion([profile, one], namespace="team").drafts
        assert [gap.object for draft in together if draft for gap in draft.gaps] == ["AIMProfile/team/one"]


@pytest.mark.parametrize("field", ["profileCopy", "derivedFrom"])
def test_any_is_an_older_word_for_all_in_derivations(field: str) -> None:
    copy: JsonObject = {"selector": {"aimId": "a/b"}, "versionPolicy": "any", "overrides": {"modelSources": SOURCES}}
    (draft,) = converted([made("AIMModel", "m", {field: copy})])
    assert draft.get("spec", "profiles", "versionPolicy") == "all"
    assert refusals(draft.value) == []


@pytest.mark.parametrize(("policy", "word"), [("latest", "latest"), ("all", "all"), ("any", "all")])
def test_a_model_that_takes_versions_of_a_family_derives_from_it(policy: str, word: str) -> None:
    model = made("AIMModel", "m", {"aimId": "a/b", "custom": {"versionPolicy": policy}})
    assert policy == "any" or refusals(model) == []
    (draft,) = converted([model])
    assert draft.value["spec"] == {"profiles": {"derivedFrom": {"selector": {"aimId": "a/b"}}, "versionPolicy": word}}
    assert not lost(draft)
    assert refusals(draft.value) == []


@pytest.mark.parametrize("kind", ["AIMServiceTemplate", "AIMClusterServiceTemplate", "AIMTemplateCache"])
def test_a_kind_that_v1alpha2_never_had_is_read_as_that_of_v1alpha1(kind: str) -> None:
    spec = {"AIMTemplateCache": {"templateName": "one", "templateScope": "Namespace"}}.get(
        kind, {"image": "x:1", "modelName": "m", "aimId": "a/b", "modelId": "a/b", "modelSources": SOURCES}
    )
    old, new = (
        ObjectConversion([template(image="x:1", modelId="a/b"), made(kind, "c", spec, version)]).drafts
        for version in ("v1alpha1", "v1alpha2")
    )
    assert [draft and (draft.value["kind"], draft.value["spec"], draft.removed) for draft in new] == [
        draft and (draft.value["kind"], draft.value["spec"], draft.removed) for draft in old
    ]
    assert new[1] is not None
    assert new[1].removed or new[1].value["apiVersion"] == "aim.eai.amd.com/v1alpha2"
    assert not new[1].gaps
