"""Typed reading of Kubernetes objects, which are plain JSON values.

Objects stay plain dictionaries so that no unknown field is lost. These readers give one typed answer or a typed
absence, so that no caller needs ``Any`` and a field of an unexpected type is treated like an absent one.

Nothing is called as often as these, so that those which are called most go down by themselves instead of by ``get``.
"""

from collections.abc import Iterator, Mapping, Sequence

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
JsonObject = dict[str, Json]

Key = str | int


def get(value: Json, *keys: Key) -> Json:
    """Return the value below ``value`` at ``keys``, or None where any step is absent or of another shape."""
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)  # type: ignore[arg-type]  # an index is no key of a JSON object, and finds nothing
        elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def has(value: Json, *keys: Key) -> bool:
    """Return whether the last of ``keys`` is present, even with a null value."""
    parent = get(value, *keys[:-1])
    return isinstance(parent, dict) and keys[-1] in parent


def get_str(value: Json, *keys: Key) -> str | None:
    """Return the string at ``keys``, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else get(value, key)  # type: ignore[arg-type]
    return value if isinstance(value, str) else None


def get_int(value: Json, *keys: Key) -> int | None:
    """Return the integer at ``keys``, or None; booleans are no integers here."""
    found = get(value, *keys)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def get_bool(value: Json, *keys: Key) -> bool | None:
    """Return the boolean at ``keys``, or None."""
    found = get(value, *keys)
    return found if isinstance(found, bool) else None


def get_map(value: Json, *keys: Key) -> JsonObject:
    """Return the object at ``keys``, or an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else get(value, key)  # type: ignore[arg-type]
    return value if isinstance(value, dict) else {}


def get_list(value: Json, *keys: Key) -> list[Json]:
    """Return the list at ``keys``, or an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else get(value, key)  # type: ignore[arg-type]
    return value if isinstance(value, list) else []


def get_objects(value: Json, *keys: Key) -> list[JsonObject]:
    """Return the objects in the list at ``keys``; items of another shape are left out."""
    found = get_list(value, *keys)
    return [item for item in found if isinstance(item, dict)] if found else []


def get_strings(value: Json, *keys: Key) -> dict[str, str]:
    """Return the string-to-string map at ``keys`` (labels, annotations); entries of another shape are left out."""
    found = get_map(value, *keys)
    return {key: item for key, item in found.items() if isinstance(item, str)} if found else {}


def leaves(value: Json, path: tuple[Key, ...] = ()) -> Iterator[tuple[tuple[Key, ...], Json]]:
    """Return every leaf (scalar, empty list or empty object) with its path, in document order."""
    found: list[tuple[tuple[Key, ...], Json]] = []
    _collect_leaves(value, path, found)
    return iter(found)


def _collect_leaves(value: Json, path: tuple[Key, ...], found: list[tuple[tuple[Key, ...], Json]]) -> None:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            _collect_leaves(item, (*path, key), found)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            _collect_leaves(item, (*path, index), found)
    else:
        found.append((path, value))


def field_path(path: Sequence[Key]) -> str:
    """Return a path as Kubernetes writes it in messages: ``spec.containers[0].name``."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif text:
            text += f".{key}"
        else:
            text = key
    return text


def pointer_part(key: str) -> str:
    """Return a key as one part of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def key_of_pointer_part(part: str) -> str:
    """Return the key that one part of a JSON Pointer stands for (RFC 6901)."""
    return part.replace("~1", "/").replace("~0", "~")


def as_object(value: Mapping[str, Json]) -> JsonObject:
    """Return a shallow copy of ``value`` as a plain JSON object."""
    return dict(value)
