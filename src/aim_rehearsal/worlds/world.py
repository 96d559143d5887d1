"""Sample fleets: one world per situation, written as small YAML files.

A world has a ``summary``, the ``codes`` of the tool's outcomes and reasons that it shows, its ``namespaces``, optional
``operator`` settings, and its objects: ``use`` lists building blocks (see :mod:`aim_rehearsal.worlds.expansion`),
``objects`` lists further manifests. In a status, ``conditions`` may be written as a map from type to reason (a
condition that is true) or to an object.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources

import yaml

from aim_api.tree import Json, JsonObject, get_list, get_map, get_objects, get_str
from aim_rehearsal.worlds.expansion import WorldError, expand

DEFAULT_WORLD = "shared-happy-path"
SINCE = "2026-06-02T09:00:00Z"
_FIELDS = frozenset({"summary", "codes", "namespaces", "operator", "use", "objects"})


@dataclass(frozen=True, slots=True)
class World:
    """One sample fleet.

    Attributes:
        name: the world's name, as in ``rehearse --world``.
        summary: one sentence on what it shows.
        codes: every outcome and reason code that a plan of it has.
        namespaces: the namespaces that a migration of it selects.
        objects: the manifests with status, with symbolic references instead of UIDs.
        operator: settings of the operator that belong to the world, by name.
        stored: whether the objects are complete, as a server holds them, and not manifests to be applied.
        desired: manifests that are created when the operator is at work already, so that it makes all that they lack.
    """

    name: str
    summary: str
    codes: tuple[str, ...]
    namespaces: tuple[str, ...]
    objects: tuple[JsonObject, ...]
    operator: Mapping[str, Json] = field(default_factory=dict)
    stored: bool = False
    desired: tuple[JsonObject, ...] = ()


def world_names() -> tuple[str, ...]:
    """Return the names of all worlds, the default first."""
    files = resources.files(__package__)
    found = sorted(item.name.removesuffix(".yaml") for item in files.iterdir() if item.name.endswith(".yaml"))
    return (DEFAULT_WORLD, *(name for name in found if name != DEFAULT_WORLD))


def load_world(name: str) -> World:
    """Read a world.

    Raises:
        WorldError: there is no such world, or its file is not right.
    """
    file = resources.files(__package__) / f"{name}.yaml"
    if name not in world_names():
        raise WorldError(f"there is no world {name}; there are: {', '.join(world_names())}.")
    return parse_world(name, file.read_text(encoding="utf-8"))


def parse_world(name: str, text: str) -> World:
    """Read a world from its YAML text.

    Raises:
        WorldError: the text is not a world.
    """
    content: Json = yaml.load(text, Loader=yaml.CSafeLoader)
    if not isinstance(content, dict) or not get_str(content, "summary"):
        raise WorldError(f"world {name} is no object with a summary.")
    unknown = sorted(content.keys() - _FIELDS)
    if unknown:
        raise WorldError(f"world {name} has an unknown field {unknown[0]}; a world has: {', '.join(sorted(_FIELDS))}.")
    objects: list[JsonObject] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": item}} for item in _texts(content, "namespaces")
    ]
    for use in get_objects(content, "use"):
        objects += expand(use, load_block)
    objects += get_objects(content, "objects")
    return World(
        name,
        get_str(content, "summary") or "",
        tuple(_texts(content, "codes")),
        tuple(_texts(content, "namespaces")),
        tuple(with_conditions(item) for item in objects),
        get_map(content, "operator"),
    )


def with_conditions(manifest: JsonObject) -> JsonObject:
    """Return a manifest whose status conditions are a list, where they were written as a map."""
    conditions = get_map(manifest, "status", "conditions")
    if not conditions:
        return manifest
    listed: list[Json] = []
    for kind, said in conditions.items():
        own: JsonObject = dict(said) if isinstance(said, dict) else {"reason": said}
        complete: JsonObject = {"type": kind, "status": "True", "message": "", "lastTransitionTime": SINCE}
        listed.append(complete | own)
    return manifest | {"status": get_map(manifest, "status") | {"conditions": listed}}


@functools.cache
def load_block(name: str) -> JsonObject:
    """Return the definition of a block; it is shared and must not be changed.

    Raises:
        WorldError: there is no such block.
    """
    file = resources.files(__package__) / "blocks" / f"{name}.yaml"
    if not file.is_file():
        raise WorldError(f"there is no block {name}.")
    content: Json = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    if not isinstance(content, dict):
        raise WorldError(f"block {name} is no object.")
    return content


def _texts(content: JsonObject, key: str) -> list[str]:
    return [item for item in get_list(content, key) if isinstance(item, str)]
