"""The run as a whole: order, the lone first cutover, halts, stops, surprises, and endings that add up."""

import copy
import random
import threading

import pytest

from aim_template_migration.applying.events import RunStarted, StepProgress, UnitFinished
from aim_template_migration.documents.plan import STEP_NAMES
from aim_template_migration.kube.errors import Invalid, OutcomeUnknown, UnreadableAnswer
from aim_template_migration.kube.requests import Action
from tests.aim_template_migration.applying.bench import unit_of
from tests.aim_template_migration.applying.test_unknown import lost
from tests.support.fleet import condition


def endings(outcome):
    return [(unit.status, unit.code) for unit in outcome.result.units]


def add_up(bench, outcome):
    """Every unit of the plan has exactly one final status, in plan order, and the counts are theirs."""
    result = outcome.result
    assert [unit.id for unit in result.units] == [unit.id for unit in bench.read_plan().units]
    for status, number in result.counts.items():
        assert number == sum(unit.status == status for unit in result.units)
    assert result.state == "complete"


def cutovers(bench):
    return [item.name for item in bench.cluster.sent if item.kind == "AIMService" and not item.dry_run]


@pytest.mark.parametrize("parallel", [1, 2, 4, 16])
def test_all_units_succeed_side_by_side(several, parallel):
    bench = several(6, namespaces=2)
    outcome = bench.apply(parallel=parallel)
    assert endings(outcome) == [("succeeded", "")] * 6
    add_up(bench, outcome)
    assert sorted(cutovers(bench)) == [f"svc-{number:02}" for number in range(6)]
    assert cutovers(bench)[0] == "svc-00"


def test_units_begin_in_plan_order(several):
    bench = several(5)
    bench.apply(parallel=1)
    assert [entry.unit for entry in bench.events("unitStarted")] == [unit.id for unit in bench.read_plan().units]
    assert cutovers(bench) == [f"svc-{number:02}" for number in range(5)]


def test_no_cutover_leaves_before_the_first_has_soaked(several):
    bench = several(4)
    at = {}

    def trouble(request, when):
        if request.kind.name == "AIMService" and when == "before":
            at.setdefault(request.name, bench.clock.monotonic())

    bench.cluster.trouble = trouble
    bench.apply(parallel=4, soak_seconds=30.0)
    first = at.pop("svc-00")
    assert min(at.values()) >= first + 30.0
    entries = bench.journal()
    gated = next(
        n for n, entry in enumerate(entries) if entry.step == "ReverifyProfileCache" and "svc-00" not in entry.unit
    )
    confirmed = next(
        n for n, entry in enumerate(entries) if entry.event == "stepCompleted" and entry.step == "ConfirmNoRollout"
    )
    assert gated > confirmed  # step 6 runs after the gate
    others = [n for n, entry in enumerate(entries) if entry.step == "ProtectArtifact" and "svc-00" not in entry.unit]
    assert others  # while steps 1 to 5 may run beside it


def test_later_soaks_overlap(several):
    bench = several(6)
    bench.apply(parallel=1, soak_seconds=30.0)
    assert sum(bench.clock.slept) < 3 * 30.0


def test_if_the_first_fails_before_its_cutover_the_next_is_first(several):
    bench = several(3)

    def trouble(request, when):
        if request.name == "m00-latency":
            raise Invalid(request.action, status=422, reason="Invalid", message="no")

    bench.cluster.trouble = trouble
    outcome = bench.apply(parallel=3)
    assert endings(outcome) == [("failed", "RefusedByServer"), ("succeeded", ""), ("succeeded", "")]
    assert cutovers(bench)[0] == "svc-01"


def roll(bench, name):
    """Let the cutover of one service roll its workload."""

    def trouble(request, when):
        if (request.name, when, request.dry_run) == (name, "after", False):
            bench.fleet.named("InferenceService", f"{name}-66a1c54b")["metadata"]["generation"] = 2

    bench.cluster.trouble = trouble


