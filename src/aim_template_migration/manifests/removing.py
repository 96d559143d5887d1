"""Removal of text whose comments stay."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from aim_template_migration.manifests.layout import indented
from aim_template_migration.manifests.nodes import Node
from aim_template_migration.manifests.splicing import Edit, break_before, comments, line_start


class Reused:
    """Spans of a text whose comments go elsewhere with a value.

    Args:
        text: the text.
        spans: where each begins and ends.
    """

    def __init__(self, text: str, spans: Iterable[tuple[int, int]]) -> None:
        self._ends: list[int] = []
        self._starts: list[int] = []
        self._lines: set[int] = set()
        for start, end in sorted(spans):
            self._lines.add(line_start(text, start))
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def begins_in_line(self, start: int) -> bool:
        """Return whether a span begins in the line that begins at ``start``."""
        return start in self._lines

    def holds(self, offset: int) -> bool:
        """Return whether an offset is in one of the spans."""
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._ends[index]


@dataclass(frozen=True, slots=True)
class Removal:
    """Text to remove, with the node that it is the text of; its comments stay unless they go elsewhere with a value.

    Attributes:
        start: where the text begins.
        end: where it ends.
        node: the node, to find the comments by.
        indent: the column of the comments that stay.
        lines: lines that take the place of the text, above these comments.
        whole_lines: the text begins with the line break before its first line, and so does what takes its place.
        leading: where the text begins with the comment lines above it, which go where its value goes.
    """

    start: int
    end: int
    node: Node
    indent: int
    lines: tuple[str, ...] = ()
    whole_lines: bool = True
    leading: int | None = None

    def edit(self, text: str, newline: str, reused: Reused) -> Edit:
        """Return the removal as an edit.

        Args:
            text: the text of the file.
            newline: how lines end.
            reused: what goes elsewhere with its comments.
        """
        start = self.start
        if self.leading is not None and reused.begins_in_line(self.leading):
            start = break_before(text, self.leading)
        found = comments(text, self.node, start, self.end)
        kept = [comment.text for comment in found if not reused.holds(comment.start)]
        lines = list(indented([*self.lines, *kept], self.indent))
        if self.whole_lines:
            return Edit(start, self.end, "".join(f"{newline}{line}" for line in lines))
        return Edit(start, self.end, newline.join(lines)[self.indent :])
