import shutil
import subprocess

import pytest

from aim_template_migration.cli.parser import COMMANDS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_knows_every_command_and_is_sound(aim, shell):
    ran = aim("completion", shell)
    assert ran.code == 0
    for command in COMMANDS:
        assert command.name in ran.out
    assert "--runtime-projection-mode" in ran.out
    program = shutil.which(shell)
    if program:
        subprocess.run([program, "-n"], input=ran.out, text=True, check=True)


def test_another_shell_is_refused(aim):
    assert aim("completion", "tcsh").code == 2
