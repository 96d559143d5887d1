"""Edits of the parts between braces or brackets."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from aim_template_migration.manifests.splicing import Edit, begins_line, column


@dataclass(frozen=True, slots=True)
class Part:
    """An entry or item between two commas."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PartChange:
    """One part as it shall be: an old one by its place, or a new one by its text."""

    place: int | None
    text: str = ""


def part_edits(text: str, parts: Sequence[Part], changes: Sequence[PartChange], newline: str) -> list[Edit]:
    """Return the edits after which the parts are those of ``changes``; at least one old part stays.

    Args:
        text: the text of the file.
        parts: the parts as they stand.
        changes: the parts as they shall be; the old ones among them keep their order.
        newline: how lines end.
    """
    separator = f",{newline}{' ' * column(text, parts[0].start)}" if begins_line(text, parts[0].start) else ", "
    edits: list[Edit] = []
    anchor: int | None = None
    leading = ""
    for change in changes:
        if change.place is not None:
            anchor = change.place
        elif anchor is None:
            leading += f"{change.text}{separator}"
        else:
            end = parts[anchor].end
            edits.append(Edit(end, end, f"{separator}{change.text}"))
    kept = sorted(change.place for change in changes if change.place is not None)
    if leading:
        edits.append(Edit(parts[kept[0]].start, parts[kept[0]].start, leading))
    return edits + _removals(parts, kept)


def _removals(parts: Sequence[Part], kept: Sequence[int]) -> list[Edit]:
    edits = []
    if kept[0] > 0:
        edits.append(Edit(parts[0].start, parts[kept[0]].start, ""))
    for before, after in pairwise(kept):
        if after > before + 1:
            edits.append(Edit(parts[before + 1].start, parts[after].start, ""))
    if kept[-1] < len(parts) - 1:
        edits.append(Edit(parts[kept[-1]].end, parts[-1].end, ""))
    return edits
