"""JSON Schemas of the documents that programs read, generated from the types that write and read them.

``schemas/`` in the repository holds them as files; a test compares both.
"""

import re
from collections.abc import Mapping
from inspect import cleandoc

import msgspec

from aim_api.tree import JsonObject, as_object, get_list, get_map, get_str
from aim_template_migration.documents.conversion import SCHEMA_URI as LEDGER_URI
from aim_template_migration.documents.conversion import ConversionLedger
from aim_template_migration.documents.evidence import DedicatedEvidence
from aim_template_migration.documents.field_meanings import meaning
from aim_template_migration.documents.handoff import HandoffCheck
from aim_template_migration.documents.inspection import SCHEMA_URI as INSPECTION_URI
from aim_template_migration.documents.inspection import Inspection
from aim_template_migration.documents.journal import Entry
from aim_template_migration.documents.plan import SCHEMA_URI as PLAN_URI
from aim_template_migration.documents.plan import Document, Plan
from aim_template_migration.documents.preflight import SCHEMA_URI as PREFLIGHT_URI
from aim_template_migration.documents.preflight import Preflight
from aim_template_migration.documents.rehearsal import SCHEMA_URI as REPORT_URI
from aim_template_migration.documents.rehearsal import RehearsalReport
from aim_template_migration.documents.result import SCHEMA_URI as RESULT_URI
from aim_template_migration.documents.result import ApplyResult
from aim_template_migration.documents.validation import SCHEMA_URI as VALIDATION_URI
from aim_template_migration.documents.validation import ValidationReport
from aim_template_migration.documents.verification import SCHEMA_URI as VERIFICATION_URI
from aim_template_migration.documents.verification import Verification

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE = re.compile(r"^    (\w+): (.+?)(?=^    \w+: |\Z)", re.DOTALL | re.MULTILINE)
JOURNAL_URI = PLAN_URI.replace("plan-v1", "journal-line-v1")
EVIDENCE_URI = PLAN_URI.replace("plan-v1", "dedicated-evidence-v1")
HANDOFF_URI = PLAN_URI.replace("plan-v1", "handoff-check-v1")


class JournalLine(Document, frozen=True):
    """One line of the journal.

    Attributes:
        entry: the event.
        prev: the checksum of the line before it, empty on the first.
        sum: 32 hex digits of the SHA-256 over ``prev`` and the entry's bytes.
    """

    entry: Entry
    prev: str
    sum: str


_DOCUMENTS: tuple[tuple[str, type[Document]], ...] = (
    (PLAN_URI, Plan),
    (RESULT_URI, ApplyResult),
    (JOURNAL_URI, JournalLine),
    (REPORT_URI, RehearsalReport),
    (INSPECTION_URI, Inspection),
    (VERIFICATION_URI, Verification),
    (PREFLIGHT_URI, Preflight),
    (LEDGER_URI, ConversionLedger),
    (VALIDATION_URI, ValidationReport),
    (EVIDENCE_URI, DedicatedEvidence),
    (HANDOFF_URI, HandoffCheck),
)


def schema_files() -> Mapping[str, bytes]:
    """Return the schema of every document by file name, as indented JSON with a final newline."""
    return {uri.rpartition("/")[2]: _encode(uri, document) for uri, document in _DOCUMENTS}


def _encode(uri: str, document: type[Document]) -> bytes:
    schema: JsonObject = {"$schema": _DIALECT, "$id": uri, **described_schema(document)}
    return msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2) + b"\n"


def described_schema(document: type[Document]) -> JsonObject:
    """Return the schema of a document: a reference to its definition, and all definitions, every field described."""
    (reference,), definitions = msgspec.json.schema_components([document])
    described: JsonObject = {name: _described(name, definition) for name, definition in definitions.items()}
    return {**reference, "$defs": described}


def _described(type_name: str, definition: JsonObject) -> JsonObject:
    """Move what a docstring says of each attribute to the property itself, where editors show it."""
    # Versions of msgspec and of Python differ in whether they take the indentation from docstrings.
    text, _, attributes = cleandoc(get_str(definition, "description") or "").partition("\n\nAttributes:\n")
    said = {_camel(name): " ".join(words.split()) for name, words in _ATTRIBUTE.findall(attributes)}
    properties: JsonObject = {}
    for name in get_map(definition, "properties"):
        words = said.get(name) or meaning(type_name, name)
        shape = _null_last(as_object(get_map(definition, "properties", name)))
        properties[name] = {**shape, "description": words} if words else shape
    return {**definition, "description": " ".join(text.split()), "properties": properties}


def _null_last(shape: JsonObject) -> JsonObject:
    """Return a shape with its alternatives in the order that every version of msgspec can be brought to."""
    alternatives = get_list(shape, "anyOf")
    return (
        {**shape, "anyOf": sorted(alternatives, key=lambda one: get_str(one, "type") == "null")}
        if alternatives
        else shape
    )


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
