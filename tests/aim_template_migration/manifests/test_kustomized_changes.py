"""What a Kustomization holds itself stays as it is: whatever no longer holds after a conversion is named."""

import pytest

from aim_template_migration.manifests.converting import Conversion, convert_files
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest

LEGACY = "apiVersion: aim.eai.amd.com/v1alpha1\n"
SERVICE = LEGACY + "kind: AIMService\nmetadata: {{name: s, namespace: ml}}\nspec: {}\n"
BY_NAME = SERVICE.format("{model: {name: m}, template: {name: t}, replicas: 1, env: [{name: A, value: b}]}")
FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k}\nspec:\n"
ARGO = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: k}\nspec:\n  source:\n    kustomize:\n"


def convert(files: dict[str, str]) -> Conversion:
    return convert_files([ManifestFile(name, read_manifest(text.encode())) for name, text in files.items()])


def to_decide(files: dict[str, str], of: str = "kustomization.yaml") -> list[str]:
    """Return what has to be decided about one file."""
    lines = [str(finding) for finding in findings_of(convert(files).ledger) if finding.lost]
    return [line for line in lines if line.startswith(f"{of}:")]


def kustomized(patches: str, service: str = BY_NAME, **files: str) -> list[str]:
    whole = {"kustomization.yaml": f"resources: [s.yaml]\n{patches}", "s.yaml": service}
    return to_decide({**whole, **{name.replace("_", "."): text for name, text in files.items()}})


def with_target(target: str, operations: str) -> str:
    return f"patches:\n- target: {{{target}}}\n  patch: |-\n    {operations}\n"


REPLICAS = "[{op: replace, path: /spec/replicas, value: 3}]"


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ("kind: AIMService, version: v1alpha1", "version"),
        ("group: aim.eai.amd.com, version: v1alpha1", "version"),
        ("kind: AIMServiceTemplate", "kind"),
        ("kind: AIMTemplateCache, name: c", "kind"),
        ("kind: AIMClusterServiceTemplate, version: v1alpha1", "kind"),
    ],
)
def test_a_target_that_takes_nothing_any_more_is_named(target: str, field: str) -> None:
    (line,) = kustomized(with_target(target, REPLICAS))
    assert line.startswith(f"kustomization.yaml:3: patches[0].target.{field}: this selects objects")
    assert "Kustomize passes over what it does not find" in line


@pytest.mark.parametrize(
    "target",
    [
        "kind: AIMService",
        "kind: AIMService, version: v1alpha2",
        "kind: AIMService, version: v1alpha.*",
        "kind: Deployment, version: v1alpha1",
        "kind: AIMRuntimeConfig, version: v1alpha1",
        "labelSelector: a=b",
        "kind: AIM.*",
    ],
)
def test_a_target_that_takes_what_it_took_is_in_order(target: str) -> None:
    assert kustomized(with_target(target, REPLICAS)) == []


@pytest.mark.parametrize(
    ("operations", "field"),
    [
        ("[{op: replace, path: /spec/template/name, value: x}]", "spec.template.name"),
        ("[{op: remove, path: /spec/template}]", "spec.template"),
        ("[{op: add, path: /spec/overrides, value: {engineArgs: {a: 1}}}]", "spec.overrides"),
        ("[{op: move, from: /spec/template, path: /spec/profile}]", "spec.template"),
        ("[{op: add, path: /spec/env/-, value: {name: C, value: d}}]", "spec.env"),
    ],
)
@pytest.mark.parametrize("in_a_file", [False, True])
@pytest.mark.parametrize("present", [True, False])
def test_operations_on_fields_that_have_moved_are_named(
    operations: str, field: str, in_a_file: bool, present: bool
) -> None:
    patches = with_target("kind: AIMService", operations)
    files = {"p_yaml": operations} if in_a_file else {}
    if in_a_file:
        patches = "patches:\n- target: {kind: AIMService}\n  path: p.yaml\n"
    (line,) = kustomized(patches, BY_NAME if present else "", **files)
    assert f"patches[0].{'path' if in_a_file else 'patch'}: " in line
    assert field in line
    assert "write it anew for v1alpha2" in line


@pytest.mark.parametrize(
    "operations",
    [
        REPLICAS,
        "[{op: add, path: /metadata/labels, value: {a: b}}]",
        "[{op: test, path: /spec/replicas, value: 1}, {op: remove, path: /spec/replicas}]",
        "[{op: copy, from: /spec/replicas, path: /spec/minReplicas}]",
        "{spec: {replicas: 3}}",
        "[{op: add, path: /spec/profile/name, value: x}]",
        "{apiVersion: aim.eai.amd.com/v1alpha2, kind: AIMService, spec: {profile: {name: x}}}",
    ],
)
def test_a_patch_that_does_what_it_did_is_in_order(operations: str) -> None:
    assert kustomized(with_target("kind: AIMService", operations)) == []


