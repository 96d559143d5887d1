"""What the pages promise of commands and files holds."""

import re
import shlex
from itertools import takewhile
from pathlib import Path

import pytest

from aim_template_migration.cli.main import main
from aim_template_migration.cli.parser import PROG, build_parser

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
OPERATORS = frozenset({">", "|", "||", "&&"})


def commands_in(text):
    """Return every command line of the tool in shell blocks, comments left out."""
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).replace("\\\n", " ")
    for line in blocks.splitlines():
        words = list(
            takewhile(lambda word: word not in OPERATORS, shlex.split(line.replace("HEX", "0" * 64), comments=True))
        )
        if words and Path(words[0]).name == PROG:
            yield words[1:]


COMMANDS = [(page, words) for page in PAGES for words in commands_in(page.read_text(encoding="utf-8"))]


def test_there_are_commands_to_check():
    assert len(COMMANDS) > 10


@pytest.mark.parametrize(
    ("page", "words"), COMMANDS, ids=lambda value: " ".join(value) if isinstance(value, list) else value.name
)
def test_a_command_is_one_that_the_parser_takes(page, words):
    if words != ["--version"]:
        assert build_parser().parse_args(words).command == words[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_ci_runs_the_readmes_tests():
    command = next(line for line in (ROOT / "README.md").read_text().splitlines() if "-m pytest" in line)
    quick = command.partition("-m pytest ")[2]
    assert f"-m pytest {quick}\n" in (ROOT / ".ci" / "run").read_text()


def test_codes_named_in_the_pages_exist(capsys):
    named = {
        code
        for page in PAGES
        if "reference/codes.md" not in str(page) and "reference/documents/" not in str(page)
        for code in re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", page.read_text(encoding="utf-8"))
    }
    assert named
    for code in named:
        if main(["explain", code]) != 0:
            pytest.fail(f"{code} is no code")
    capsys.readouterr()
