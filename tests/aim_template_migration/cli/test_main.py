"""The last line of defence, and what every command's endings look like."""

import pytest

from aim_template_migration.cli import main as main_module
from aim_template_migration.cli.failures import CommandStopped

TOKEN = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"


@pytest.fixture
def failing(monkeypatch):
    """Return a function that lets the next command raise."""

    def let(error):
        def run(parsed, console):
            raise error

        monkeypatch.setattr(main_module, "_command_of", lambda parsed: run)

    return let


def test_an_unexpected_error_is_one_sentence_without_traceback_or_values(aim, failing):
    failing(KeyError(TOKEN))
    ran = aim("explain", "5")
    assert ran.code == 1
    error, hint = ran.err.splitlines()
    assert "unexpected KeyError" in error
    assert "set -v for details" in hint
    assert TOKEN not in ran.err


def test_details_are_redacted(aim, failing):
    failing(KeyError(TOKEN))
    ran = aim("explain", "5", "-v")
    assert ran.code == 1
    assert "Traceback" in ran.err
    assert TOKEN not in ran.err


def test_a_secret_of_several_lines_is_redacted_as_a_whole(aim, failing):
    failing(RuntimeError("-----BEGIN " + "PRIVATE KEY-----\nMIIEbody\nmorebody\n-----END PRIVATE KEY-----\nfor team-a"))
    ran = aim("explain", "5", "-v")
    assert "body" not in ran.err
    assert "Traceback" in ran.err
    assert "for team-a" in ran.err


def test_an_ending_has_a_sentence_a_hint_and_a_code_to_explain(aim, failing):
    failing(CommandStopped(4, "it is so", hint="do that", code="Forbidden"))
    ran = aim("explain", "5")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.splitlines() == [
        "error: it is so",
        "hint: do that",
        "more: aim-template-migration explain Forbidden",
    ]


def test_an_interrupt_outside_a_run_is_130(aim, failing):
    failing(KeyboardInterrupt())
    ran = aim("explain", "5")
    assert (ran.code, ran.err) == (130, "interrupted\n")


@pytest.mark.parametrize(("code", "ends"), [(0, 1), (5, 5), (130, 130)])
def test_a_lost_answer_is_an_error_and_hides_no_other(aim, monkeypatch, code, ends):
    def run(parsed, console):
        console.lost = "no space left on device"
        return code

    monkeypatch.setattr(main_module, "_command_of", lambda parsed: run)
    ran = aim("explain", "5")
    assert ran.code == ends
    assert ran.err == "error: the answer could not be written to stdout: no space left on device\n"
