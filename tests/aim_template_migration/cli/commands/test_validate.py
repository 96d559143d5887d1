import json

import jsonschema
import pytest

from aim_template_migration.documents.schemas import schema_files

BROKEN = """\
apiVersion: aim.eai.amd.com/v1alpha2
kind: AIMService
metadata: {name: chat}
spec:
  model: {name: qwen}
  template: {name: qwen-fp8}
"""
SOUND = BROKEN.replace("template", "profile")


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "service.yaml"
    path.write_text(BROKEN)
    return path


def test_a_finding_is_one_line_with_its_place(aim, manifest):
    ran = aim("validate", manifest)
    assert ran.code == 3
    assert ran.out == (
        f"{manifest}:6:3: AIMService/chat spec.template: Forbidden: spec.template is not part of v1alpha2: use "
        "spec.profile, with name or selector\n"
    )
    assert ran.err.startswith("of 1 object of the AIM API a server would refuse 1\nnot checked offline:\n  - ")


def test_objects_are_counted_and_not_their_names(aim, manifest):
    manifest.write_text(
        "---\n".join([BROKEN, BROKEN, SOUND, SOUND.replace("kind:", "kind: Other\nkind:"), "a: {{ b }}\n"])
    )
    ran = aim("validate", manifest)
    assert ran.code == 3
    assert ran.err.startswith("of 4 objects of the AIM API a server would refuse 2\n")


def test_what_a_server_would_take_gives_no_line(aim, manifest):
    manifest.write_text(SOUND)
    ran = aim("validate", manifest)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("1 object of the AIM API would be taken\nnot checked offline:\n")


