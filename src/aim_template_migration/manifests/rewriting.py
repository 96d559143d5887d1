"""The objects of a file exchanged for others, with everything else byte for byte as it was."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aim_api.tree import Json, JsonObject, get_list, get_str
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.manifests.editing import CannotEditError, Editor
from aim_template_migration.manifests.expanding import expanded
from aim_template_migration.manifests.layout import layout_of, same
from aim_template_migration.manifests.nodes import Node, ReadError
from aim_template_migration.manifests.objects import typed_item
from aim_template_migration.manifests.origins import Origins, Path, Provenance
from aim_template_migration.manifests.reading import Document, ManifestText, read_manifest
from aim_template_migration.manifests.splicing import (
    Edit,
    OverlapError,
    comments,
    leading_comments,
    line_end,
    line_start,
    spliced,
)


@dataclass(frozen=True, slots=True)
class NewObject:
    """An object as it shall be written.

    Attributes:
        value: the object.
        origins: where its parts come from, as paths in the object that it replaces or stands beside; what is not listed
            comes from the same path of the object that it replaces.
    """

    value: JsonObject
    origins: Origins = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """What becomes of one object.

    Attributes:
        path: where it stands in its document: the root, or an item of a list.
        becomes: the object in its place; None removes it.
        before: objects that are written above it.
        after: objects that are written below it.
    """

    path: Path
    becomes: NewObject | None
    before: tuple[NewObject, ...] = ()
    after: tuple[NewObject, ...] = ()


@dataclass(slots=True)
class Rewritten:
    """The new text of a file.

    Attributes:
        text: the text without byte order mark.
        anew: documents, by number, that had to be written anew, without their comments and their layout.
        expanded: documents, by number, whose anchors and aliases had to be spelt out.
        lost: comments that stand nowhere any more, with the number of their document.
    """

    text: str
    anew: list[int] = field(default_factory=list)
    expanded: list[int] = field(default_factory=list)
    lost: list[tuple[int, str]] = field(default_factory=list)


def rewrite(manifest: ManifestText, changes: Mapping[int, Sequence[ObjectChange]]) -> Rewritten:
    """Return the text of a file with changed objects; ``changes`` are by number of the document."""
    if not changes:
        return Rewritten(manifest.text)
    result = Rewritten("")
    edits: list[Edit] = []
    stream = len(manifest.documents) > 1
    for number, changed in sorted(changes.items()):
        rewriter = _DocumentRewriter(manifest, manifest.documents[number], stream=stream)
        edits.append(rewriter.edit(changed))
        if rewriter.anew:
            result.anew.append(number)
        elif rewriter.expanded:
            result.expanded.append(number)
        result.lost += [(number, comment) for comment in rewriter.lost]
    result.text = spliced(manifest.text, edits)
    return result


class _DocumentRewriter:
    """Rewrites one document; every way is checked by reading what it gives."""

    def __init__(self, manifest: ManifestText, document: Document, *, stream: bool) -> None:
        self._manifest = manifest
        self._text = manifest.text
        self._document = document
        self._layout = layout_of(manifest.text, manifest.newline, document)
        self._stream = stream
        self._reused: list[tuple[int, int]] = []
        self._left: list[str] = []
        self.anew = False
        self.expanded = False
        self.lost: list[str] = []

    def edit(self, changes: Sequence[ObjectChange]) -> Edit:
        """Return the edit of the document's whole part of the file."""
        document = self._document
        if changes[0].path:
            value, origins = _list_with(document.value, changes)
            text = self._changed(value, origins)
            self._note_lost()
            return Edit(document.start, document.end, text)
        change = changes[0]
        if document.json and not self._stream and (change.before or change.after):
            return Edit(document.start, document.end, self._json_list(change))
        before = [self._added(new) for new in change.before]
        after = [self._added(new) for new in change.after]
        if change.becomes is None:
            text = self._without_object()
        else:
            text = self._changed(change.becomes.value, change.becomes.origins)
            self._note_lost()
        return Edit(document.start, document.end, self._joined(text, before, after))

    def _changed(self, value: Json, origins: Origins) -> str:
        for text, document in self._ways():
            own = document is self._document
            layout = self._layout if own else layout_of(text, self._layout.newline, document)
            reused = self._reused if own else ()
            editor = Editor(text, document, layout, Provenance(origins), reused)
            try:
                editor.rewrite(document.root, (), value, (), stated=document.value)
                found = spliced(text, editor.edits(), document.start, document.end)
            except (CannotEditError, OverlapError):
                continue
            roots = _roots(found, value)
            if roots:
                self._left += [comment.text for root in roots for comment in comments(found, root, 0, len(found))]
                self.expanded = not own
                return found
        self.anew = True
        return self._written_anew(value)

    def _ways(self) -> Iterator[tuple[str, Document]]:
        """Yield the document as it stands, and with its aliases spelt out."""
        yield self._text, self._document
        if self._document.json:
            return
        try:
            text = expanded(self._text, self._document, self._layout)
            read = read_manifest(text.encode())
        except (CannotEditError, OverlapError, ReadError):
            return
        if len(read.documents) == 1 and same(read.documents[0].value, self._document.value):
            yield text, read.documents[0]

    def _written_anew(self, value: Json) -> str:
        document = self._document
        if document.json:
            return self._json(value)
        head = self._text[document.start : document.root.start]
        kept = head if not head.strip() or head.lstrip().startswith(("---", "#")) else ""
        ending = self._text[document.root.end : document.end]
        body = emit(value, list_indent=self._layout.list_indent).replace("\n", self._layout.newline)
        return f"{kept}{body}" if ending else f"{kept}{body.rstrip()}"

    def _without_object(self) -> str:
        """Return the part without its object; a part that then holds no comment is gone altogether."""
        document = self._document
        start, end = line_start(self._text, document.root.start), line_end(self._text, document.root.end)
        rest = spliced(self._text, [Edit(max(start, document.start), end, "")], document.start, document.end)
        return rest if "#" in rest else ""

    def _added(self, new: NewObject) -> str:
        """Return the text of an object that is new, made from the document's own text where possible."""
        if self._document.json:
            return self._json(new.value)
        editor = Editor(self._text, self._document, self._layout, Provenance(new.origins))
        try:
            lines = [line for key, item in new.value.items() for line in editor.lines(key, item, (key,))]
            text = "".join(f"{line}\n" for line in lines)
            roots = _roots(text, new.value)
            if not roots:
                raise CannotEditError
            self._left += [comment.text for root in roots for comment in comments(text, root, 0, len(text))]
            self._reused += editor.reused
        except (CannotEditError, OverlapError):
            text = emit(new.value, list_indent=self._layout.list_indent)
        return text.replace("\n", self._layout.newline)

    def _joined(self, text: str, before: list[str], after: list[str]) -> str:
        newline = self._layout.newline
        if self._document.json:
            return newline.join([*before, text, *after])
        separator = f"---{newline}"
        if before:
            at = self._attached(text)
            text = text[:at] + "".join(f"{part}{separator}" for part in before) + text[at:]
        for part in after:
            ending = "" if not text or text.endswith("\n") else newline
            opening = separator if text.strip() else ""
            text = f"{text}{ending}{opening}{part}"
        return text

    def _attached(self, text: str) -> int:
        """Return where the object begins with the comments directly above it."""
        read = read_manifest(text.encode())
        if not read.documents:
            return len(text)
        root = read.documents[0].root.start
        start = line_start(text, root)
        if text[start:root].startswith("---"):
            return start
        return leading_comments(text, root)

    def _json(self, value: Json) -> str:
        return json.dumps(value, indent=self._layout.step, ensure_ascii=False).replace("\n", self._layout.newline)

    def _json_list(self, change: ObjectChange) -> str:
        """Return a list of the objects: a file of JSON stays one JSON value."""
        own = (change.becomes,) if change.becomes else ()
        items: list[Json] = [new.value for new in (*change.before, *own, *change.after)]
        return self._json({"apiVersion": "v1", "kind": "List", "items": items})

    def _note_lost(self) -> None:
        """Note the comments of the document that stand in none of the texts that take its place."""
        document, left = self._document, Counter(self._left)
        if document.json:
            return
        for comment in comments(self._text, document.root, document.start, document.end):
            if left[comment.text]:
                left[comment.text] -= 1
            else:
                self.lost.append(comment.text)