@pytest.mark.parametrize("parallel", [1, 2, 4])
def test_a_rollout_halts_all_further_cutovers(several, parallel):
    bench = several(5)
    roll(bench, "svc-00")
    outcome = bench.apply(parallel=parallel)
    assert endings(outcome)[0] == ("failed", "RolloutDetected")
    assert set(endings(outcome)[1:]) == {("skipped", "HaltedAfterRollout")}
    assert cutovers(bench) == ["svc-00"]
    add_up(bench, outcome)
    assert outcome.exit_code == 3
    for unit in outcome.result.units[1:]:
        assert "AIMService/team-0/svc-00 halted the cutovers of this run" in unit.message
        assert unit.completed_steps == STEP_NAMES[: len(unit.completed_steps)]
        assert len(unit.completed_steps) <= STEP_NAMES.index("ReverifyProfileCache")


def test_units_that_had_begun_list_their_steps_when_they_are_halted(several):
    bench = several(2)
    waiting = threading.Event()

    def listener(event):
        if isinstance(event, StepProgress) and "svc-01" in event.unit and event.state == "waiting":
            waiting.set()

    def trouble(request, when):
        if (request.name, when, request.dry_run) == ("svc-00", "after", False):
            bench.cluster.lock.release()
            waiting.wait(5)
            bench.cluster.lock.acquire()
            bench.fleet.named("InferenceService", "svc-00-66a1c54b")["metadata"]["generation"] = 2

    bench.listener, bench.cluster.trouble = listener, trouble
    outcome = bench.apply(parallel=2)
    unit = unit_of(outcome, "svc-01")
    assert (unit.status, unit.code) == ("skipped", "HaltedAfterRollout")
    assert unit.completed_steps == unit.attempted_steps == STEP_NAMES[:5]
    assert unit.identities


def test_a_rollout_found_in_a_later_soak_halts_the_rest(several):
    bench = several(4)

    def trouble(request, when):
        if (request.name, when, request.dry_run) == ("svc-01", "after", False):
            bench.clock.on_sleep = lambda: bench.fleet.named("InferenceService", "svc-01-66a1c54b")["metadata"].update(
                generation=2
            )
        if (request.name, when) == ("svc-02", "before") and request.dry_run:
            bench.clock.sleep(60)

    bench.cluster.trouble = trouble
    outcome = bench.apply(soak_seconds=30.0)
    assert endings(outcome)[0] == ("succeeded", "")
    assert endings(outcome)[1] == ("failed", "RolloutDetected")
    assert ("skipped", "HaltedAfterRollout") in endings(outcome)[2:]


def test_a_halt_that_comes_between_the_dry_run_and_the_patch_stops_the_patch(several):
    bench = several(2)
    bench.apply(only=("AIMService/team-0/svc-00",))
    bench.archive()

    def trouble(request, when):
        if (request.name, when, request.dry_run) == ("svc-01", "after", True):
            gate.halt("somebody")

    bench.cluster.trouble = trouble
    from aim_template_migration.applying import run as module

    real = module.CutoverGate

    def making(order):
        nonlocal gate
        gate = real(order)
        return gate

    gate = None
    module.CutoverGate = making
    try:
        outcome = bench.apply()
    finally:
        module.CutoverGate = real
    assert endings(outcome) == [("succeeded", "AlreadyCutOver"), ("skipped", "HaltedAfterRollout")]
    assert cutovers(bench) == ["svc-00"]


def after_cutover(bench, change, name="svc-00"):
    """Carry out a change once the cutover of a service was stored, and before its answer comes."""

    def trouble(request, when):
        if (request.name, when, request.dry_run) == (name, "after", False):
            change(request)

    bench.cluster.trouble = trouble


def not_ready(bench):
    bench.fleet.named("InferenceService", "svc-00-66a1c54b")["status"]["conditions"] = [condition("Ready", "False")]


def lose_with_reads(bench, request):
    def on_read(kind, name):
        if (kind, name) == ("AIMService", "svc-00"):
            raise UnreadableAnswer(Action("get", kind, "team-0", name), "no complete answer")

    bench.cluster.on_read = on_read
    raise lost(request)


def lose_and_strip(bench, request):
    bench.fleet.named("AIMService", "svc-00")["metadata"]["annotations"] = {}
    raise lost(request)


def unreadable_pods(bench):
    def on_read(kind, name):
        if kind == "Pod":
            raise UnreadableAnswer(Action("list", kind, "team-0", None), "no complete answer")

    bench.cluster.on_read = on_read


