"""The file of ``--values``: values that manifests lack, by the object that needs them."""

from collections.abc import Iterable

from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_CLUSTER_SERVICE_TEMPLATE, AIM_PROFILE, AIM_SERVICE_TEMPLATE
from aim_api.tree import JsonObject, get_list, get_str
from aim_template_migration.manifests.nodes import ReadError
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.recipes.context import VALUE_FIELDS, Values, id_in, value_fields
from aim_template_migration.mapping.recipes.draft import id_of, object_id
from aim_template_migration.mapping.recipes.versions import V1ALPHA2

_BECOMES = {
    AIM_SERVICE_TEMPLATE.name: AIM_PROFILE.name,
    AIM_CLUSTER_SERVICE_TEMPLATE.name: AIM_CLUSTER_PROFILE.name,
}
_LISTS = frozenset({"modelSources"})
_IMAGES = ("image", "baseImage")
_OF_A_SOURCE = ("modelId", "sourceUri")


class ValuesError(Exception):
    """The file is not one of values; the message says what is wrong with it."""


def parse_values(data: bytes) -> Values:
    """Read a file of values.

    It is YAML or JSON: a mapping from ``Kind/namespace/name`` or ``Kind/name`` to the values of that object.

    Raises:
        ValuesError: it has another shape, or names a value that objects of the kind do not take.
    """
    try:
        manifest = read_manifest(data)
    except ReadError as error:
        raise ValuesError(str(error)) from None
    if manifest.unreadable:
        part = manifest.unreadable[0]
        raise ValuesError(f"line {manifest.position(part.offset).line}: {part.message}")
    if manifest.documents and manifest.documents[0].duplicates:
        twice = manifest.documents[0].duplicates[0]
        raise ValuesError(f"line {manifest.position(twice.offset).line}: the key {twice.name} stands twice")
    if len(manifest.documents) > 1:
        raise ValuesError("it holds more than one document")
    whole = manifest.documents[0].value if manifest.documents else {}
    if not isinstance(whole, dict):
        raise ValuesError("it is no mapping from objects to their values")
    found: dict[str, JsonObject] = {}
    for key, given in whole.items():
        if not isinstance(given, dict):
            raise ValuesError(f"{key} has no mapping of values")
        _check(key, given)
        found[key] = given
    return Values(found)


def superfluous(values: Values, objects: Iterable[JsonObject]) -> list[str]:
    """Return the ids whose values no object has taken, nor stand for an object that was converted before.

    Args:
        values: the values, after a conversion.
        objects: the objects of the input.
    """
    done: set[str] = set()
    images: set[str] = set()
    for value in objects:
        kind, name = get_str(value, "kind") or "", get_str(value, "metadata", "name") or ""
        if get_str(value, "apiVersion") == V1ALPHA2:
            done |= {id_of(value), id_in(value, values.namespace), object_id(kind, "", name)}
            images |= {get_str(value, "spec", "image") or ""} if kind in _BECOMES.values() else set()
    return [
        key
        for key in sorted(values.by_id.keys() - values.used)
        # A profile names no model, so that only the image tells that the model's values went into it.
        if _converted(key) not in done and not images & {get_str(values.by_id[key], name) for name in _IMAGES}
    ]


def _converted(key: str) -> str:
    kind, _, name = key.partition("/")
    return f"{_BECOMES.get(kind, kind)}/{name}"


def _check(key: str, given: JsonObject) -> None:
    kind, _, name = key.partition("/")
    fields = value_fields(kind)
    if not fields or not name:
        kinds = ", ".join(sorted(VALUE_FIELDS))
        raise ValuesError(f"{key} names no object: write Kind/namespace/name or Kind/name, with a kind of {kinds}")
    for field, value in given.items():
        if field not in fields:
            raise ValuesError(f"{key} takes no value {field}: it takes {', '.join(sorted(fields))}")
        wanted: type = list if field in _LISTS else str
        if not isinstance(value, wanted):
            raise ValuesError(f"{field} of {key} must be {'a list' if wanted is list else 'text in quotes'}")
        if is_empty(value):
            raise ValuesError(f"{field} of {key} is empty: state it, or leave it out")
        for index, source in enumerate(get_list(given, field)):
            missing = [name for name in _OF_A_SOURCE if not get_str(source, name)]
            if missing:
                raise ValuesError(f"{field}[{index}] of {key} states no {' and no '.join(missing)}")
