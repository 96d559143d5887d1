"""What a kill, a full disk or a failing disk leaves behind, at every point of a run."""

import errno
import os

import pytest

from aim_template_migration.applying import journal as journal_module
from aim_template_migration.applying.plan_files import PlanRejected, journal_path
from aim_template_migration.documents import private_files
from aim_template_migration.documents.journal import open_attempts, read_journal
from aim_template_migration.documents.result import decode_result
from tests.aim_template_migration.applying.bench import Bench, unit_of


def left_behind(bench):
    """Read the files as a kill at this moment would leave them."""
    reading = read_journal(journal_path(bench.result_path).read_bytes())
    assert reading.damage == ""
    return reading, decode_result(bench.result_path.read_bytes())


def watch(bench, seen):
    """Look at the files whenever a request is about to be carried out, and when it has been."""

    def trouble(request, when):
        reading, result = left_behind(bench)
        (attempt,) = open_attempts(reading.entries)
        assert attempt.facts["bodySha256"] == request.body_sha256
        assert attempt.facts["dryRun"] is request.dry_run
        assert reading.entries[-1] == attempt  # nothing comes between it and its request
        (shown,) = result.in_flight
        assert (shown.unit, shown.step, shown.dry_run) == (attempt.unit, attempt.step, request.dry_run)
        assert (result.state, result.run_id) == ("incomplete", reading.entries[0].facts["runId"])
        seen.append((request.kind.name, when))

    bench.cluster.trouble = trouble


@pytest.mark.parametrize("commit", [True, False])
def test_a_kill_at_any_request_finds_its_attempt_in_journal_and_result(several, commit):
    bench, seen = several(2), []
    watch(bench, seen)
    outcome = bench.apply(commit=commit, parallel=1)
    assert outcome.result.counts["succeeded"] == 2
    assert len(seen) == 2 * len(bench.cluster.sent) == (20 if commit else 16)


def test_a_kill_after_an_outcome_finds_it_before_any_wait(bench):
    bench.operator.profiles = False
    open_while_waiting = []

    def on_sleep():
        reading, _ = left_behind(bench)
        open_while_waiting.extend(open_attempts(reading.entries))

    bench.clock.on_sleep = on_sleep
    bench.apply()
    assert open_while_waiting == []


def test_failed_units_are_in_the_result_while_the_others_run(several):
    bench = several(2)
    bench.fleet.named("AIMService", "svc-00")["metadata"]["generation"] = 9
    shown = []
    bench.cluster.trouble = lambda request, when: shown.append(left_behind(bench)[1])
    bench.apply()
    assert [unit.code for unit in shown[-1].units] == ["PinEdited"]
    assert (shown[-1].counts["failed"], shown[-1].mode) == (1, "commit")


class Disk:
    """Counts the calls of one function of ``os`` and fails at one of them, and at all that follow if it is full."""

    def __init__(self, monkeypatch, module, name, number, *, at=0, lasting=False):
        self.calls, self.failed_after = 0, None
        real = getattr(os, name)

        def calling(*args, **kwargs):
            self.calls += 1
            if self.calls == at or (lasting and at and self.calls > at):
                self.failed_after = len(self.bench.cluster.sent) if self.failed_after is None else self.failed_after
                raise OSError(number, os.strerror(number))
            return real(*args, **kwargs)

        monkeypatch.setattr(module.os, name, calling)
        self.bench = None


def run_on(disk, directory):
    """Apply on a disk that may fail; return the bench, and the outcome or the refusal."""
    directory.mkdir()
    bench = Bench(directory)
    calls, disk.calls = disk.calls, -(10**6)
    disk.bench = bench
    bench.plan()
    disk.calls = calls
    seen = []
    watch(bench, seen)
    try:
        return bench, bench.apply(soak_seconds=0.0)
    except PlanRejected as refused:
        return bench, refused


FAULTS = [
    (private_files, "write", errno.ENOSPC, True),
    (private_files, "fsync", errno.EIO, False),
    (journal_module, "fdatasync", errno.EIO, False),
    (private_files, "open", errno.EMFILE, False),
]


