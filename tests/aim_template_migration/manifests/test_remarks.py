"""What is said about an input as a whole, and what odd files come to."""

import pytest

from aim_template_migration.manifests.converting import Conversion, convert_files
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from tests.aim_template_migration.manifests.kubectl import read_by_kubectl

HEAD = "apiVersion: aim.eai.amd.com/v1alpha1\n"
MODEL = f"{HEAD}kind: AIMModel\nmetadata: {{name: m, namespace: a}}\nspec: {{image: 'r/i:1'}}\n"
SERVICE = f"{HEAD}kind: AIMService\nmetadata: {{name: s}}\nspec:\n  model: {{name: m}}\n  template: {{name: t}}\n"


def convert(**texts: str) -> Conversion:
    return convert_files([ManifestFile(f"{name}.yaml", read_manifest(text.encode())) for name, text in texts.items()])


def said(conversion: Conversion) -> list[str]:
    return [str(finding) for finding in findings_of(conversion.ledger)]


def test_a_model_that_stands_in_two_files_is_named() -> None:
    found = said(convert(a=f"# ours\n{MODEL}", b=MODEL))
    assert found == [
        "b.yaml:1: note: AIMModel/a/m stands at a.yaml:2 as well; what refers to it is converted with the first"
    ]


CACHE = f"{HEAD}kind: AIMTemplateCache\nmetadata: {{name: c}}\nspec: {{templateName: t, templateScope: Namespace}}\n"
SOURCES = "modelSources: [{modelId: a/b, sourceUri: 'hf://a/b'}]"
TEMPLATE = (
    f"{HEAD}kind: AIMServiceTemplate\nmetadata: {{name: t}}\n"
    f"spec: {{modelName: m, image: 'r/i:1', aimId: a/b, modelId: a/b, {SOURCES}}}\n"
)


@pytest.mark.parametrize(
    ("text", "empty"), [(CACHE, True), (f"# of ours\n{CACHE}", True), (f"{CACHE}---\n{TEMPLATE}", False)]
)
def test_a_file_of_which_nothing_is_left_is_named(text: str, empty: bool) -> None:
    conversion = convert(c=text, t="" if TEMPLATE in text else TEMPLATE)
    (left,) = [file.text for file in conversion.files if file.file.name == "c.yaml"]
    assert (read_by_kubectl(left) == []) == empty
    sentence = "c.yaml:1: note: nothing is left in this file, and kubectl apply refuses one without objects; remove it"
    assert (sentence in said(conversion)) == empty


def test_nothing_is_said_of_it_once_all_is_converted() -> None:
    done = MODEL.replace("v1alpha1", "v1alpha2")
    assert said(convert(a=done, b=done)) == []


def test_a_service_may_stand_in_the_directories_of_two_clusters_but_not_twice_in_one_file() -> None:
    assert not [line for line in said(convert(a=SERVICE, b=SERVICE)) if "stands at" in line]
    assert [line for line in said(convert(a=f"{SERVICE}---\n{SERVICE}")) if "stands at a.yaml:1 as well" in line]


def test_expressions_of_a_template_are_named_once_for_each_object() -> None:
    text = SERVICE.replace("{name: s}", "{name: '{{ .Release.Name }}-s', labels: {app: '{{ .Values.app }}'}}")
    found = [line for line in said(convert(a=text)) if "template, so" in line or "of a template" in line]
    sentence = "note: an expression of a template is taken as plain text here; convert what it renders to"
    assert found == [f"a.yaml:3: metadata.name: {sentence}"]


@pytest.mark.parametrize(
    "text",
    [SERVICE.replace("{name: s}", "{name: {{ .Values.x }}}"), f"{{{{- if .Values.x }}}}\n{SERVICE}{{{{ end }}}}\n"],
)
def test_a_template_that_is_no_yaml_stays_and_is_to_be_rendered_first(text: str) -> None:
    conversion = convert(a=text)
    assert not conversion.files[0].changed
    (line,) = said(conversion)
    assert line.endswith("; it holds expressions of a template, so render it first, for example by helm template")


@pytest.mark.parametrize("head", ["apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", ""])
def test_changes_of_a_kustomization_are_to_be_looked_at(head: str) -> None:
    text = f"{head}resources: [a.yaml]\npatches:\n- path: x.yaml\n"
    (line,) = said(convert(kustomization=text))
    assert line.endswith("patches: note: this stays as it is; look at what it changes in objects of the AIM API")
    assert said(convert(other="resources: [a.yaml]\npatches: [1]\n")) == []


