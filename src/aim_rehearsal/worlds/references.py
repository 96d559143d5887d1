"""References between a world's objects that only the server can resolve: UIDs, generations, claim names.

In a world, ``$uid(Kind/namespace/name)`` stands for the UID that the server gave an object, ``$generation(…)`` for its
generation and ``$pvcName(…)`` for the name of an artifact's volume claim, which is derived from the artifact's UID.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from aim_api import names
from aim_api.tree import Json, JsonObject, get_int, get_str, leaves

_CALL = re.compile(r"\$(uid|generation|pvcName)\(([^()]+)\)")


def references_in(value: Json) -> Iterator[str]:
    """Yield what a value refers to, as ``Kind/namespace/name``; cluster-scoped objects as ``Kind/name``."""
    for path, leaf in leaves(value):
        for text in (leaf, *path):
            if isinstance(text, str):
                yield from (found.group(2) for found in _CALL.finditer(text))


def resolved(value: Json, live: Mapping[str, JsonObject]) -> Json:
    """Return a value with every reference replaced; a reference that is the whole text keeps its type.

    Raises:
        KeyError: a reference to an object that is not in ``live``.
    """
    if isinstance(value, dict):
        return {key: resolved(item, live) for key, item in value.items()}
    if isinstance(value, list):
        return [resolved(item, live) for item in value]
    if not isinstance(value, str):
        return value
    whole = _CALL.fullmatch(value)
    if whole:
        return _answer(whole, live)
    return _CALL.sub(lambda found: str(_answer(found, live)), value)


def resolved_object(value: JsonObject, live: Mapping[str, JsonObject]) -> JsonObject:
    """Return an object with every reference replaced, as :func:`resolved` does."""
    return {key: resolved(item, live) for key, item in value.items()}


def _answer(found: re.Match[str], live: Mapping[str, JsonObject]) -> Json:
    return _ANSWERS[found.group(1)](live[found.group(2)])


_ANSWERS: dict[str, Callable[[JsonObject], Json]] = {
    "uid": lambda obj: get_str(obj, "metadata", "uid") or "",
    "generation": lambda obj: get_int(obj, "metadata", "generation") or 0,
    "pvcName": lambda obj: names.pvc_name(
        get_str(obj, "metadata", "name") or "", get_str(obj, "metadata", "uid") or ""
    ),
}
