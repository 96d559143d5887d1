"""The cutover patch (pure): the operations sent, and the object they must lead to.

The patch tests UID, generation, the whole spec and the whole annotations of the read that passed the fences, and not
the resourceVersion: a writer that updates status ten times a second would then refuse half of all patches, while a
spec or annotation edit must always be refused.
"""

from collections.abc import Iterator, Sequence

from aim_api.tree import Json, JsonObject, field_path, get, get_map, get_str, key_of_pointer_part, pointer_part

ANNOTATIONS = "/metadata/annotations"
COMPARED_METADATA = ("name", "namespace", "uid", "generation", "labels", "annotations", "finalizers", "ownerReferences")


def guarded_operations(live: JsonObject, operations: Sequence[JsonObject]) -> list[JsonObject]:
    """Return ``operations`` behind tests that ``live`` is still what is stored.

    A test with a null value passes on an absent path, so absent annotations are guarded too.
    """
    return [
        {"op": "test", "path": "/metadata/uid", "value": get(live, "metadata", "uid")},
        {"op": "test", "path": "/metadata/generation", "value": get(live, "metadata", "generation")},
        {"op": "test", "path": "/spec", "value": get(live, "spec")},
        {"op": "test", "path": ANNOTATIONS, "value": get(live, "metadata", "annotations")},
        *operations,
    ]


def fit_operations(live: JsonObject, operations: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Return the operations of a cutover in the form that fits the annotations which the service has now.

    Annotations that the plan does not rely on may have come or gone since. Adding the whole map would then drop those
    that came, and adding below an absent map would fail.
    """
    changing: list[JsonObject] = []
    pin: JsonObject = {}
    for operation in operations:
        path = get_str(operation, "path") or ""
        if path == ANNOTATIONS:
            pin |= get_map(operation, "value")
        elif path.startswith(f"{ANNOTATIONS}/"):
            pin[key_of_pointer_part(path.removeprefix(f"{ANNOTATIONS}/"))] = operation.get("value")
        else:
            changing.append(operation)
    if pin and not isinstance(get(live, "metadata", "annotations"), dict):
        return (*changing, {"op": "add", "path": ANNOTATIONS, "value": pin})
    added: list[JsonObject] = [
        {"op": "add", "path": f"{ANNOTATIONS}/{pointer_part(key)}", "value": value} for key, value in pin.items()
    ]
    return (*changing, *added)


def apply_operations(obj: JsonObject, operations: Sequence[JsonObject]) -> JsonObject:
    """Return a copy of ``obj`` after the add and remove operations of a cutover.

    Raises:
        ValueError: an operation that a cutover never has, or that does not fit the object, as removing an absent field.
    """
    result = obj
    for operation in operations:
        path = [key_of_pointer_part(part) for part in (get_str(operation, "path") or "").split("/")[1:]]
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
    elif isinstance(expected, list) and isinstance(answered, list) and len(expected) == len(answered):
        for index, (one, other) in enumerate(zip(expected, answered, strict=True)):
            yield from _differences(one, other, (*path, index))
    elif expected != answered or isinstance(expected, bool) != isinstance(answered, bool):
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
    elif sent is not None and not _same_scalar(sent, answered):
        yield field_path(path)


def _same_scalar(one: Json, other: Json) -> bool:
    # To Python, True equals 1.
    return one == other and isinstance(one, bool) == isinstance(other, bool)