def edit_again(bench):
    edited = copy.deepcopy(bench.fleet.named("AIMService", "svc-00"))
    edited["metadata"]["generation"] = 3
    bench.fleet.objects["AIMService/team-0/svc-00"] = edited


@pytest.mark.parametrize(
    ("change", "ending"),
    [
        (lambda bench, _: not_ready(bench), ("failed", "InferenceServiceNotReady")),
        (lose_with_reads, ("unknown", "OutcomeUnknown")),
        (lose_and_strip, ("failed", "WriteConflict")),
        (lambda bench, _: unreadable_pods(bench), ("failed", "CutoverNotObserved")),
        (lambda bench, _: edit_again(bench), ("failed", "PinExpired")),
    ],
)
def test_whatever_fails_once_the_cutover_may_be_stored_halts_the_rest(several, change, ending):
    bench = several(3)
    after_cutover(bench, lambda request: change(bench, request))
    outcome = bench.apply()
    assert endings(outcome) == [ending, ("skipped", "HaltedAfterRollout"), ("skipped", "HaltedAfterRollout")]
    assert cutovers(bench) == ["svc-00"]


def test_a_cutover_that_was_sent_twice_on_the_way_is_confirmed(several):
    bench = several(2)

    def refused(request):
        raise Invalid(request.action, status=422, reason="Invalid", message="the test of an operation failed")

    after_cutover(bench, refused)
    outcome = bench.apply()
    assert endings(outcome) == [("succeeded", ""), ("succeeded", "")]
    (unit,) = [unit for unit in outcome.result.units if unit.id.endswith("svc-00")]
    assert unit.completed_steps == STEP_NAMES
    events = [entry for entry in bench.journal() if entry.step == "CutOver" and "svc-00" in entry.unit]
    real = [entry.event for entry in events if entry.facts.get("dryRun") is False]
    assert real == ["attempt", "unknown", "settled"]


def test_a_refused_cutover_that_cannot_be_read_halts_the_rest(several):
    bench = several(2)

    def refused(request):
        try:
            lose_with_reads(bench, request)
        except OutcomeUnknown:
            raise Invalid(request.action, status=422, reason="Invalid", message="failed") from None

    after_cutover(bench, refused)
    assert endings(bench.apply()) == [("failed", "RefusedByServer"), ("skipped", "HaltedAfterRollout")]


def test_a_refused_cutover_that_is_stored_without_its_pin_halts_the_rest(several):
    bench = several(2)

    def refused(request):
        bench.fleet.named("AIMService", "svc-00")["metadata"]["annotations"] = {}
        raise Invalid(request.action, status=422, reason="Invalid", message="failed")

    after_cutover(bench, refused)
    assert endings(bench.apply()) == [("failed", "PinEdited"), ("skipped", "HaltedAfterRollout")]


def test_a_refused_cutover_of_which_nothing_is_stored_stays_with_its_unit(several):
    bench = several(2)

    def trouble(request, when):
        if (request.name, when, request.dry_run) == ("svc-00", "before", False):
            raise Invalid(request.action, status=422, reason="Invalid", message="no")

    bench.cluster.trouble = trouble
    assert endings(bench.apply()) == [("failed", "RefusedByServer"), ("succeeded", "")]


def test_a_halt_that_comes_with_the_attempt_on_record_still_stops_the_patch(bench, monkeypatch):
    from aim_template_migration.applying import journal as journal_module
    from aim_template_migration.applying import run as run_module

    gates, append = [], journal_module.Journal.append
    real = run_module.CutoverGate
    monkeypatch.setattr(run_module, "CutoverGate", lambda order: gates.append(real(order)) or gates[0])

    def appending(journal, event, **more):
        append(journal, event, **more)
        if (event, more.get("step"), more.get("facts", {}).get("dryRun")) == ("attempt", "CutOver", False):
            gates[0].halt("somebody")

    monkeypatch.setattr(journal_module.Journal, "append", appending)
    outcome = bench.apply()
    assert endings(outcome) == [("skipped", "HaltedAfterRollout")]
    assert cutovers(bench) == []
    assert outcome.result.in_flight == ()
    assert bench.events("rejected")[-1].facts["error"].startswith("not sent: ")


