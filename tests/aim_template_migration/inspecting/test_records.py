"""What result and journal say of a unit, whichever of them is left."""

from aim_template_migration.documents.journal import Entry, JournalReading
from aim_template_migration.documents.result import (
    ApplyResult,
    OpenAttempt,
    PodFacts,
    UnitResult,
    WorkloadFacts,
    count_units,
)
from aim_template_migration.inspecting.records import unit_records

UNIT, OBJECT = "AIMService/a/b", "AIMProfile/a/p"


def journal(*entries, damage=""):
    lines = [
        Entry(seq=number, time=f"2026-06-02T09:00:{number:02}Z", event=event, unit=UNIT, step=step, facts=facts)
        for number, (event, step, facts) in enumerate(entries, start=1)
    ]
    return JournalReading(tuple(lines), 0, damage)


def result(*units, in_flight=(), **changes):
    fields = {
        "schema": "s", "api_version": "v", "kind": "k", "tool_version": "1", "run_id": "r", "mode": "commit",
        "state": "incomplete", "plan_id": "p", "plan_sha256": "d", "started_at": "t", "finished_at": "",
        "journal": "j", "counts": count_units(units),
    }  # fmt: skip
    return ApplyResult(**fields | changes, units=units, in_flight=tuple(in_flight))


def sent(step="CreateProfile", **facts):
    return ("attempt", step, {"object": OBJECT, "dryRun": False, **facts})


def test_steps_come_from_the_journal():
    found = unit_records(
        None,
        journal(
            ("unitStarted", "", {}),
            ("stepStarted", "CreateProfile", {}),
            sent(),
            ("accepted", "CreateProfile", {"object": OBJECT, "dryRun": False}),
            ("stepCompleted", "CreateProfile", {}),
            ("stepStarted", "AwaitProfile", {}),
        ),
    )[UNIT]
    assert (found.attempted, found.completed) == (("CreateProfile", "AwaitProfile"), ("CreateProfile",))
    assert (found.attempts, found.status) == ((), "")


def test_a_failure_is_known_from_the_journal_alone():
    found = unit_records(
        None,
        journal(
            ("failed", "", {"code": "PinEdited", "message": "it was edited"}),
            ("unitFinished", "", {"status": "failed", "code": "PinEdited"}),
        ),
    )[UNIT]
    assert (found.status, found.code, found.message) == ("failed", "PinEdited", "it was edited")


def test_the_result_adds_the_sentences_and_keeps_its_own_steps_where_there_is_no_journal():
    unit = UnitResult(
        id=UNIT, disposition="automatic", status="failed", code="Forbidden", message="m", http_status=403,
        server_message="no", attempted_steps=("CreateProfile",), completed_steps=(),
    )  # fmt: skip
    found = unit_records(result(unit), None)[UNIT]
    assert (found.status, found.code, found.http_status, found.server_message) == ("failed", "Forbidden", 403, "no")
    assert found.attempted == ("CreateProfile",)


def test_an_attempt_without_an_outcome_is_open_with_its_time_limit():
    (attempt,) = unit_records(None, journal(sent(serverTimeoutSeconds=120)))[UNIT].attempts
    assert (attempt.step, attempt.object, attempt.server_seconds, attempt.left) == (
        "CreateProfile", OBJECT, 120.0, True
    )  # fmt: skip


def test_older_journals_have_the_default_time_limit():
    (attempt,) = unit_records(None, journal(sent()))[UNIT].attempts
    assert attempt.server_seconds == 30.0


def test_an_unknown_answer_leaves_the_attempt_open_and_settling_closes_it():
    unknown = ("unknown", "CreateProfile", {"object": OBJECT, "dryRun": False})
    settled = ("settled", "CreateProfile", {"object": OBJECT, "dryRun": False})
    assert len(unit_records(None, journal(sent(), unknown))[UNIT].attempts) == 1
    assert unit_records(None, journal(sent(), unknown, settled))[UNIT].attempts == ()


def test_a_dry_run_is_no_open_attempt_and_closes_none():
    dry = ("attempt", "CutOver", {"object": OBJECT, "dryRun": True})
    assert unit_records(None, journal(dry))[UNIT].attempts == ()
    answered = ("accepted", "CutOver", {"object": OBJECT, "dryRun": True})
    assert len(unit_records(None, journal(sent("CutOver"), answered))[UNIT].attempts) == 1
    shown = OpenAttempt(unit=UNIT, step="CutOver", object=OBJECT, at="t", dry_run=True)
    assert UNIT not in unit_records(result(in_flight=[shown]), None)


def shown(step="CreateProfile"):
    return OpenAttempt(unit=UNIT, step=step, object=OBJECT, at="2026-06-02T09:00:00Z")


def test_what_only_the_result_shows_had_not_left():
    """The result shows an attempt before the journal has it, and the request leaves after both."""
    (attempt,) = unit_records(result(in_flight=[shown()]), journal(("unitStarted", "", {})))[UNIT].attempts
    assert not attempt.left


def test_without_a_whole_journal_it_may_have_left():
    for reading in (None, journal(("unitStarted", "", {}), damage="line 2 can't be read")):
        (attempt,) = unit_records(result(in_flight=[shown()]), reading)[UNIT].attempts
        assert attempt.left


def test_the_journal_has_the_last_word_on_an_attempt_that_it_closed():
    closed = ("accepted", "CreateProfile", {"object": OBJECT, "dryRun": False})
    assert unit_records(result(in_flight=[shown()]), journal(sent(), closed))[UNIT].attempts == ()


LIVE = WorkloadFacts("chat", "i", 1, "s", "m", ready=True, template_hash="h", autoscaled=True)
FACTS = {
    "uid": "i", "generation": 1, "specDigest": "s", "metadataDigest": "m", "templateHash": "h",
    "pods": [{"name": "p", "uid": "u", "restarts": 2, "templateHash": "t"}],
}  # fmt: skip


def test_the_workload_before_the_cutover_comes_from_the_result_else_from_the_journal():
    entry = ("facts", "CutOver", {"workload": FACTS})
    found = unit_records(None, journal(entry))[UNIT].workload_before(LIVE)
    assert found == WorkloadFacts(
        "chat", "i", 1, "s", "m", ready=True, template_hash="h", pods=(PodFacts("p", "u", 2, "t"),), autoscaled=True
    )
    own = WorkloadFacts("chat", "other", 1, "s", "m", ready=True, template_hash="h")
    unit = UnitResult(id=UNIT, disposition="automatic", status="succeeded", workload_before=own)
    assert unit_records(result(unit), journal(entry))[UNIT].workload_before(LIVE) == own
    assert unit_records(None, journal(("unitStarted", "", {})))[UNIT].workload_before(LIVE) is None


def test_a_confirmation_on_record():
    assert unit_records(None, journal(("stepCompleted", "ConfirmNoRollout", {})))[UNIT].confirmed
    assert unit_records(None, journal(("unitFinished", "", {"status": "succeeded", "code": "AlreadyCutOver"})))[
        UNIT
    ].confirmed
    assert not unit_records(None, journal(("stepStarted", "ConfirmNoRollout", {})))[UNIT].confirmed
