"""Kustomize takes no new object from a patch, and finds no object of a version that is gone."""

from dataclasses import replace
from pathlib import Path

import pytest

from aim_api.tree import JsonObject, get, has
from aim_template_migration.manifests.converting import Conversion, Options, convert_files
from aim_template_migration.manifests.files import read_inputs
from aim_template_migration.manifests.findings import findings_of
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.validating import validate_files
from aim_template_migration.mapping.recipes.context import Values
from tests.aim_template_migration.manifests.kubectl import built_by_kustomize

HEAD = "apiVersion: aim.eai.amd.com/v1alpha1\nkind: {}\nmetadata: {{name: s}}\nspec: {}\n"
PATCHED = "resources: [base/a.yaml]\npatches:\n- path: p/x.yaml\n"


def convert(files: dict[str, str]) -> Conversion:
    return convert_files([ManifestFile(name, read_manifest(text.encode())) for name, text in files.items()])


def to_decide(conversion: Conversion) -> list[str]:
    return [str(finding) for finding in findings_of(conversion.ledger) if finding.lost]


def built(conversion: Conversion, folder: Path) -> str:
    """Return what Kustomize makes of the files, or its complaint."""
    for file in conversion.files:
        path = folder / file.file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
    return built_by_kustomize(folder)


@pytest.mark.parametrize("first", ["kustomization.yaml", "p/x.yaml"])
def test_a_patch_gets_no_object_beside_it(first: str, tmp_path: Path) -> None:
    files = {
        "kustomization.yaml": PATCHED,
        "p/x.yaml": HEAD.format("AIMService", "{model: {image: 'x/y:2'}}"),
        "base/a.yaml": HEAD.format("AIMService", "{model: {image: 'x/y:1'}}"),
    }
    ordered = {first: files[first], **files}
    conversion = convert(ordered)
    patch = next(file for file in conversion.files if file.file.name == "p/x.yaml")
    assert not patch.changed
    (line,) = to_decide(conversion)
    assert line.startswith("p/x.yaml:2: AIMModel/y-2-875a7394 kind: Kustomize takes no new object from a patch, so the")
    assert (
        "write AIMModel/y-2-875a7394 with spec.image: x/y:2 to a file of the resources and name it in the patch" in line
    )
    assert "no matches for Id" in built(conversion, tmp_path)  # which is loud
    model = HEAD.format("AIMModel", "{image: 'x/y:2'}").replace("name: s", "name: y-2")
    again = convert({**files, "base/m.yaml": model})
    assert to_decide(again) == []
    assert next(file for file in again.files if file.file.name == "p/x.yaml").text.endswith("{model: {name: y-2}}\n")


def test_no_other_patch_takes_the_model_that_one_alone_knows() -> None:
    patch = HEAD.format("AIMService", "{model: {image: 'x/y:2'}}")
    files = {
        "kustomization.yaml": f"{PATCHED}- path: p/z.yaml\n",
        "p/x.yaml": patch,
        "p/z.yaml": patch,
        "base/a.yaml": HEAD.format("AIMService", "{model: {image: 'x/y:1'}}"),
    }
    conversion = convert(files)
    assert [line.partition(":")[0] for line in to_decide(conversion)] == ["p/x.yaml", "p/z.yaml"]
    assert [file.changed for file in conversion.files] == [False, False, False, True]


BASE = "{model: {name: m}, template: {name: t}, overrides: {engineArgs: {a: 1}}}"
SELECTS = "{model: {name: m}, template: {allowUnoptimized: true}}"


