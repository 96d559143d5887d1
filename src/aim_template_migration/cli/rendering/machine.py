"""Answers for programs: one JSON or YAML document that carries apiVersion and kind."""

import msgspec

from aim_template_migration.cli.console import Format
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.documents.plan import Document


def encode(document: Document, answer_format: Format) -> str:
    """Return a document as indented JSON, or as YAML that reads to the same value."""
    if answer_format == "yaml":
        return emit(msgspec.to_builtins(document))
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
