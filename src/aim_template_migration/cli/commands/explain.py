"""``explain``: what a code means and what to do about it."""

import argparse
import difflib

from aim_template_migration.cli.console import Console, Paint
from aim_template_migration.cli.exit_codes import DONE, EXIT_CODES
from aim_template_migration.cli.failures import wrong_usage
from aim_template_migration.cli.options.explain import read
from aim_template_migration.cli.rendering.conversions import general_convert_command
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.text import pairs
from aim_template_migration.documents.codes import CODES, Code
from aim_template_migration.documents.codes.situations import reading_of
from aim_template_migration.documents.plan import API_VERSION, Document

KIND = "CodeList"
_EXIT_ADVICE = {
    0: "Nothing; read the closing statement for what it does not prove.",
    1: "Run again with -v and report the details; with apply, inspect result and journal first.",
    2: "Read the command's --help.",
    3: "Read the answer: each finding has its code and its next step.",
    4: "Mend what the message names and run again; nothing was changed.",
    5: "Read the unit's result and the live objects before anything else is changed; never repeat the write blindly.",
    130: "Read result and journal, then apply again: a rerun starts from live state.",
}


class ExplainedCode(Document, frozen=True):
    """One code.

    Attributes:
        code: its word, or the number of an exit code.
        kind: what sort of code it is, such as ``reason`` or ``stepFailure``.
        summary: when it is given.
        advice: what an administrator does.
        page: the page of the docs that tells more, empty where there is none.
        command: a command that helps, with its placeholders in capitals; empty where there is none.
    """

    code: str
    kind: str
    summary: str
    advice: str
    page: str = ""
    command: str = ""


class CodeList(Document, frozen=True):
    """The answer of ``explain``.

    Attributes:
        codes: those that were asked for.
    """

    api_version: str
    kind: str
    codes: tuple[ExplainedCode, ...]


def all_codes() -> dict[str, ExplainedCode]:
    """Return every code by its word or number, exit codes last."""
    explained = {code.code: _explained(code) for code in CODES.values()}
    for exit_code in EXIT_CODES:
        name, meaning = str(exit_code.number), exit_code.meaning
        explained[name] = ExplainedCode(
            name, "exitCode", f"{meaning[0].upper()}{meaning[1:]}.", _EXIT_ADVICE[exit_code.number]
        )
    return explained


def _explained(code: Code) -> ExplainedCode:
    command = general_convert_command(code.code)
    return ExplainedCode(code.code, code.kind, code.summary, code.advice, reading_of(code), command)


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Explain codes; return 0.

    Raises:
        CommandStopped: there is no such code.
    """
    arguments = read(parsed)
    known = all_codes()
    wanted = tuple(known) if arguments.all else arguments.codes
    found = tuple(known[_known(code, known)] for code in wanted)
    if console.format == "table":
        console.answer("\n\n".join(_text(code, console.paint, console.width) for code in found))
    else:
        console.answer(encode(CodeList(API_VERSION, KIND, found), console.format))
    return DONE.number


def _known(code: str, known: dict[str, ExplainedCode]) -> str:
    lowered = {name.lower(): name for name in known}
    if code.lower() in lowered:
        return lowered[code.lower()]
    near = difflib.get_close_matches(code.lower(), lowered, n=3)
    meant = f"did you mean {', '.join(lowered[name] for name in near)}?" if near else "explain --all lists every code"
    raise wrong_usage(f"there is no code {code!r}", hint=meant)


def _text(code: ExplainedCode, paint: Paint, width: int) -> str:
    title = f"exit code {code.code}" if code.kind == "exitCode" else code.code
    rows = (
        ("kind", code.kind),
        ("when", code.summary),
        ("advice", code.advice),
        ("read", code.page),
        ("convert", code.command),
    )
    return "\n".join([paint(title, "bold"), *pairs(rows, width, "  ")])