@pytest.mark.parametrize("kind", ["AIMModel", "AIMRuntimeConfig"])
@pytest.mark.parametrize(("path", "matters"), [("/spec/image", True), ("/metadata/labels", False)])
def test_what_a_profile_has_taken_without_a_patch_is_named(kind: str, path: str, *, matters: bool) -> None:
    files = {
        "kustomization.yaml": "resources: [m.yaml, t.yaml]\n"
        + with_target(f"kind: {kind}", f"[{{op: add, path: {path}, value: x}}]"),
        "m.yaml": f"{LEGACY}kind: {kind}\nmetadata: {{name: m}}\nspec: {{image: 'a/b:1'}}\n",
    }
    assert to_decide(files) == []
    template = f"{LEGACY}kind: AIMServiceTemplate\nmetadata: {{name: t}}\nspec: {{modelName: m}}\n"
    assert bool(to_decide({**files, "t.yaml": template})) == matters


def test_an_index_that_means_another_item_is_named() -> None:
    service = SERVICE.format(
        "{template: {name: t}, env: [{name: AIM_ENGINE_ARGS, value: '{\"a\": 1}'}, {name: A, value: b}]}"
    )
    (line,) = kustomized(with_target("kind: AIMService", "[{op: remove, path: /spec/env/1}]"), service)
    assert "what this makes of spec.env[1] of AIMService/ml/s is another thing now" in line


@pytest.mark.parametrize("name", ["s", "o.*"])
def test_only_the_objects_that_a_target_takes_count(name: str) -> None:
    replaced = "[{op: replace, path: /spec/env/0/value, value: x}]"
    arguments = SERVICE.format("{template: {name: t}, env: [{name: AIM_ENGINE_ARGS, value: '{\"a\": 1}'}]}")
    patches = with_target(f"kind: AIMService, name: {name}", replaced)
    files = {
        "kustomization.yaml": f"resources: [s.yaml, o.yaml]\n{patches}",
        "s.yaml": arguments,
        "o.yaml": BY_NAME.replace("name: s", "name: o"),
    }
    assert bool(to_decide(files)) == (name == "s")


def test_a_patch_of_what_another_patch_makes_is_tried_with_that() -> None:
    files = {
        "kustomization.yaml": "resources: [s.yaml]\npatches:\n- path: p.yaml\n"
        "- {target: {kind: AIMService}, patch: '[{op: remove, path: /spec/env/0}]'}\n",
        "s.yaml": SERVICE.format("{template: {name: t}}"),
        "p.yaml": SERVICE.format("{env: [{name: AIM_ENGINE_ARGS, value: '{\"a\": 1}'}]}"),
    }
    (line,) = to_decide(files)
    assert "patches[1].patch: what this makes of spec.env[0] of AIMService/ml/s is another thing now" in line


def test_what_was_to_be_written_anew_is_so_when_the_objects_are_converted() -> None:
    operations = "[{op: replace, path: /spec/template/name, value: x}]"
    (line,) = kustomized(with_target("kind: AIMService", operations))
    after = BY_NAME.replace("v1alpha1", "v1alpha2").replace("template", "profile")
    assert kustomized(with_target("kind: AIMService", operations), after) == [line]
    assert kustomized(with_target("kind: AIMService", operations.replace("template", "profile")), after) == []


@pytest.mark.parametrize("head", [f"{FLUX}  ", f"{ARGO}      "])
def test_flux_and_argo_patch_as_well(head: str) -> None:
    indent = head.rpartition("\n")[2]
    patches = with_target("kind: AIMService, version: v1alpha1", REPLICAS).replace("\n", f"\n{indent}").rstrip(" ")
    files = {"apps/k.yaml": f"{head}{patches}", "s.yaml": BY_NAME}
    (line,) = to_decide(files, "apps/k.yaml")
    assert "patches[0].target.version: this selects objects at v1alpha1" in line


