"""Write the manual page that packages carry: ``python tools/man_page.py``."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from aim_template_migration.cli.exit_codes import EXIT_CODES
from aim_template_migration.cli.parser import COMMANDS, NAME, build_parser
from aim_template_migration.cli.parser_contents import Group, commands, description, groups, usage
from aim_template_migration.version import __version__

FILE = Path(__file__).parent.parent / "docs" / "man" / f"{NAME}.1"
_SUMMARY = "move AIM services from the template to the profile pipeline"
_ENVIRONMENT = (
    ("KUBECONFIG", "The kubeconfig files, as kubectl reads them."),
    ("NO_COLOR", "If set and not empty, nothing is coloured."),
)
_FILES = (
    ("DIR/plan.json", "The plan, in the private directory that plan --output-dir DIR makes."),
    ("DIR/backup.yaml", "The predecessors' desired state, for reading; never to be applied."),
    ("DIR/apply-result.json", "The result of apply; with .journal.jsonl, its journal."),
    ("DIR/apply.lock", "Exists while apply runs, and after a crash."),
)
_LIMITS = (
    "A finished run proves neither that a model serves inference, nor that cached bytes were preserved, nor anything "
    "about the storage backend or production safety."
)


def man_page() -> str:
    """Return the page in the macros of man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield '.\\" Made from the parser by tools/man_page.py; edit it there.'
    yield f'.TH {NAME.upper()} 1 "" "{NAME} {__version__}" "User Commands"'
    yield from (".ad l", ".nh")  # names and options are not hyphenated
    yield from (".SH NAME", _escaped(NAME), f"\\- {_SUMMARY}")
    yield from (".SH SYNOPSIS", f".B {_escaped(NAME)}", ".I command", "[options]", ".br")
    yield from (".B kubectl " + _escaped(NAME), ".I command", "[options]")
    yield ".SH DESCRIPTION"
    yield from _text(" ".join((build_parser(NAME).description or "").split()))
    yield ".PP"
    yield from _text("What each command can do is told below; COMMAND --help prints the same.")
    yield ".SH COMMANDS"
    for command in COMMANDS:
        yield from _entry(f"\\fB{command.name}\\fR", command.summary)
    for name, parser in commands().items():
        yield from (f".SH {name.upper()}", *_text(" ".join(usage(parser).split())), ".PP", *_text(description(parser)))
        for group in groups(parser):
            yield from _group(group)
    yield from _tables()


def _tables() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    yield from _text("Of those that apply, the first in this list is returned.")
    for code in EXIT_CODES:
        yield from _entry(f"\\fB{code.number}\\fR", code.meaning)
    for title, rows in (("ENVIRONMENT", _ENVIRONMENT), ("FILES", _FILES)):
        yield f".SH {title}"
        for name, meaning in rows:
            yield from _entry(f"\\fI{_escaped(name)}\\fR", meaning)
    yield ".SH LIMITS"
    yield from _text(_LIMITS)
    yield from (".SH SEE ALSO", ".BR kubectl (1)")


def _group(group: Group) -> Iterator[str]:
    yield f".SS {_escaped(group.title)}"
    for option in group.options:
        names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in option.names)
        value = f"\\fI{_escaped(option.value)}\\fR" if option.value else ""
        yield from _entry(f"{names} {value}".strip(), option.help)


def _entry(head: str, text: str) -> Iterator[str]:
    yield from (".TP", head, *_text(text))


def _text(text: str) -> Iterator[str]:
    """Yield one sentence or less per line, none of which can be taken for a request or is too long."""
    for line in textwrap.wrap(text, 72, break_long_words=False, break_on_hyphens=False):
        yield _escaped(line)


def _escaped(text: str) -> str:
    """Return text as roff prints it: hyphens that can be copied, and no request at the start of a line."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    return re.sub(r"^([.'])", r"\\&\1", plain)


def main() -> None:
    """Write the page."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(man_page(), encoding="utf-8")
    print(f"docs/man/{FILE.name}")


if __name__ == "__main__":
    main()
