"""The file of ``--values``: values that manifests lack, by the object that needs them."""

from aim_api.tree import JsonObject
from aim_template_migration.manifests.nodes import ReadError
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.mapping.recipes.context import VALUE_FIELDS, Values, value_fields

_LISTS = frozenset({"modelSources"})


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