@pytest.mark.parametrize(
    ("base", "patch"),
    [
        (BASE, "{template: null}"),
        (BASE, "{overrides: {metric: latency}}"),
        (BASE, "{overrides: {engineArgs: {a: text}}, env: [{name: AIM_ENGINE_ARGS, value: none}]}"),
        ("{template: {name: t}, overrides: {engineArgs: {a: text}}}", "{overrides: {engineArgs: {a: '1'}}}"),
        ("", "{template: {name: x}}"),
        ("", "{overrides: null}"),
    ],
)
def test_a_patch_that_has_no_form_of_v1alpha2_stays(base: str, patch: str) -> None:
    files = {"kustomization.yaml": PATCHED, "p/x.yaml": HEAD.format("AIMService", patch)}
    if base:
        files["base/a.yaml"] = HEAD.format("AIMService", base)
    conversion = convert(files)
    assert not conversion.files[1].changed
    (line,) = to_decide(conversion)
    assert line.startswith("p/x.yaml:2: AIMService/s kind: what becomes of this patch depends on the service")
    again = convert({file.file.name: file.text for file in conversion.files})
    assert not any(file.changed for file in again.files)
    assert to_decide(again) == [line]


def test_what_concerns_the_model_of_an_image_too_is_no_patch_of_the_service_alone() -> None:
    patch = HEAD.format("AIMService", "{runtimeConfigName: r}")
    image = HEAD.format("AIMService", "{model: {image: 'x/y:1'}}")
    conversion = convert({"kustomization.yaml": PATCHED, "base/a.yaml": image, "p/x.yaml": patch})
    (line,) = to_decide(conversion)
    assert "kind: spec.runtimeConfigName of this patch may concern the AIMModel of the service's image as well" in line
    again = convert({file.file.name: file.text for file in conversion.files})
    assert len(to_decide(again)) == 1
    assert not any(file.changed for file in again.files)
    by_name = convert(
        {"kustomization.yaml": PATCHED, "base/a.yaml": HEAD.format("AIMService", BASE), "p/x.yaml": patch}
    )
    assert to_decide(by_name) == []


BY_ENV = "{template: {name: t}, env: [{name: AIM_ENGINE_ARGS, value: '{\"a\": 1}'}]}"
MODEL_ALONE = "{model: {name: m}}"


@pytest.mark.parametrize(
    ("base", "patch", "becomes"),
    [
        (BASE, "{overrides: null, replicas: 2}", "{replicas: 2, profileOverrides: null}"),
        (BASE, "{overrides: {engineArgs: null}}", "{profileOverrides: null}"),
        (BASE, "{overrides: {engineArgs: {b: '2'}}}", "{profileOverrides: {engineArgs: {b: 2}}}"),
        (BASE, "{overrides: {engineArgs: {a: null, c: x}}}", "{profileOverrides: {engineArgs: {a: null, c: x}}}"),
        (BASE, "{overrides: {$patch: replace, engineArgs: {b: 2}}}", ""),
        (BASE, "{template: {$patch: replace, name: x}}", "{profile: {$patch: replace, name: x}}"),
        (BASE, "{$patch: replace, template: {name: x}}", "{$patch: replace, profile: {name: x}}"),
        (BY_ENV, "{env: []}", "{profileOverrides: null}"),
        (BY_ENV, "{env: [{name: AIM_ENGINE_ARGS, value: '{\"b\": 2}'}]}", ""),
        (SELECTS, "{template: {name: x}}", "{profile: {name: x, selector: null}}"),
        (SELECTS, "{template: {allowUnoptimized: null}}", ""),
        (SELECTS, "{caching: null, replicas: null}", "{caching: null, replicas: null}"),
        (MODEL_ALONE, "{template: {name: x}, overrides: {engineArgs: {a: '1'}}}", ""),
        (MODEL_ALONE, "{model: {name: other}}", "{model: {name: other}}"),
    ],
)
def test_a_patch_does_to_the_converted_service_what_it_did_to_the_service(
    base: str, patch: str, becomes: str, tmp_path: Path
) -> None:
    files = {"base/a.yaml": HEAD.format("AIMService", base), "p/x.yaml": HEAD.format("AIMService", patch)}
    files = {"kustomization.yaml": PATCHED, **files}
    conversion = convert(files)
    assert to_decide(conversion) == []
    patched = conversion.files[2].text
    assert patched.endswith(f"\nspec: {becomes}\n" if becomes else "}\n")
    before = convert({"all.yaml": built(_as_is(files), tmp_path / "before")})
    after = convert({"all.yaml": built(conversion, tmp_path / "after")})
    assert to_decide(before) == to_decide(after) == []
    assert _without_annotation(before) == _without_annotation(after)
    assert not any(file.changed for file in convert({file.file.name: file.text for file in conversion.files}).files)


