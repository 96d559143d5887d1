"""Finds a key that an object of a JSON text states twice; parsers take the last one silently (pure)."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial


class _Doubled(dict[str, object]):
    """An object that states ``key`` more than once."""

    key = ""


def doubled_key(text: str) -> str | None:
    """Return the path of the first key that is stated twice in its object, such as ``units[0].disposition``, or None.

    Args:
        text: valid JSON.

    Raises:
        RecursionError: it is nested too deeply.
    """
    # The numbers do not matter here, and one of too many digits would not be converted.
    read = partial(json.loads, text, parse_int=str, parse_float=str)
    found = False

    def look(pairs: list[tuple[str, object]]) -> None:
        nonlocal found
        found = found or len(dict(pairs)) < len(pairs)

    read(object_pairs_hook=look)  # which keeps nothing: a plan may be large, and hardly any states a key twice
    return next(_paths(read(object_pairs_hook=_marked), ""), None) if found else None


def _marked(pairs: list[tuple[str, object]]) -> dict[str, object]:
    taken = dict(pairs)
    if len(taken) == len(pairs):
        return taken
    doubled = _Doubled(taken)
    doubled.key = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return doubled


def _paths(value: object, path: str) -> Iterator[str]:
    if isinstance(value, _Doubled):
        yield f"{path}.{value.key}".removeprefix(".")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, f"{path}.{key}".removeprefix("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths(item, f"{path}[{index}]")
