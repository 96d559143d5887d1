"""The part of JSONPath that print columns use: ``.a.b``, ``['a.b']``, ``[0]``, ``[*]``, ``[?(@.a=="b")]``."""

import re
from collections.abc import Callable, Iterable, Iterator

from aim_api.tree import Json, get

Step = Callable[[Json], Iterable[Json]]

_TOKEN = re.compile(
    r"""\.?(?P<name>(?:[A-Za-z0-9_/-]|\\.)+)
      | \.?\[['"](?P<quoted>[^'"]+)['"]\]
      | \[(?P<index>-?\d+)\]
      | (?P<every>\[\*\]|\.\*)
      | \[\?\(\s*@\.(?P<left>[A-Za-z0-9_.-]+)\s*==\s*(?P<right>"[^"]*"|'[^']*'|[^\s)]+)\s*\)\]""",
    re.VERBOSE,
)


class JsonPathError(ValueError):
    """A path that this subset does not know."""


def compile_path(path: str) -> Callable[[Json], list[Json]]:
    """Return a function that gives all values at ``path``.

    Raises:
        JsonPathError: the path uses more than this subset.
    """
    text = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    steps = list(_steps(text))

    def find(value: Json) -> list[Json]:
        found = [value]
        for step in steps:
            found = [below for item in found for below in step(item)]
        return found

    return find


def _steps(text: str) -> Iterator[Step]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise JsonPathError(f"cannot read {text[position:]!r} in the JSONPath {text!r}")
        position = match.end()
        yield _step(match)


def _step(match: re.Match[str]) -> Step:
    name, quoted, index, left, right = match.group("name", "quoted", "index", "left", "right")
    if name or quoted:
        return _member(quoted or name.replace("\\", ""))
    if index:
        return _item(int(index))
    if left:
        return _where(left.split("."), right.strip("\"'"))
    return _every


def _member(key: str) -> Step:
    return lambda value: [value[key]] if isinstance(value, dict) and key in value else []


def _item(index: int) -> Step:
    return lambda value: [value[index]] if isinstance(value, list) and -len(value) <= index < len(value) else []


def _every(value: Json) -> Iterable[Json]:
    if isinstance(value, list):
        return value
    return list(value.values()) if isinstance(value, dict) else []


def _where(keys: list[str], wanted: str) -> Step:
    def matching(value: Json) -> Iterable[Json]:
        items = value if isinstance(value, list) else []
        return [item for item in items if _text(get(item, *keys)) == wanted]

    return matching


def _text(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)
