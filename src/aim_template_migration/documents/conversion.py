"""The loss ledger as a document: what became of every leaf of every converted object."""

import msgspec

from aim_template_migration.documents.plan import Document

KIND = "ConversionLedger"
SCHEMA_URI = "https://aim-template-migration.example/schemas/conversion-ledger-v1.json"


class LedgerTarget(Document, frozen=True):
    """Where a leaf went: the id of the object, and the field there where it has one place."""

    object: str
    field: str = ""


class LedgerEntry(Document, frozen=True):
    """What became of one leaf.

    Attributes:
        file: the file as it was named.
        line: the line of the leaf, from 1.
        object: id of the object that it stands in.
        field: the leaf.
        fate: what became of it.
        reason: one sentence that says why.
        target: where it went; absent where it went nowhere.
        advice: one sentence that says what a person can do; absent where there is nothing to do.
        lost: it is not in the output, or in a form that v1alpha2 refuses.
    """

    file: str
    line: int
    object: str
    field: str
    fate: str
    reason: str
    target: LedgerTarget | None = None
    advice: str = ""
    lost: bool = False


class LedgerNeed(Document, frozen=True):
    """A value that an output needs and that nothing states; it is left out."""

    file: str
    line: int
    object: str
    field: str
    message: str


class LedgerNote(Document, frozen=True):
    """Something to know about a conversion that lost nothing."""

    file: str
    line: int
    object: str
    field: str
    message: str


class LedgerFault(Document, frozen=True):
    """A part of a file that can't be read or rewritten as it should."""

    file: str
    line: int
    message: str


class ConversionLedger(Document, frozen=True):
    """The whole ledger.

    Attributes:
        entries: what became of every leaf of every object of the AIM API, by file and place.
        needs: values that are missing.
        notes: what is only to be known.
        faults: what could not be read.
    """

    schema: str = msgspec.field(name="$schema")
    api_version: str
    kind: str
    entries: tuple[LedgerEntry, ...] = ()
    needs: tuple[LedgerNeed, ...] = ()
    notes: tuple[LedgerNote, ...] = ()
    faults: tuple[LedgerFault, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing was lost and nothing is needed."""
        return not self.needs and not self.faults and not any(entry.lost for entry in self.entries)
