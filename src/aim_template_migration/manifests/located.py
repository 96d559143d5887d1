"""The files of an input, and where their objects stand."""

from collections.abc import Sequence
from dataclasses import dataclass

from aim_api.tree import Key
from aim_template_migration.manifests.objects import ObjectPlace, objects_of, position_of
from aim_template_migration.manifests.reading import ManifestText


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """One file of the input.

    Attributes:
        name: the file as it is named in messages.
        manifest: its text and what it holds.
    """

    name: str
    manifest: ManifestText


@dataclass(frozen=True, slots=True)
class Located:
    """An object of the input: the number of its file, and where it stands there."""

    file: int
    place: ObjectPlace


def located_objects(files: Sequence[ManifestFile]) -> list[Located]:
    """Return the objects of all files, in order."""
    return [Located(number, place) for number, file in enumerate(files) for place in objects_of(file.manifest)]


def line_of(files: Sequence[ManifestFile], item: Located, path: tuple[Key, ...]) -> int:
    """Return the line of a field of an object, from 1."""
    return position_of(files[item.file].manifest, item.place, path).line
