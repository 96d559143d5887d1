"""Finds and shows where two normalised answers differ."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase

from aim_api.tree import Json, JsonObject, get_str

ABSENT = "<absent>"
_NAMES = ("name", "groupVersion", "resource", "version", "subresource", "group", "type")


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the servers differ.

    Attributes:
        script: the name of the script.
        step: the name of the step.
        part: a JSON pointer into status, headers and body.
        real: the value of the real server.
        local: the value of the local API.
    """

    script: str
    step: str
    part: str
    real: Json
    local: Json

    def __str__(self) -> str:
        """Return both values."""
        return f"{self.part}\n    real:  {_shown(self.real)}\n    local: {_shown(self.local)}"


class Lists(Enum):
    """How lists of named things are compared."""

    ORDERED = "ordered"
    UNORDERED = "unordered"
    SUBSET = "subset"
    """In any order, and what only the real server has is left out."""


def differences(
    real: Json, local: Json, pointer: str = "", *, lists: Lists = Lists.ORDERED
) -> Iterator[tuple[str, Json, Json]]:
    """Yield pointer and both values wherever two values differ.

    Args:
        real: the value of the real server.
        local: the value of the local API.
        pointer: where the values are.
        lists: how lists of named things are compared.
    """
    if isinstance(real, dict) and isinstance(local, dict):
        for key in sorted({*real, *local}):
            below = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            yield from differences(real.get(key, ABSENT), local.get(key, ABSENT), below, lists=lists)
        return
    if isinstance(real, list) and isinstance(local, list):
        if lists is not Lists.ORDERED and _are_named([*real, *local]):
            ours, theirs = {_name(item): item for item in local}, {_name(item): item for item in real}
            for name in ours if lists is Lists.SUBSET else sorted({*ours, *theirs}):
                pair = theirs.get(name, ABSENT), ours.get(name, ABSENT)
                yield from differences(*pair, f"{pointer}/{name}", lists=lists)
            return
        if len(real) == len(local):
            for index, (one, other) in enumerate(zip(real, local, strict=True)):
                yield from differences(one, other, f"{pointer}/{index}", lists=lists)
            return
    # True is no 1 here.
    if real != local or type(real) is not type(local):
        yield pointer, real, local


def _are_named(items: list[Json]) -> bool:
    return bool(items) and all(isinstance(item, dict) and _name(item) for item in items)


def _name(item: Json) -> str:
    name = get_str(item, "metadata", "name")
    return name if name is not None else next((str(get_str(item, key)) for key in _NAMES if get_str(item, key)), "")


def selected(answer: JsonObject, only: tuple[str, ...]) -> JsonObject:
    """Return the parts of an answer that are compared: the status code and what ``only`` points to in the body."""
    if not only:
        return answer
    body: JsonObject = {pointer: resolve(answer.get("body"), pointer, ABSENT) for pointer in only}
    return {"status": answer["status"], "body": body}


def resolve(value: Json, pointer: str, default: Json = None) -> Json:
    """Return what a JSON pointer points to, or ``default``."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.lstrip("-").isdigit() and -len(value) <= int(key) < len(value):
            value = value[int(key)]
        else:
            return default
    return value


def matches(pattern: str, text: str) -> bool:
    """Return whether ``text`` is what a pattern with ``*`` means."""
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def _shown(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 1500 else f"{text[:1500]}…"
