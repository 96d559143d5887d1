"""Request scripts: what to ask of both servers, written as YAML.

A script has

- ``about``: what it is about
- ``for_each``: ``kinds``, to be played once for each of the project's kinds at each version, or a list of values that
  are added to ``values``; without it the script is played once
- ``values``: what ``${name}`` stands for in all that follows
- ``steps``
- ``cleanup``: the paths of cluster-scoped objects to delete at the end

A step has

- ``step``: its name, which no other step of the script has
- ``request``: method and path, as in ``GET ${AIMService}/one``
- ``as``: who asks; ``admin`` unless said otherwise, and null for nobody at all
- ``headers``
- ``body``: sent as JSON; or ``raw``: sent as it is
- ``type``: the type of the body: ``json`` (the default), ``json-patch``, ``merge``, ``strategic``, ``apply``, ``yaml``
  or any media type
- ``expect``: the status code of the real server
- ``save``: names for values of the answer, given as JSON pointers, which later steps use
- ``normalise``: JSON pointers (``*`` matches anything) of what cannot be equal; only its type is compared
- ``only``: JSON pointers of the parts that are compared; everything without it
- ``lists``: ``unordered`` where the order of named things is left to chance, ``subset`` where the local API also serves
  fewer of them: only those are compared that it has
- ``until``: the request is repeated until the answer has this status code or these values at JSON pointers
- ``events``: the request is a watch, and this many events are read
- ``forget``: true for a step without a request, which makes the server forget its history
- ``open``: the request is a watch that stays open under this name; a later step with ``read`` reads ``events`` of it
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from aim_api.tree import Json, JsonObject, get_int, get_list, get_map, get_objects, get_str, get_strings
from tests.conformance.comparing import Lists
from tests.conformance.samples import sample_values

FOLDER = Path(__file__).parent / "scripts"
MEDIA_TYPES = {
    "json": "application/json",
    "yaml": "application/yaml",
    "json-patch": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
_SCRIPT_KEYS = frozenset({"about", "for_each", "values", "steps", "cleanup"})
_STEP_KEYS = frozenset(
    {"step", "request", "as", "headers", "body", "raw", "type", "expect", "save", "normalise", "only", "lists", "until"}
    | {"events", "forget", "open", "read"}
)


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a script; ``${...}`` is not replaced yet."""

    name: str
    method: str
    path: str
    identity: str | None
    headers: Mapping[str, str]
    body: Json
    raw: str | None
    media_type: str
    expect: int | None
    save: Mapping[str, str]
    normalise: tuple[str, ...]
    only: tuple[str, ...]
    lists: Lists
    until: JsonObject
    events: int | None
    forgets: bool
    opens: str | None
    reads: str | None


@dataclass(frozen=True, slots=True)
class Script:
    """One script with one set of values."""

    name: str
    variant: str
    values: JsonObject
    steps: tuple[Step, ...]
    cleanup: tuple[str, ...]

    def __str__(self) -> str:
        """Return the name, with the variant in brackets if there are several."""
        return f"{self.name}[{self.variant}]" if self.variant else self.name


def script_names() -> list[str]:
    """Return the names of all scripts."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_script(name: str) -> list[Script]:
    """Return a script once for each set of values it is played with.

    Raises:
        ValueError: a key is misspelt or a step has the name of another.
    """
    document = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    _check_keys(name, document, _SCRIPT_KEYS)
    steps = tuple(_step(name, entry) for entry in get_objects(document, "steps"))
    names = [step.name for step in steps]
    repeated = {item for item in names if names.count(item) > 1}
    if repeated:
        raise ValueError(f"{name}: more than one step is named {', '.join(sorted(repeated))}")
    cleanup = tuple(str(path) for path in get_list(document, "cleanup"))
    return [
        Script(name, variant, {**get_map(document, "values"), **values}, steps, cleanup)
        for variant, values in _variants(document)
    ]


def _variants(document: Json) -> Iterator[tuple[str, JsonObject]]:
    if get_str(document, "for_each") == "kinds":
        yield from sample_values()
        return
    sets = get_objects(document, "for_each")
    for values in sets:
        yield str(next(iter(values.values()))), values
    if not sets:
        yield "", {}


def _step(script: str, entry: JsonObject) -> Step:
    name = get_str(entry, "step") or ""
    _check_keys(f"{script}, {name}", entry, _STEP_KEYS)
    method, _, path = (get_str(entry, "request") or " ").partition(" ")
    media_type = get_str(entry, "type") or "json"
    until = entry.get("until")
    identity = entry.get("as", "admin")
    return Step(
        name=name,
        method=method,
        path=path.strip(),
        identity=identity if isinstance(identity, str) else None,
        headers=get_strings(entry, "headers"),
        body=entry.get("body"),
        raw=get_str(entry, "raw"),
        media_type=MEDIA_TYPES.get(media_type, media_type),
        expect=get_int(entry, "expect"),
        save=get_strings(entry, "save"),
        normalise=tuple(str(item) for item in get_list(entry, "normalise")),
        only=tuple(str(item) for item in get_list(entry, "only")),
        lists=Lists(get_str(entry, "lists") or "ordered"),
        until={"status": until} if isinstance(until, int) else get_map(entry, "until"),
        events=get_int(entry, "events"),
        forgets=entry.get("forget") is True,
        opens=get_str(entry, "open"),
        reads=get_str(entry, "read"),
    )


def _check_keys(where: str, entry: Json, known: frozenset[str]) -> None:
    unknown = set(get_map(entry)) - known
    if unknown:
        raise ValueError(f"{where}: unknown keys {', '.join(sorted(map(str, unknown)))}")
