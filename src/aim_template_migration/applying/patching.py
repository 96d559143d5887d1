"""The cutover patch (pure): the operations sent, and the object they must lead to.

The patch tests UID, generation, the whole spec and the whole annotations of the read that passed the fences, and not
the resourceVersion: a writer that updates status ten times a second would then refuse half of all patches, while a
spec or annotation edit must always be refused.
"""

from collections.abc import Iterator, Sequence

from aim_api.tree import Json, JsonObject, field_path, get, get_map, get_str

COMPARED_METADATA = ("name", "namespace", "uid", "generation", "labels", "annotations", "finalizers", "ownerReferences")


def guarded_operations(live: JsonObject, operations: Sequence[JsonObject]) -> list[JsonObject]:
    """Return ``operations`` behind tests that ``live`` is still what is stored.

    A test with a null value passes on an absent path, so absent annotations are guarded too.
    """
    return [
        {"op": "test", "path": "/metadata/uid", "value": get(live, "metadata", "uid")},
        {"op": "test", "path": "/metadata/generation", "value": get(live, "metadata", "generation")},
        {"op": "test", "path": "/spec", "value": get(live, "spec")},
        {"op": "test", "path": "/metadata/annotations", "value": get(live, "metadata", "annotations")},
        *operations,
    ]


def apply_operations(obj: JsonObject, operations: Sequence[JsonObject]) -> JsonObject:
    """Return a copy of ``obj`` after the add and remove operations of a cutover.

    Raises:
        ValueError: an operation that a cutover never has, or that does not fit the object, as removing an absent field.
    """
    result = obj
    for operation in operations:
        path = [
            part.replace("~1", "/").replace("~0", "~") for part in (get_str(operation, "path") or "").split("/")[1:]
        ]
        match get_str(operation, "op"):
            case "add" if path:
                result = _with(result, path, operation.get("value"))
            case "remove" if path:
                result = _without(result, path)
            case other:
                raise ValueError(f"{other} at {operation.get('path')} is no operation of a cutover")
    return result


def unexpected_differences(expected: JsonObject, answered: JsonObject) -> list[str]:
    """Return the fields (spec and compared metadata) in which the server's answer differs from what was expected."""
    found = list(_differences(expected.get("spec"), answered.get("spec"), ("spec",)))
    for key in COMPARED_METADATA:
        found += _differences(get(expected, "metadata", key), get(answered, "metadata", key), ("metadata", key))
    return found


def fields_not_stored(sent: JsonObject, answered: JsonObject) -> list[str]:
    """Return the fields of ``sent`` (labels, annotations, spec) that ``answered`` lacks or holds with another value."""
    pairs = (("spec",), ("metadata", "labels"), ("metadata", "annotations"))
    return [field for path in pairs for field in _lacking(get(sent, *path), get(answered, *path), path)]


def _with(obj: JsonObject, path: Sequence[str], value: Json) -> JsonObject:
    key, *rest = path
    if not rest:
        return {**obj, key: value}
    child = obj.get(key)
    if not isinstance(child, dict):
        raise ValueError(f"nothing can be added below {key}, which is absent")  # noqa: TRY004 - data, not a call
    return {**obj, key: _with(child, rest, value)}


def _without(obj: JsonObject, path: Sequence[str]) -> JsonObject:
    key, *rest = path
    if key not in obj:
        raise ValueError(f"{key} can't be removed, because it is absent")
    if not rest:
        return {name: value for name, value in obj.items() if name != key}
    return {**obj, key: _without(get_map(obj, key), rest)}


def _differences(expected: Json, answered: Json, path: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(answered, dict):
        for key in sorted({*expected, *answered}):
            yield from _differences(expected.get(key), answered.get(key), (*path, key))
    elif expected != answered:
        yield field_path(path)


def _lacking(sent: Json, answered: Json, path: tuple[str | int, ...]) -> Iterator[str]:
    if isinstance(sent, dict):
        if not isinstance(answered, dict):
            if sent:
                yield field_path(path)
            return
        for key, value in sent.items():
            yield from _lacking(value, answered.get(key), (*path, key))
    elif isinstance(sent, list):
        if not isinstance(answered, list) or len(answered) != len(sent):
            yield field_path(path)
            return
        for index, item in enumerate(sent):
            yield from _lacking(item, answered[index], (*path, index))
    elif sent != answered and sent is not None:
        yield field_path(path)
