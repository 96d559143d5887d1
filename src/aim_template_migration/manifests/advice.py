"""What to write instead of a field that v1alpha2 does not know."""

import difflib
import re
from collections.abc import Iterator

from aim_api.tree import JsonObject, Key, field_path, get_map
from aim_template_migration.manifests.traps import forbidden_fields
from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate, field_of
from aim_template_migration.mapping.model_fates import MODEL_FATES
from aim_template_migration.mapping.service_fates import SERVICE_FATES
from aim_template_migration.mapping.template_fates import TEMPLATE_FATES

_TABLES: dict[str, FateTable] = {
    "AIMService": SERVICE_FATES,
    "AIMModel": MODEL_FATES,
    "AIMProfile": TEMPLATE_FATES,
}
_VERBS = {Fate.NEEDS_DECISION: "decide about", Fate.IMPUTED: "state"}
_OLD_SPELLINGS = {
    "runtimeConfigRef": "runtimeConfigName",
    "sourceURI": "sourceUri",
    "templateName": "profileName",
    "templateScope": "profileScope",
}
_PART = re.compile(r"\[(\d+)\]|\.?([^.\[]+)")
_ALIKE = 0.75
"""How alike a name must be to be meant: ``replica`` is, what only ends in the same word is not."""
_DEEPEST = 2
"""How many levels below its place a field is looked for."""


def advice_for(kind: str, field: str, schema: JsonObject) -> str:
    """Return what to write instead of an unknown field, or an empty text.

    Args:
        kind: the kind of the object.
        field: the field as a strict server names it.
        schema: the OpenAPI schema of the kind and version.
    """
    path = field_keys(field)
    table = _TABLES.get(kind.replace("AIMCluster", "AIM"))
    rows = _rows(table, path) if table is not None else []
    if rows:
        targets = dict.fromkeys(_target(row, path, kind) for row in rows)
        return f"{_VERBS.get(rows[0].fate, 'use')} {_listed([*targets])}: {rows[0].reason}"
    meant = _meant(kind, path, schema)
    return f"did you mean {meant}?" if meant else ""


def has_field(schema: JsonObject, field: str) -> bool:
    """Return whether a schema has a field that a strict server names."""
    *parents, name = field_keys(field)
    return name in get_map(_below(schema, tuple(parents)), "properties")


def _rows(table: FateTable, path: tuple[Key, ...]) -> list[FieldFate]:
    """Return the fates of a field that say where it went; of an object or a list those of what it holds.

    Of what a container holds those count first that need no decision.
    """
    own = table.find(path)
    if own is not None and own.fate is Fate.MAPPED:
        return []
    if own is not None and own.target and not own.path.endswith(".**"):
        return [own]
    names = tuple(key for key in path if isinstance(key, str))
    below = [row for row in table.fates if row.target and _names(row)[: len(names)] == names]
    rows = below or ([own] if own is not None and own.target else [])
    carried = [row for row in rows if row.fate is not Fate.NEEDS_DECISION]
    return [row for row in carried or rows if row.fate is not Fate.MAPPED]


def _names(row: FieldFate) -> tuple[str, ...]:
    return tuple(part.removesuffix("[]") for part in field_of(row.path).split("."))


def _target(row: FieldFate, path: tuple[Key, ...], kind: str) -> str:
    """Return where a field went; of a container where its members went, if they have the same names there."""
    target = row.target.replace("AIMProfile.", f"{kind}.") if kind.endswith("Profile") else row.target
    parts = target.split(".")
    for name in reversed(_names(row)[len([key for key in path if isinstance(key, str)]) :]):
        if parts[-1] == name and len(parts) > 3:
            parts.pop()
    return ".".join(parts).removeprefix(f"{kind}.")


def _listed(targets: list[str]) -> str:
    *first, last = targets
    return f"{', '.join(first)} and {last}" if first else last


def _meant(kind: str, path: tuple[Key, ...], schema: JsonObject) -> str:
    """Return the field that was probably meant: of another spelling, or of this name but further down."""
    name = str(path[-1])
    parent = _below(schema, path[:-1])
    known = [key for key in get_map(parent, "properties") if not _forbidden(kind, (*path[:-1], key))]
    if _OLD_SPELLINGS.get(name) in known:
        return _OLD_SPELLINGS[name]
    for depth in range(1, _DEEPEST + 1):
        places = [place for place in _deeper(kind, parent, path[:-1], depth) if place[-1] == name]
        if places:
            return field_path(places[0]) if len(places) == 1 else ""
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=_ALIKE)), "")


def _deeper(kind: str, schema: JsonObject, path: tuple[Key, ...], depth: int) -> Iterator[tuple[Key, ...]]:
    """Yield the fields that are so many levels below a place."""
    for key in get_map(schema, "properties"):
        here = (*path, key)
        if _forbidden(kind, here):
            continue
        below = get_map(schema, "properties", key)
        if depth == 1:
            yield from ((*here, name) for name in get_map(below, "properties"))
        else:
            yield from _deeper(kind, below, here, depth - 1)


def _forbidden(kind: str, path: tuple[Key, ...]) -> bool:
    return field_path(path) in forbidden_fields(kind)


def field_keys(field: str) -> tuple[Key, ...]:
    """Return a field path of a message as keys."""
    return tuple(int(index) if index else name for index, name in _PART.findall(field))


def _below(schema: JsonObject, path: tuple[Key, ...]) -> JsonObject:
    for key in path:
        schema = get_map(schema, "items") if isinstance(key, int) else get_map(schema, "properties", key)
    return schema