@pytest.mark.parametrize(("module", "name", "number", "lasting"), FAULTS, ids=[fault[1] for fault in FAULTS])
def test_a_disk_that_fails_at_any_call_stops_the_run_before_its_next_request(tmp_path, module, name, number, lasting):
    """For every N: no request leaves without its attempt on disk, and none after the fault."""
    with pytest.MonkeyPatch.context() as patch:
        clean = Disk(patch, module, name, number)
        bench, outcome = run_on(clean, tmp_path / "clean")
        assert unit_of(outcome).status == "succeeded"
    assert clean.calls >= 3
    for at in range(1, clean.calls + 1):
        with pytest.MonkeyPatch.context() as patch:
            disk = Disk(patch, module, name, number, at=at, lasting=lasting)
            bench, outcome = run_on(disk, tmp_path / str(at))
        assert disk.failed_after is not None
        assert len(bench.cluster.sent) == disk.failed_after, f"a request left after fault {at}"
        if isinstance(outcome, PlanRejected):
            assert bench.cluster.sent == []
            assert str(outcome).count("\n") == 0
            continue
        assert outcome.fault is not None
        assert outcome.fault.code in ("JournalNotWritable", "ResultNotWritable")
        assert os.strerror(number).lower() in outcome.fault.message.lower()
        assert outcome.exit_code in (3, 5)
        reading, result = left_behind(bench)
        if outcome.fault.code == "ResultNotWritable" and result.state == "complete":
            continue
        # What the files say is not less than what was done.
        attempts = [entry for entry in reading.entries if entry.event == "attempt"]
        assert len(attempts) in (len(bench.cluster.sent), len(bench.cluster.sent) + 1)


def test_an_accepted_write_that_cannot_be_journaled_is_unknown_and_never_a_success(bench, monkeypatch):
    real = os.fdatasync

    def failing(descriptor):
        if bench.cluster.writes:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(descriptor)

    monkeypatch.setattr(journal_module.os, "fdatasync", failing)
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.status, unit.code, outcome.exit_code) == ("unknown", "OutcomeUnknown", 5)
    assert "whether the last request was carried out is on no record" in unit.message
    assert [attempt.step for attempt in outcome.result.in_flight] == ["CreateProfile"]
    assert len(bench.cluster.sent) == 1


def test_a_rollout_is_reported_even_where_the_journal_can_take_no_more(bench, monkeypatch):
    real = private_files.write_all

    def full(descriptor, line):
        if b'"event":"failed"' in line:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor, line)

    monkeypatch.setattr(journal_module, "write_all", full)
    bench.clock.on_sleep = lambda: bench.fleet.only("InferenceService")["metadata"].update(generation=2)
    outcome = bench.apply()
    assert (unit_of(outcome).status, unit_of(outcome).code) == ("failed", "RolloutDetected")
    assert outcome.fault is not None
    assert outcome.fault.code == "JournalNotWritable"


def test_after_a_crash_a_rerun_is_refused_until_the_files_are_archived_and_then_ends_right(bench):
    class Killed(BaseException):
        pass

    def trouble(request, when):
        if (request.kind.name, when, request.dry_run) == ("AIMService", "after", False):
            raise Killed

    bench.cluster.trouble = trouble
    with pytest.raises(Killed):
        bench.apply()
    bench.cluster.trouble = lambda request, when: None
    reading, result = left_behind(bench)
    assert [entry.step for entry in open_attempts(reading.entries)] == ["CutOver"]
    assert result.state == "incomplete"
    with pytest.raises(PlanRejected, match="archive it first"):
        bench.apply()
    bench.archive()
    assert unit_of(bench.apply()).code == "AlreadyCutOver"
    assert len(set(bench.cluster.writes)) == len(bench.cluster.writes) == 4


def test_clock_jumps_do_no_harm(bench):
    times = iter(range(0, 10**9, 86_400))
    signs = iter([1, -1] * 10**4)

    def now():
        return f"2026-06-{1 + (next(times) // 86_400 * next(signs)) % 28:02}T09:00:00.000000Z"

    bench.clock.now = now
    assert bench.apply().exit_code == 0
    assert left_behind(bench)[0].torn_bytes == 0