def test_every_other_failure_stays_with_its_unit(several):
    bench = several(4)

    def trouble(request, when):
        if (request.name, when, request.dry_run) == ("svc-01", "before", False):
            raise lost(request)
        if request.name == "m02-latency":
            raise Invalid(request.action, status=422, reason="Invalid", message="no")

    bench.cluster.trouble = trouble
    outcome = bench.apply(parallel=2)
    assert endings(outcome) == [
        ("succeeded", ""), ("failed", "NotStored"), ("failed", "RefusedByServer"), ("succeeded", "")
    ]  # fmt: skip
    add_up(bench, outcome)


@pytest.mark.parametrize("parallel", [1, 3])
def test_fail_fast_begins_no_unit_after_a_failure(several, parallel):
    bench = several(8)

    def trouble(request, when):
        if request.name == "m00-latency":
            raise Invalid(request.action, status=422, reason="Invalid", message="no")

    bench.cluster.trouble = trouble
    outcome = bench.apply(parallel=parallel, fail_fast=True)
    assert endings(outcome)[0] == ("failed", "RefusedByServer")
    assert endings(outcome)[-1] == ("skipped", "FailFast")
    assert {status for status, _ in endings(outcome)[1:]} <= {"skipped", "succeeded"}
    assert len(bench.events("unitStarted")) <= parallel + 1
    add_up(bench, outcome)
    assert outcome.exit_code == 3


def test_fail_fast_does_not_cut_a_soak_short(several):
    bench = several(3)
    looks = []

    def on_read(kind, name):
        if kind == "Pod":
            looks.append(bench.clock.monotonic())

    def trouble(request, when):
        if request.name == "m01-latency":
            raise Invalid(request.action, status=422, reason="Invalid", message="no")

    bench.apply(only=("AIMService/team-0/svc-02",))
    bench.archive()
    bench.cluster.on_read, bench.cluster.trouble = on_read, trouble
    outcome = bench.apply(fail_fast=True, soak_seconds=30.0)
    assert endings(outcome)[:2] == [("succeeded", ""), ("failed", "RefusedByServer")]
    assert looks[-1] - looks[0] >= 30.0


@pytest.mark.parametrize("step", STEP_NAMES[:-1])
def test_stop_before_each_step(several, step):
    bench = several(2)
    outcome = bench.apply(stop_before=step, parallel=2)
    assert endings(outcome) == [("skipped", "StoppedBefore")] * 2
    for unit in outcome.result.units:
        assert unit.attempted_steps == unit.completed_steps == STEP_NAMES[: STEP_NAMES.index(step)]
        assert unit.next_step
    assert outcome.exit_code == 0
    add_up(bench, outcome)


def at_step(bench, step, state, action, *, unit="svc-00"):
    def listener(event):
        if isinstance(event, StepProgress) and (event.step, event.state) == (step, state) and unit in event.unit:
            action()

    bench.listener = listener


@pytest.mark.parametrize("step", STEP_NAMES)
@pytest.mark.parametrize("parallel", [1, 3])
def test_a_stop_request_ends_safely_wherever_it_comes(several, step, parallel):
    bench = several(3)
    at_step(bench, step, "started", bench.stop.set)
    outcome = bench.apply(parallel=parallel)
    assert (outcome.exit_code, outcome.interrupted, outcome.fault) == (130, True, None)
    assert outcome.result.stopped == "interrupted"
    assert outcome.result.in_flight == ()
    add_up(bench, outcome)
    assert {status for status, _ in endings(outcome)} == {"interrupted"}
    assert cutovers(bench) == (["svc-00"] if step == "ConfirmNoRollout" else [])
    attempts = list(bench.events("attempt"))
    answers = list(bench.events("accepted", "rejected", "settled"))
    assert len(attempts) == len(answers) == len(bench.cluster.sent)


