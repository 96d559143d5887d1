"""The live validation script: made from a plan, quoted, read-only, private."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from aim_api.kinds import DEPLOYMENT
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.applying.plan_files import read_plan
from aim_template_migration.inspecting.live_script import live_script
from tests.aim_template_migration.cli.plans import automatic_unit, files_of, manual_unit, plan_of, ref
from tests.aim_template_migration.inspecting.rehearsals import Rehearsed


def run(path, folder, *arguments, **environment):
    """Run a script with a directory of its own for its report."""
    return subprocess.run(
        ["sh", path, *(arguments or [folder / "out"])],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment},
        cwd=folder,
        timeout=120,
    )


def script_of(*units, **changes):
    files = files_of(plan_of(*units, **changes))
    return live_script(files, files.plan.units, version="1.2.3")


def commands(script):
    return [line for line in script.splitlines() if line and not line.lstrip().startswith("#")]


def unit_with_deployment(name="chat"):
    unit = automatic_unit(name)
    pin = type(unit.pins[0])("deployment", ref("Deployment", f"{name}-predictor", "apps/v1"), uid="d-uid")
    return automatic_unit(name, pins=(*unit.pins, pin))


def test_it_names_every_identity_of_the_plan():
    script = script_of(unit_with_deployment())
    assert "service team-a chat s-uid 4 qwen-tp1" in script
    assert "inference_service team-a chat 11111111-1111-4111-8111-111111111111 2" in script
    assert "predictor team-a chat-predictor d-uid chat" in script
    assert "weights team-a weights a-uid weights-pvc p-uid" in script


def test_manual_units_become_unsupported_cases():
    script = script_of(manual_unit("odd", "OverridesPresent", "CustomModel"))
    assert "unsupported 'AIMService/team-a/odd is manual (OverridesPresent): OverridesPresent, CustomModel'" in script


def test_it_calls_kubectl_get_alone():
    calls = [line for line in commands(script_of(unit_with_deployment())) if '"$KUBECTL"' in line]
    assert len(calls) == 4
    assert all('"$KUBECTL" get ' in line for line in calls)


def test_the_inference_request_stands_only_in_comments():
    script = script_of(unit_with_deployment())
    assert "chat/completions" in script
    assert not any("create --raw" in line or "completions" in line for line in commands(script))


EVIL = "x'; touch /tmp/pwned; echo '$(id)`id`\n"


def test_names_are_quoted_and_comments_stay_comments(tmp_path):
    """A plan is checked for its structure before; even one that was not can't make the script run anything."""
    files = files_of(plan_of(manual_unit("a\nrm -rf /", EVIL), plan_id=f"p\n{EVIL}"))
    script = live_script(files, files.plan.units, version="1")
    path = tmp_path / "live.sh"
    path.write_text(script)
    parsed = subprocess.run(["sh", "-n", path], check=False, capture_output=True, text=True)
    assert (parsed.returncode, parsed.stderr) == (0, "")
    done = run(path, tmp_path, KUBECTL="false")
    assert "touch /tmp/pwned" in (tmp_path / "out/unsupported-cases.txt").read_text()
    assert not Path("/tmp/pwned").exists()
    assert done.stderr == ""


def test_where_nothing_can_be_read_it_differs_and_says_so(tmp_path):
    path = tmp_path / "live.sh"
    path.write_text(script_of(unit_with_deployment()))
    done = run(path, tmp_path, KUBECTL="false")
    assert (done.returncode, done.stderr) == (1, "")
    assert "DIFFERS  AIMService team-a/chat: UID is absent, not s-uid" in done.stdout
    assert "case     Deployment team-a/chat-predictor has no ReplicaSet with replicas" in done.stdout
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "out").iterdir()} == {0o600}


def test_it_never_writes_into_a_directory_that_exists(tmp_path):
    path = tmp_path / "live.sh"
    path.write_text(script_of())
    done = run(path, tmp_path, tmp_path)
    assert done.returncode != 0
    assert not (tmp_path / "report.txt").exists()


def test_shellcheck_finds_nothing(tmp_path):
    path = tmp_path / "live.sh"
    path.write_text(script_of(unit_with_deployment(), manual_unit("odd", "CustomModel")))
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run([shellcheck, "-s", "sh", path], check=False, capture_output=True, text=True)
    assert done.stdout == ""


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    """Return a rehearsal whose services were migrated."""
    work_dir = tmp_path_factory.mktemp("live")
    with RehearsalSession(load_world("shared-happy-path"), work_dir=work_dir) as session:
        rehearsed = Rehearsed(session, work_dir / "plan")
        rehearsed.plan()
        assert rehearsed.apply().exit_code == 0
        yield rehearsed


def run_script(rehearsed, folder, namespace=""):
    files = read_plan(rehearsed.directory)
    units = [unit for unit in files.plan.units if namespace in unit.id]
    path = folder / "live.sh"
    path.write_text(live_script(files, units, version="1"))
    return run(path, folder, KUBECONFIG=str(rehearsed.session.kubeconfig("admin")))


@pytest.mark.kubectl
def test_with_kubectl_every_fact_of_a_migrated_fleet_holds(migrated, tmp_path):
    done = run_script(migrated, tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "DIFFERS" not in done.stdout
    assert (tmp_path / "out/errors.txt").read_text() == ""
    assert len(re.findall(r"^ok +", done.stdout, re.MULTILINE)) >= 2 * 14
    assert "0 facts differ" in done.stdout
    # A rehearsal has no nodes, so that GPU readiness is a case for people.
    assert "names no node" in (tmp_path / "out/unsupported-cases.txt").read_text()


@pytest.mark.kubectl
def test_with_kubectl_a_rollout_differs(migrated, tmp_path):
    client = migrated.session.client
    (deployment,) = client.list_all(DEPLOYMENT, "team-b").items
    name = deployment["metadata"]["name"]
    annotations = {"spec": {"template": {"metadata": {"annotations": {"rolled": "yes"}}}}}
    client.merge_patch(DEPLOYMENT, "team-b", name, annotations)
    migrated.session.operator.settle()
    done = run_script(migrated, tmp_path, "/team-b/")
    assert done.returncode == 1
    assert re.search(r"DIFFERS  ReplicaSet team-b/\S+ was made after the plan", done.stdout)
