"""Findings of ``validate``: as text, as a document, and as annotations of CI systems."""

import os
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from urllib.parse import quote

from aim_api.tree import Json, JsonObject
from aim_template_migration.cli.console import Paint
from aim_template_migration.documents.plan import API_VERSION
from aim_template_migration.documents.validation import KIND, SCHEMA_URI, ReportedViolation, ValidationReport
from aim_template_migration.manifests.validating import NOT_CHECKED
from aim_template_migration.manifests.violations import Level, Validation, Violation
from aim_template_migration.version import __version__

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_GUIDE_TRAP = "GuideTrap"
_GITHUB_COMMANDS: dict[Level, str] = {"error": "error", "warning": "warning", "note": "notice"}


def report_of(validation: Validation) -> ValidationReport:
    """Return the findings as a document."""
    return ValidationReport(
        SCHEMA_URI,
        API_VERSION,
        KIND,
        validation.valid,
        validation.objects,
        validation.others,
        tuple(
            ReportedViolation(
                item.file,
                item.line,
                item.column,
                item.object,
                item.field,
                item.reason,
                item.message,
                item.level,
                item.equivalent,
                item.trap,
            )
            for item in validation.violations
        ),
        NOT_CHECKED,
    )


def text_lines(violations: Iterable[Violation], paint: Paint) -> Iterator[str]:
    """Yield one line for each finding: ``file:line:column: object field: message``."""
    for item in violations:
        where = paint(f"{item.file}:{item.line}:{item.column}:", "bold")
        subject = " ".join(part for part in (item.object, item.field) if part)
        words = item.message if item.level == "error" else f"{item.level}: {item.message}"
        yield f"{where} {f'{subject}: ' if subject else ''}{words}{_advice(item)}"


def github_lines(violations: Iterable[Violation]) -> Iterator[str]:
    """Yield one workflow command of GitHub Actions for each finding."""
    for item in violations:
        command = _GITHUB_COMMANDS[item.level]
        properties = {
            "file": item.file,
            "line": str(item.line),
            "col": str(item.column),
            "title": " ".join(part for part in (item.object, item.field) if part) or item.reason,
        }
        written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        yield f"::{command} {written}::{_data(item.message + _advice(item))}"


def sarif_of(validation: Validation) -> JsonObject:
    """Return the findings as a SARIF 2.1.0 log."""
    rules: dict[str, Json] = {}
    results: list[Json] = []
    for item in validation.violations:
        rule = f"{_GUIDE_TRAP}{item.trap}" if item.trap else item.reason
        summary = f"row {item.trap} of the migration guide's validation traps" if item.trap else item.reason
        rules.setdefault(rule, {"id": rule, "shortDescription": {"text": summary}})
        results.append(_result(item, rule))
    driver: JsonObject = {"name": "aim-template-migration", "version": __version__, "rules": list(rules.values())}
    run: JsonObject = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(item: Violation, rule: str) -> JsonObject:
    region: JsonObject = {"startLine": item.line, "startColumn": item.column}
    place: JsonObject = {"artifactLocation": {"uri": _uri(item.file)}, "region": region}
    location: JsonObject = {"physicalLocation": place}
    if item.object:
        name = f"{item.object} {item.field}".rstrip()
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "member"}]
    return {
        "ruleId": rule,
        "level": item.level,
        "message": {"text": item.message + _advice(item)},
        "locations": [location],
    }


def _uri(path: str) -> str:
    """Return a path as a URI reference (RFC 3986); bytes of a name that are no text stay what they are."""
    return quote(os.fsencode(PurePath(path).as_posix()))


def _advice(item: Violation) -> str:
    return f"; {item.equivalent}" if item.equivalent and item.equivalent not in item.message else ""


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
