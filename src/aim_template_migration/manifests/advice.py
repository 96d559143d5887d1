"""What to write instead of a field that v1alpha2 does not know."""

import difflib
import re

from aim_api.tree import JsonObject, Key, get_map
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
_OLD_SPELLINGS = {"runtimeConfigRef": "runtimeConfigName", "sourceURI": "sourceUri"}
_PART = re.compile(r"\[(\d+)\]|\.?([^.\[]+)")


def advice_for(kind: str, field: str, schema: JsonObject) -> str:
    """Return what to write instead of an unknown field, or an empty text.

    Args:
        kind: the kind of the object.
        field: the field as a strict server names it.
        schema: the OpenAPI schema of the kind and version.
    """
    path = field_keys(field)
    name = path[-1]
    table = _TABLES.get(kind.replace("AIMCluster", "AIM"))
    row = _row(table, path) if table is not None else None
    if row is not None and row.target and row.fate is not Fate.MAPPED:
        return f"{_VERBS.get(row.fate, 'use')} {_target(row, path, kind)}: {row.reason}"
    known = list(get_map(_below(schema, path[:-1]), "properties"))
    near = [_OLD_SPELLINGS[str(name)]] if name in _OLD_SPELLINGS else difflib.get_close_matches(str(name), known, n=1)
    return f"did you mean {near[0]}?" if near and near[0] in known else ""


def _row(table: FateTable, path: tuple[Key, ...]) -> FieldFate | None:
    """Return the fate of a field of whatever type: of a value, or of the first that an object or a list holds."""
    return table.find(path) or table.find(path, {}) or table.find(path, [])


def _target(row: FieldFate, path: tuple[Key, ...], kind: str) -> str:
    """Return where a field went; of a container where its members went, if they have the same names there."""
    target = row.target.replace("AIMProfile.", f"{kind}.") if kind.endswith("Profile") else row.target
    below = field_of(row.path).split(".")[len([key for key in path if isinstance(key, str)]) :]
    for name in reversed(below):
        target = target.removesuffix(f".{name}")
    return target.removeprefix(f"{kind}.")


def field_keys(field: str) -> tuple[Key, ...]:
    """Return a field path of a message as keys."""
    return tuple(int(index) if index else name for index, name in _PART.findall(field))


def _below(schema: JsonObject, path: tuple[Key, ...]) -> JsonObject:
    for key in path:
        schema = get_map(schema, "items") if isinstance(key, int) else get_map(schema, "properties", key)
    return schema
