import io

import pytest

from aim_template_migration.cli.console import Console, wants_colour


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Gone(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


def test_the_answer_and_everything_else_go_to_their_own_stream():
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, colour=True)
    console.answer("answer")
    console.warn("careful")
    console.hint("next")
    assert out.getvalue() == "answer\n"
    assert err.getvalue() == "warning: careful\nhint: next\n"


def test_sentences_end_their_lines_with_words_at_terminals_only(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    sentence = "there is nothing to verify: no selected service is cut over, and no commit is on record"
    at_terminal, in_pipe = Terminal(), io.StringIO()
    Console(io.StringIO(), at_terminal, colour=True).error(sentence)
    Console(io.StringIO(), in_pipe, colour=True).error(sentence)
    first, second = at_terminal.getvalue().splitlines()
    assert first == "\x1b[31merror:\x1b[0m there is nothing to verify: no selected service is"
    assert second == "cut over, and no commit is on record"
    assert in_pipe.getvalue() == f"error: {sentence}\n"


def test_a_hint_with_a_command_stays_in_one_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    err = Terminal()
    Console(io.StringIO(), err, colour=False).hint(
        "archive it: mv -n -- ./migration-plan/apply-result.json ./migration-plan/archive/"
    )
    assert err.getvalue().count("\n") == 1


def test_colour_goes_to_terminals_only():
    console = Console(Terminal(), io.StringIO(), colour=True)
    assert console.paint("x", "red") == "\x1b[31mx\x1b[0m"
    assert console.paint_note("x", "red") == "x"


@pytest.mark.parametrize(
    ("environ", "no_color", "wanted"),
    [
        ({}, False, True),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, False, True),
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_colour_can_be_refused(environ, no_color, wanted):
    assert wants_colour(environ, no_color=no_color) is wanted


@pytest.mark.parametrize(("answer_format", "shown"), [("table", True), ("json", False), ("yaml", False)])
def test_progress_is_for_people_at_terminals(answer_format, shown):
    assert Console(io.StringIO(), Terminal(), colour=True, answer_format=answer_format).shows_progress is shown
    assert Console(Terminal(), io.StringIO(), colour=True, answer_format=answer_format).shows_progress is False


def test_a_reader_that_went_away_costs_the_text_and_not_the_command():
    console = Console(Gone(), Gone(), colour=False)
    console.answer("lost")
    console.note("lost")
    console.answer("lost again")


def test_a_stream_that_cannot_say_it_gets_a_substitute():
    raw = io.BytesIO()
    console = Console(io.TextIOWrapper(raw, encoding="ascii"), io.StringIO(), colour=False)
    console.answer("a … b")
    assert raw.getvalue() == b"a ? b\n"


def test_control_characters_of_documents_reach_no_stream():
    out, err = Terminal(), io.StringIO()
    console = Console(out, err, colour=True)
    console.answer(console.paint("a\x1b]0;title\x07\x9b2J\r", "red") + "\tb\nc\u202e")
    console.note("\x1b[31mred")
    assert out.getvalue() == "\x1b[31ma\\u001b]0;title\\u0007\\u009b2J\\u000d\x1b[0m\tb\nc\\u202e\n"
    assert err.getvalue() == "\\u001b[31mred\n"


def test_an_answer_to_the_byte_stays_as_it_is():
    out = io.StringIO()
    Console(out, io.StringIO(), colour=False).exactly("a\r\n")
    assert out.getvalue() == "a\r\n"
