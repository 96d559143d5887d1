import json
import platform
import re
import subprocess
import sys

import pytest

from aim_template_migration.cli.failures import CommandStopped
from aim_template_migration.cli.options import handoff
from aim_template_migration.cli.options.shared import STEP_NAMES
from aim_template_migration.cli.parser import COMMANDS, build_parser
from aim_template_migration.cli.parser_contents import commands
from aim_template_migration.documents.plan import STEP_NAMES as PLAN_STEP_NAMES
from aim_template_migration.version import __version__

HEAVY = {"rich", "yaml", "urllib3", "kubernetes", "msgspec", "detect_secrets", "shtab", "trustme"}


def test_help_and_version_import_nothing_heavy():
    script = (
        "import sys, json; from aim_template_migration.cli.main import main\n"
        "codes = [main(arguments) for arguments in json.loads(sys.argv[1])]\n"
        "print(json.dumps([codes, sorted({name.split('.')[0] for name in sys.modules})]))"
    )
    asked = [["--help"], ["--version"], *([command.name, "--help"] for command in COMMANDS)]
    done = subprocess.run([sys.executable, "-c", script, json.dumps(asked)], capture_output=True, text=True, check=True)
    codes, modules = json.loads(done.stdout.splitlines()[-1])
    assert codes == [0] * len(asked)
    assert HEAVY & set(modules) == set()
    assert "aim_rehearsal" not in modules


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_every_command_has_help_that_fits_80_columns(aim, command):
    ran = aim(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert [line for line in ran.out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("option", ["--kubeconfig", "-n", "-v"])
def test_an_option_before_the_command_is_sent_behind_it(aim, option):
    ran = aim(option, "x", "show")
    assert (ran.code, ran.out) == (2, "")
    assert f"error: {option} stands before the command; options come after it" in ran.err


def test_version(aim):
    ran = aim("--version")
    assert ran.code == 0
    facts = rf"(commit [0-9a-f]{{40}}\+?, )?Python {platform.python_version()}"
    assert re.fullmatch(rf"aim-template-migration {__version__} \({facts}\)\n", ran.out)


def test_no_command_shows_help_on_stderr(aim):
    ran = aim()
    assert (ran.code, ran.out) == (2, "")
    assert "commands:" in ran.err


@pytest.mark.parametrize("arguments", [["migrate"], ["show"], ["show", "--plan", "x", "--nope"], ["explain", "--al"]])
def test_wrong_usage_is_one_sentence_and_a_hint(aim, arguments):
    ran = aim(*arguments)
    assert (ran.code, ran.out) == (2, "")
    error, hint = ran.err.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")


@pytest.mark.parametrize(
    ("arguments", "meant"), [(["plann"], "plan"), (["show", "--plan", "p", "-o", "jsn"], "json"), (["xyzzy"], "")]
)
def test_a_word_that_is_nearly_a_choice_is_told_the_nearest(aim, arguments, meant):
    ended = aim(*arguments)
    assert ended.code == 2
    assert ("did you mean" in ended.err) == bool(meant)
    assert f"did you mean {meant!r}?" in ended.err if meant else "choose from" in ended.err


def choices():
    """Yield every choice of every option and argument of every command, as the words that name it."""
    for name, parser in commands().items():
        for action in parser._actions:
            for choice in action.choices or ():
                yield pytest.param([name, *action.option_strings[:1], str(choice)], id=f"{name} {action.dest} {choice}")


def refusal(words):
    try:
        build_parser().parse_args(words)
    except CommandStopped as stopped:
        return str(stopped)
    return ""


@pytest.mark.parametrize("words", list(choices()))
def test_every_choice_of_every_option_is_accepted(words):
    assert re.fullmatch("(the following arguments are required: .*)?", refusal(words))


@pytest.mark.parametrize("number", range(1, 11))
def test_every_phase_of_the_handoff_is_taken_as_the_number_it_is(number):
    words = ["handoff", "check", "--evidence", "e.json", "--phase", str(number)]
    assert handoff.read(build_parser().parse_args(words)).phase == number


@pytest.mark.parametrize(("given", "said"), [("0", "choose from 1, 2, "), ("11", "choose from 1, 2, "), ("one", "int")])
def test_a_phase_that_is_none_of_the_ten_is_refused(aim, given, said):
    ran = aim("handoff", "check", "--evidence", "e.json", "--phase", given)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_options_are_never_abbreviated(aim):
    assert aim("apply", "--plan", "x", "--com").code == 2


def test_step_names_are_those_of_the_plan():
    assert STEP_NAMES == PLAN_STEP_NAMES
