"""What ``validate`` found, as a document."""

import msgspec

from aim_template_migration.documents.plan import Document

KIND = "ValidationReport"
SCHEMA_URI = "https://aim-template-migration.example/schemas/validation-report-v1.json"


class ReportedViolation(Document, frozen=True):
    """One thing that is wrong, or that should be known, at one place.

    Attributes:
        file: the file as it was named.
        line: the line, from 1.
        column: the column, from 1.
        object: id of the object, empty for the file.
        field: the field, empty for the object or file.
        reason: the API server's word for it, or a word of the tool.
        message: the API server's words where it has any.
        level: error where a server or kubectl would refuse it, warning where it is taken but hardly means what it
            says, note where it is only to be known. The exit code is 3 for errors and warnings.
        equivalent: what v1alpha2 has instead, or what to do.
        trap: the row of the migration guide's table of validation traps; absent for none.
    """

    file: str
    line: int
    column: int
    object: str
    field: str
    reason: str
    message: str
    level: str
    equivalent: str = ""
    trap: int = 0


class ValidationReport(Document, frozen=True):
    """The answer of ``validate -o json``.

    Attributes:
        valid: whether every object would be taken: there is no error.
        objects: how many objects of the AIM API were looked at; 0 says that there was nothing to validate.
        others: how many objects of other APIs were not.
        violations: what was found.
        not_checked: what no offline validation can know.
    """

    schema: str = msgspec.field(name="$schema")
    api_version: str
    kind: str
    valid: bool
    objects: int
    others: int
    violations: tuple[ReportedViolation, ...]
    not_checked: tuple[str, ...]
