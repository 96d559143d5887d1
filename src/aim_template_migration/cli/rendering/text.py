"""Building blocks of text that stays readable at 80 columns, in a pipe and without colour."""

import textwrap
from collections.abc import Iterable, Sequence

from aim_template_migration.cli.console import Paint

_ELLIPSIS = " …"


def wrapped(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    """Return ``text`` in lines; words longer than a line (names, UIDs, paths) are never broken."""
    return textwrap.wrap(
        text,
        max(width, 20),
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [indent.rstrip()]


def pairs(rows: Iterable[tuple[str, str]], width: int, indent: str = "") -> list[str]:
    """Return lines of ``label  value`` with aligned values; rows without a value are left out."""
    kept = [(label, value) for label, value in rows if value]
    longest = max((len(label) for label, _ in kept), default=0)
    lines: list[str] = []
    for label, value in kept:
        head = f"{indent}{label:<{longest}}  "
        lines += wrapped(value, width, head, " " * len(head))
    return lines


def table(header: Sequence[str], rows: Sequence[Sequence[str]], paint: Paint, indent: str = "") -> list[str]:
    """Return lines of aligned columns below a header; columns of numbers are aligned to the right."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    numeric = [all(row[column].isdecimal() for row in rows) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.rjust(size) if right else cell.ljust(size)
            for cell, size, right in zip(row, widths, numeric, strict=True)
        ]
        return f"{indent}{'  '.join(cells)}".rstrip()

    return [paint(line(header), "bold"), *(line(row) for row in rows)]


def heading(text: str, paint: Paint) -> list[str]:
    """Return a heading with an empty line before it."""
    return ["", paint(text, "bold")]


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 unit`` or ``2 units``."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def listed(items: Sequence[str], most: int = 8) -> str:
    """Return items separated by commas, cut after ``most``."""
    shown = ", ".join(items[:most])
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown


def clipped(text: str, width: int) -> str:
    """Return one line of at most ``width`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - len(_ELLIPSIS)].rstrip() + _ELLIPSIS


def marked(mark: str, lines: Iterable[str]) -> list[str]:
    """Return lines with a mark before each, as in a diff."""
    return [f"{mark} {line}".rstrip() for line in lines]
