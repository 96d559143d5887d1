import json
import platform
import re
import subprocess
import sys

import pytest

from aim_template_migration.cli.options.shared import STEP_NAMES
from aim_template_migration.cli.parser import COMMANDS
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


def test_options_are_never_abbreviated(aim):
    assert aim("apply", "--plan", "x", "--com").code == 2


def test_step_names_are_those_of_the_plan():
    assert STEP_NAMES == PLAN_STEP_NAMES
