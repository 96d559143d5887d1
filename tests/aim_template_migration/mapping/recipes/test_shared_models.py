"""One model of an image serves all that use the image, and each scope has its own."""

from aim_api.tree import Json, JsonObject
from aim_template_migration.mapping.recipes.context import Values
from aim_template_migration.mapping.recipes.conversion import ObjectConversion
from aim_template_migration.mapping.recipes.draft import Draft

SOURCES: Json = [{"modelId": "a/b", "sourceUri": "hf://a/b"}]


def made(kind: str, name: str, spec: JsonObject, namespace: str = "") -> JsonObject:
    metadata: JsonObject = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "aim.eai.amd.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


def beside(drafts: list[Draft | None]) -> list[JsonObject]:
    return [new.value for draft in drafts if draft for new in draft.beside if str(new.value["kind"]).endswith("Model")]


def test_a_cluster_scoped_base_model_is_none_of_a_namespace() -> None:
    custom: JsonObject = {"image": "r/i:1", "aimId": "a/b", "modelSources": SOURCES, "custom": {"versionPolicy": "any"}}
    custom["customTemplates"] = [{"name": "t"}]
    own: JsonObject = {**custom, "imagePullSecrets": [{"name": "only-in-ml"}]}
    objects = [made("AIMClusterModel", "m0", custom), made("AIMModel", "m1", own, "ml")]
    names: JsonObject = {"baseModelName": "aim-base"}
    values = Values({"AIMClusterModel/m0": names, "AIMModel/ml/m1": names}, namespace="ml")
    found = beside(ObjectConversion(objects, values=values, namespace="ml").drafts)
    bases = [(new["kind"], new["spec"]) for new in found]
    secrets: Json = [{"name": "only-in-ml"}]
    assert bases == [
        ("AIMClusterModel", {"image": "r/i:1"}),
        ("AIMModel", {"image": "r/i:1", "imagePullSecrets": secrets}),
    ]


def test_the_model_of_an_image_gets_what_all_its_services_state() -> None:
    spec: JsonObject = {"model": {"image": "r/i:1"}, "template": {"name": "t"}}
    first: JsonObject = {**spec, "imagePullSecrets": [{"name": "s1"}], "serviceAccountName": "sa1"}
    second: JsonObject = {**spec, "imagePullSecrets": [{"name": "s2"}], "serviceAccountName": "sa2"}
    second["runtimeConfigName"] = "rc"
    drafts = ObjectConversion([made("AIMService", "a", first, "ml"), made("AIMService", "b", second, "ml")]).drafts
    (model,) = beside(drafts)
    secrets: Json = [{"name": "s1"}, {"name": "s2"}]
    expected: JsonObject = {"image": "r/i:1", "imagePullSecrets": secrets, "serviceAccountName": "sa1"}
    assert model["spec"] == {**expected, "runtimeConfigName": "rc"}
    last = drafts[1]
    assert last is not None
    assert last.get("spec", "imagePullSecrets") == [{"name": "s2"}]
    assert [note.near for note in last.notes if "states otherwise" in note.message] == [("spec", "serviceAccountName")]


def test_a_model_of_the_input_stays_and_what_it_lacks_is_said() -> None:
    spec: JsonObject = {"model": {"image": "r/i:1"}, "template": {"name": "t"}, "imagePullSecrets": [{"name": "s1"}]}
    model, service = ObjectConversion(
        [made("AIMModel", "m", {"image": "r/i:1"}, "ml"), made("AIMService", "a", spec, "ml")]
    ).drafts
    assert model is not None
    assert service is not None
    assert model.get("spec") == {"image": "r/i:1"}
    assert any(note.near == ("spec", "imagePullSecrets") for note in service.notes)
