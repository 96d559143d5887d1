"""Objects that would be written twice are named, since kubectl would keep the later one without a word."""

from aim_api.tree import JsonObject
from aim_template_migration.mapping.recipes.context import Values
from aim_template_migration.mapping.recipes.conversion import ObjectConversion

GROUP = "aim.eai.amd.com"
SOURCES = [{"modelId": "a/b", "sourceUri": "hf://a/b"}]


def made(version: str, kind: str, name: str, spec: JsonObject) -> JsonObject:
    metadata: JsonObject = {"name": name, "namespace": "team"}
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": metadata, "spec": spec}


def needs(objects: list[JsonObject], values: Values | None = None) -> list[tuple[str, str]]:
    drafts = ObjectConversion(objects, values=values).drafts
    return [(gap.object, gap.message) for draft in drafts if draft for gap in draft.gaps]


def test_a_template_beside_a_profile_of_its_name() -> None:
    template = made(
        "v1alpha1", "AIMServiceTemplate", "one", {"modelName": "m", "aimId": "a/b", "modelSources": SOURCES}
    )
    profile = made("v1alpha2", "AIMProfile", "one", {"image": "x"})
    model = made("v1alpha1", "AIMModel", "m", {"image": "x:1"})
    found = needs([template, profile, model])
    assert [name for name, _ in found] == ["AIMProfile/team/one"]
    assert found[0][1].endswith("written twice, and kubectl would keep the later of the two; rename one of them")
    assert needs([template, model]) == []


def test_given_names_that_are_one_name() -> None:
    custom: JsonObject = {"baseImage": "x:1", "modelSources": SOURCES}
    service = made("v1alpha1", "AIMService", "chat", {"model": {"custom": custom}})
    names: JsonObject = {"aimId": "a/b", "baseModelName": "m", "modelName": "m"}
    values = Values({"AIMService/team/chat": names})
    assert [name for name, _ in needs([service], values)] == ["AIMModel/team/m"]
    other = Values({"AIMService/team/chat": {**names, "modelName": "n"}})
    assert needs([service], other) == []
