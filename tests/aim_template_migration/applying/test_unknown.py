"""Lost answers: settled by reading, both ways, and never by repeating the request."""

import copy
import uuid

import pytest

from aim_template_migration.kube.errors import (
    AlreadyExists,
    InternalError,
    OutcomeUnknown,
    Unauthorized,
    UnreadableAnswer,
)
from aim_template_migration.kube.requests import Action
from tests.aim_template_migration.applying.bench import lost, unit_of
from tests.aim_template_migration.applying.test_commit import SERVICE

KINDS = ("AIMProfile", "AIMProfileCache", "AIMArtifact", "AIMService")
STEPS = dict(zip(KINDS, ("CreateProfile", "CreateProfileCache", "ProtectArtifact", "CutOver"), strict=True))
SETTLE_SECONDS = 35.0


def lose(bench, kind, stage, *, dry_run=False, also=lambda: None):
    """Lose the answer to the write of a kind, before or after the server carried it out."""

    def trouble(request, when):
        if (request.kind.name, when, request.dry_run) == (kind, stage, dry_run):
            also()
            raise lost(request)

    bench.cluster.trouble = trouble


def sent_of(bench, kind):
    return [item for item in bench.cluster.sent if item.kind == kind and not item.dry_run]


@pytest.mark.parametrize("kind", KINDS)
def test_stored_after_all(bench, kind):
    lose(bench, kind, "after")
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (outcome.exit_code, unit.status) == (0, "succeeded")
    assert len(sent_of(bench, kind)) == 1
    events = [entry for entry in bench.journal() if entry.step == STEPS[kind] and not entry.facts.get("dryRun", True)]
    assert [entry.event for entry in events] == ["attempt", "unknown", "settled"]
    assert events[-1].facts["outcome"] == "stored"
    if kind.startswith("AIMProfile"):
        assert events[-1].facts["managedByUs"] is True


@pytest.mark.parametrize("kind", KINDS)
def test_not_stored_is_said_only_after_the_servers_time_limit(bench, kind):
    lose(bench, kind, "before")
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (outcome.exit_code, unit.status, unit.code) == (3, "failed", "NotStored")
    assert len(sent_of(bench, kind)) == 1
    assert sum(bench.clock.slept) >= SETTLE_SECONDS
    assert outcome.result.in_flight == ()
    assert [entry.facts["outcome"] for entry in bench.events("settled")] == ["notStored"]
    assert (unit.last_attempted_step, STEPS[kind] in unit.completed_steps) == (STEPS[kind], False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_that_lands_late_is_still_found(bench, kind):
    """The server may go on working on a request whose answer nobody hears."""
    pending = []

    def trouble(request, when):
        if (request.kind.name, when, request.dry_run) == (kind, "before", False):
            pending.append(request)
            raise lost(request)

    def on_sleep():
        if pending and sum(bench.clock.slept) > 20:
            import msgspec

            request = pending.pop()
            bench.cluster._carry_out(request, msgspec.json.decode(request.body))
            bench.operator.react(bench.fleet)

    bench.cluster.trouble = trouble
    bench.clock.on_sleep = on_sleep
    outcome = bench.apply()
    assert (unit_of(outcome).status, outcome.exit_code) == ("succeeded", 0)
    assert len(sent_of(bench, kind)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_unreadable_server_leaves_the_outcome_unknown(bench, kind):
    gone = []

    def on_read(read, name):
        if gone:
            raise UnreadableAnswer(Action("get", read, "team-a", name), "no complete answer")

    lose(bench, kind, "after", also=lambda: gone.append(1))
    bench.cluster.on_read = on_read
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (outcome.exit_code, unit.status, unit.code) == (5, "unknown", "OutcomeUnknown")
    assert [(attempt.step, attempt.dry_run) for attempt in outcome.result.in_flight] == [(STEPS[kind], False)]
    assert bench.events("settled") == []
    assert bench.result().in_flight == outcome.result.in_flight


def test_rejected_credentials_while_settling_stop_the_run_and_leave_it_unknown(several):
    bench = several(2)
    expired = []

    def on_read(read, name):
        if expired:
            raise Unauthorized(Action("get", read), status=401, reason="Unauthorized", message="expired")

    lose(bench, "AIMProfile", "after", also=lambda: expired.append(1))
    bench.cluster.on_read = on_read
    outcome = bench.apply()
    assert [(unit.status, unit.code) for unit in outcome.result.units] == [
        ("unknown", "OutcomeUnknown"), ("interrupted", "CredentialsRejected")
    ]  # fmt: skip
    assert outcome.exit_code == 5
    assert bench.clock.slept == []  # nothing is gained by waiting


def test_a_stop_while_settling_leaves_the_attempt_for_inspect(bench):
    lose(bench, "AIMService", "before", also=bench.stop.set)
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.status, unit.code, outcome.exit_code, outcome.interrupted) == ("unknown", "OutcomeUnknown", 130, True)
    assert [attempt.step for attempt in outcome.result.in_flight] == ["CutOver"]
    assert sum(bench.clock.slept) < 1


def test_a_stop_while_settling_still_takes_what_is_there(bench):
    lose(bench, "AIMProfile", "after", also=bench.stop.set)
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.status, unit.completed_steps, outcome.exit_code) == ("interrupted", ("CreateProfile",), 130)
    assert outcome.result.in_flight == ()


