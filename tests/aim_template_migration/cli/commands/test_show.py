import stat

import msgspec
import pytest

from aim_template_migration.documents.plan import Unit
from tests.aim_template_migration.cli.plans import (
    CACHE,
    ISVC_UID,
    PROFILE,
    automatic_unit,
    dedicated_unit,
    manual_unit,
    plan_of,
    write_plan,
)

UNITS = (
    automatic_unit(),
    dedicated_unit("dedicated"),
    manual_unit("odd", "OverridesPresent", "SecretLiteral"),
    manual_unit("other", "OverridesPresent", namespace="team-b"),
    Unit(id="AIMService/team-b/done", disposition="skip", outcome="AlreadyMigrated"),
)


@pytest.fixture
def plan(tmp_path):
    return write_plan(tmp_path / "plan", plan_of(*UNITS))


def table(text, title):
    """Return the rows of a table of the overview as tuples of words."""
    lines = iter(text.splitlines())
    next(line for line in lines if line.startswith(title))
    rows = []
    for line in lines:
        if not line.strip():
            break
        rows.append(tuple(line.split()))
    return rows


def test_totals_outcomes_reasons_and_evidence(aim, plan):
    ran = aim("show", "--plan", plan)
    assert ran.code == 0
    assert [row[:2] for row in table(ran.out, "UNITS")] == [
        ("automatic", "1"),
        ("manual", "3"),
        ("skip", "1"),
        ("total", "5"),
    ]
    assert table(ran.out, "OUTCOME")[0] == ("SharedNoRollout", "automatic", "1")
    assert table(ran.out, "TOP REASONS") == [
        ("OverridesPresent", "2", "1"),
        ("DedicatedHandoffRequiresQuiescence", "1", "1"),
        ("SecretLiteral", "1", "0"),
    ]
    assert str(plan / "dedicated-handoff-team-a.dedicated.json") in ran.out
    assert "docs/how-to/runbook.md#manual-dedicated-handoff" in ran.out
    assert "1 create, 1 patch, 1 patch (dry run)" in ran.out
    assert "also: SecretLiteral" in ran.out


def test_no_evidence_no_word_of_the_handoff(aim, tmp_path):
    plan = write_plan(tmp_path / "plan", plan_of(automatic_unit()))
    assert "andoff" not in aim("show", "--plan", plan).out


def test_the_plan_file_is_as_good_as_the_directory(aim, plan):
    assert aim("show", "--plan", plan / "plan.json").out == aim("show", "--plan", plan).out


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--outcome", "OverridesPresent"], ["odd", "other"]),
        (["--disposition", "skip"], ["done"]),
        (["--disposition", "skip", "--disposition", "automatic"], ["chat", "done"]),
        (["--namespace", "team-b"], ["other", "done"]),
        (["--reason", "SecretLiteral"], ["odd"]),
        (["--reason", "OverridesPresent", "-n", "team-b"], ["other"]),
        (["--outcome", "Paused"], []),
    ],
)
def test_filters(aim, plan, arguments, names):
    shown = aim("show", "--plan", plan, *arguments, "-o", "json").document
    assert [unit["id"].split("/")[2] for unit in shown["units"]] == names
    assert shown["totals"] == {"automatic": 1, "manual": 3, "skip": 1, "total": 5}
    text = aim("show", "--plan", plan, *arguments).out
    assert {name for name in ("chat", "dedicated", "odd", "other", "done") if f"/{name}\n" in text} == set(names)


def test_json_holds_the_plans_own_values(aim, plan):
    shown = aim("show", "--plan", plan, "-o", "json").document
    written = msgspec.json.decode((plan / "plan.json").read_bytes())
    assert (shown["kind"], shown["apiVersion"]) == ("PlanView", "migration.aim.eai.amd.com/v1")
    assert shown["units"] == written["units"]
    assert shown["targets"] == written["targets"]
    assert shown["forecast"] == written["forecast"]
    assert shown["edited"] is False


def test_yaml_reads_to_the_same_value(aim, plan):
    import yaml

    assert (
        yaml.safe_load(aim("show", "--plan", plan, "-o", "yaml").out)
        == aim("show", "--plan", plan, "-o", "json").document
    )


def test_an_edited_profile_makes_what_comes_after_expiry_incomplete(aim, tmp_path):
    generated = plan_of(automatic_unit())
    profile, cache = generated.targets
    body = {**profile.body, "spec": {**profile.body["spec"], "engineArgs": {"max-model-len": 4096}}}
    edited = msgspec.structs.replace(generated, targets=(msgspec.structs.replace(profile, body=body), cache))
    words = f"{PROFILE} was edited since the plan was made"
    plan = write_plan(tmp_path / "edited", edited, generated=generated)
    assert words in " ".join(aim("show", "--plan", plan, "chat").out.split())
    plan = write_plan(tmp_path / "plan", generated)
    assert words not in " ".join(aim("show", "--plan", plan, "chat").out.split())
    (plan / "plan.generated.json").unlink()
    assert words not in " ".join(aim("show", "--plan", plan, "chat").out.split())


