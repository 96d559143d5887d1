"""No conversion ends well that a server refuses, and nothing is said twice."""

import pytest

from aim_template_migration.manifests.converting import Conversion, Options, convert_files
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.mapping.recipes.context import Values
from tests.aim_template_migration.manifests.test_properties import RandomText
from tests.aim_template_migration.mapping.recipes.sound_inputs import refusals

GROUP = "aim.eai.amd.com"


def convert(kind: str, spec: str, values: Values | None = None) -> Conversion:
    text = f"apiVersion: {GROUP}/v1alpha1\nkind: {kind}\nmetadata: {{name: a, namespace: team}}\nspec: {spec}\n"
    return convert_files([ManifestFile("a.yaml", read_manifest(text.encode()))], Options(values=values or Values()))


def to_decide(conversion: Conversion) -> list[str]:
    return [str(finding) for finding in findings_of(conversion.ledger) if finding.lost]


@pytest.mark.parametrize(
    ("kind", "spec", "sentence"),
    [
        (
            "AIMService",
            "{template: {selectionCriteria: {precision: fp8}}}",
            "AIMService/team/a spec.profile.selector: a server refuses this: Invalid value: spec.profile",
        ),
        (
            "AIMService",
            "{}",
            "AIMService/team/a spec: a server refuses this: Required value: spec needs model or profile: without them",
        ),
        (
            "AIMService",
            "{model: {name: q}, template: {selectionCriteria: {acceleratorCount: '2'}}}",
            "AIMService/team/a spec.profile.selector.acceleratorCount: a server refuses this: Invalid value: ",
        ),
        (
            "AIMModel",
            "{profileCopy: {sourceRef: {name: x, kind: AIMProfile}, versionPolicy: latest}}",
            "AIMModel/team/a spec.profiles.derivedFrom.sourceRef.kind: a server refuses the unknown field ",
        ),
    ],
)
def test_what_only_the_rules_of_the_definitions_know_is_to_be_decided(kind: str, spec: str, sentence: str) -> None:
    (line,) = to_decide(convert(kind, spec))
    assert line.startswith(f"a.yaml:4: {sentence}")


def test_what_is_said_already_is_not_said_again() -> None:
    custom = "{image: 'r/i:1', aimId: a/b, custom: {hardware: {gpu: {minVram: 80Gi}}}, modelSources: [%s], %s}"
    source, template = "{modelId: a/b, sourceUri: 'hf://a/b'}", "customTemplates: [{name: t, env: [{name: A}], x: 1}]"
    found = to_decide(convert("AIMModel", custom % (source, template)))
    assert len(found) == 3
    assert not [line for line in found if "a server refuses" in line]
    assert [line.partition(": ")[2][:40] for line in to_decide(convert("AIMServiceTemplate", "{modelName: m, x: 1}"))]
    assert not [line for line in to_decide(convert("AIMServiceTemplate", "{modelName: m, x: 1}")) if "a server" in line]


@pytest.mark.parametrize("name", ["", "name: '', "])
def test_what_is_written_so_that_servers_refuse_it_is_not_said_again(name: str) -> None:
    (line,) = to_decide(
        convert("AIMService", f"{{model: {{{name}image: 'r/i:{{{{ .tag }}}}'}}, template: {{name: t}}}}")
    )
    assert "it is no reference of an image" in line


def test_an_object_of_the_input_in_place_of_a_text_is_named() -> None:
    (line,) = to_decide(convert("AIMService", "{model: {name: {}}, template: {name: t}}"))
    assert "spec.model.name" in line


def test_a_value_that_looks_like_a_secret_is_not_quoted() -> None:
    spec = "{model: {name: q}, template: {selectionCriteria: {metric: AKIAIOSFODNN7EXAMPLE}}}"
    (line,) = to_decide(convert("AIMService", spec))
    assert "spec.profile.selector.metric: a server refuses this" in line
    assert "AKIA" not in line


@pytest.mark.parametrize(
    ("metadata", "field", "sentence"),
    [
        ("{name: Bad_Name}", "metadata.name", 'Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain'),
        ("{name: 5}", "metadata.name", "json: cannot unmarshal number"),
        ("{}", "metadata.name", "Required value: name or generateName is required"),
        ("{name: a, namespace: Bad_NS}", "metadata.namespace", 'Invalid value: "Bad_NS"'),
        ("{name: a, labels: {x: 1}}", "metadata.labels.x", "json: cannot unmarshal number"),
        ("{name: a, labels: {x: 'bad value!'}}", "metadata.labels.x", 'Invalid value: "bad value!"'),
        ("{name: a, annotation: {x: y}}", "metadata.annotation", 'unknown field "metadata.annotation"'),
        ("{name: a, finalizers: x}", "metadata.finalizers", "json: cannot unmarshal string"),
    ],
)
def test_metadata_that_a_server_refuses_is_to_be_decided_once(metadata: str, field: str, sentence: str) -> None:
    text = (
        f"apiVersion: {GROUP}/v1alpha1\nkind: AIMService\nmetadata: {metadata}\n"
        "spec: {model: {image: 'r/i:1'}, template: {name: t}}\n"
    )
    conversion = convert_files([ManifestFile("a.yaml", read_manifest(text.encode()))])
    (line,) = to_decide(conversion)
    assert line.startswith("a.yaml:3: AIMService")
    assert f" {field}: a server refuses this: {sentence}" in line