def _as_is(files: dict[str, str]) -> Conversion:
    conversion = convert(files)
    kept = tuple(replace(file, text=file.file.manifest.text) for file in conversion.files)
    return replace(conversion, files=kept)


def _without_annotation(conversion: Conversion) -> list[JsonObject]:
    """Return the objects without the annotation that says again what spec.profile says."""
    objects = [value for file in conversion.files for value in file.objects()]
    for value in objects:
        if has(value, "spec", "profile"):
            value["metadata"] = {"name": get(value, "metadata", "name")}
    return objects


def test_a_field_of_a_patch_that_has_to_be_decided_about_is_named_itself() -> None:
    patch = HEAD.format("AIMService", "{env: [{name: A, value: b}], replicas: 2}")
    conversion = convert(
        {"kustomization.yaml": PATCHED, "base/a.yaml": HEAD.format("AIMService", BASE), "p/x.yaml": patch}
    )
    lines = to_decide(conversion)
    assert [line.partition(": ")[0] for line in lines] == ["p/x.yaml:4"]
    assert "spec.env[0]" in lines[0]
    assert conversion.files[2].changed


def test_patches_of_one_service_are_tried_in_their_order(tmp_path: Path) -> None:
    names = HEAD.format("AIMService", "{template: {name: t}}")
    arguments = HEAD.format("AIMService", "{overrides: {engineArgs: {a: '1'}}}")
    files = {
        "kustomization.yaml": "resources: [base]\npatches: [{path: p.yaml}, {path: q.yaml}]\n",
        "base/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n",
        "base/a.yaml": HEAD.format("AIMService", MODEL_ALONE),
        "base/p.yaml": names,
        "p.yaml": arguments,
        "q.yaml": HEAD.format("AIMService", "{overrides: null}"),
    }
    conversion = convert(files)
    assert to_decide(conversion) == []
    texts = {file.file.name: file.text for file in conversion.files}
    assert "spec: {profile: {name: t}}" in texts["base/p.yaml"]
    assert "spec: {profileOverrides: {engineArgs: {a: 1}}}" in texts["p.yaml"]
    assert "spec: {profileOverrides: null}" in texts["q.yaml"]
    assert "profileOverrides" not in built(conversion, tmp_path)


@pytest.mark.parametrize("target", ["{kind: AIMService}", "{name: s}", "{name: 's.*', kind: AIM.*}"])
def test_a_target_says_which_services_a_patch_changes(target: str) -> None:
    patch = HEAD.format("AIMService", "{env: [{name: AIM_ENGINE_ARGS, value: '{\"b\": 2}'}]}")
    files = {
        "kustomization.yaml": f"resources: [base/a.yaml]\npatches: [{{path: p.yaml, target: {target}}}]\n",
        "base/a.yaml": HEAD.format("AIMService", BY_ENV),
        "p.yaml": patch.replace("name: s", "name: any"),
    }
    conversion = convert(files)
    assert to_decide(conversion) == []
    assert conversion.files[2].text.endswith("spec: {profileOverrides: {engineArgs: {a: null, b: 2}}}\n")


