"""``report``: one self-contained HTML page of plans and their runs."""

import argparse
import os
from datetime import UTC, datetime

from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE
from aim_template_migration.cli.options.report import read
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.statements import limits_lines
from aim_template_migration.cli.rendering.text import count, pairs
from aim_template_migration.cli.translation import translated
from aim_template_migration.cli.work_tree import work_tree_warning
from aim_template_migration.documents.limits import LIMITS
from aim_template_migration.documents.plan import API_VERSION, Document
from aim_template_migration.report.html import render
from aim_template_migration.report.page_file import refuse_foreign, write_page
from aim_template_migration.report.sources import read_sources
from aim_template_migration.report.states import counted
from aim_template_migration.report.view import report_of
from aim_template_migration.version import __version__

KIND = "ReportWritten"


class ReportWritten(Document, frozen=True):
    """The answer: where the page is, and how many units of it are in each state.

    Attributes:
        file: path of the page.
        bytes: its length.
        plans: paths of the plans that it shows.
        counts: units by state.
        limits: what none of this proves.
    """

    api_version: str
    kind: str
    file: str
    bytes: int
    plans: tuple[str, ...]
    counts: dict[str, int]
    limits: str


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Write the page; return 0.

    Raises:
        CommandStopped: a plan or a result can't be read, or the file can't be written.
    """
    arguments = read(parsed)
    with translated():
        refuse_foreign(arguments.file)
        sources = read_sources(arguments.plans, arguments.results)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        report = report_of(sources, made_at=now, tool_version=__version__)
        page = render(report)
        write_page(arguments.file, page)
    written = ReportWritten(
        API_VERSION,
        KIND,
        os.fspath(arguments.file),
        len(page),
        tuple(os.fspath(source.files.path) for source in sources),
        dict(counted(row.state for row in report.rows)),
        LIMITS,
    )
    _answer(written, console)
    for problem in (problem for plan in report.plans for problem in plan.problems):
        console.warn(problem)
    if warning := work_tree_warning(arguments.file):
        console.warn(warning)
    return DONE.number


def _answer(written: ReportWritten, console: Console) -> None:
    if console.format != "table":
        console.answer(encode(written, console.format))
        return
    rows = (
        ("report", written.file),
        ("plans", f"{len(written.plans)}"),
        ("units", ", ".join(count(number, state, state) for state, number in written.counts.items()) or "none"),
    )
    console.answer("\n".join([*pairs(rows, console.width), *limits_lines(console.width)]))