def test_metadata_with_an_expression_of_a_template_is_no_refusal() -> None:
    text = (
        f"apiVersion: {GROUP}/v1alpha1\nkind: AIMService\n"
        "metadata: {name: '{{ .Release.Name }}-a', labels: {'{{ .key }}': '{{ .value }}'}}\n"
        "spec: {model: {name: m}, template: {name: t}}\n"
    )
    conversion = convert_files([ManifestFile("a.yaml", read_manifest(text.encode()))])
    assert to_decide(conversion) == []
    assert any("expression of a template" in note.message for note in conversion.ledger.notes)


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ("name: '{{ .Release.Name }}-S'", "metadata.name"),
        ("name: '{{- .name | trunc 5 -}}_{{ .tail }}'", "metadata.name"),
        ("name: s, labels: {a: '{{ .value }}-'}", "metadata.labels.a"),
        ("name: s, namespace: '{{ .team }}.ml'", "metadata.namespace"),
        ("name: '{{ if .x }}S{{ end }}'", ""),
        ("name: '{{ include \"a.b\" . }}-s'", ""),
        ("name: s, labels: {'{{ .Key }}/A B': v}", ""),
        ("name: s, creationTimestamp: '{{ now }}'", ""),
        ("name: '{{ .open'", ""),
    ],
)
def test_an_expression_hides_no_character_that_is_wrong_beside_it(metadata: str, field: str) -> None:
    text = f"apiVersion: {GROUP}/v1alpha1\nkind: AIMService\nmetadata: {{{metadata}}}\nspec: {{model: {{name: m}}}}\n"
    found = convert_files([ManifestFile("f.yaml", read_manifest(text.encode()))]).ledger.needs
    assert [need.field for need in found] == ([field] if field else [])
    assert all("whatever its expression renders to" in need.message for need in found)


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("5", "an item of a list must be an object; kubectl refuses the list"),
        (
            "{apiVersion: v1, kind: List, items: []}",
            "kubectl refuses a list in a list; put its items into the outer one",
        ),
        ("{kind: Pod}", "Required value: apiVersion not set; kubectl refuses the list"),
        ("{apiVersion: v1, kind: Pod}", ""),
    ],
)
def test_an_item_for_which_kubectl_refuses_the_list_is_to_be_decided(item: str, sentence: str) -> None:
    own = f"{{apiVersion: {GROUP}/v1alpha1, kind: AIMService, metadata: {{name: a}}, spec: {{model: {{name: m}}}}}}"
    text = f"apiVersion: v1\nkind: List\nitems:\n- {own}\n- {item}\n"
    conversion = convert_files([ManifestFile("a.yaml", read_manifest(text.encode()))])
    assert to_decide(conversion) == ([f"a.yaml:5: {sentence}"] if sentence else [])


def test_an_object_that_is_converted_already_is_the_matter_of_validate() -> None:
    text = f"apiVersion: {GROUP}/v1alpha2\nkind: AIMService\nmetadata: {{name: a}}\nspec: {{replicas: -1}}\n"
    conversion = convert_files([ManifestFile("a.yaml", read_manifest(text.encode()))])
    assert to_decide(conversion) == []


def test_no_random_conversion_ends_well_that_a_server_refuses() -> None:
    refused = whole = 0
    for seed in range(80):
        text = RandomText(seed).text()
        conversion = convert_files([ManifestFile("f.yaml", read_manifest(text.encode()))])
        changed = [
            value
            for value in conversion.files[0].objects()
            if str(value.get("apiVersion")).startswith(GROUP) and value["apiVersion"] != f"{GROUP}/v1alpha1"
        ]
        before = [place for place in conversion.files[0].file.manifest.documents if f"{GROUP}/v1alpha2" in str(place)]
        bad = [value for value in changed if refusals(value)]
        if not before and bad:
            refused += 1
            assert to_decide(conversion), f"seed {seed}: {bad}"
        whole += not bad
    assert refused > 20
    assert whole
