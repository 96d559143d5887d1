"""Conversion of manifest files: their objects by the recipes, their text by edits (pure)."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from aim_api.tree import JsonObject, Key, field_path, get_str
from aim_template_migration.documents.conversion import (
    KIND,
    SCHEMA_URI,
    ConversionLedger,
    LedgerEntry,
    LedgerFault,
    LedgerNeed,
    LedgerNote,
    LedgerTarget,
)
from aim_template_migration.documents.plan import API_VERSION
from aim_template_migration.manifests.kustomizations import Kustomized, Patching, environments, kustomizations
from aim_template_migration.manifests.kustomized_changes import outdated_changes
from aim_template_migration.manifests.located import Located, ManifestFile, line_of, located_objects
from aim_template_migration.manifests.objects import objects_of
from aim_template_migration.manifests.reading import Document, read_manifest
from aim_template_migration.manifests.refusals import refused_items, unexplained
from aim_template_migration.manifests.remarks import remarks
from aim_template_migration.manifests.rewriting import NewObject, ObjectChange, Rewritten, rewrite
from aim_template_migration.manifests.shared_models import models_of_other_directories
from aim_template_migration.mapping.recipes.context import Live, LiveModels, Values, id_in, no_models_live, nothing_live
from aim_template_migration.mapping.recipes.conversion import ObjectConversion, is_aim_object
from aim_template_migration.mapping.recipes.draft import Draft, id_of
from aim_template_migration.mapping.recipes.ledger import Gap, LeafFate
from aim_template_migration.mapping.recipes.places import places_of


@dataclass(frozen=True, slots=True)
class Options:
    """How a conversion goes.

    Attributes:
        values: values that were given by hand.
        live: reads a live cluster, for what the input does not state.
        live_models: lists the models of a live cluster, for images whose model the input does not state.
        inline: put base image and derived profiles of a custom model into one AIMModel.
        namespace: the namespace of objects that state none, empty where it is not known.
        losses_only: the ledger names only what was lost, which takes less time.
    """

    values: Values = field(default_factory=Values)
    live: Live = nothing_live
    live_models: LiveModels = no_models_live
    inline: bool = False
    namespace: str = ""
    losses_only: bool = False


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """One file of the output.

    Attributes:
        file: the file of the input.
        text: the new text, without byte order mark.
    """

    file: ManifestFile
    text: str

    @property
    def changed(self) -> bool:
        """Whether the text differs from that of the input."""
        return self.text != self.file.manifest.text

    @property
    def data(self) -> bytes:
        """The new bytes of the file."""
        return self.file.manifest.encoded(self.text)

    def objects(self) -> list[JsonObject]:
        """Return the objects of the new text."""
        return [place.value for place in objects_of(read_manifest(self.text.encode()))]


@dataclass(frozen=True, slots=True)
class Conversion:
    """The output of a conversion and its ledger."""

    files: tuple[ConvertedFile, ...]
    ledger: ConversionLedger


def convert_files(files: Sequence[ManifestFile], options: Options | None = None) -> Conversion:
    """Convert files; the objects of all of them may refer to one another."""
    options = options or Options()
    located = located_objects(files)
    kustomized = kustomizations(files, located)
    patching = Patching(files, located, kustomized)
    patches = patching.patched()
    places = _places(files, located, patches, options.namespace, kustomized)
    conversion = ObjectConversion(
        [item.place.value for item in located],
        values=options.values,
        live=options.live,
        live_models=options.live_models,
        inline=options.inline,
        namespace=options.namespace,
        patches=patches,
        places=places,
    )
    drafts = conversion.drafts
    changes = [change_of(item, draft) for item, draft in zip(located, drafts, strict=True)]
    writer = LedgerWriter(files)
    for number, (item, draft) in enumerate(zip(located, drafts, strict=True)):
        if draft is not None:
            fates = list(draft.losses() if options.losses_only else draft.fates())
            writer.add(item, draft, fates)
            built = partial(conversion.patched_forms, number, patching.chains(number))
            writer.add_needs(item, () if number in patches else unexplained(draft, fates, built))
    for item, path, sentence in outdated_changes(files, located, kustomized, patching, conversion):
        writer.add_needs(item, [Gap(id_of(item.place.value), path, path, sentence)])
    for item, path, sentence in remarks(files, located, patches, places):
        writer.note(item, path, sentence)
    for item, path, sentence in models_of_other_directories(files, located, drafts, kustomized, options.namespace):
        writer.note(item, path, sentence)
    converted = write_changes(files, located, changes, writer)
    return Conversion(converted, writer.ledger())


def _places(
    files: Sequence[ManifestFile],
    located: Sequence[Located],
    patches: Collection[int],
    namespace: str,
    kustomized: Sequence[Kustomized],
) -> list[str]:
    """Return for each object the directory of a cluster or environment that it stands in."""
    files_by_id: dict[str, list[str]] = {}
    for number, item in enumerate(located):
        value = item.place.value
        if number not in patches and is_aim_object(value) and get_str(value, "metadata", "name"):
            files_by_id.setdefault(id_in(value, namespace), []).append(files[item.file].name)
    ours = {
        item.file for number, item in enumerate(located) if number not in patches and is_aim_object(item.place.value)
    }
    places = places_of([file.name for file in files], files_by_id, environments(kustomized, ours))
    return [places[item.file] for item in located]


def write_changes(
    files: Sequence[ManifestFile],
    located: Sequence[Located],
    changes: Sequence[ObjectChange | None],
    writer: "LedgerWriter",
) -> tuple[ConvertedFile, ...]:
    """Return the files with changed objects; what could not be kept of their text goes to the ledger."""
    by_file: list[dict[int, list[ObjectChange]]] = [{} for _ in files]
    for item, change in zip(located, changes, strict=True):
        if change is not None:
            by_file[item.file].setdefault(item.place.document, []).append(change)
    converted = []
    for number, (file, by_document) in enumerate(zip(files, by_file, strict=True)):
        rewritten = rewrite(file.manifest, by_document)
        writer.add_text(number, rewritten)
        removes = any(change.becomes is None for several in by_document.values() for change in several)
        if removes and not read_manifest(rewritten.text.encode()).documents:
            writer.note_empty(file)
        for document in by_document:
            writer.add_refused_items(file, file.manifest.documents[document])
        converted.append(ConvertedFile(file, rewritten.text))
    return tuple(converted)


def change_of(item: Located, draft: Draft | None) -> ObjectChange | None:
    """Return the change of one object; None where it stays as it is."""
    if draft is None or (not draft.removed and not draft.beside and draft.value == draft.source):
        return None
    above = tuple(NewObject(new.value, new.origins) for new in draft.beside if new.above)
    below = tuple(NewObject(new.value, new.origins) for new in draft.beside if not new.above)
    becomes = None if draft.removed else NewObject(draft.value, draft.origins)
    return ObjectChange(item.place.path, becomes, above, below)


class LedgerWriter:
    """Collects the ledger of a conversion."""

    def __init__(self, files: Sequence[ManifestFile]) -> None:
        self._files = files
        self._entries: list[LedgerEntry] = []
        self._needs: list[LedgerNeed] = []
        self._notes: list[LedgerNote] = []
        self._faults: list[LedgerFault] = []
        for file in files:
            self._faults += _unreadable(file)

    def ledger(self) -> ConversionLedger:
        """Return what was collected."""
        return ConversionLedger(
            SCHEMA_URI,
            API_VERSION,
            KIND,
            entries=tuple(self._entries),
            needs=tuple(self._needs),
            notes=tuple(self._notes),
            faults=tuple(self._faults),
        )

    def add(self, item: Located, draft: Draft, fates: Iterable[LeafFate]) -> None:
        """Add what became of one object, with the fates of its leaves."""
        source = id_of(draft.source)
        file = self._files[item.file].name
        self.add_needs(item, draft.gaps)
        for note in draft.notes:
            self._notes.append(
                LedgerNote(file, self._line(item, note.near), source, field_path(note.near), note.message)
            )
        for fate in fates:
            target = LedgerTarget(fate.object, field_path(fate.target)) if fate.object else None
            self._entries.append(
                LedgerEntry(
                    file,
                    self._line(item, fate.path),
                    source,
                    field_path(fate.path),
                    fate.fate.value,
                    fate.reason,
                    target,
                    fate.advice,
                    fate.lost,
                )
            )

    def add_needs(self, item: Located, gaps: Iterable[Gap]) -> None:
        """Add what the outputs of one object need."""
        file = self._files[item.file].name
        for gap in gaps:
            line = self._line(item, gap.near)
            self._needs.append(LedgerNeed(file, line, gap.object, field_path(gap.path), gap.message))

    def note(self, item: Located, path: tuple[Key, ...], message: str) -> None:
        """Add something to know about one object."""
        file = self._files[item.file].name
        source = id_of(item.place.value)
        self._notes.append(LedgerNote(file, self._line(item, path), source, field_path(path), message))

    def note_empty(self, file: ManifestFile) -> None:
        """Note that nothing is left of a file."""
        message = "nothing is left in this file, and kubectl apply refuses one without objects; remove it"
        self._notes.append(LedgerNote(file.name, 1, "", "", message))

    def fault(self, item: Located, message: str) -> None:
        """Add something that keeps one object from being converted."""
        self._faults.append(LedgerFault(self._files[item.file].name, self._line(item, ()), message))

    def add_refused_items(self, file: ManifestFile, document: Document) -> None:
        """Add the items for which kubectl refuses a list that was converted."""
        for path, message in refused_items(document):
            line = file.manifest.position(document.find(path).node.start).line
            self._faults.append(LedgerFault(file.name, line, message))

    def add_text(self, number: int, rewritten: Rewritten) -> None:
        """Add what could not be kept of the text of a file."""
        file = self._files[number]
        lost, anew = Counter(document for document, _ in rewritten.lost), frozenset(rewritten.anew)
        for document in rewritten.anew:
            line = self._line_of_document(file, document)
            count = lost[document]
            if count:
                comments = "its comment" if count == 1 else f"its {count} comments"
                message = f"the document had to be written anew, without {comments} and its layout; write them again"
                self._faults.append(LedgerFault(file.name, line, message))
            else:
                self._notes.append(LedgerNote(file.name, line, "", "", "the document had to be written anew"))
        for document in rewritten.expanded:
            message = "anchors and aliases of the document are spelt out, since a part that one stands for changes"
            self._notes.append(LedgerNote(file.name, self._line_of_document(file, document), "", "", message))
        for document, comment in rewritten.lost:
            if document not in anew:
                line = self._line_of_document(file, document)
                self._notes.append(LedgerNote(file.name, line, "", "", f"a comment could not be kept: {comment}"))

    @staticmethod
    def _line_of_document(file: ManifestFile, number: int) -> int:
        return file.manifest.position(file.manifest.documents[number].root.start).line

    def _line(self, item: Located, path: tuple[Key, ...]) -> int:
        return line_of(self._files, item, path)


def _unreadable(file: ManifestFile) -> Iterator[LedgerFault]:
    """Yield what can't be read in a file, and the keys of AIM objects that stand twice."""
    manifest = file.manifest
    for part in manifest.unreadable:
        message = f"this part can't be read and stays as it is: {part.message}"
        yield LedgerFault(file.name, manifest.position(part.offset).line, message)
    documents = {place.document for place in objects_of(manifest) if is_aim_object(place.value)}
    for number in sorted(documents):
        for duplicate in manifest.documents[number].duplicates:
            message = f"the key {duplicate.name} stands twice; kubectl takes the last one"
            yield LedgerFault(file.name, manifest.position(duplicate.offset).line, message)
