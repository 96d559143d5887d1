import io

import pytest

from aim_template_migration.applying.events import RunStarted, StepProgress, UnitFinished, nobody
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.progress import DrawnProgress, progress_of, time_left
from aim_template_migration.documents.result import UnitResult

UNIT = "AIMService/team-a/chat"
EVENTS = (
    RunStarted("run-1", "commit", "ab" * 32, 2),
    StepProgress(UNIT, "AwaitProfile", "started"),
    StepProgress(UNIT, "AwaitProfile", "waiting", "not Ready yet"),
    StepProgress(UNIT, "AwaitProfile", "waiting", "not Ready yet"),
    StepProgress(UNIT, "AwaitProfile", "completed"),
    UnitFinished(UnitResult(id=UNIT, disposition="automatic", status="failed", code="PinEdited")),
    UnitFinished(UnitResult(id="AIMService/team-a/odd", disposition="manual", status="manual", code="Paused")),
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(err, **options):
    console = Console(io.StringIO(), err, colour=False, **options)
    with progress_of(console) as listener:
        for event in EVENTS:
            listener(event)
    return err.getvalue()


@pytest.mark.parametrize("options", [{}, {"answer_format": "json"}, {"answer_format": "json", "verbose": True}])
def test_a_pipe_and_a_program_get_none(options):
    assert shown(io.StringIO(), **options) == ""


def test_a_terminal_gets_none_beside_json():
    assert shown(Terminal(), answer_format="json") == ""
    with progress_of(Console(io.StringIO(), Terminal(), colour=True, answer_format="yaml")) as listener:
        assert listener is nobody


def test_details_are_plain_lines_without_repeats():
    assert shown(io.StringIO(), verbose=True).splitlines() == [
        "commit: 2 units",
        f"{UNIT} AwaitProfile waits: not Ready yet",
        f"{UNIT} AwaitProfile done",
        f"{UNIT} failed (PinEdited)",
    ]


def test_a_dumb_terminal_gets_plain_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert f"{UNIT} AwaitProfile done" in shown(Terminal())


def test_a_terminal_is_drawn_on(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    drawn = shown(Terminal())
    assert "commit" in drawn
    assert "\x1b[" in drawn


@pytest.mark.parametrize(
    ("elapsed", "ended", "to_come", "said"),
    [
        (10, 0, 5, ""),
        (10, 5, 0, ""),
        (1, 1, 1, ", about 5 s left"),
        (10, 2, 4, ", about 20 s left"),
        (60, 1, 3, ", about 3 min left"),
        (60, 1, 90, ", about 1.5 h left"),
    ],
)
def test_the_time_left_goes_by_the_pace_so_far(elapsed, ended, to_come, said):
    assert time_left(elapsed, ended, to_come) == said


class Recorded:
    def __init__(self):
        self.descriptions = []

    def add_task(self, description, **_):
        return len(self.descriptions)

    def update(self, task, description):
        if task == 0:
            self.descriptions.append(description)

    def remove_task(self, task):
        pass


def test_units_that_never_ran_have_no_pace():
    seconds, progress = iter([0, 0, 0, 1, 20]), Recorded()
    show = DrawnProgress(progress, lambda: next(seconds))
    show(RunStarted("run-1", "commit", "ab" * 32, 4))
    show(UnitFinished(UnitResult(id="AIMService/team-a/odd", disposition="manual", status="manual", code="Paused")))
    show(UnitFinished(UnitResult(id=UNIT, disposition="automatic", status="succeeded")))
    assert progress.descriptions == [
        "commit: 0 of 4 units",
        "commit: 1 of 4 units",
        "commit: 2 of 4 units, about 40 s left",
    ]
