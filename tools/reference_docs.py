"""Write the reference pages that are made from the code: ``python tools/reference_docs.py``."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from aim_template_migration.cli.commands.explain import all_codes
from aim_template_migration.cli.exit_codes import EXIT_CODES
from aim_template_migration.cli.parser import COMMANDS, PROG, Parser, build_parser

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
_MADE = "<!-- Made from the code by tools/reference_docs.py; edit it there. -->"
_KINDS = (
    (
        "outcome",
        "Outcomes",
        "What a unit is, beside the reasons below, the first of which is the outcome of a manual unit.",
    ),
    (
        "reason",
        "Reasons",
        "Why a unit is not automatic. The outcome is the first of them, in this order, that was found.",
    ),
    ("warning", "Warnings", "What never keeps a unit from being automatic, but should be read."),
    (
        "imputation",
        "Imputation rules",
        "Where a value of a target came from that the predecessor does not state in that form.",
    ),
    ("stepFailure", "Step failures", "Why apply stopped one unit; the others go on unless it says so."),
    ("runFailure", "Run failures", "Why apply stopped the whole run before its next request."),
    ("unitResult", "Unit results", "What else can stand in a unit's result."),
    (
        "inspection",
        "Inspection",
        "Where a unit stands, and what reading says of a write whose outcome is on no record.",
    ),
    ("verification", "Verification", "The facts that verify reads of a migrated unit, and what the migration leaves."),
    ("prerequisite", "Prerequisites", "The lines of preflight's checklist."),
    ("exitCode", "Exit codes", "See also exit-codes.md."),
)


def reference_pages() -> Mapping[str, str]:
    """Return every page by file name."""
    return {"commands.md": _commands(), "codes.md": _codes(), "exit-codes.md": _exit_codes()}


def _commands() -> str:
    parser = build_parser()
    lines = [_MADE, "", "# Commands", ""]
    lines += [f"- [`{command.name}`](#{command.name}): {command.summary}" for command in COMMANDS]
    for name, sub in _subparsers(parser).items():
        usage = sub.format_usage().removeprefix("usage: ").strip()
        lines += ["", f"## {name}", "", " ".join((sub.description or "").split()), "", "```", usage, "```"]
        for group in sub._action_groups:  # noqa: SLF001 - argparse has no public way to look at its groups
            rows = list(_rows(group))
            if rows:
                lines += ["", f"{(group.title or '').capitalize()}:", "", *rows]
    return "\n".join(lines) + "\n"


def _subparsers(parser: Parser) -> Mapping[str, argparse.ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return action.choices
    return {}


def _rows(group: "argparse._ArgumentGroup") -> Iterator[str]:
    for action in group._group_actions:  # noqa: SLF001
        if action.help == argparse.SUPPRESS or isinstance(action, argparse._HelpAction):  # noqa: SLF001
            continue
        value = action.metavar if isinstance(action.metavar, str) else ""
        if action.choices and not value:
            value = "|".join(str(choice) for choice in action.choices)
        names = ", ".join(action.option_strings)
        yield f"- `{f'{names} {value}'.strip() or action.dest}`: {action.help}"


def _codes() -> str:
    lines = [_MADE, "", "# Codes", "", f"The closed set. `{PROG} explain CODE` prints the same."]
    for kind, title, intro in _KINDS:
        lines += ["", f"## {title}", "", intro, "", "| code | when | what to do |", "|---|---|---|"]
        lines += [
            f"| `{code.code}` | {code.summary} | {code.advice} |" for code in all_codes().values() if code.kind == kind
        ]
    return "\n".join(lines) + "\n"


def _exit_codes() -> str:
    lines = [_MADE, "", "# Exit codes", "", "Of those that apply, the first in this table is returned.", ""]
    lines += ["| code | word | when |", "|---|---|---|"]
    lines += [f"| {code.number} | {code.word} | {code.meaning} |" for code in EXIT_CODES]
    more = "Manual units alone leave 0; `plan --require-automatic` makes them 3."
    return "\n".join([*lines, "", more]) + "\n"


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in reference_pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()
