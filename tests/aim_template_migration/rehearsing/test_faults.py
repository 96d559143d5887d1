"""Every fault of the catalogue: it comes up, the tool answers as the catalogue says, and a rerun ends as it says."""

import threading

import pytest

from aim_rehearsal.faults import Trouble
from aim_rehearsal.operator import Misbehaviour
from aim_rehearsal.worlds import load_world
from aim_template_migration.applying.events import nobody
from aim_template_migration.applying.lock import LOCK_NAME
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.journal import read_journal
from aim_template_migration.documents.plan import STEP_NAMES
from aim_template_migration.documents.result import decode_result
from aim_template_migration.rehearsing.events import FaultAnswered, PlanMade, RunBegins, RunEnded
from aim_template_migration.rehearsing.faults import FAULTS, FaultError, choose_fault
from aim_template_migration.rehearsing.rehearsal import Rehearsal, RehearsalOptions, RunTuning
from aim_template_migration.rehearsing.subject import Subject

CASES = [
    f"{fault.name}@{step}" if fault.takes_step else fault.name for fault in FAULTS.values() for step in fault.answers
]
ROLLS = "operator-rolls-despite-pin"


@pytest.fixture
def rehearsed(tmp_path):
    """Return a function that rehearses the default world with a fault: what came of it, and the chapters."""

    def run(text):
        chapters = []
        options = RehearsalOptions(
            subject=Subject(load_world("shared-happy-path")),
            mode="Both",
            directory=tmp_path / "plan",
            work_dir=tmp_path,
            tuning=RunTuning(soak_seconds=0.1),
            fault=choose_fault(text),
            request_seconds=1.0,
        )
        with Rehearsal(options) as rehearsal:
            return rehearsal.run(chapters.append, nobody, threading.Event()), chapters

    return run


def test_the_catalogue_has_every_trouble_and_every_misbehaviour():
    troubles = {fault.trouble for fault in FAULTS.values() if fault.trouble}
    misbehaviours = {fault.misbehaviour for fault in FAULTS.values() if fault.misbehaviour}
    assert troubles == set(Trouble)
    assert misbehaviours == set(Misbehaviour) - {Misbehaviour.NONE}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_an_entry_is_complete(fault):
    assert (fault.trouble is None) is (fault.misbehaviour is not None)
    assert set(fault.answers) <= set(STEP_NAMES)
    assert {code for code in fault.answers.values() if code} <= CODES.keys()
    assert not fault.rerun_code or fault.rerun_code in CODES
    assert all(fault.next_step(step) for step in fault.answers)
    for text in (fault.happens, fault.answer):
        assert text[0].isupper()
        assert text.endswith(".")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "there is no fault 'nonsense'; there are: conflict, gone, "),
        ("conflict@AwaitProfile", "conflict can't come up at 'AwaitProfile'; it can at: CutOver, "),
        ("conflict@", "conflict can't come up at ''"),
        ("operator-slow@CutOver", "operator-slow takes no step: it comes up at AwaitProfile"),
    ],
)
def test_a_fault_that_there_is_not(text, said):
    with pytest.raises(FaultError) as caught:
        choose_fault(text)
    assert str(caught.value).startswith(said)


def test_the_default_step_is_the_cutover_where_it_can_be():
    assert choose_fault("kill").text == "kill@CutOver"
    assert choose_fault("gone@CreateProfileCache").step == "CreateProfileCache"
    assert choose_fault("operator-slow").text == "operator-slow"