@pytest.mark.parametrize("kind", ["AIMProfile", "AIMProfileCache"])
def test_an_equal_object_of_another_writer_counts_but_is_not_called_ours(bench, kind):
    plan = bench.read_plan()

    def another():
        body = copy.deepcopy(next(target.body for target in plan.targets if target.id.startswith(f"{kind}/")))
        bench.fleet.add(
            kind, body["apiVersion"], body["metadata"]["name"], "team-a", manager="aim-service-controller",
            spec=body["spec"],
        )  # fmt: skip
        bench.operator.react(bench.fleet)

    lose(bench, kind, "before", also=another)
    unit = unit_of(bench.apply())
    assert unit.status == "succeeded"
    (settled,) = bench.events("settled")
    assert (settled.facts["outcome"], settled.facts["managedByUs"]) == ("stored", False)


def test_something_else_under_the_name_is_a_conflict(bench):
    def another():
        bench.fleet.add("AIMProfile", "aim.eai.amd.com/v1alpha2", "qwen3-32b-latency", "team-a", spec={"image": "x"})

    lose(bench, "AIMProfile", "before", also=another)
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.status, unit.code) == ("failed", "WriteConflict")
    assert "something else is stored there" in unit.message
    assert [entry.facts["outcome"] for entry in bench.events("settled")] == ["other"]
    assert outcome.result.in_flight == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda fleet: fleet.only("AIMService")["metadata"].update(uid=str(uuid.uuid4())),
        lambda fleet: fleet.remove("AIMService", "qwen-chat"),
        lambda fleet: fleet.only("AIMService")["spec"].update(replicas=3),
    ],
)
def test_a_lost_cutover_of_a_service_that_changed_is_a_conflict(bench, change):
    lose(bench, "AIMService", "before", also=lambda: change(bench.fleet))
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "WriteConflict")


def test_a_cutover_that_was_stored_is_found_even_where_labels_changed_since(bench):
    lose(
        bench, "AIMService", "after",
        also=lambda: bench.fleet.only("AIMService")["metadata"].update(labels={"new": "label"}),
    )  # fmt: skip
    unit = unit_of(bench.apply())
    assert [entry.facts["outcome"] for entry in bench.events("settled")] == ["stored"]
    assert (unit.status, unit.code) == ("succeeded", "")


def test_a_cutover_that_was_stored_and_edited_since_has_an_expired_pin(bench):
    def edit():
        service = bench.fleet.only("AIMService")
        service["spec"]["replicas"] = 2
        service["metadata"]["generation"] += 1

    lose(bench, "AIMService", "after", also=edit)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "PinExpired")


