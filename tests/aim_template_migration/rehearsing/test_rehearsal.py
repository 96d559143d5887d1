"""The whole migration through the code that a real cluster gets, and what shows when operator or pin are wrong."""

import stat
import threading

import msgspec
import pytest

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_api.kinds import AIM_SERVICE
from aim_rehearsal.operator import Misbehaviour
from aim_rehearsal.worlds import load_world
from aim_template_migration.applying.events import RunStarted, UnitFinished, nobody
from aim_template_migration.documents.plan import CutOver
from aim_template_migration.documents.rehearsal import encode_report
from aim_template_migration.documents.result import decode_result
from aim_template_migration.rehearsing.events import FleetLoaded, PlanMade, RehearsalClosed, RunBegins, RunEnded
from aim_template_migration.rehearsing.rehearsal import DRY_RUN_RESULT, Rehearsal, RehearsalOptions, RunTuning
from aim_template_migration.rehearsing.reporting import is_untouched
from aim_template_migration.rehearsing.subject import Subject


@pytest.fixture
def rehearsal_of(tmp_path):
    """Return a function that makes a rehearsal of the default world."""

    def make(misbehaviour=None, **tuning):
        return Rehearsal(
            RehearsalOptions(
                subject=Subject(load_world("shared-happy-path")),
                mode="Both",
                directory=tmp_path / "plan",
                work_dir=tmp_path,
                tuning=RunTuning(soak_seconds=0.1, **tuning),
                misbehaviour=misbehaviour,
            )
        )

    return make


def ignore(chapter):
    """Follow no story."""


def test_every_service_moves_and_no_workload_changes(recorded):
    report = recorded.outcome.report
    assert report.counts == {"succeeded": 2, "failed": 0, "manual": 0, "skipped": 0, "unknown": 0, "interrupted": 0}
    assert [unit.id for unit in report.units] == ["AIMService/team-a/qwen-chat", "AIMService/team-b/llama-assist"]
    for unit in report.units:
        assert (unit.disposition, unit.outcome, unit.status) == ("automatic", "SharedNoRollout", "succeeded")
        assert unit.inference_service.before == unit.inference_service.after
        assert unit.inference_service.before.uid
        assert unit.inference_service.before.generation >= 1
        assert unit.pods.before == unit.pods.after
        assert len(unit.pods.before) >= 1
        assert unit.resolved_profile
    assert report.units[0].resolved_profile == "qwen3-32b-mi300x-fp8-tp1-latency"


def test_the_audit_log_holds_what_the_report_says(recorded):
    audit = recorded.outcome.report.audit
    writes = [event for event in recorded.audit if event["verb"] in ("create", "patch", "update", "delete")]
    writes = [event for event in writes if event["objectRef"].get("apiGroup") != "authorization.k8s.io"]
    dry = [event for event in writes if "dryRun=All" in event["requestURI"]]
    assert audit.dry_runs == len(dry)
    assert audit.mutations == len(writes) - len(dry)
    assert audit.mutations == 4 * 2  # profile, cache, artifact and service of each unit
    assert audit.deletes == audit.secret_reads == 0
    assert not [event for event in recorded.audit if event.get("objectRef", {}).get("resource") == "secrets"]


def test_the_dry_run_stores_nothing_and_comes_first(recorded):
    stored = [
        event["requestURI"]
        for event in recorded.audit
        if event["verb"] in ("create", "patch") and event["objectRef"].get("apiGroup") != "authorization.k8s.io"
    ]
    first_real = next(number for number, uri in enumerate(stored) if "dryRun=All" not in uri)
    assert first_real == 4 * 2
    assert recorded.outcome.dry_run.exit_code == recorded.outcome.commit.exit_code == 0


def test_the_story_has_its_chapters_in_order(recorded):
    kinds = [type(chapter) for chapter in recorded.chapters]
    assert kinds == [FleetLoaded, PlanMade, RunBegins, RunEnded, RunBegins, RunEnded, RehearsalClosed]
    fleet = recorded.chapters[0]
    assert fleet.namespaces == ("team-a", "team-b")
    assert all(facts.profile == "" and facts.template for facts in fleet.services.values())
    assert [event.mode for event in recorded.events if isinstance(event, RunStarted)] == ["dry-run", "commit"]
    assert sum(isinstance(event, UnitFinished) for event in recorded.events) == 4


def test_the_directory_holds_both_results_and_everything_is_private(recorded):
    names = {path.name for path in recorded.directory.iterdir()}
    assert names == {
        "plan.json",
        "plan.generated.json",
        "backup.yaml",
        DRY_RUN_RESULT,
        f"{DRY_RUN_RESULT}.journal.jsonl",
        "apply-result.json",
        "apply-result.json.journal.jsonl",
    }
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in recorded.directory.iterdir())
    assert stat.S_IMODE(recorded.directory.stat().st_mode) == 0o700
    for name, mode in ((DRY_RUN_RESULT, "dry-run"), ("apply-result.json", "commit")):
        result = decode_result((recorded.directory / name).read_bytes())
        assert (result.mode, result.state, result.plan_sha256) == (
            mode,
            "complete",
            recorded.outcome.report.plan_sha256,
        )


