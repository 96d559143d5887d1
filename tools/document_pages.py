"""Write the pages that describe the tool's documents field by field: ``python tools/document_pages.py``."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aim_api.tree import Json, JsonObject, get_list, get_map, get_str
from aim_template_migration.cli.catalogues import FaultList, WorldList
from aim_template_migration.cli.commands.check import PlanCheck
from aim_template_migration.cli.commands.explain import CodeList
from aim_template_migration.cli.commands.report import ReportWritten
from aim_template_migration.cli.rendering.plan_view import PlanView
from aim_template_migration.documents.conversion import ConversionLedger
from aim_template_migration.documents.evidence import DedicatedEvidence
from aim_template_migration.documents.handoff import HandoffCheck
from aim_template_migration.documents.inspection import Inspection
from aim_template_migration.documents.plan import Document, Plan
from aim_template_migration.documents.preflight import Preflight
from aim_template_migration.documents.rehearsal import RehearsalReport
from aim_template_migration.documents.result import ApplyResult
from aim_template_migration.documents.schemas import JournalLine, described_schema
from aim_template_migration.documents.validation import ValidationReport
from aim_template_migration.documents.verification import Verification

FOLDER = Path(__file__).parent.parent / "docs" / "reference" / "documents"
_MADE = "<!-- Made from the types by tools/document_pages.py; edit them there. -->"
_INTRO = """\
JSON documents that the tool writes to files, and prints with `-o json`. Keys are in camelCase; unknown keys are
refused where a document is read again; a field that has its default is left out. Each carries `apiVersion` and `kind`,
except for the lines of a journal and the evidence, which is no manifest and must not look like one.

A field with a star is always there. Where a JSON Schema is named, `schemas/` in the repository has it."""


@dataclass(frozen=True, slots=True)
class Page:
    """One document's page.

    Attributes:
        name: the page's name.
        title: its heading.
        where: where the document is met: a file, or a command's answer.
        document: its type.
        schema: file name of its JSON Schema; empty where none is published.
        kind: its ``kind``; empty where it has none.
    """

    name: str
    title: str
    where: str
    document: type[Document]
    schema: str = ""
    kind: str = ""


PAGES: tuple[Page, ...] = (
    Page("plan", "Plan", "`plan.json`", Plan, "plan-v1.json", kind="MigrationPlan"),
    Page(
        "result",
        "Result",
        "`apply-result.json`, or what `--result` names",
        ApplyResult,
        "apply-result-v1.json",
        kind="ApplyResult",
    ),
    Page("journal", "Journal", "each line of `RESULT.journal.jsonl`", JournalLine, "journal-line-v1.json"),
    Page(
        "evidence", "Dedicated evidence", "`dedicated-handoff-*.json`", DedicatedEvidence, "dedicated-evidence-v1.json"
    ),
    Page(
        "handoff-check",
        "Handoff check",
        "`handoff check -o json`, and each line of its `--record`",
        HandoffCheck,
        "handoff-check-v1.json",
        kind="HandoffCheck",
    ),
    Page("preflight", "Preflight", "`preflight -o json`", Preflight, "preflight-v1.json", kind="MigrationPreflight"),
    Page("inspection", "Inspection", "`inspect -o json`", Inspection, "inspection-v1.json", kind="MigrationInspection"),
    Page(
        "verification",
        "Verification",
        "`verify -o json`",
        Verification,
        "verification-v1.json",
        kind="MigrationVerification",
    ),
    Page(
        "rehearsal-report",
        "Rehearsal report",
        "`rehearse -o json`",
        RehearsalReport,
        "rehearsal-report-v1.json",
        kind="RehearsalReport",
    ),
    Page(
        "ledger",
        "Conversion ledger",
        "`convert --ledger FILE`",
        ConversionLedger,
        "conversion-ledger-v1.json",
        kind="ConversionLedger",
    ),
    Page(
        "validation",
        "Validation report",
        "`validate -o json`",
        ValidationReport,
        "validation-report-v1.json",
        kind="ValidationReport",
    ),
    Page("plan-view", "Plan view", "`plan -o json` and `show -o json`", PlanView, kind="PlanView"),
    Page("plan-check", "Plan check", "`check -o json`", PlanCheck, kind="PlanCheck"),
    Page("report-written", "Report written", "`report -o json`", ReportWritten, kind="ReportWritten"),
    Page("code-list", "Code list", "`explain -o json`", CodeList, kind="CodeList"),
    Page("world-list", "World list", "`rehearse --list-worlds -o json`", WorldList, kind="WorldList"),
    Page("fault-list", "Fault list", "`rehearse --list-faults -o json`", FaultList, kind="FaultList"),
)


def document_pages() -> Mapping[str, str]:
    """Return every page by file name, the list of them included."""
    return {"index.md": _index(), **{f"{page.name}.md": _text(page) for page in PAGES}}


def _index() -> str:
    rows = [f"- [{page.title}]({page.name}.md): {page.where}" for page in PAGES]
    return "\n".join([_MADE, "", "# Documents", "", _INTRO, "", "## All documents", "", *rows]) + "\n"


def _text(page: Page) -> str:
    schema = described_schema(page.document)
    definitions = get_map(schema, "$defs")
    first = page.document.__name__
    facts = [f"Where: {page.where}."]
    facts += [f"Kind: `{page.kind}`."] if page.kind else []
    facts += [f"JSON Schema: `schemas/{page.schema}`."] if page.schema else []
    lines = [_MADE, "", f"# {page.title}", "", " ".join(facts)]
    for name in (first, *sorted(set(definitions) - {first})):
        lines += ["", f"## {name}", "", *_definition(get_map(definitions, name))]
    return "\n".join(lines) + "\n"


def _definition(definition: JsonObject) -> Iterator[str]:
    yield _words(get_str(definition, "description") or "")
    yield ""
    yield "| field | type | meaning |"
    yield "|---|---|---|"
    required = get_list(definition, "required")
    for field, shape in get_map(definition, "properties").items():
        star = " *" if field in required else ""
        meaning = _words(get_str(shape, "description") or "")
        yield f"| `{field}`{star} | {_type(shape)} | {meaning} |"


def _type(shape: Json) -> str:
    if reference := get_str(shape, "$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if one_of := get_list(shape, "anyOf"):
        return " or ".join(_type(one) for one in one_of)
    if values := get_list(shape, "enum"):
        return ", ".join(f"`{json.dumps(value)}`" for value in values)
    kind = get_str(shape, "type") or "any value"
    if kind == "array":
        return f"list of {_type(get_map(shape, 'items'))}"
    if kind == "object" and (values_of := get_map(shape, "additionalProperties")):
        return f"map to {_type(values_of)}"
    return kind


def _words(text: str) -> str:
    """Return a docstring's words as Markdown: one backquote instead of two, and pipes that stay text."""
    return re.sub(r"``(.+?)``", r"`\1`", text).replace("|", "\\|")


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in document_pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/documents/{name}")


if __name__ == "__main__":
    main()