def test_an_edited_plan_says_so(aim, tmp_path):
    edited = plan_of(automatic_unit(disposition="manual"))
    plan = write_plan(tmp_path / "plan", edited, generated=plan_of(automatic_unit()))
    ran = aim("show", "--plan", plan)
    assert "was edited since it was made" in ran.err
    assert aim("show", "--plan", plan, "-o", "json").document["edited"] is True


def test_a_missing_generated_copy_is_said(aim, tmp_path):
    plan = write_plan(tmp_path / "plan", plan_of(automatic_unit()))
    assert "plan.generated.json" not in aim("show", "--plan", plan).err
    (plan / "plan.generated.json").unlink()
    ran = aim("show", "--plan", plan)
    assert ran.code == 0
    assert "warning: plan.generated.json beside" in ran.err
    assert "apply would refuse the plan" in " ".join(ran.err.split())


@pytest.mark.parametrize("name", ["AIMService/team-a/chat", "team-a/chat", "chat"])
def test_a_unit_in_detail(aim, plan, name):
    out = aim("show", "--plan", plan, name).out
    lines = out.splitlines()
    for line in (
        f"{PROFILE}",
        "+ kind: AIMProfile",
        '+   image: "r.example/aim:1"',
        f"{CACHE}",
        '+     aim.eai.amd.com/eviction-protected: "true"',
        "-   # resolves to AIMServiceTemplate/team-a/qwen-tp1",
        "-   template: …",
        "+   profile:",
        "+     name: qwen-tp1",
        f'+       "{ISVC_UID}"',
        '+     migration.aim.eai.amd.com/preserve-generation: "4"',
        "    targetProfile: must not exist",
        "  team-a/hf-token (keys: token)",
        "  - every pod is replaced",
    ):
        assert line in lines, line
    assert "generation 3 to 4" in out
    assert "FromModelImage" in out
    assert "PinExpires" in out
    assert "proven to be the bridge by the condition BridgeCompatible" in out


def test_a_manual_unit_shows_every_reason_with_object_field_and_advice(aim, plan):
    out = aim("show", "--plan", plan, "odd").out
    for words in ("OverridesPresent", "SecretLiteral", "spec.x", "mend SecretLiteral", "AIMService/team-a/odd"):
        assert words in out
    assert "PROPOSED OBJECTS" not in out


def test_a_unit_as_json(aim, plan):
    shown = aim("show", "--plan", plan, "chat", "-o", "json").document
    assert [unit["id"] for unit in shown["units"]] == ["AIMService/team-a/chat"]
    assert [target["id"] for target in shown["targets"]] == [PROFILE, CACHE]


def test_unknown_and_ambiguous_units(aim, tmp_path):
    plan = write_plan(tmp_path / "plan", plan_of(automatic_unit(), manual_unit("chat", "Paused", namespace="team-b")))
    unknown = aim("show", "--plan", plan, "nope")
    assert (unknown.code, unknown.out) == (2, "")
    ambiguous = aim("show", "--plan", plan, "chat")
    assert ambiguous.code == 2
    assert "AIMService/team-a/chat" in ambiguous.err
    assert "AIMService/team-b/chat" in ambiguous.err


def test_a_fleet_of_thousands_stays_readable(aim, tmp_path):
    units = [manual_unit(f"svc-{number:05}", "Paused", "CustomModel") for number in range(4000)]
    plan = write_plan(tmp_path / "plan", plan_of(*units))
    ran = aim("show", "--plan", plan)
    assert len(ran.out.splitlines()) < 60
    assert "svc-00000" not in ran.out
    assert "--reason" in ran.err
    listed = aim("show", "--plan", plan, "--disposition", "manual")
    assert sum("AIMService/" in line for line in listed.out.splitlines()) == 4000


@pytest.mark.parametrize("unit", [[], ["chat"], ["odd"], ["dedicated"]])
def test_lines_fit_80_columns(aim, plan, unit):
    out = aim("show", "--plan", plan, *unit).out
    commands = (str(plan), "| aim-template-migration convert")  # a path or a command to copy is never broken
    long = [line for line in out.splitlines() if len(line) > 80 and not any(word in line for word in commands)]
    assert long == []


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"not JSON", "is not JSON"), (b"{}", "does not fit the plan schema"), (b'{"units": [', "is not JSON")],
)
def test_what_is_no_plan_is_refused(aim, tmp_path, content, words):
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    ran = aim("show", "--plan", path)
    assert (ran.code, ran.out) == (4, "")
    assert words in ran.err
    assert len([line for line in ran.err.splitlines() if line.startswith("error: ")]) == 1


def test_an_absent_plan_is_refused(aim, tmp_path):
    ran = aim("show", "--plan", tmp_path / "nowhere")
    assert ran.code == 4
    assert "no such file" in ran.err


def test_nothing_is_written(aim, plan):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in plan.iterdir()}
    aim("show", "--plan", plan)
    aim("show", "--plan", plan, "chat")
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in plan.iterdir()} == before
    assert stat.S_IMODE(plan.stat().st_mode) == 0o700