def test_a_stop_request_during_a_request_finishes_and_journals_it(bench):
    def trouble(request, when):
        if (request.kind.name, when, request.dry_run) == ("AIMService", "before", False):
            bench.stop.set()

    bench.cluster.trouble = trouble
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.status, unit.code, outcome.exit_code) == ("interrupted", "Interrupted", 130)
    assert unit.last_completed_step == "CutOver"
    assert bench.fleet.only("AIMService")["spec"]["profile"]
    written = ("AIMService", "AIMArtifact", "AIMProfile", "AIMProfileCache")
    live = {kind: bench.fleet.only(kind)["metadata"] for kind in written}
    assert live["AIMService"]["generation"] == 2
    known = {item.reference.kind: item for item in unit.identities}
    assert {kind: (known[kind].uid, known[kind].generation) for kind in written} == {
        kind: (metadata["uid"], metadata["generation"]) for kind, metadata in live.items()
    }
    assert [entry.event for entry in bench.journal() if entry.step == "CutOver"][-3:] == [
        "accepted", "verified", "stepCompleted"
    ]  # fmt: skip
    bench.archive()
    bench.stop.clear()
    bench.cluster.trouble = lambda request, when: None
    assert unit_of(bench.apply()).code == "AlreadyCutOver"


def test_a_stop_request_after_the_dry_run_sends_no_cutover(bench):
    def trouble(request, when):
        if (request.kind.name, when) == ("AIMService", "after") and request.dry_run:
            bench.stop.set()

    bench.cluster.trouble = trouble
    outcome = bench.apply()
    assert (unit_of(outcome).status, cutovers(bench)) == ("interrupted", [])


def test_a_stop_request_in_the_soak_interrupts_units_that_were_cut_over(several):
    bench = several(3)

    slept_after = []

    def on_sleep():
        if bench.stop.is_set():
            slept_after.append(bench.clock.monotonic())
        if len(cutovers(bench)) == 3:
            bench.stop.set()

    bench.clock.on_sleep = on_sleep
    outcome = bench.apply(soak_seconds=30.0)
    assert endings(outcome)[0] == ("succeeded", "")
    assert ("interrupted", "Interrupted") in endings(outcome)
    assert outcome.exit_code == 130
    assert slept_after == []  # a soak that was interrupted is not waited out
    assert all(unit.last_completed_step in ("CutOver", "ConfirmNoRollout") for unit in outcome.result.units)


def test_a_stop_request_before_the_first_unit(several):
    bench = several(3)
    bench.stop.set()
    outcome = bench.apply(parallel=2)
    assert endings(outcome) == [("interrupted", "Interrupted")] * 3
    assert (bench.cluster.sent, outcome.exit_code) == ([], 130)
    add_up(bench, outcome)


def test_a_stop_request_that_comes_when_all_is_done_changes_nothing(bench):
    bench.listener = lambda event: bench.stop.set() if isinstance(event, UnitFinished) else None
    outcome = bench.apply()
    assert (outcome.exit_code, outcome.interrupted, outcome.result.stopped) == (0, False, "")


def test_a_lost_lock_stops_the_run_before_its_next_request(several):
    bench = several(3)
    at_step(bench, "CreateProfileCache", "started", (bench.plan_directory / "apply.lock").unlink)
    outcome = bench.apply()
    assert endings(outcome) == [("interrupted", "LockLost")] * 3
    assert [str(item) for item in bench.cluster.sent] == ["POST AIMProfile/m00-latency"]
    assert outcome.fault is not None
    assert (outcome.fault.code, outcome.exit_code) == ("LockLost", 3)
    add_up(bench, outcome)


def test_a_lock_of_another_run_is_left_alone(bench):
    path = bench.plan_directory / "apply.lock"

    def steal():
        path.unlink()
        path.write_text("another's")

    at_step(bench, "ProtectArtifact", "started", steal, unit="qwen")
    outcome = bench.apply()
    assert unit_of(outcome).code == "LockLost"
    assert path.read_text() == "another's"


@pytest.mark.parametrize("step", STEP_NAMES)
def test_a_surprise_ends_its_unit_alone_and_the_exit_code_is_1(several, monkeypatch, step):
    bench = several(3)
    from aim_template_migration.applying import unit_run

    real = unit_run.UnitRun._perform

    def surprising(self, planned):
        if type(planned).__name__ == step and "svc-01" in self._state.unit.id:
            raise KeyError("hf_secretsecretsecretsecretsecret")
        real(self, planned)

    monkeypatch.setattr(unit_run.UnitRun, "_perform", surprising)
    outcome = bench.apply()
    units = outcome.result.units
    assert (units[1].status, units[1].code, outcome.exit_code) == ("failed", "UnexpectedError", 1)
    assert "an unexpected KeyError at test_engine.py:" in units[1].message
    assert "hf_secret" not in bench.result_path.read_text()
    assert units[1].completed_steps == STEP_NAMES[: STEP_NAMES.index(step)]
    assert units[0].status == "succeeded"
    # After a cutover nothing proves that the workload still runs, so no other leaves.
    after_cutover = step in ("CutOver", "ConfirmNoRollout")
    assert (units[2].status, units[2].code) == (
        ("skipped", "HaltedAfterRollout") if after_cutover else ("succeeded", "")
    )
    add_up(bench, outcome)


