import hashlib
import json
import os
import stat
import struct
import subprocess
import sys

import jsonschema
import msgspec
import pytest

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_api.kinds import AIM_MODEL, AIM_SERVICE, AIM_SERVICE_TEMPLATE, INFERENCE_SERVICE
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.documents.schemas import schema_files
from tests.aim_template_migration.cli.plans import manual_unit, plan_of, write_plan

SERVICE = """\
# what we serve
apiVersion: aim.eai.amd.com/v1alpha1
kind: AIMService
metadata:
  name: chat   # the chat
spec:
  model: {name: qwen}
  template:
    name: qwen-fp8
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data:
  yes: 'on'   # not ours
"""
CONVERTED = SERVICE.replace("v1alpha1", "v1alpha2").replace("  template:", "  profile:")
UNDECIDED = SERVICE.replace("    name: qwen-fp8\n", "    name: qwen-fp8\n  overrides: {precision: fp8}\n")
DONE = "apiVersion: aim.eai.amd.com/v1alpha2\nkind: AIMService\nmetadata: {name: a}\nspec: {profile: {name: b}}\n"


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "service.yaml"
    path.write_text(SERVICE)
    return path


def test_a_file_goes_to_stdout_with_all_that_is_not_ours_as_it_was(aim, manifest):
    ran = aim("convert", manifest)
    assert (ran.code, ran.out) == (0, CONVERTED)
    assert ran.err == (
        f"{manifest}:9: spec.template.name: note: a profile is assumed to be named like its template; verify that the "
        "profile qwen-fp8 exists\n"
    )
    assert manifest.read_text() == SERVICE


def test_what_has_to_be_decided_is_named_by_file_line_and_field(aim, manifest):
    manifest.write_text(UNDECIDED)
    ran = aim("convert", manifest)
    assert ran.code == 3
    assert f"{manifest}:10: spec.overrides.precision: it selects a profile, but spec.profile.name names one" in ran.err
    assert "  overrides: {precision: fp8}\n" in ran.out


def test_standard_input(aim, monkeypatch, manifest):
    with manifest.open() as opened:
        monkeypatch.setattr("sys.stdin", opened)
        ran = aim("convert", "-")
    assert (ran.code, ran.out) == (0, CONVERTED)
    assert ran.err.startswith("stdin:9: ")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_bytes_stay_where_nothing_changes(tmp_path, encoding):
    path = tmp_path / "x.yaml"
    data = b"\xef\xbb\xbf" + CONVERTED.replace("\n", "\r\n").encode() + "# \U0001f600".encode()
    path.write_bytes(data)
    command = [sys.executable, "-m", "aim_template_migration", "convert", path]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, data)


def test_a_directory_is_read_with_all_below_it_and_nothing_else(aim, tmp_path):
    (tmp_path / "b" / "deep").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.yaml").write_text(SERVICE)
    (tmp_path / "readme.md").write_text("no manifest")
    (tmp_path / "a.yaml").write_text(DONE)
    (tmp_path / "b" / "deep" / "c.yml").write_text(SERVICE)
    (tmp_path / "b" / "d.json").write_text('{"apiVersion": "v1", "kind": "ConfigMap"}\n')
    ran = aim("convert", tmp_path)
    assert ran.code == 0
    assert ran.out == f'{DONE}---\n{{"apiVersion": "v1", "kind": "ConfigMap"}}\n---\n{CONVERTED}'


def test_objects_as_json(aim, manifest, tmp_path):
    ran = aim("convert", manifest, "-o", "json")
    assert ran.document["kind"] == "List"
    assert [item["kind"] for item in ran.document["items"]] == ["AIMService", "ConfigMap"]
    one = tmp_path / "one.yaml"
    one.write_text(DONE)
    assert aim("convert", one, "-o", "json").document["kind"] == "AIMService"