def test_a_patch_of_any_name_finds_what_is_given_for_the_service() -> None:
    files = {
        "kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml, target: {kind: AIMService}}]\n",
        "a.yaml": HEAD.format("AIMService", "{overrides: {engineArgs: {a: '1'}}}"),
        "p.yaml": HEAD.format("AIMService", "{overrides: {engineArgs: {b: '2'}}}").replace("name: s", "name: any"),
    }
    read = [ManifestFile(name, read_manifest(text.encode())) for name, text in files.items()]
    conversion = convert_files(read, Options(values=Values({"AIMService/s": {"profileName": "x"}})))
    assert to_decide(conversion) == []
    assert "spec: {profileOverrides: {engineArgs: {b: 2}}}" in conversion.files[2].text


def test_a_patch_is_one_for_all_services_that_it_changes() -> None:
    files = {
        "kustomization.yaml": "resources: [a.yaml, b.yaml]\npatches: [{path: p.yaml, target: {kind: AIMService}}]\n",
        "a.yaml": HEAD.format("AIMService", BASE),
        "b.yaml": HEAD.format("AIMService", BASE).replace("name: s", "name: other"),
        "p.yaml": HEAD.format("AIMService", "{overrides: {engineArgs: {b: '2'}}}"),
    }
    assert to_decide(convert(files)) == []
    files["b.yaml"] = HEAD.format("AIMService", SELECTS).replace("name: s", "name: other")
    (line,) = to_decide(convert(files))
    assert line.startswith("p.yaml:2: AIMService/s kind: what becomes of this patch depends on the service")


def test_a_patch_changes_what_its_own_kustomization_builds() -> None:
    files = {
        "east/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n",
        "east/a.yaml": HEAD.format("AIMService", BASE),
        "east/p.yaml": HEAD.format("AIMService", "{overrides: {engineArgs: {b: '2'}}}"),
        "west/kustomization.yaml": "resources: [a.yaml]\n",
        "west/a.yaml": HEAD.format("AIMService", SELECTS),
    }
    assert to_decide(convert(files)) == []


def test_what_a_kustomization_builds_beside_the_input_is_no_matter() -> None:
    files = {
        "east/kustomization.yaml": "resources: [a.yaml, https://host/x]\n"
        "patches: [{path: p.yaml, target: {name: s}}]\n",
        "east/a.yaml": HEAD.format("AIMService", BASE),
        "east/p.yaml": HEAD.format("AIMService", "{overrides: {engineArgs: {b: '2'}}}"),
        "west/a.yaml": HEAD.format("AIMService", SELECTS),
    }
    assert to_decide(convert(files)) == []
    del files["east/a.yaml"]
    assert len(to_decide(convert(files))) == 1  # it may be the other one


def test_what_a_patch_completes_is_no_fault_of_the_base() -> None:
    files = {
        "base/kustomization.yaml": "resources: [a.yaml]\n",
        "base/a.yaml": HEAD.format("AIMService", "{replicas: 1}"),
        "o/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n",
        "o/p.yaml": HEAD.format("AIMService", "{template: {name: t}}"),
    }
    assert to_decide(convert(files)) == []
    files["o/p.yaml"] = HEAD.format("AIMService", "{minReplicas: 1}")
    (line,) = to_decide(convert(files))
    assert line.startswith("base/a.yaml:4: AIMService/s spec: a server refuses this")


def test_a_component_patches_what_builds_it() -> None:
    files = {
        "c/kustomization.yaml": "kind: Component\npatches: [{path: p.yaml}]\n",
        "c/p.yaml": HEAD.format("AIMService", "{overrides: {engineArgs: {b: '2'}}}"),
        "o/kustomization.yaml": "resources: [a.yaml]\ncomponents: [../c]\n",
        "o/a.yaml": HEAD.format("AIMService", BASE),
    }
    conversion = convert(files)
    assert to_decide(conversion) == []
    assert conversion.files[1].text.endswith("spec: {profileOverrides: {engineArgs: {b: 2}}}\n")