def test_a_surprise_while_an_answer_is_awaited_leaves_the_attempt_open(bench):
    def trouble(request, when):
        if (request.kind.name, when, request.dry_run) == ("AIMService", "after", False):
            raise AttributeError("what?")

    bench.cluster.trouble = trouble
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.status, unit.code, outcome.exit_code) == ("unknown", "UnexpectedError", 1)
    assert [attempt.step for attempt in outcome.result.in_flight] == ["CutOver"]


def test_a_plan_that_no_longer_fits_its_code_is_a_surprise_and_no_traceback(bench, monkeypatch):
    from aim_template_migration.applying import run as module

    monkeypatch.setattr(module, "require_safe", lambda files, generated: None)

    def change(document):
        for step in document["units"][0]["steps"]:
            if step["step"] == "CreateProfile":
                step["target"] = "AIMProfile/team-a/none"

    bench.edit_json(change, everywhere=True)
    outcome = bench.apply()
    assert (unit_of(outcome).code, outcome.exit_code) == ("UnexpectedError", 1)


def test_a_listener_that_fails_does_not_reach_the_run(bench):
    heard = []

    def listener(event):
        heard.append(event)
        raise BrokenPipeError

    bench.listener = listener
    assert bench.apply().exit_code == 0
    assert len(heard) == 1
    assert isinstance(heard[0], RunStarted)


def test_the_listener_hears_of_every_unit_once(several):
    bench = several(4)
    heard = []
    bench.listener = heard.append
    outcome = bench.apply(parallel=2, limit=2)
    started = heard[0]
    assert isinstance(started, RunStarted)
    assert (started.run_id, started.mode, started.units) == (outcome.result.run_id, "commit", 4)
    assert started.plan_sha256 == outcome.result.plan_sha256
    finished = [event.result for event in heard if isinstance(event, UnitFinished)]
    assert sorted(finished, key=lambda unit: unit.id) == list(outcome.result.units)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_fails_and_whoever_shares_every_unit_ends_and_nobody_waits_for_ever(several, seed):
    """Random sharing, random failures at random points, one to four units side by side."""
    chance = random.Random(seed)
    bench = several(6, namespaces=2, shared=chance.random() < 0.4)
    kinds = ("AIMProfile", "AIMProfileCache", "AIMArtifact", "AIMService")
    failures = {
        (chance.choice(kinds), chance.randrange(6)): chance.choice(("refused", "lost", "rolls")) for _ in range(3)
    }

    def trouble(request, when):
        for (kind, number), failure in failures.items():
            mine = request.name in (f"svc-{number:02}", f"m{number:02}-latency", f"hf---org-m{number:02}-0123456789")
            if request.kind.name != kind or not mine:
                continue
            if failure == "refused" and when == "before":
                raise Invalid(request.action, status=422, reason="Invalid", message="no")
            if failure == "lost" and when == chance.choice(("before", "after")):
                raise lost(request)
            if failure == "rolls" and when == "after" and not request.dry_run and kind == "AIMService":
                bench.fleet.named("InferenceService", f"{request.name}-66a1c54b")["metadata"]["generation"] = 2

    bench.cluster.trouble = trouble
    ended = []
    thread = threading.Thread(
        target=lambda: ended.append(
            bench.apply(
                parallel=chance.randint(1, 4), fail_fast=chance.random() < 0.3, soak_seconds=chance.choice((0, 9))
            )
        ),
        daemon=True,
    )
    thread.start()
    thread.join(60)
    assert ended, "the run did not end"
    (outcome,) = ended
    add_up(bench, outcome)
    assert len(set(cutovers(bench))) == len(cutovers(bench))
    kept_back = [item for item in bench.events("rejected") if item.facts["error"].startswith("not sent: ")]
    assert len([*bench.events("attempt")]) == len(bench.cluster.sent) + len(kept_back)
