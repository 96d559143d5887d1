"""What a conversion tells a person on stderr: one line for each thing to decide or to know."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from aim_template_migration.documents.conversion import ConversionLedger, LedgerEntry


@dataclass(frozen=True, slots=True)
class Finding:
    """One line.

    Attributes:
        file: the file as it was named.
        line: the line, from 1.
        field: the field, empty for the whole file.
        message: what it is about and what to do.
        lost: something was lost or has to be decided; otherwise it is only to be known.
    """

    file: str
    line: int
    field: str
    message: str
    lost: bool

    def __str__(self) -> str:
        """Return ``file:line: field: message``, with ``note:`` before what needs no decision."""
        field = f"{self.field}: " if self.field else ""
        kind = "" if self.lost else "note: "
        return f"{self.file}:{self.line}: {field}{kind}{self.message}"


def findings_of(ledger: ConversionLedger) -> list[Finding]:
    """Return the lines of a ledger, by file and line; leaves of one part with one fate get one line."""
    found = [
        *(Finding(fault.file, fault.line, "", fault.message, lost=True) for fault in ledger.faults),
        *_losses(ledger),
        *(
            Finding(need.file, need.line, f"{need.object} {need.field}".strip(), need.message, lost=True)
            for need in ledger.needs
        ),
        *(Finding(note.file, note.line, note.field, note.message, lost=False) for note in ledger.notes),
    ]
    return sorted(found, key=lambda finding: (finding.file, finding.line, not finding.lost))


def _losses(ledger: ConversionLedger) -> Iterator[Finding]:
    lost = [entry for entry in ledger.entries if entry.lost]
    for _, group in groupby(lost, key=lambda entry: (entry.file, entry.object, entry.reason, entry.advice)):
        entries = list(group)
        first = entries[0]
        message = f"{first.reason}; {first.advice}" if first.advice else first.reason
        yield Finding(first.file, first.line, _common_field(entries), message, lost=True)


def _common_field(entries: list[LedgerEntry]) -> str:
    """Return the field that all entries are, or are below of."""
    if len(entries) == 1:
        return entries[0].field
    parts = [_steps(entry.field) for entry in entries]
    common = parts[0]
    for other in parts[1:]:
        length = 0
        while length < min(len(common), len(other)) and common[length] == other[length]:
            length += 1
        common = common[:length]
    return "".join(common).lstrip(".") or entries[0].field


def _steps(field: str) -> list[str]:
    """Return the steps of a field path, each with the character that opens it."""
    steps: list[str] = [""]
    for character in field:
        if character in ".[":
            steps.append("")
        steps[-1] += character
    return steps
