"""What is wrong with a file beside its objects: kubectl takes a file document by document, and stops where it can't."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from aim_api.tree import Json, JsonObject, field_path, get, get_str
from aim_schema.errors import REQUIRED
from aim_template_migration.manifests.list_rules import (
    NOT_AN_OBJECT,
    Misfits,
    holds_aim_objects,
    is_aim_kind,
    list_findings,
)
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.objects import ObjectPlace, is_list, objects_of
from aim_template_migration.manifests.reading import Document
from aim_template_migration.manifests.violations import Violation, violation_at
from aim_template_migration.mapping.recipes.draft import id_of

UNREADABLE = "Unreadable"
DUPLICATE_KEY = "DuplicateKey"
_TWICE = "stands twice; kubectl takes the last one, kustomize and other strict readers refuse the file"
_WORDS: dict[type, str] = {list: "a list", str: "a text", bool: "a boolean"}


@dataclass(frozen=True, slots=True)
class FileFindings:
    """What is wrong with a file.

    Attributes:
        violations: what was found.
        refused: the documents, by number, of which kubectl sends no object although it has some.
    """

    violations: list[Violation]
    refused: set[int]


def file_findings(file: ManifestFile, misfits: Misfits) -> FileFindings:
    """Return what is wrong with a file; one without objects of the AIM API only has to be readable."""
    found = FileFindings(list(_unreadable(file)), set())
    documents = file.manifest.documents
    ours = [holds_aim_objects(document.value) for document in documents]
    places: dict[int, list[ObjectPlace]] = {}
    for place in objects_of(file.manifest) if any(document.duplicates for document in documents) else ():
        places.setdefault(place.document, []).append(place)
    for number, document in enumerate(documents if any(ours) else ()):
        value = document.value
        if ours[number]:
            found.violations.extend(_duplicates(file, document, places.get(number, [])))
        if not isinstance(value, dict):
            found.violations.extend(_no_object(file, document))
            continue
        wrong = [*_headless(file, number, value)]
        if ours[number] and is_list(value):
            wrong += _list(file, number, value, misfits)
            found.refused.update({number} if wrong else ())
        found.violations.extend(wrong)
    return found


def _unreadable(file: ManifestFile) -> Iterator[Violation]:
    for part in file.manifest.unreadable:
        position = file.manifest.position(part.offset)
        message = f"this part can't be read: {part.message}"
        yield Violation(file.name, position.line, position.column, "", "", UNREADABLE, message)


def _no_object(file: ManifestFile, document: Document) -> Iterator[Violation]:
    value: Json = document.value
    if value is not None:  # kubectl passes over a document that is null
        position = file.manifest.position(document.root.start)
        message = (
            f"kubectl refuses this document and stops at it: it is {_WORDS.get(type(value), 'a number')}, no object"
        )
        advice = "name a list of objects apiVersion: v1, kind: List, with items" if isinstance(value, list) else ""
        yield Violation(file.name, position.line, position.column, "", "", NOT_AN_OBJECT, message, advice)


def _headless(file: ManifestFile, number: int, value: JsonObject) -> Iterator[Violation]:
    """Yield what a document lacks by which it would be known; objects of the AIM API are looked at on their own."""
    if is_aim_kind(value) and not is_list(value):
        return
    for field in ("apiVersion", "kind"):
        if not get_str(value, field):
            message = f"Required value: {field} not set, so kubectl refuses this document and stops at it"
            yield violation_at(file, ObjectPlace(number, (), value), (), REQUIRED, message, field=field)


def _list(file: ManifestFile, number: int, value: JsonObject, misfits: Misfits) -> Iterator[Violation]:
    for finding in list_findings(value, misfits):
        place, path = ObjectPlace(number, (), value), finding.path
        item = get(value, *path[:2])
        if isinstance(item, dict):
            place, path = ObjectPlace(number, path[:2], item), path[2:]
        field = field_path(path)
        yield violation_at(file, place, path, finding.reason, finding.message, field=field, equivalent=finding.advice)


def _duplicates(file: ManifestFile, document: Document, places: list[ObjectPlace]) -> Iterator[Violation]:
    nodes = [document.find(place.path).node for place in places] if document.duplicates else []
    starts = [node.start for node in nodes]
    for duplicate in document.duplicates:
        position = file.manifest.position(duplicate.offset)
        index = bisect_right(starts, duplicate.offset) - 1
        # A key of a list's head belongs to no object.
        named = id_of(places[index].value) if index >= 0 and duplicate.offset < nodes[index].end else ""
        message = f"the key {duplicate.name} {_TWICE}"
        yield Violation(
            file.name, position.line, position.column, named, duplicate.name, DUPLICATE_KEY, message, level="warning"
        )
