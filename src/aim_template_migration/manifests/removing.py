"""Removal of text whose comments stay."""

from collections.abc import Sequence
from dataclasses import dataclass

from aim_template_migration.manifests.layout import indented
from aim_template_migration.manifests.nodes import Node
from aim_template_migration.manifests.splicing import Edit, break_before, comments, line_start


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

    def edit(self, text: str, newline: str, reused: Sequence[tuple[int, int]]) -> Edit:
        """Return the removal as an edit.

        Args:
            text: the text of the file.
            newline: how lines end.
            reused: spans whose comments go elsewhere with a value.
        """
        above = self.leading is not None and any(line_start(text, start) == self.leading for start, _ in reused)
        start = break_before(text, self.leading) if above and self.leading is not None else self.start
        kept = [
            comment.text
            for comment in comments(text, self.node, start, self.end)
            if not any(first <= comment.start < last for first, last in reused)
        ]
        lines = list(indented([*self.lines, *kept], self.indent))
        if self.whole_lines:
            return Edit(start, self.end, "".join(f"{newline}{line}" for line in lines))
        return Edit(start, self.end, newline.join(lines)[self.indent :])