@pytest.mark.parametrize("stage", ["before", "after"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_dry_run_stores_nothing_and_is_not_waited_for(bench, kind, stage):
    lose(bench, kind, stage, dry_run=True)
    outcome = bench.apply(commit=False)
    unit = unit_of(outcome)
    assert (unit.status, unit.code, outcome.exit_code) == ("failed", "AnswerLost", 3)
    assert outcome.result.in_flight == ()
    assert bench.clock.slept == []
    (settled,) = bench.events("settled")
    assert settled.facts["because"] == "a dry run stores nothing"


def test_a_gateway_timeout_keeps_its_status(bench):
    def trouble(request, when):
        if (request.kind.name, when) == ("AIMProfile", "before"):
            raise OutcomeUnknown(request.action, "the server answered 504", status=504)

    bench.cluster.trouble = trouble
    bench.cluster.operator.profiles = False
    unit = unit_of(bench.apply())
    assert (unit.code, unit.http_status) == ("NotStored", None)


def refuse(bench, kind, error, *, also=lambda: None):
    def trouble(request, when):
        if (request.kind.name, when, request.dry_run) == (kind, "before", False):
            also()
            raise error(request.action)

    bench.cluster.trouble = trouble


def already_exists(action):
    return AlreadyExists(action, status=409, reason="AlreadyExists", message="already exists")


def test_a_conflict_with_nothing_there_stops_the_unit(bench):
    refuse(bench, "AIMProfile", already_exists)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code, unit.http_status) == ("failed", "WriteConflict", 409)
    assert "POST AIMProfile" not in str(bench.cluster.writes[1:])


def test_a_conflict_with_an_equal_object_names_who_made_it_and_a_rerun_goes_on(bench):
    plan = bench.read_plan()

    def another():
        body = copy.deepcopy(plan.targets[0].body)
        bench.fleet.add(
            body["kind"],
            body["apiVersion"],
            body["metadata"]["name"],
            "team-a",
            manager="kubectl-create",
            spec=body["spec"],
        )
        bench.operator.react(bench.fleet)

    refuse(bench, "AIMProfile", already_exists, also=another)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "WriteConflict")
    assert "appeared between reading and writing (field managers: kubectl-create)" in unit.message
    bench.archive()
    bench.cluster.trouble = lambda request, when: None
    assert unit_of(bench.apply()).status == "succeeded"


def test_a_conflict_with_another_object_names_the_difference(bench):
    def another():
        bench.fleet.add("AIMProfile", "aim.eai.amd.com/v1alpha2", "qwen3-32b-latency", "team-a", spec={"image": "x"})

    refuse(bench, "AIMProfile", already_exists, also=another)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code, "spec.image" in unit.message) == ("failed", "TargetDiffers", True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_says_yes_and_stores_nothing_is_caught(bench, kind):
    real = bench.cluster._carry_out

    def lying(prepared, body):
        before = dict(bench.fleet.objects)
        obj = real(prepared, body)
        if prepared.kind.name == kind:
            bench.fleet.objects = before
        return obj

    bench.cluster._carry_out = lying
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (outcome.exit_code, unit.status, unit.code) == (3, "failed", "ReadBackDiffers")
    assert "was accepted, but on reading back nothing of it is stored" in unit.message
    assert STEPS[kind] not in unit.completed_steps


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_stores_something_else_is_caught(bench, kind):
    real = bench.cluster._carry_out

    def mutating(prepared, body):
        answer = copy.deepcopy(real(prepared, body))
        if prepared.kind.name == kind and not prepared.dry_run:
            stored = bench.fleet.objects[f"{kind}/team-a/{prepared.name}"]
            if kind == "AIMArtifact":
                stored["metadata"]["uid"] = "other"
            elif kind == "AIMService":
                stored["metadata"]["annotations"].clear()
            else:
                stored["spec"]["env" if kind == "AIMProfileCache" else "engineArgs"] = [{"name": "x", "value": "y"}]
        return answer

    bench.cluster._carry_out = mutating
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "ReadBackDiffers")
    assert "something else is stored" in unit.message


def test_a_read_back_that_fails_leaves_no_open_attempt(bench):
    accepted = []

    def trouble(request, when):
        if (request.kind.name, when) == ("AIMProfile", "after"):
            accepted.append(1)

    def on_read(kind, name):
        if accepted and kind == "AIMProfile":
            accepted.clear()
            raise InternalError(Action("get", kind), status=500, reason="InternalError", message="x")

    bench.cluster.trouble, bench.cluster.on_read = trouble, on_read
    outcome = bench.apply()
    assert (unit_of(outcome).code, outcome.result.in_flight) == ("ServerError", ())
    assert SERVICE.startswith("AIMService")


def test_a_read_that_began_before_the_time_limit_and_ended_after_it_settles_nothing(bench):
    """What it saw may be from before the server stored the request, at its last moment."""
    began = []

    def on_read(read, name):
        if read == "AIMService" and began:
            began.append(bench.clock.monotonic() - began[0])
            if len(began) == 3:
                bench.clock._time += 2 * SETTLE_SECONDS

    lose(bench, "AIMService", "before", also=lambda: began.append(bench.clock.monotonic()))
    bench.cluster.on_read = on_read
    assert unit_of(bench.apply()).code == "NotStored"
    assert began[2] < SETTLE_SECONDS
    # One more read decides, and another tells who the service is now.
    assert sum(at >= SETTLE_SECONDS for at in began[1:]) == 2
