"""The checklist for people: one line per prerequisite, everything that does not hold below it, UIDs last (pure)."""

from aim_template_migration.cli.console import Paint, Tone
from aim_template_migration.cli.rendering.text import count, heading, listed, pairs, wrapped
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import Finding
from aim_template_migration.documents.preflight import Answer, Preflight, Prerequisite

_TONES: dict[Answer, Tone] = {"ok": "green", "attention": "yellow", "stop": "red", "unchecked": "cyan"}
_EVIDENCE = 3
_INDENT = " " * 11
_FINDINGS = 10


def preflight_lines(preflight: Preflight, paint: Paint, width: int) -> list[str]:
    """Return the whole checklist."""
    lines = _head(preflight, paint, width)
    for prerequisite in preflight.prerequisites:
        lines += ["", *_prerequisite(prerequisite, paint, width)]
    lines += _recorded(preflight, paint, width)
    lines += ["", *wrapped(preflight.exclusion, width)]
    return [*lines, "", *_verdict(preflight, paint, width)]


def _head(preflight: Preflight, paint: Paint, width: int) -> list[str]:
    cluster = preflight.cluster
    rows = (
        ("server", f"{preflight.server} ({cluster.server_version})" if cluster.server_version else preflight.server),
        ("cluster", cluster.kube_system_uid or "known by its CRDs alone"),
        ("namespaces", listed(preflight.namespaces)),
        ("read at", preflight.checked_at),
    )
    return [paint("Preflight (read-only)", "bold"), *pairs(rows, width, "  ")]


def _prerequisite(item: Prerequisite, paint: Paint, width: int) -> list[str]:
    mark = paint(f"{item.answer:<9}", _TONES[item.answer])
    lines = [f"{mark}  {paint(item.code, 'bold')}"]
    lines += _findings(item.findings, width) if item.findings else wrapped(item.message, width, _INDENT)
    for sentence in item.evidence[:_EVIDENCE]:
        lines += wrapped(sentence, width, f"{_INDENT}- ", f"{_INDENT}  ")
    if len(item.evidence) > _EVIDENCE:
        lines.append(f"{_INDENT}- and {len(item.evidence) - _EVIDENCE} more; -o json lists all")
    if item.answer in ("stop", "attention"):
        found = [finding.advice for finding in item.findings if finding.advice]
        for sentence in dict.fromkeys(found or [CODES[item.code].advice]):
            lines += wrapped(f"advice: {sentence}", width, _INDENT, f"{_INDENT}  ")
    return lines


def _findings(findings: tuple[Finding, ...], width: int) -> list[str]:
    lines: list[str] = []
    for finding in findings[:_FINDINGS]:
        lines += wrapped(f"{finding.code}: {finding.object}: {finding.message}", width, f"{_INDENT}* ", f"{_INDENT}  ")
    if len(findings) > _FINDINGS:
        lines.append(f"{_INDENT}* and {len(findings) - _FINDINGS} more; -o json lists all")
    return lines


def _recorded(preflight: Preflight, paint: Paint, width: int) -> list[str]:
    """Return the UIDs to record outside the repository, for a few services; JSON has them all."""
    services = preflight.services
    lines = heading("RECORD THESE UIDs OUTSIDE THE REPOSITORY (-o json has them all)", paint) if services else []
    for service in services[:_FINDINGS]:
        lines.append(f"  {service.id}")
        for item in service.recorded:
            head = f"    {item.role:<16}  {item.uid}  "
            name = item.reference.name
            lines += [f"{head}{name}"] if len(head) + len(name) <= width else [head.rstrip(), f"{' ' * 6}{name}"]
    if len(services) > _FINDINGS:
        lines.append(f"  and {count(len(services) - _FINDINGS, 'more service')}")
    return lines


def _verdict(preflight: Preflight, paint: Paint, width: int) -> list[str]:
    counts = preflight.counts
    said = ", ".join(f"{number} {answer}" for answer, number in counts.items())
    if counts["stop"]:
        return [paint(f"STOP: {said}. Settle what stops before planning.", "red")]
    unchecked = [item.code for item in preflight.prerequisites if item.answer == "unchecked"]
    if unchecked:
        sentence = f"Go on only once you have looked at {listed(unchecked)} by yourself: {said}."
        return [paint(line, "yellow") for line in wrapped(sentence, width)]
    return [paint(f"Go on: {said}. Nothing stops planning.", "green")]