@pytest.mark.parametrize(
    ("replacement", "field"),
    [
        ("source: {kind: AIMServiceTemplate, fieldPath: spec.image}", "source.kind"),
        ("source: {kind: AIMService, fieldPath: spec.template.name}", "source.fieldPath"),
        (
            "targets: [{select: {kind: AIMService, version: v1alpha1}, fieldPaths: [spec.replicas]}]",
            "targets[0].select.version",
        ),
        (
            "targets: [{select: {kind: AIMService}, fieldPaths: [spec.replicas, spec.template.name]}]",
            "targets[0].fieldPaths[1]",
        ),
        ("targets: [{select: {name: s}, fieldPaths: [spec.template.name]}]", "targets[0].fieldPaths[0]"),
        (
            "targets: [{select: {name: s}, reject: [{kind: AIMTemplateCache}], fieldPaths: []}]",
            "targets[0].reject[0].kind",
        ),
    ],
)
def test_a_replacement_of_what_is_elsewhere_is_named(replacement: str, field: str) -> None:
    (line,) = kustomized(f"replacements:\n- {{{replacement}}}\n")
    assert line.startswith(f"kustomization.yaml:3: replacements[0].{field}: ")
    (line,) = kustomized("replacements:\n- path: r.yaml\n", r_yaml=f"- {{{replacement}}}\n")
    assert line.startswith("kustomization.yaml:3: replacements[0].path: ")


def test_replacements_of_what_stays_are_in_order() -> None:
    both = "source: {kind: ConfigMap, fieldPath: data.a}, targets: [{select: {kind: AIMService}, fieldPaths: "
    paths = "[spec.replicas, 'spec.env.[name=A].value', metadata.labels.a, spec.model.name]"
    assert kustomized(f"replacements:\n- {{{both}{paths}}}]}}\n") == []


def test_an_image_that_goes_to_a_model_is_elsewhere() -> None:
    replacement = "targets: [{select: {kind: AIMService}, fieldPaths: [spec.model.image]}]"
    (line,) = kustomized(f"replacements:\n- {{{replacement}}}\n", SERVICE.format("{model: {image: 'a/b:1'}}"))
    assert "spec.model.image is elsewhere at v1alpha2" in line


def test_variables_of_objects_at_v1alpha1_are_named() -> None:
    variable = "{name: V, objref: {apiVersion: aim.eai.amd.com/v1alpha1, kind: AIMService, name: s}}"
    (line,) = kustomized(f"vars:\n- {variable}\n")
    assert "vars[0].objref: this selects objects at v1alpha1" in line
    assert kustomized(f"vars:\n- {variable.replace('AIMService', 'AIMRuntimeConfig')}\n") == []


CONFIGURATION = "nameReference:\n- kind: {}\n  fieldSpecs:\n  - {{kind: {}, path: {}}}\n"


@pytest.mark.parametrize(
    ("specs", "field"),
    [
        (("AIMServiceTemplate", "Deployment", "spec/a"), "nameReference[0].kind"),
        (("AIMRuntimeConfig", "AIMService", "spec/template/name"), "nameReference[0].fieldSpecs[0].path"),
        (("AIMRuntimeConfig", "AIMServiceTemplate", "spec/image"), "nameReference[0].fieldSpecs[0].kind"),
        (("AIMRuntimeConfig", "AIMService", "spec/runtimeConfigName"), ""),
    ],
)
def test_configurations_of_what_is_elsewhere_are_named(specs: tuple[str, str, str], field: str) -> None:
    files = {
        "d/kustomization.yaml": "resources: [s.yaml]\nconfigurations: [../c.yaml]\n",
        "d/s.yaml": BY_NAME,
        "c.yaml": CONFIGURATION.format(*specs),
    }
    lines = to_decide(files, "c.yaml")
    assert [line.split(": ")[1] for line in lines] == ([field] if field else [])


def test_a_model_that_gets_another_name_than_what_refers_to_it_is_named() -> None:
    image = SERVICE.format("{model: {image: 'a/b:1'}}")
    (line,) = kustomized("namePrefix: east-\n", image)
    assert line.startswith("kustomization.yaml:2: namePrefix: Kustomize changes the name of the AIMModel b-1-")
    assert line.endswith("kind AIMService, path spec/model/name")
    assert kustomized("namePrefix: east-\n") == []  # no model is among what is built
    known = CONFIGURATION.format("AIMModel", "AIMService", "spec/model/name")
    assert kustomized("nameSuffix: -east\nconfigurations: [c.yaml]\n", image, c_yaml=known) == []
    files = {
        "base/s.yaml": image,
        "base/kustomization.yaml": "resources: [s.yaml]\n",
        "o/kustomization.yaml": "resources: [../base]\nnameSuffix: -o\n",
    }
    lines = to_decide(files, "o/kustomization.yaml")
    assert "nameSuffix: Kustomize changes the name of the AIMModel" in lines[0]
    again = {file.file.name: file.text for file in convert(files).files}
    assert to_decide(again, "o/kustomization.yaml") == lines