def test_in_place_keeps_mode_and_owner_and_leaves_no_other_file(aim, manifest):
    manifest.chmod(0o640)
    before = manifest.stat()
    ran = aim("convert", manifest, "--in-place")
    assert (ran.code, ran.out) == (0, "")
    assert manifest.read_text() == CONVERTED
    after = manifest.stat()
    assert stat.S_IMODE(after.st_mode) == 0o640
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert [path.name for path in manifest.parent.iterdir()] == ["service.yaml"]
    assert "replaced 1 file of 1" in ran.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_in_place_keeps_a_foreign_owner(aim, manifest):
    os.chown(manifest, 4321, 4322)
    assert aim("convert", manifest, "--in-place").code == 0
    assert (manifest.stat().st_uid, manifest.stat().st_gid) == (4321, 4322)


def access_list(*extra):
    """Return an access control list as the kernel stores it: version 2, and entries of tag, permissions and id."""
    entries = [(0x01, 6, -1), *extra, (0x04, 4, -1), (0x10, 4, -1), (0x20, 0, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


@pytest.fixture
def attributes(tmp_path):
    """Skip where the file system has no attributes of users or no access control lists."""
    probe = tmp_path / "probe"
    probe.touch()
    try:
        os.setxattr(probe, "user.a", b"1")
        os.setxattr(probe, "system.posix_acl_access", access_list((0x02, 4, 4321)))
    except (AttributeError, OSError):
        pytest.skip("this file system has no extended attributes")
    probe.unlink()


@pytest.mark.usefixtures("attributes")
def test_in_place_keeps_attributes_and_the_access_control_list(aim, manifest):
    manifest.chmod(0o640)
    os.setxattr(manifest, "user.origin", b"template")
    os.setxattr(manifest, "system.posix_acl_access", access_list((0x02, 4, 4321)))
    before = {name: os.getxattr(manifest, name) for name in os.listxattr(manifest)}
    assert aim("convert", manifest, "--in-place").code == 0
    assert manifest.read_text() == CONVERTED
    assert {name: os.getxattr(manifest, name) for name in os.listxattr(manifest)} == before
    assert stat.S_IMODE(manifest.stat().st_mode) == 0o640


@pytest.mark.usefixtures("attributes")
def test_in_place_takes_over_no_access_from_the_directory(aim, manifest):
    manifest.chmod(0o640)
    os.setxattr(manifest.parent, "system.posix_acl_default", access_list((0x02, 6, 4321)))
    assert aim("convert", manifest, "--in-place").code == 0
    assert "system.posix_acl_access" not in os.listxattr(manifest)
    assert stat.S_IMODE(manifest.stat().st_mode) == 0o640


@pytest.mark.usefixtures("attributes")
def test_in_place_leaves_a_file_alone_whose_attribute_can_not_be_kept(aim, manifest, monkeypatch):
    os.setxattr(manifest, "user.origin", b"template")

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.setxattr", refuse)
    ran = aim("convert", manifest, "--in-place")
    assert ran.code == 3
    assert f"{manifest} has the attribute user.origin, which can't be kept, so it is left as it is" in ran.err
    assert manifest.read_text() == SERVICE
    assert [path.name for path in manifest.parent.iterdir()] == ["service.yaml"]


def test_in_place_leaves_a_file_alone_that_has_other_names(aim, manifest, tmp_path):
    (tmp_path / "other.txt").hardlink_to(manifest)
    ran = aim("convert", manifest, "--in-place")
    assert ran.code == 3
    assert "has other names (hard links), which would keep the old text; copy the file first" in ran.err
    assert manifest.read_text() == SERVICE


def test_in_place_leaves_a_file_alone_in_which_nothing_changes(aim, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(DONE)
    before = path.stat()
    assert aim("convert", path, "--in-place").code == 0
    assert path.stat() == before


def test_in_place_refuses_symbolic_links(aim, manifest, tmp_path):
    link = tmp_path / "link.yaml"
    link.symlink_to(manifest)
    ran = aim("convert", link, "--in-place")
    assert ran.code == 4
    assert "symbolic link" in ran.err
    assert manifest.read_text() == SERVICE
    assert link.is_symlink()


def test_in_place_refuses_a_link_in_a_directory_and_converts_the_rest(aim, tmp_path):
    outside = tmp_path / "outside.yaml"
    outside.write_text(SERVICE)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(outside)
    (folder / "own.yaml").write_text(SERVICE)
    (folder / "elsewhere").symlink_to(tmp_path)
    ran = aim("convert", folder, "--in-place")
    assert ran.code == 3
    assert f"{folder}/link.yaml is a symbolic link" in ran.err
    assert outside.read_text() == SERVICE
    assert (folder / "own.yaml").read_text() == CONVERTED


def test_without_in_place_a_link_is_read(aim, manifest, tmp_path):
    link = tmp_path / "link.yaml"
    link.symlink_to(manifest)
    assert aim("convert", link).out == CONVERTED


def test_in_place_refuses_a_file_that_changed_meanwhile(manifest):
    from aim_template_migration.manifests.files import FileError, read_inputs, replace_in_place

    file = read_inputs([str(manifest)], follow_links=False).files[0]
    manifest.write_text(f"{SERVICE}# edited\n")
    with pytest.raises(FileError, match="has changed since it was read"):
        replace_in_place(file, b"x")
    assert manifest.read_text() == f"{SERVICE}# edited\n"
    assert [path.name for path in manifest.parent.iterdir()] == ["service.yaml"]


def test_in_place_refuses_a_file_outside_what_was_named(manifest, tmp_path):
    from dataclasses import replace

    from aim_template_migration.manifests.files import FileError, read_inputs, replace_in_place

    file = read_inputs([str(manifest)], follow_links=False).files[0]
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(FileError, match="lies outside"):
        replace_in_place(replace(file, root=other), b"x")
    assert manifest.read_text() == SERVICE


@pytest.mark.parametrize("option", ["--file", "--ledger"])
def test_a_manifest_is_no_file_for_anything_else(aim, manifest, tmp_path, option):
    ran = aim("convert", tmp_path, option, manifest)
    assert (ran.code, ran.out) == (2, "")
    assert f"{manifest} is one of the manifests" in ran.err
    assert "--in-place" in ran.err
    assert manifest.read_text() == SERVICE


def test_a_pipe_in_a_directory_is_named_and_not_taken_for_empty(aim, manifest, tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    ran = aim("convert", tmp_path)
    assert (ran.code, ran.out) == (3, CONVERTED)
    assert f"{tmp_path}/pipe.yaml is no regular file" in ran.err


def test_a_name_of_several_lines_stays_on_one(aim, tmp_path):
    (tmp_path / "a\nb.yaml").write_text(SERVICE)
    ran = aim("convert", tmp_path, "--check")
    assert (ran.code, ran.out) == (3, f"{tmp_path}/a\\nb.yaml would change\n")


def test_check_names_what_would_change(aim, manifest, tmp_path):
    ran = aim("convert", manifest, "--check")
    assert (ran.code, ran.out) == (3, f"{manifest} would change\n")
    assert manifest.read_text() == SERVICE
    manifest.write_text(CONVERTED)
    assert aim("convert", manifest, "--check").code == 0


def test_diff_shows_what_would_change(aim, manifest):
    ran = aim("convert", manifest, "--diff")
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if line[:1] in "+-"] == [
        f"--- {manifest}",
        f"+++ {manifest}",
        "-apiVersion: aim.eai.amd.com/v1alpha1",
        "+apiVersion: aim.eai.amd.com/v1alpha2",
        "-  template:",
        "+  profile:",
    ]


def test_a_file_for_the_answer_is_private(aim, manifest, tmp_path):
    path = tmp_path / "out.yaml"
    ran = aim("convert", manifest, "--file", path)
    assert (ran.code, ran.out) == (0, "")
    assert path.read_text() == CONVERTED
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_ledger_is_private_and_accounts_for_every_leaf(aim, manifest, tmp_path):
    manifest.write_text(UNDECIDED)
    path = tmp_path / "ledger.json"
    assert aim("convert", manifest, "--ledger", path).code == 3
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    ledger = json.loads(path.read_text())
    jsonschema.validate(ledger, json.loads(schema_files()["conversion-ledger-v1.json"]))
    assert (ledger["apiVersion"], ledger["kind"]) == ("migration.aim.eai.amd.com/v1", "ConversionLedger")
    entries = {entry["field"]: entry for entry in ledger["entries"]}
    assert entries.keys() == {
        "apiVersion",
        "kind",
        "metadata.name",
        "spec.model.name",
        "spec.template.name",
        "spec.overrides.precision",
    }
    name = entries["spec.template.name"]
    assert (name["line"], name["fate"], name["target"]) == (
        9,
        "renamed",
        {"object": "AIMService/chat", "field": "spec.profile.name"},
    )
    lost = entries["spec.overrides.precision"]
    assert (lost["line"], lost["fate"], lost["lost"]) == (10, "needsDecision", True)


@pytest.mark.parametrize(
    ("kind", "metadata", "spec", "field", "reason"),
    [
        ("AIMService", "{name: a}", "{model: {name: m}, template: []}", "spec.template", "spec.template is an object"),
        ("AIMService", "{name: a}", "{model: {name: m}, caching: x}", "spec.caching", "spec.caching is an object"),
        ("AIMModel", "{name: a}", "{image: i, customTemplates: {a: b}}", "spec.customTemplates", "is a list"),
        ("AIMService", "{name: a}", "[]", "spec", "spec is an object"),
        ("AIMService", "{name: a, labels: 3}", "{model: {name: m}}", "metadata.labels", "metadata.labels is an object"),
    ],
)
def test_parts_of_a_wrong_type_are_named_and_stay(aim, tmp_path, kind, metadata, spec, field, reason):
    path, ledger = tmp_path / "manifest.yaml", tmp_path / "ledger.json"
    path.write_text(f"apiVersion: aim.eai.amd.com/v1alpha1\nkind: {kind}\nmetadata: {metadata}\nspec: {spec}\n")
    ran = aim("convert", path, "--ledger", ledger)
    assert ran.code == 3
    line = next(line for line in ran.err.splitlines() if "here it is" in line)
    assert field in line
    assert reason in line
    assert spec.partition(", ")[2].rstrip("}") in ran.out
    written = json.loads(ledger.read_text())
    leaves_lost = [entry["field"] for entry in written.get("entries", ()) if entry.get("lost")]
    assert any(name.startswith(field) for name in [*leaves_lost, *(need["field"] for need in written.get("needs", ()))])
    path.write_text(ran.out)
    assert aim("convert", path, "--check").out == ""
    refused = aim("validate", path)
    assert (refused.code, field in refused.out) == (3, True)


def test_values_fill_what_the_manifests_lack(aim, tmp_path):
    path, values = tmp_path / "template.yaml", tmp_path / "values.yaml"
    path.write_text(
        "apiVersion: aim.eai.amd.com/v1alpha1\nkind: AIMServiceTemplate\nmetadata: {name: t, namespace: a}\n"
        "spec: {modelName: m, precision: fp8}\n"
    )
    assert aim("convert", path).code == 3
    values.write_text(
        "AIMModel/m:\n  image: r/i:1\n  aimId: o/f\n  modelId: o/m\n"
        "  modelSources: [{modelId: o/m, sourceUri: 'hf://o/m'}]\nAIMService/other: {aimId: x}\n"
    )
    ran = aim("convert", path, "--values", values, "-o", "json")
    assert ran.code == 0
    assert ran.document["spec"] == {
        "precision": "fp8",
        "aimId": "o/f",
        "modelId": "o/m",
        "image": "r/i:1",
        "modelSources": [{"modelId": "o/m", "sourceUri": "hf://o/m"}],
    }
    assert "the values of AIMService/other were not used" in ran.err


def test_values_of_what_is_converted_already_are_no_matter(aim, tmp_path):
    path, values = tmp_path / "manifests.yaml", tmp_path / "values.yaml"
    head = "apiVersion: aim.eai.amd.com/v1alpha1\nkind: {}\nmetadata: {{name: {}, namespace: a}}\nspec: {}\n"
    path.write_text(
        head.format("AIMServiceTemplate", "t", "{modelName: m, precision: fp8}")
        + "---\n"
        + head.format("AIMServiceTemplate", "u", "{modelName: elsewhere, precision: fp8, modelId: o/m}")
        + "---\n"
        + head.format("AIMService", "s", "{model: {name: m}, overrides: {engineArgs: {a: '1'}}}")
    )
    known = "aimId: o/f, modelId: o/m, modelSources: [{modelId: o/m, sourceUri: 'hf://o/m'}]"
    values.write_text(
        f"AIMServiceTemplate/a/t: {{image: 'r/i:1', {known}}}\nAIMModel/elsewhere: {{image: 'r/i:2', {known}}}\n"
        "AIMService/s: {profileName: t}\nAIMService/b/s: {profileName: t}\n"
    )
    assert aim("convert", path, "--values", values, "--in-place").code == 0
    ran = aim("convert", path, "--values", values, "--check")
    assert (ran.code, ran.out) == (0, "")
    assert [line for line in ran.err.splitlines() if "not used" in line] == [
        f"warning: {values}: the values of AIMService/b/s were not used; no object of the input needed them"
    ]


def test_values_of_a_namespace_that_is_given_are_no_matter_either(aim, tmp_path):
    path, values = tmp_path / "manifests.yaml", tmp_path / "values.yaml"
    path.write_text(
        "apiVersion: aim.eai.amd.com/v1alpha1\nkind: AIMModel\nmetadata: {name: m}\n"
        "spec: {image: 'r/i:1', custom: {hardware: {gpu: {model: MI300X}}},"
        " modelSources: [{modelId: o/m, sourceUri: 'hf://o/m'}]}\n"
    )
    values.write_text("AIMModel/ml/m: {aimId: o/f, baseModelName: base}\nAIMModel/other/m: {aimId: o/f}\n")
    assert aim("convert", path, "--values", values, "--in-place", "-n", "ml").code == 0
    ran = aim("convert", path, "--values", values, "--check", "-n", "ml")
    assert (ran.code, ran.out) == (0, "")
    assert [line for line in ran.err.splitlines() if "not used" in line] == [
        f"warning: {values}: the values of AIMModel/other/m were not used; no object of the input needed them"
    ]


def test_a_base_image_that_went_into_a_profile_is_no_matter_either(aim, tmp_path):
    path, values = tmp_path / "manifests.yaml", tmp_path / "values.yaml"
    path.write_text(
        "apiVersion: aim.eai.amd.com/v1alpha1\nkind: AIMServiceTemplate\nmetadata: {name: t, namespace: a}\n"
        "spec: {modelName: m, precision: fp8, aimId: o/f, modelId: o/m,"
        " modelSources: [{modelId: o/m, sourceUri: 'hf://o/m'}]}\n"
    )
    values.write_text("AIMModel/a/m: {baseImage: 'r/i:1'}\n")
    for _ in range(2):
        ran = aim("convert", path, "--values", values, "--in-place")
        assert ran.code == 0
        assert "not used" not in ran.err


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("- a\n", "no mapping from objects"),
        ("AIMModel/a: b\n", "AIMModel/a has no mapping"),
        ("AIMModel: {aimId: b}\n", "AIMModel names no object"),
        ("Pod/a: {aimId: b}\n", "Pod/a names no object"),
        ("AIMModel/a: {imageId: b}\n", "AIMModel/a takes no value imageId: it takes aimId"),
        ("AIMModel/a: {version: 1.0}\n", "version of AIMModel/a must be text in quotes"),
        ("a: [\n", "line"),
        ('AIMModel/a: {aimId: ""}\n', "aimId of AIMModel/a is empty: state it, or leave it out"),
        ("AIMModel/a: {modelSources: []}\n", "modelSources of AIMModel/a is empty"),
        ("AIMModel/a: {modelSources: [{modelId: x}]}\n", "modelSources[0] of AIMModel/a states no sourceUri"),
        ("AIMModel/a: {aimId: b, aimId: c}\n", "line 1: the key aimId stands twice"),
    ],
)
def test_values_that_make_no_sense_are_refused(aim, manifest, tmp_path, values, message):
    path = tmp_path / "values.yaml"
    path.write_text(values)
    ran = aim("convert", manifest, "--values", path)
    assert (ran.code, ran.out) == (4, "")
    assert message in ran.err


def test_unreadable_parts_are_named_and_stay(aim, tmp_path):
    path = tmp_path / "x.yaml"
    text = f"a: {{{{ .Values.x }}}}\n---\n{DONE}"
    path.write_text(text)
    ran = aim("convert", path)
    assert (ran.code, ran.out) == (3, text)
    assert f"{path}:1: this part can't be read and stays as it is" in ran.err


def test_parts_that_can_not_be_read_are_not_in_the_json_and_that_is_said(aim, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(f"a: [\n---\n{SERVICE}")
    ran = aim("convert", path, "-o", "json")
    assert ran.code == 3
    assert "AIMService" in [item["kind"] for item in ran.document["items"]]
    assert "warning: 1 part that can't be read is not in the JSON" in ran.err
    assert "in the JSON" not in aim("convert", path).err


def test_a_file_that_is_no_text_is_named(aim, tmp_path):
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00a")
    (tmp_path / "y.yaml").write_text(DONE)
    ran = aim("convert", tmp_path)
    assert (ran.code, ran.out) == (3, DONE)
    assert "no UTF-8 text" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--check", "--in-place"], "write no manifests"),
        (["--diff", "--file", "x"], "write no manifests"),
        (["-o", "json", "--in-place"], "prints all objects"),
        (["--plan", "x", "--values", "y"], "nothing to add"),
        (["--result", "x"], "belongs to a plan"),
    ],
)
def test_options_that_exclude_each_other(aim, manifest, arguments, message):
    ran = aim("convert", manifest, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_what_was_named_has_to_be_there(aim, tmp_path):
    assert aim("convert", tmp_path / "absent.yaml").code == 4
    ran = aim("convert", tmp_path)
    assert ran.code == 4
    assert "has no manifest" in ran.err
    assert aim("convert").code == 2


def test_what_the_input_lacks_is_looked_up_in_the_cluster(aim, cluster, plan_arguments, tmp_path):
    assert aim(*plan_arguments).code == 0
    plan = json.loads((tmp_path / "plan" / "plan.json").read_text())
    target = next(item["body"] for item in plan["targets"] if item["id"].startswith("AIMProfile/team-a/"))
    name = target["metadata"]["name"]
    template = cluster.client.get(AIM_SERVICE_TEMPLATE, "team-a", name)
    manifest = {"apiVersion": template["apiVersion"], "kind": template["kind"], "metadata": {"name": name}}
    path = tmp_path / "template.json"
    path.write_text(json.dumps({**manifest, "spec": template["spec"]}))
    assert aim("convert", path).code == 3
    live = ["--from-cluster", "--kubeconfig", cluster.kubeconfig()]
    ran = aim("convert", path, *live)
    assert ran.code == 2
    assert "its namespace is stated nowhere" in ran.err
    ran = aim("convert", path, *live, "--namespace", "team-a", "-o", "json")
    assert ran.code == 0, ran.err
    assert ran.document["metadata"] == {"name": name}
    assert ran.document["spec"] == target["spec"]


def test_the_model_of_an_image_is_looked_up_in_the_cluster(aim, cluster, tmp_path):
    images = {
        item["metadata"]["name"]: item["spec"]["image"]
        for item in cluster.client.list_all(AIM_MODEL, "team-a").items
        if item["spec"].get("image")
    }
    name, image = next(iter(images.items()))
    path = tmp_path / "service.yaml"
    head = "apiVersion: aim.eai.amd.com/v1alpha1\nkind: AIMService\nmetadata: {name: s}\n"
    path.write_text(f"{head}spec: {{model: {{image: '{image}'}}, template: {{name: t}}}}\n")
    live = ["--from-cluster", "--kubeconfig", cluster.kubeconfig(), "-o", "json"]
    ran = aim("convert", path, *live)
    assert ran.code == 2
    assert "an AIMModel by its image can't be looked up: its namespace is stated nowhere" in ran.err
    ran = aim("convert", path, *live, "--namespace", "team-a")
    assert ran.code == 0, ran.err
    assert ran.document["spec"]["model"] == {"name": name}


def test_the_namespace_of_objects_that_state_none_counts_without_a_cluster(aim, tmp_path):
    path = tmp_path / "x.yaml"
    head = "apiVersion: aim.eai.amd.com/v1alpha1\nkind: {}\nmetadata: {}\nspec: {}\n"
    spec = "{image: 'r/i:1', modelName: m, precision: fp8, aimId: a/b, modelSources: [{modelId: a/b, sourceUri: 'hf://a/b'}]}"
    template = head.format("AIMServiceTemplate", "{name: t}", spec)
    cache = head.format("AIMTemplateCache", "{name: c, namespace: team}", "{templateName: t, templateScope: Namespace}")
    path.write_text(f"{template}---\n{cache}")
    assert aim("convert", path).code == 3
    ran = aim("convert", path, "--namespace", "team", "-o", "json")
    assert ran.code == 0, ran.err
    assert ran.document["metadata"] == {"name": "t"}
    assert ran.document["spec"]["caching"] == {"enabled": True}


def test_a_cluster_that_can_not_be_reached_starts_nothing(aim, manifest, tmp_path):
    ran = aim("convert", manifest, "--from-cluster", "--kubeconfig", tmp_path / "absent")
    assert (ran.code, ran.out) == (4, "")


@pytest.fixture
def planned(aim, cluster, plan_arguments, tmp_path):
    """Return the plan's directory, and a manifest of one of its services."""
    assert aim(*plan_arguments).code == 0
    service = cluster.client.get(AIM_SERVICE, "team-a", "qwen-chat")
    path = tmp_path / "service.yaml"
    value = {
        "apiVersion": "aim.eai.amd.com/v1alpha1",
        "kind": "AIMService",
        "metadata": {"name": "qwen-chat"},
        "spec": service["spec"],
    }
    path.write_text(f"# ours\n{emit(value)}")
    return tmp_path / "plan", path


def test_a_manifest_follows_its_plan(aim, cluster, planned):
    plan, path = planned
    ran = aim("convert", path, "--plan", plan, "-n", "team-a")
    assert ran.code == 0, ran.err
    assert "these are the manifests of after the cutover, not of the cluster as it is" in ran.err
    assert f"{path}:2: note: this is the manifest of after the cutover" in ran.err
    assert ran.out.startswith("# ours\napiVersion: aim.eai.amd.com/v1alpha2\n")
    objects = aim("convert", path, "--plan", plan, "-n", "team-a", "-o", "json").document["items"]
    service, profile = objects
    before = cluster.client.get(AIM_SERVICE, "team-a", "qwen-chat")
    name = before["spec"]["template"]["name"]
    assert service["spec"] == {
        **{key: value for key, value in before["spec"].items() if key != "template"},
        "profile": {"name": name},
    }
    isvc = cluster.client.list_all(INFERENCE_SERVICE, "team-a").items[0]
    assert service["metadata"] == {
        "name": "qwen-chat",
        "annotations": {PRESERVE_UID: isvc["metadata"]["uid"], PRESERVE_GENERATION: "2"},
    }
    # The template is kept elsewhere, so the profile that was created for it is written here.
    assert (profile["kind"], profile["metadata"]) == ("AIMProfile", {"name": name})


@pytest.mark.parametrize(("version", "code"), [("v1alpha1", 3), ("v1alpha.*", 0)])
def test_a_target_that_does_not_take_the_service_after_the_cutover_is_named(aim, planned, version, code):
    plan, path = planned
    target = f"{{kind: AIMService, version: {version}}}"
    kustomization = path.with_name("kustomization.yaml")
    kustomization.write_text(f"patches:\n- {{target: {target}, patch: '[{{op: remove, path: /spec/replicas}}]'}}\n")
    ran = aim("convert", path, kustomization, "--plan", plan, "-n", "team-a")
    assert ran.code == code, ran.err
    assert ("patches[0].target.version: this selects objects at v1alpha1" in ran.err) == bool(code)


def test_a_manifest_that_the_plan_does_not_migrate_stays_and_is_named(aim, planned):
    plan, path = planned
    path.write_text(path.read_text().replace("qwen-chat", "other"))
    ran = aim("convert", path, "--plan", plan, "-n", "team-a")
    assert (ran.code, ran.out) == (3, path.read_text())
    assert "the plan has no unit AIMService/team-a/other; it stays as it is" in ran.err


@pytest.mark.parametrize("disposition", ["skip", "manual"])
def test_a_service_that_was_migrated_before_the_plan_is_sent_to_the_recipes(aim, manifest, tmp_path, disposition):
    unit = msgspec.structs.replace(manual_unit("chat", "AlreadyMigrated"), disposition=disposition)
    ran = aim("convert", manifest, "--plan", write_plan(tmp_path / "plan", plan_of(unit)), "-n", "team-a")
    assert (ran.code, ran.out) == (3, SERVICE)
    assert "AIMService/team-a/chat was on the profile pipeline already; convert it without --plan" in ran.err


def test_a_unit_that_was_not_cut_over_stays_and_is_named(aim, planned):
    plan, path = planned
    result = {
        "$schema": "x",
        "apiVersion": "migration.aim.eai.amd.com/v1",
        "kind": "ApplyResult",
        "toolVersion": "1",
        "runId": "1",
        "mode": "commit",
        "state": "complete",
        "planId": "1",
        "planSha256": hashlib.sha256((plan / "plan.json").read_bytes()).hexdigest(),
        "startedAt": "",
        "finishedAt": "",
        "journal": "",
        "counts": {},
        "units": [{"id": "AIMService/team-a/qwen-chat", "disposition": "automatic", "status": "failed"}],
    }
    (plan / "apply-result.json").write_text(json.dumps(result))
    ran = aim("convert", path, "--plan", plan, "-n", "team-a")
    assert (ran.code, ran.out) == (3, path.read_text())
    assert "was not cut over (failed)" in ran.err
    (plan / "apply-result.json").write_text(json.dumps({**result, "mode": "dry-run"}))
    assert aim("convert", path, "--plan", plan, "-n", "team-a").code == 0
    (plan / "apply-result.json").write_text(json.dumps({**result, "planSha256": "f" * 64}))
    ran = aim("convert", path, "--plan", plan, "-n", "team-a", "--in-place")
    assert (ran.code, "is the result of a plan with SHA-256 ffff" in ran.err) == (4, True)
    assert "v1alpha1" in path.read_text()
