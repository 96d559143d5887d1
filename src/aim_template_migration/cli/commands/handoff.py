"""``handoff check``: may the manual Dedicated handoff go on? Read-only, and never an unconditional yes."""

import argparse
from datetime import UTC, datetime

from aim_template_migration.cli.console import Console, Paint
from aim_template_migration.cli.exit_codes import DONE, FINDINGS
from aim_template_migration.cli.failures import not_started
from aim_template_migration.cli.options.handoff import HandoffArguments, read
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.text import count, heading, pairs, wrapped
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.cli.work_tree import work_tree_warning
from aim_template_migration.documents.handoff import HandoffCheck
from aim_template_migration.handoff.check import (
    HandoffRefused,
    append_record,
    check_handoff,
    read_evidence,
    read_record,
)
from aim_template_migration.handoff.phases import INDISTINGUISHABLE


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Check one phase; return 0 for ``go if`` and 3 for ``stop``.

    Raises:
        CommandStopped: the evidence, the record or the cluster can't be used.
    """
    arguments = read(parsed)
    if arguments.record is not None and (warning := work_tree_warning(arguments.record)):
        console.warn(warning)
    checked = _check(arguments, console)
    if not checked.plan_checked:
        console.warn("no plan.json lies beside the evidence, so only the evidence's own digest was checked")
    if console.format == "table":
        console.answer("\n".join(_lines(checked, console.paint, console.width)))
    else:
        console.answer(encode(checked, console.format))
    return DONE.number if checked.verdict == "go if" else FINDINGS.number


def _check(arguments: HandoffArguments, console: Console) -> HandoffCheck:
    try:
        evidence = read_evidence(arguments.evidence)
        record = read_record(arguments.record, evidence)
        with translated():
            cluster = open_cluster(arguments.connection, console)
            try:
                at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                checked = check_handoff(cluster, evidence, record, arguments.phase, at=at)
            finally:
                cluster.close()
        if arguments.record is not None:
            checked = append_record(arguments.record, record or (), checked)
    except HandoffRefused as error:
        sentence, _, hint = str(error).rpartition("; ")
        raise not_started(sentence or hint, hint=hint if sentence else "") from error
    return checked


def _lines(checked: HandoffCheck, paint: Paint, width: int) -> list[str]:
    verdict = paint("GO IF", "yellow") if checked.verdict == "go if" else paint("STOP", "red")
    found = " (found by reading)" if checked.detected else ""
    rows = (
        ("unit", checked.unit),
        ("phase", f"{checked.phase}. {checked.title}{found}{_alike(checked)}"),
        ("target", f"{checked.target.cache}, UID {checked.target.cache_uid}" if checked.target else ""),
        ("record", f"this line's digest, to be noted elsewhere, is {checked.own_digest}" if checked.own_digest else ""),
    )
    lines = [*pairs(rows, width), "", verdict]
    if checked.differences:
        lines += heading(f"DIFFERENCES ({count(len(checked.differences), 'reason')} to stop and reassess)", paint)
        for item in checked.differences:
            lines += [*wrapped(item.object, width, "  - ", "    "), *wrapped(item.message, width, "      ")]
        advice = "Change nothing to make this phase fit: keep every object, capture state, events and logs, and "
        return [*lines, "", *wrapped(f"{advice}involve the owners; go on only under a new plan.", width)]
    lines += heading("CONFIRM, each by a named person, since no read can show it", paint)
    for confirmation in checked.confirmations:
        lines += wrapped(confirmation, width, "  [ ] ", "      ")
    return lines


def _alike(checked: HandoffCheck) -> str:
    pair = next((pair for pair in INDISTINGUISHABLE if checked.detected and pair[0] == checked.phase), None)
    if pair is None:
        return ""
    return f"; {pair[1]} can't be told apart from it by reading, so name that one with --phase {pair[1]}"
