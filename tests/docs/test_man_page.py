"""The manual page is the parser's. Write it anew with: python tools/man_page.py."""

import os
import subprocess

from aim_template_migration.cli.exit_codes import EXIT_CODES
from aim_template_migration.cli.parser_contents import commands, groups
from tests.support.absent import require_tool
from tools.man_page import FILE, man_page


def rendered(command):
    environment = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout, done.stderr


def test_the_page_is_current():
    assert FILE.read_text(encoding="utf-8") == man_page()


def test_man_shows_every_command_option_and_exit_code_without_a_warning():
    require_tool("man", "Debian's package man-db")
    text, warnings = rendered(["man", "--warnings=w", "-l", str(FILE)])
    assert warnings == ""
    words = text.split()
    for name, parser in commands().items():
        assert f"\n{name.upper()}\n" in text, name
        for group in groups(parser):
            assert f"\n   {group.title}\n" in text, group.title
            for option in group.options:
                assert all(one in words or f"{one}," in words for one in option.names), option.names
    for code in EXIT_CODES:
        assert str(code.number) in words
    assert max(map(len, text.splitlines())) <= 80


def test_groff_finds_nothing_to_warn_of():
    require_tool("groff", "Debian's package groff-base")
    assert rendered(["groff", "-ww", "-z", "-man", "-Tutf8", str(FILE)]) == ("", "")


def test_mandoc_finds_nothing_to_warn_of_but_the_date_that_is_left_out():
    require_tool("mandoc", "Debian's package mandoc")
    done = subprocess.run(["mandoc", "-T", "lint", str(FILE)], capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines() if "missing date" not in line]
    assert found == []