def test_a_variable_in_the_place_of_an_image_makes_no_name() -> None:
    text = SERVICE.replace("{name: m}", "{image: '${IMAGE}'}")
    conversion = convert(a=text)
    (service,) = conversion.files[0].objects()
    assert service["spec"] == {"model": {"image": "${IMAGE}", "name": {}}, "profile": {"name": "t"}}
    assert said(conversion)[0].startswith("a.yaml:5: spec.model.image: it is no reference of an image")


ITEMS = f"""\
{HEAD}kind: AIMServiceList
metadata: {{resourceVersion: '1'}}
items:
# the first
- metadata: {{name: s}}
  spec: {{model: {{name: m}}, template: {{name: t}}}}   # kept
"""


def test_items_of_a_list_of_one_kind_have_that_kind() -> None:
    conversion = convert(a=ITEMS)
    assert conversion.files[0].text == ITEMS.replace(
        "- metadata: {name: s}",
        "- apiVersion: aim.eai.amd.com/v1alpha2\n  kind: AIMService\n  metadata: {name: s}",
    ).replace("template: {name: t}", "profile: {name: t}")
    again = convert(a=conversion.files[0].text)
    assert not again.files[0].changed


def test_a_list_of_one_kind_becomes_a_list_of_any_where_an_item_gets_another_kind() -> None:
    image = "- metadata: {name: i}\n  spec: {model: {image: 'r/i:1'}}\n"
    config = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n"
    text = convert(a=f"{ITEMS}{image}{config}").files[0].text
    assert text.startswith("apiVersion: v1\nkind: List\nmetadata: {resourceVersion: '1'}\nitems:\n# the first\n")
    assert "profile: {name: t}}   # kept" in text
    found = read_by_kubectl(text)
    assert isinstance(found, list), found
    assert [(item["apiVersion"], item["kind"], item["metadata"]["name"]) for item in found] == [  # type: ignore[index,call-overload]
        ("aim.eai.amd.com/v1alpha2", "AIMService", "s"),
        ("aim.eai.amd.com/v1alpha2", "AIMModel", "i-1-18c4826a"),
        ("aim.eai.amd.com/v1alpha2", "AIMService", "i"),
        ("v1", "ConfigMap", "c"),
    ]


def test_what_stays_in_a_list_that_changes_its_kind_says_its_own() -> None:
    items = "- metadata: {name: a}\n  spec: []\n- metadata: {name: t}\n  spec: {image: 'r/i:1', modelId: a/b}\n"
    text = f"{HEAD}kind: AIMServiceTemplateList\nitems:\n{items}"
    found = convert(a=text).files[0].objects()
    assert [(item["apiVersion"], item["kind"]) for item in found] == [
        ("aim.eai.amd.com/v1alpha1", "AIMServiceTemplate"),
        ("aim.eai.amd.com/v1alpha2", "AIMProfile"),
    ]
    assert not convert(a=convert(a=text).files[0].text).files[0].changed


def test_anchors_that_are_spelt_out_are_named() -> None:
    text = SERVICE.replace(
        "template: {name: t}",
        "template: &t\n    selectionCriteria: &s\n      precision: fp8\n"
        "  resources:\n    limits: &l {cpu: 1}\n    requests: *l",
    )
    conversion = convert(a=text)
    assert "requests:\n      cpu: 1\n" in conversion.files[0].text
    assert conversion.ledger.complete
    sentence = "note: anchors and aliases of the document are spelt out, since a part that one stands for changes"
    assert f"a.yaml:1: {sentence}" in said(conversion)
    without = convert(a=text.replace(" &t", "").replace(" &s", ""))
    assert "limits: &l {cpu: 1}\n    requests: *l\n" in without.files[0].text
    assert not [line for line in said(without) if "anchors" in line]


def test_comments_of_a_document_that_is_written_anew_are_to_be_written_again() -> None:
    merge = SERVICE.replace("spec:\n", "spec:\n  # defaults\n  <<: &b {replicas: 3}\n")
    conversion = convert(a=merge)
    assert not conversion.ledger.complete
    lines = [line for line in said(conversion) if "written anew" in line]
    assert lines == [
        "a.yaml:1: the document had to be written anew, without its comment and its layout; write them again"
    ]
    bare = convert(a=merge.replace("  # defaults\n", ""))
    assert bare.ledger.complete
    assert "a.yaml:1: note: the document had to be written anew" in said(bare)