def test_the_report_has_the_published_fields(recorded):
    report = msgspec.json.decode(encode_report(recorded.outcome.report))
    assert report["kind"] == "RehearsalReport"
    assert {"apiVersion", "planSha256", "counts", "units", "audit"} <= set(report)
    unit = report["units"][0]
    assert set(unit) == {
        "id",
        "disposition",
        "outcome",
        "reasons",
        "status",
        "resolvedProfile",
        "inferenceService",
        "pods",
    }
    assert set(unit["inferenceService"]["before"]) == {"uid", "generation", "specDigest", "metadataDigest"}
    assert set(unit["pods"]) == {"before", "after"}
    assert set(report["audit"]) == {"mutations", "dryRuns", "deletes", "secretReads"}
    assert any("BridgeCompatible" in proof for proof in report["suppliedBySimulation"])


def test_an_operator_that_is_no_bridge_leaves_every_unit_manual(rehearsal_of):
    with rehearsal_of(Misbehaviour.NO_BRIDGE) as rehearsal:
        outcome = rehearsal.run(ignore, nobody, threading.Event())
    report = outcome.report
    assert report.counts["manual"] == 2
    assert {unit.outcome for unit in report.units} == {"BridgeNotProven"}
    assert all(unit.reasons[0].code == "BridgeNotProven" for unit in report.units)
    assert (report.audit.mutations, report.audit.dry_runs) == (0, 0)
    assert outcome.commit.exit_code == 0


def test_without_the_pin_the_same_cutover_rolls_and_the_report_shows_it(rehearsal_of):
    """The proof can fail: the plan's own patch, stripped of the pin, sent as apply sends it."""
    with rehearsal_of(stop_before="CutOver") as rehearsal:
        before = rehearsal.observe()
        plan = rehearsal.plan().plan
        rehearsal.apply(commit=True, listener=nobody, stop=threading.Event())
        assert all(is_untouched(before[unit.id], rehearsal.observe()[unit.id]) for unit in plan.units)
        unit = plan.units[0]
        step = next(step for step in unit.steps if isinstance(step, CutOver))
        cluster = rehearsal.connect()
        operations = without_pin(step.operations)
        cluster.send(
            cluster.prepare_json_patch(
                AIM_SERVICE, step.service.name, step.service.namespace, operations, dry_run=False
            )
        )
        cluster.close()
        rehearsal.session.operator.settle()
        after = rehearsal.observe()
    old, new = before[unit.id], after[unit.id]
    assert new.profile == unit.resolved_profile
    assert new.inference_service.uid == old.inference_service.uid
    assert new.inference_service.generation > old.inference_service.generation
    assert new.inference_service.spec_digest != old.inference_service.spec_digest
    assert not set(new.pods) & set(old.pods)
    assert not is_untouched(old, new)
    assert is_untouched(before[plan.units[1].id], after[plan.units[1].id])


def without_pin(operations):
    """Return the cutover's operations without the two annotations."""
    names = (PRESERVE_UID.replace("/", "~1"), PRESERVE_GENERATION.replace("/", "~1"))
    return [item for item in operations if "annotations" not in item["path"] and not item["path"].endswith(names)]


@pytest.mark.slow
def test_an_operator_that_rolls_despite_the_pin_is_caught_and_halts_the_run(rehearsal_of):
    with rehearsal_of(Misbehaviour.ROLLS_DESPITE_PIN) as rehearsal:
        outcome = rehearsal.run(ignore, nobody, threading.Event())
    first, second = outcome.commit.result.units
    assert (first.status, first.code) == ("failed", "RolloutDetected")
    assert (second.status, second.code) == ("skipped", "HaltedAfterRollout")
    assert outcome.commit.exit_code == 3
    rolled = outcome.report.units[0]
    assert rolled.inference_service.after.generation > rolled.inference_service.before.generation
    assert outcome.report.units[1].inference_service.after == outcome.report.units[1].inference_service.before


@pytest.mark.slow
def test_a_stop_before_the_commit_ends_the_rehearsal_there(rehearsal_of):
    stop = threading.Event()

    def stop_after_the_plan(chapter):
        if isinstance(chapter, PlanMade):
            stop.set()

    with rehearsal_of() as rehearsal:
        outcome = rehearsal.run(stop_after_the_plan, nobody, stop)
    assert outcome.commit is None
    assert outcome.dry_run.exit_code == 130
    assert outcome.report.audit.mutations == 0