def check(text, outcome, chapters):
    chosen = choose_fault(text)
    fault, answered = chosen.fault, outcome.report.fault
    assert (answered.name, answered.step, answered.happened, answered.rerun) == (fault.name, chosen.step, True, True)
    first = answered.answers[0]
    assert first.id == "AIMService/team-a/qwen-chat"
    if fault.trouble is Trouble.KILL:
        assert (first.status, first.next_step) == ("inFlight", fault.mending)
    else:
        assert first.code == fault.answers[chosen.step]
        assert first.next_step == (CODES[first.code].advice if first.code else "")
        assert (first.status == "succeeded") is not bool(first.code)
    rerun = outcome.commit.result.units
    expected = ("failed", fault.rerun_code) if fault.rerun_code else ("succeeded", rerun[0].code)
    assert (rerun[0].status, rerun[0].code) == expected
    if not fault.rerun_code:
        assert {unit.status for unit in rerun} == {"succeeded"}
        assert {unit.code for unit in rerun} <= {"", "AlreadyCutOver"}
    audit = outcome.report.audit
    assert (audit.deletes, audit.secret_reads) == (0, 0)
    if fault.name != ROLLS:
        for unit in outcome.report.units:
            assert unit.inference_service.before == unit.inference_service.after
            assert unit.pods.before == unit.pods.after
    kinds = [type(chapter) for chapter in chapters[-6:]]
    if fault.plans_again:
        assert kinds[-4:-1] == [PlanMade, RunBegins, RunEnded]
    else:
        assert kinds[-4:-1] == [FaultAnswered, RunBegins, RunEnded]


def test_a_conflict_stops_the_unit_and_a_rerun_migrates_it(rehearsed):
    outcome, chapters = rehearsed("conflict")
    check("conflict", outcome, chapters)
    assert outcome.report.audit.mutations == 8
    (answered,) = [chapter for chapter in chapters if isinstance(chapter, FaultAnswered)]
    assert [unit.id for unit in answered.inspected] == ["AIMService/team-a/qwen-chat"]


@pytest.mark.slow
@pytest.mark.parametrize("text", [case for case in CASES if case != "conflict@CutOver"])
def test_the_tool_answers_as_the_catalogue_says_and_so_does_a_rerun(rehearsed, text):
    check(text, *rehearsed(text))


@pytest.mark.slow
def test_a_killed_apply_leaves_its_records_and_its_lock_and_the_next_one_refuses(rehearsed, tmp_path):
    _, chapters = rehearsed("kill@ProtectArtifact")
    (answered,) = [chapter for chapter in chapters if isinstance(chapter, FaultAnswered)]
    assert answered.refusal.startswith("error: ")
    assert "that process no longer lives on this host" in answered.refusal
    (inspected,) = answered.inspected
    assert (inspected.id, inspected.last_attempted_step) == ("AIMService/team-a/qwen-chat", "ProtectArtifact")
    assert [attempt.code for attempt in inspected.attempts] == ["AttemptStored"]
    names = {path.name for path in answered.archive.iterdir()}
    assert names == {"apply-result.json", "apply-result.json.journal.jsonl", LOCK_NAME}
    result = decode_result((answered.archive / "apply-result.json").read_bytes())
    assert result.state == "incomplete"
    journal = read_journal((answered.archive / "apply-result.json.journal.jsonl").read_bytes())
    last = journal.entries[-1]
    assert (last.event, last.step) == ("attempt", "ProtectArtifact")
    assert not (tmp_path / "plan" / LOCK_NAME).exists()


@pytest.mark.slow
def test_a_stop_ends_the_commit_of_its_own_process_and_there_is_no_rerun(tmp_path):
    stop = threading.Event()
    options = RehearsalOptions(
        subject=Subject(load_world("shared-happy-path")),
        mode="Both",
        directory=tmp_path / "plan",
        work_dir=tmp_path,
        fault=choose_fault("kill"),
    )

    def audience(chapter):
        if isinstance(chapter, RunBegins) and chapter.commit:
            stop.set()

    with Rehearsal(options) as rehearsal:
        outcome = rehearsal.run(audience, nobody, stop)
    assert outcome.stopped
    assert outcome.commit is None
    assert (outcome.report.fault.happened, outcome.report.fault.rerun) == (False, False)
    assert outcome.report.audit.mutations == 0


@pytest.mark.slow
def test_a_fault_that_does_not_come_up_is_said_not_to_have(tmp_path):
    options = RehearsalOptions(
        subject=Subject(load_world("paused")),
        mode="Both",
        directory=tmp_path / "plan",
        work_dir=tmp_path,
        fault=choose_fault("truncated"),
    )
    with Rehearsal(options) as rehearsal:
        report = rehearsal.run(lambda chapter: None, nobody, threading.Event()).report
    assert (report.fault.happened, report.fault.answers) == (False, ())