def test_a_prefix_of_names_hides_no_service_from_its_patch() -> None:
    files = {
        "o/kustomization.yaml": "resources: [../m]\npatches: [{path: p.yaml}]\n",
        "m/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: m-\n",
        "m/a.yaml": HEAD.format("AIMService", BY_ENV),
        "o/p.yaml": HEAD.format("AIMService", "{env: [{name: AIM_ENGINE_ARGS, value: '{\"b\": 2}'}]}").replace(
            "name: s", "name: m-s"
        ),
    }
    conversion = convert(files)
    assert to_decide(conversion) == []
    assert "profileOverrides: {engineArgs: {a: null, b: 2}}" in conversion.files[3].text


def test_comments_of_a_patch_stay_with_their_fields() -> None:
    patch = HEAD.format("AIMService", "\n  overrides:   # longer\n    engineArgs: {a: '8'}   # tokens")
    files = {"kustomization.yaml": PATCHED, "base/a.yaml": HEAD.format("AIMService", BASE), "p/x.yaml": patch}
    text = convert(files).files[2].text
    assert text.endswith("  profileOverrides:   # longer\n    engineArgs: {a: 8}   # tokens\n")


def test_a_kustomization_needs_no_head(tmp_path: Path) -> None:
    files = {"base/a.yaml": HEAD.format("AIMService", BASE), "p/x.yaml": HEAD.format("AIMService", "{replicas: 2}")}
    for name, text in (("Kustomization", PATCHED), ("kustomization.yml", f"kind: Kustomization\n{PATCHED}")):
        conversion = convert({name: text, **files})
        assert to_decide(conversion) == []
        assert [note.message for note in conversion.ledger.notes if note.file == "p/x.yaml"] == []
    for name, text in {"Kustomization": PATCHED, **files}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [file.name.rpartition("/")[2] for file in read_inputs([str(tmp_path)], follow_links=True).files] == [
        "Kustomization",
        "a.yaml",
        "x.yaml",
    ]


@pytest.mark.parametrize(
    ("patch", "becomes"),
    [
        ("{template: {name: x}}", "{profile: {name: x}}"),
        ("{replicas: null}", "{replicas: null}"),
        ("{replicas: 2, model: {name: o}, template: {name: x}}", "{replicas: 2, model: {name: o}, profile: {name: x}}"),
    ],
)
def test_a_patch_that_means_the_same_is_converted(patch: str, becomes: str) -> None:
    files = {"base/a.yaml": HEAD.format("AIMService", BASE), "p/x.yaml": HEAD.format("AIMService", patch)}
    conversion = convert({"kustomization.yaml": PATCHED, **files})
    assert to_decide(conversion) == []
    expected = HEAD.replace("v1alpha1", "v1alpha2").format("AIMService", becomes)
    assert conversion.files[2].text == expected


def test_the_model_of_a_patch_is_one_of_the_resources() -> None:
    service = HEAD.format("AIMService", "{model: {image: 'x/y:1'}}")
    files = {"kustomization.yaml": PATCHED, "p/x.yaml": service, "base/a.yaml": service}
    conversion = convert(files)
    assert to_decide(conversion) == []
    assert [len(file.objects()) for file in conversion.files] == [1, 1, 2]


@pytest.mark.parametrize(
    "patches", ["patchesStrategicMerge: [./p/x.yaml]", "patches: [{path: p/../p/x.yaml, target: {kind: AIMService}}]"]
)
def test_a_patch_is_a_part_of_an_object(patches: str) -> None:
    patch = HEAD.format("AIMService", "{replicas: 2}")
    files = {"d/kustomization.yaml": f"{patches}\n", "d/p/x.yaml": patch}
    assert to_decide(convert(files)) == []
    assert len(to_decide(convert({**files, "d/kustomization.yaml": "resources: [p/x.yaml]\n"}))) == 1


@pytest.mark.parametrize("kind", ["AIMServiceTemplate", "AIMTemplateCache", "AIMModel"])
def test_a_patch_of_another_kind_stays_and_is_named(kind: str) -> None:
    files = {"kustomization.yaml": PATCHED, "p/x.yaml": HEAD.format(kind, "{env: [{name: A, value: b}]}")}
    conversion = convert(files)
    assert not any(file.changed for file in conversion.files)
    (line,) = to_decide(conversion)
    assert line.startswith(f"p/x.yaml:2: {kind}/s kind: this patches an object of the kind {kind}, and only the whole")