def test_nothing_to_validate_is_said_and_is_no_failure(aim, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("kind: Other\n")
    ran = aim("validate", path)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("no object of the AIM API was found")
    assert aim("validate", path, "-o", "json").document["objects"] == 0


def test_a_warning_is_something_to_mend_although_the_server_takes_it(aim, manifest):
    manifest.write_text(f"{SOUND}  replicas: 1\n  replicas: 2\n")
    ran = aim("validate", manifest)
    assert ran.code == 3
    assert ran.out.startswith(f"{manifest}:8:3: AIMService/chat replicas: warning: the key replicas stands twice; ")
    assert ran.err.startswith("1 object of the AIM API would be taken\n")
    assert aim("validate", manifest, "-o", "github").out.startswith("::warning file=")
    report, log = (aim("validate", manifest, "-o", output).document for output in ("json", "sarif"))
    assert (report["valid"], report["violations"][0]["level"]) == (True, "warning")
    assert log["runs"][0]["results"][0]["level"] == "warning"
    ran = aim("convert", manifest)
    assert ran.code == 3


def test_keys_that_stand_twice_in_other_objects_are_left_to_others(aim, manifest):
    manifest.write_text(
        f"{SOUND}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{x: '1', x: '2'}}\n"
    )
    assert aim("validate", manifest).code == 0
    assert aim("convert", manifest).code == 0


def test_a_document_that_is_no_object_is_refused(aim, manifest):
    manifest.write_text(f"just text\n---\n{SOUND}")
    ran = aim("validate", manifest)
    assert ran.code == 3
    assert ran.out == f"{manifest}:1:1: kubectl refuses this document and stops at it: it is a text, no object\n"
    assert ran.err.startswith("a server would take 1 object of the AIM API, but not every file can be applied\n")
    manifest.write_text("a: {{ b }}\n")
    ran = aim("validate", manifest)
    assert ran.code == 3
    assert ran.err.startswith("no object of the AIM API could be validated\n")


def test_names_and_keys_that_are_refused_are_seen(aim, manifest):
    labels = "{1a b: x, c: '1:20', -d: e}"
    metadata = f"{{name: Bad_Name, generateName: UP_, labels: {labels}, annotations: {{e f: g}}, finalizers: [h i]}}"
    manifest.write_text(SOUND.replace("{name: chat}", metadata))
    ran = aim("validate", manifest)
    for shown in ("Bad_Name", "UP_", "1a b", "1:20", "-d", "e f", "h i"):
        assert f'Invalid value: "{shown}": ' in ran.out
    assert "redacted" not in ran.out


def test_names_that_look_like_secrets_are_not(aim, manifest):
    secret = "hf_" + "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8"
    for metadata in (f"{{name: a, labels: {{b: {secret}+}}}}", f"{{name: a, labels: {{{secret}+: b}}}}"):
        manifest.write_text(SOUND.replace("{name: chat}", metadata))
        ran = aim("validate", manifest)
        assert ran.code == 3
        assert secret not in ran.out


def test_json(aim, manifest):
    ran = aim("validate", manifest, "-o", "json")
    assert ran.code == 3
    document = ran.document
    jsonschema.validate(document, json.loads(schema_files()["validation-report-v1.json"]))
    assert (document["apiVersion"], document["kind"]) == ("migration.aim.eai.amd.com/v1", "ValidationReport")
    assert (document["valid"], document["objects"], document["others"]) == (False, 1, 0)
    assert document["violations"] == [
        {
            "file": str(manifest),
            "line": 6,
            "column": 3,
            "object": "AIMService/chat",
            "field": "spec.template",
            "reason": "FieldValueForbidden",
            "message": "Forbidden: spec.template is not part of v1alpha2: use spec.profile, with name or selector",
            "level": "error",
            "equivalent": "use spec.profile, with name or selector",
            "trap": 13,
        }
    ]
    assert len(document["notChecked"]) == 4


def test_sarif(aim, manifest):
    log = aim("validate", manifest, "-o", "sarif").document
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    run = log["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["GuideTrap13"]
    result = run["results"][0]
    assert (result["ruleId"], result["level"]) == ("GuideTrap13", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": str(manifest)}, "region": {"startLine": 6, "startColumn": 3}}


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("my file é.yaml", "my%20file%20%C3%A9.yaml"),
        ("a:b#c?d%20.yaml", "a%3Ab%23c%3Fd%2520.yaml"),
        ("back\\slash.yaml", "back%5Cslash.yaml"),
        ("below/it.yaml", "below/it.yaml"),
    ],
)
def test_sarif_names_a_file_by_a_uri_reference(aim, tmp_path, monkeypatch, name, uri):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(BROKEN)
    log = aim("validate", name, "-o", "sarif").document
    location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": uri}


def test_github(aim, tmp_path):
    path = tmp_path / "a,b:c.yaml"
    path.write_text(BROKEN)
    ran = aim("validate", path, "-o", "github")
    assert ran.code == 3
    assert ran.out == (
        f"::error file={tmp_path}/a%2Cb%3Ac.yaml,line=6,col=3,title=AIMService/chat spec.template::Forbidden: "
        "spec.template is not part of v1alpha2: use spec.profile, with name or selector\n"
    )


def test_no_message_quotes_a_secret(aim, manifest):
    secret = "hf_" + "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8"
    manifest.write_text(SOUND + f"  replicas: {secret}\n  env: [{{name: A, valu: {secret}}}, {{name: [{secret}]}}]\n")
    for output in ("text", "json", "sarif", "github"):
        ran = aim("validate", manifest, "-o", output)
        assert ran.code == 3
        assert secret not in ran.out + ran.err


def test_all_files_are_validated_although_one_is_unreadable(aim, tmp_path):
    (tmp_path / "a.yaml").write_text("a: {{ b }}\n")
    (tmp_path / "b.yaml").write_bytes(b"\xff")
    (tmp_path / "c.yaml").write_text(BROKEN)
    ran = aim("validate", tmp_path, "-o", "json")
    assert ran.code == 3
    assert sorted(item["reason"] for item in ran.document["violations"]) == [
        "FieldValueForbidden",
        "Unreadable",
        "Unreadable",
    ]


def test_what_convert_writes_is_valid_or_named(aim, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(BROKEN.replace("v1alpha2", "v1alpha1"))
    out = tmp_path / "out.yaml"
    assert aim("convert", path, "--file", out).code == 0
    assert aim("validate", out).code == 0


def test_standard_input(aim, monkeypatch, manifest):
    with manifest.open() as opened:
        monkeypatch.setattr("sys.stdin", opened)
        ran = aim("validate", "-", "-o", "json")
    assert json.loads(ran.out)["violations"][0]["file"] == "stdin"


def test_what_was_named_has_to_be_there(aim, tmp_path):
    assert aim("validate", tmp_path / "absent.yaml").code == 4
    assert aim("validate").code == 2