def _roots(text: str, value: Json) -> tuple[Node, ...]:
    """Return the nodes of a text that says just one value, else nothing."""
    read = read_manifest(text.encode())
    if read.unreadable or len(read.documents) != 1 or not same(read.documents[0].value, value):
        return ()
    return (read.documents[0].root,)


def _list_with(value: Json, changes: Sequence[ObjectChange]) -> tuple[Json, Origins]:
    """Return a list object with changed items, and the origins of all that is in it."""
    by_index = {change.path[-1]: change for change in changes}
    items: list[Json] = []
    origins: dict[Path, Path | None] = {}

    def add(new: NewObject, own: Path | None, source: Path) -> None:
        here: Path = ("items", len(items))
        origins[here] = own
        origins.update(
            {(*here, *path): None if place is None else (*source, *place) for path, place in new.origins.items()}
        )
        items.append(new.value)

    for index, item in enumerate(get_list(value, "items")):
        source: Path = ("items", index)
        change = by_index.get(index)
        if change is None:
            origins["items", len(items)] = source
            items.append(item)
            continue
        for new in change.before:
            add(new, None, source)
        if change.becomes is not None:
            add(change.becomes, source, source)
        for new in change.after:
            add(new, None, source)
    whole: JsonObject = dict(value) if isinstance(value, dict) else {}
    whole["items"] = items
    if _is_of_other_kinds(whole, items):
        # Clients take the items of a list of one kind for that kind, so each has to say its own.
        own = [typed_item(item, whole) if isinstance(item, dict) else item for item in items]
        whole |= {"apiVersion": "v1", "kind": "List", "items": own}
    return whole, origins


def _is_of_other_kinds(parent: JsonObject, items: Sequence[Json]) -> bool:
    """Return whether a list of one kind holds an item of another."""
    kind = get_str(typed_item({}, parent), "kind")
    own = [typed_item(item, parent) for item in items if isinstance(item, dict)]
    return kind is not None and any(get_str(item, "kind") != kind for item in own)
