"""``python -m tests.faults``: what it plays, what it says, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import __main__ as command
from tests.faults.campaign import RUNS_AT_ONCE, Choice
from tests.faults.counts import render
from tests.faults.families import EVERYTHING, MAIN_WORLDS, SEED, WORLDS
from tests.faults.tally import Tally
from tests.faults.workers import Played

MAIN = MAIN_WORLDS[0]
RACES = ("--full", "--world", MAIN, "--only", "races")


class FakeWorkers:
    """Plays nothing: yields what a test gives it."""

    played: tuple[Played, ...] = ()

    def __init__(self, choice, jobs, directory):
        (directory / "left").touch()

    def play(self, seconds):
        yield from self.played


@pytest.fixture
def play(monkeypatch, tmp_path, capsys):
    """Return a function that runs the command line with given shares, and returns code, stdout, stderr and counts."""

    def run(*played, argv=RACES):
        monkeypatch.setattr(FakeWorkers, "played", played)
        monkeypatch.setattr(command, "Workers", FakeWorkers)
        monkeypatch.setattr(command.signal, "signal", lambda number, handler: None)
        counts = tmp_path / "counts.json"
        code = command.main([*argv, "--json", str(counts), "--keep", str(tmp_path)])
        out, err = capsys.readouterr()
        return code, out, err, json.loads(counts.read_text())

    return run


def shares(**last):
    """Return all eight shares of a class, the last one with something different."""
    sound = [Played(number, Tally({f"place {number % 2}"}, 3), complete=True) for number in range(7)]
    return *sound, Played(**{"number": 7, "tally": Tally({"place 0"}, 3), "complete": True, **last})


def test_counts_add_up_over_shares_and_a_sound_campaign_exits_with_0_and_leaves_nothing(play, tmp_path):
    code, out, err, counts = play(*shares())
    assert (code, out) == (0, "2 points, 24 faults, 0 violations\n")
    assert err.splitlines()[-1] == f"[8 of 8] {MAIN}: races 8 of 8: 1 points, 3 faults, 0 violations"
    assert counts["complete"]
    (row,) = counts["classes"]
    assert row == {
        "world": MAIN, "class": "races", "shares": 8, "of": 8, "points": 2, "faults": 24, "violations": 0
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["counts.json"]


def test_a_violation_is_shown_and_exits_with_1_and_its_files_are_kept(play, tmp_path):
    code, out, _, counts = play(*shares(tally=Tally({"place 0"}, 3, 1, ["what was violated"])))
    assert code == 1
    lines = out.splitlines()
    assert (lines[0], lines[-1]) == ("what was violated", "2 points, 24 faults, 1 violations")
    (kept,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert str(kept) in lines[1]
    assert counts["violated"] == ["what was violated"]


def test_a_suite_that_cannot_go_on_is_no_success(play):
    code, _, err, counts = play(*shares(complete=False, trouble="it broke"))
    assert code == 1
    assert "it broke" in err
    assert (counts["troubles"], counts["complete"]) == ([f"{MAIN}: races 8 of 8: it broke"], False)


def test_what_was_not_played_is_said(play):
    code, out, _, counts = play(*shares()[:3])
    assert code == 0
    assert out.splitlines() == ["not every point of this choice was played", "2 points, 9 faults, 0 violations"]
    assert (counts["classes"][0]["shares"], counts["complete"]) == (3, False)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--only", "nothing"], "no class 'nothing' in this campaign; the classes are: answers to dry runs, "),
        (["--full", "--only", "torn lines"], "no class 'torn lines'"),
        (["--world", "cluster-template", "--only", "races"], "no races is played in cluster-template"),
        (["--world", "atlantis"], "invalid choice: 'atlantis'"),
        (["--seed", "7"], "--seed needs --random"),
        (["--random", "1", "--at-most", "1"], "already says for how many minutes"),
        (["--random", "0"], "more than 0"),
        (["--random", "nan"], "more than 0"),
        (["--full", "--random", "1"], "not allowed with argument --full"),
        (["--jobs", "0"], "at least 1"),
        (["--json", "/nowhere/at/all.json"], "there is no directory /nowhere/at"),
        (["--keep", "/nowhere"], "there is no directory /nowhere"),
    ],
)
def test_wrong_usage_is_one_clear_error(capsys, argv, words):
    with pytest.raises(SystemExit) as ended:
        command.main(argv)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_the_list_names_every_class_and_where_it_is_played(capsys):
    assert command.main(["--full", "--list"]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(f"{name}: {', '.join(WORLDS)}" for name in EVERYTHING)
    assert command.main(["--list"]) == 0
    assert f"torn lines: {', '.join(MAIN_WORLDS)}" in capsys.readouterr().out.splitlines()


def test_everything_is_in_the_full_campaign_once():
    parts = [(part.world, part.name, part.number, part.of) for part in Choice("full").parts()]
    assert len(set(parts)) == len(parts)
    for world in WORLDS:
        for name in EVERYTHING:
            numbers = sorted(number for where, what, number, _ in parts if (where, what) == (world, name))
            (of,) = {of for where, what, _, of in parts if (where, what) == (world, name)}
            assert numbers == list(range(of))


def test_random_runs_never_come_twice():
    choice = Choice("random", worlds=MAIN_WORLDS)
    seeds = [
        point.fault().happened[0] for number in range(4) for point in choice.part(number).points(player=None)
    ]  # fmt: skip
    assert seeds == [f"seed {SEED + number}" for number in range(4 * RUNS_AT_ONCE)]
    assert [choice.part(number).world for number in range(3)] == [*MAIN_WORLDS, MAIN_WORLDS[0]]


@pytest.mark.slow
def test_random_runs_in_processes_of_their_own_end_in_time(tmp_path):
    counts = tmp_path / "counts.json"
    argv = ["--random", "0.05", "--seed", "5", "--jobs", "2", "--json", str(counts), "--keep", str(tmp_path)]
    ended = subprocess.run(  # noqa: PLW1510 - its exit code is looked at below
        [sys.executable, "-m", "tests.faults", *argv], cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    said = json.loads(counts.read_text())
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == f"{said['points']} points, {said['faults']} faults, 0 violations"
    assert (said["campaign"], said["seed"]) == ("random", 5)
    assert [path.name for path in tmp_path.iterdir()] == ["counts.json"]


def counted(**changes):
    rows = [
        {"world": world, "class": name, "shares": 1, "of": 8, "points": 1, "faults": 2, "violations": 0}
        for world in WORLDS
        for name in EVERYTHING
    ]
    head = {"points": 5, "faults": 2 * len(rows), "violations": 0, "version": "1.0", "commit": "abc1234"}
    return {**head, "written": "2026-06-01T08:00:00+00:00", "complete": False, "classes": rows, **changes}


def test_the_counts_on_the_page_are_those_of_the_campaigns():
    text = render(counted(), counted(complete=True), 88, dict.fromkeys(EVERYTHING, 1_000))
    lines = text.splitlines()
    assert lines[:2] == [
        "Of the full campaign, on 2026-06-01 at commit `abc1234`, version 1.0:",
        f"**5 points, {2 * len(WORLDS) * len(EVERYTHING)} faults, 0 violations**.",
    ]
    assert f"| races | {2 * len(WORLDS)} | 1,000 | 0 |" in lines
    assert f"| all | {2 * len(WORLDS) * len(EVERYTHING)} | {1_000 * len(EVERYTHING):,} | 0 |" in lines
    assert f"| {MAIN} | {2 * len(EVERYTHING)} | 0 |" in lines
    assert "| before a real kube-apiserver | 88 | 0 |" in lines
    assert text.count("It was ended early") == 1
