"""What is to be known about an input as a whole: objects that stand twice, templates, and what a Kustomization does."""

from collections.abc import Collection, Iterator, Sequence

from aim_api.kinds import AIM_GROUP, AIM_SERVICE, AIM_TEMPLATE_CACHE, LEGACY_VERSION
from aim_api.tree import JsonObject, Key, get_str, leaves
from aim_template_migration.manifests.kustomizations import CHANGES, is_kustomization
from aim_template_migration.manifests.located import Located, ManifestFile, line_of
from aim_template_migration.manifests.reading import TEMPLATE_MARK
from aim_template_migration.mapping.recipes.conversion import is_aim_object
from aim_template_migration.mapping.recipes.draft import id_of

_NEVER_REFERRED_TO = frozenset({AIM_SERVICE.name, AIM_TEMPLATE_CACHE.name})

Remark = tuple[Located, tuple[Key, ...], str]
"""An object, a field of it, and a sentence."""


def remarks(
    files: Sequence[ManifestFile],
    located: Sequence[Located],
    patches: Collection[int] = (),
    places: Sequence[str] = (),
) -> Iterator[Remark]:
    """Yield what is to be known, in the order of the input.

    Args:
        files: the files.
        located: their objects.
        patches: the numbers of those that are parts and stand for no object.
        places: the directory of a cluster or environment that each object stands in.
    """
    if any(_is_legacy(item.place.value) for item in located):
        placed = zip(located, places or [""] * len(located), strict=True)
        yield from _standing_twice(files, [one for number, one in enumerate(placed) if number not in patches])
    templated = {number for number, file in enumerate(files) if TEMPLATE_MARK in file.manifest.text}
    for item in located:
        if is_aim_object(item.place.value):
            if item.file in templated:
                yield from _templated(item)
        else:
            yield from _kustomized(files[item.file].name, item)


def _is_legacy(value: JsonObject) -> bool:
    return get_str(value, "apiVersion") == f"{AIM_GROUP}/{LEGACY_VERSION}"


def _standing_twice(files: Sequence[ManifestFile], placed: Sequence[tuple[Located, str]]) -> Iterator[Remark]:
    first: dict[tuple[str, str], Located] = {}
    for item, place in placed:
        value = item.place.value
        if not is_aim_object(value) or not get_str(value, "metadata", "name"):
            continue
        other = first.setdefault((id_of(value), place), item)
        apart = other.file != item.file
        if other is item or (apart and get_str(value, "kind") in _NEVER_REFERRED_TO):
            continue  # the same service in the directories of two clusters is no matter of the conversion
        there = f"{files[other.file].name}:{line_of(files, other, ())}"
        yield item, (), f"{id_of(value)} stands at {there} as well; what refers to it is converted with the first"


def _templated(item: Located) -> Iterator[Remark]:
    marked = (path for path, value in leaves(item.place.value) if isinstance(value, str) and TEMPLATE_MARK in value)
    path = next(marked, None)
    if path is not None:
        yield (
            item,
            path,
            "an expression of a template is taken as plain text here; convert what it renders to",
        )


def _kustomized(name: str, item: Located) -> Iterator[Remark]:
    value: JsonObject = item.place.value
    for field in CHANGES if is_kustomization(name, value) else ():
        if value.get(field):
            yield item, (field,), "this stays as it is; look at what it changes in objects of the AIM API"
