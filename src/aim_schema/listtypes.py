"""Lists of type ``set`` and ``map``: no item and no key twice."""

from collections.abc import Callable, Hashable, Iterable, Iterator

from aim_api.tree import Json
from aim_schema import errors, gotext
from aim_schema.errors import FieldError
from aim_schema.nodes import Node
from aim_schema.paths import MapKey, Path, field_path

Search = Callable[[Json, Path, list[FieldError]], None]
"""Looks through a value and appends the duplicates it finds."""


def compile_search(node: Node) -> Search | None:
    """Return the search for duplicates below a schema, or None where no list has keys or set items."""
    if node.type == "array":
        return _list_search(node)
    further = compile_search(node.additional) if isinstance(node.additional, Node) else None
    known = {key: search for key, below in node.properties.items() if (search := compile_search(below)) is not None}
    if further is None and not known:
        return None

    def search_object(value: Json, path: Path, found: list[FieldError]) -> None:
        if not isinstance(value, dict):
            return
        if further is not None:
            for key, item in value.items():
                further(item, (path, MapKey(key)), found)
        for key, search in known.items():
            if key in value:
                search(value[key], (path, key), found)

    return search_object


def _list_search(node: Node) -> Search | None:
    below = compile_search(node.items) if node.items is not None else None
    if node.list_type not in ("set", "map") and below is None:
        return None

    def search_list(value: Json, path: Path, found: list[FieldError]) -> None:
        if not isinstance(value, list):
            return
        if node.list_type == "set" and len(value) > 1:
            found.extend(
                errors.duplicate(field_path((path, index)), value[index]) for index in _repeated(map(identity, value))
            )
        elif node.list_type == "map":
            found.extend(_duplicate_keys(value, path, node.list_map_keys))
        if below is not None:
            for index, item in enumerate(value):
                below(item, (path, index), found)

    return search_list


def identity(value: Json) -> Hashable:
    """Return a value that is equal for equal JSON values and tells true from 1."""
    if isinstance(value, dict | list):
        return gotext.json_text(value)
    return (type(value), value)


def _repeated(values: Iterable[Hashable]) -> Iterator[int]:
    """Yield the index of the second appearance of each value that appears more than once."""
    times: dict[Hashable, int] = {}
    for index, value in enumerate(values):
        times[value] = times.get(value, 0) + 1
        if times[value] == 2:
            yield index


def _duplicate_keys(values: list[Json], path: Path, keys: tuple[str, ...]) -> Iterator[FieldError]:
    for index, item in enumerate(values):
        if item is not None and not isinstance(item, dict):
            yield errors.invalid(field_path((path, index)), item, "must be an object for an array of list-type map")
            return
    named = [{key: item[key] for key in keys if key in item} if isinstance(item, dict) else {} for item in values]
    for index in _repeated(tuple((key, identity(value)) for key, value in each.items()) for each in named):
        yield errors.duplicate(field_path((path, index)), named[index])