@pytest.mark.parametrize("field", ["patchesStrategicMerge:\n- |-\n", "patches:\n- patch: |-\n"])
def test_a_patch_that_a_kustomization_holds_itself_is_to_be_written_anew(field: str) -> None:
    patch = "".join(f"    {line}\n" for line in HEAD.format("AIMService", "{template: {name: t}}").splitlines())
    files = {"kustomization.yaml": f"resources: [a.yaml]\n{field}{patch}"}
    (line,) = to_decide(convert(files))
    assert line.endswith("stays as it is; write it anew for the converted object")
    files["kustomization.yaml"] = files["kustomization.yaml"].replace("v1alpha1", "v1alpha2")
    assert to_decide(convert(files)) == []


TEMPLATE = (
    "{modelName: m, image: 'a/b:1', aimId: a/b, modelId: a/b, modelSources: [{modelId: a/b, sourceUri: 'hf://a/b'}]}"
)


def test_a_patch_of_a_runtime_config_counts_where_a_profile_has_its_environment() -> None:
    files = {"kustomization.yaml": PATCHED, "p/x.yaml": HEAD.format("AIMRuntimeConfig", "{env: [{name: A, value: b}]}")}
    assert to_decide(convert(files)) == []
    (line,) = to_decide(convert({**files, "base/t.yaml": HEAD.format("AIMServiceTemplate", TEMPLATE)}))
    assert "p/x.yaml:2: AIMRuntimeConfig/s kind: the profiles of converted templates have the environment" in line


def test_a_patch_is_no_second_object() -> None:
    model = HEAD.format("AIMModel", "{image: 'x/y:1'}")
    files = {"kustomization.yaml": PATCHED, "p/x.yaml": model, "base/m.yaml": model}
    notes = [note.message for note in convert(files).ledger.notes]
    assert not [message for message in notes if "stands at" in message]
    both = {"p/x.yaml": model, "p/m.yaml": model}
    assert [note.message for note in convert(both).ledger.notes if "stands at p/x.yaml:1 as well" in note.message]


SOUND = HEAD.replace("v1alpha1", "v1alpha2")


def judged(patch: str, *, named: bool = True) -> list[tuple[str, str, str]]:
    """Return what validate says of a patch."""
    files = {
        "kustomization.yaml": PATCHED if named else "resources: [p/x.yaml]\n",
        "p/x.yaml": SOUND.format("AIMService", patch),
    }
    found = validate_files([ManifestFile(name, read_manifest(text.encode())) for name, text in files.items()])
    return [(item.level, item.field, item.reason) for item in found.violations]


NOTE = ("note", "kind", "KustomizePatch")


@pytest.mark.parametrize("patch", ["{replicas: 2}", "{replicas: null}", "{profile: {name: x}}", "{$patch: delete}"])
def test_a_patch_is_valid_as_a_part(patch: str) -> None:
    assert judged(patch) == [NOTE]
    assert any(level == "error" for level, _, _ in judged("{replicas: 2}", named=False))


@pytest.mark.parametrize(
    ("patch", "field", "reason"),
    [
        ("{replica: 2}", "spec.replica", "FieldValueUnknown"),
        ("{replicas: two}", "spec.replicas", "FieldValueTypeInvalid"),
        ("{caching: {mode: Sometimes}}", "spec.caching.mode", "FieldValueNotSupported"),
        ("{template: {name: t}}", "spec.template", "FieldValueForbidden"),
    ],
)
def test_what_no_object_has_is_wrong_in_a_patch_too(patch: str, field: str, reason: str) -> None:
    assert [(where, why) for level, where, why in judged(patch) if level == "error"] == [(field, reason)]
