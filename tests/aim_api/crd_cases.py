"""Reads the cases that say what the CustomResourceDefinitions accept and refuse.

They are data, so that the definitions on a real API server, the local API and the offline validation all answer for
the very same cases.

``cases/rules/*.yaml`` are lists of cases; for each kind and version a case says one thing:

- ``name``: what is tried; part of the name of the object
- ``kind``, ``version``: one or a list; every combination is a case
- ``spec``, ``metadata``: of the object that is sent; a case without ``spec`` sends none
- ``old``: the object as it is stored before, with ``spec`` and, if it was another, ``version``; it was stored before
  the rules existed, so it may break them. The case is then an update, else a creation
- ``refused``: a part of the message; without it the object is accepted
- ``field``: the field that the error names, where the message is about a known field
- ``trap``: the row, counted from 1, of the table of validation traps in the migration guide (G)

Unknown fields are errors (``fieldValidation=Strict``).

``cases/defaults.yaml`` says which fields the API server adds to a spec.

``cases/examples/*.yaml`` are manifests that are accepted as they stand, their status included.
"""

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import yaml

from aim_api.kinds import AIM_KINDS, KSERVE_KINDS, Kind
from aim_api.tree import Json, JsonObject, get_int, get_map, get_str

FOLDER = Path(__file__).parent / "cases"
KINDS = {kind.name: kind for kind in (*AIM_KINDS, *KSERVE_KINDS)}

TRAPS = {
    1: {"spec.modelSources"},
    2: {"spec.custom"},
    3: {"spec.customTemplates"},
    4: {"spec.profileCopy"},
    5: {"spec.derivedFrom"},
    6: {"spec.modelId"},
    7: {"spec"},
    8: {"spec.profiles.derivedFrom"},
    9: {"spec.profiles.derivedFrom.sourceRef", "spec.profiles.derivedFrom.selector.modelRef"},
    10: {"spec.source", "spec.accelerator"},
    11: {"spec.aimId", "spec.source", "spec.runtimeConfigName"},
    12: {
        "spec.discovery",
        "spec.env",
        "spec.imagePullSecrets",
        "spec.serviceAccountName",
        "spec.resources",
        "spec.defaultServiceTemplate",
        "spec.imageMetadata",
    },
    13: {"spec.template"},
    14: {"spec.overrides"},
    15: {"spec.profileOverrides"},
    16: {"spec.profile.selector.role"},
    17: {"spec.profile.selector"},
}
"""The rows of the table of validation traps in the migration guide (G), and the fields that their errors name."""

_KEYS = frozenset({"name", "kind", "version", "spec", "metadata", "old", "refused", "field", "trap"})


@dataclass(frozen=True, slots=True)
class RuleCase:
    """One object at one version, and what the API says to it."""

    kind: Kind
    object: JsonObject
    old_kind: Kind
    old: JsonObject | None
    refused: str | None
    field: str | None
    trap: int | None

    @property
    def name(self) -> str:
        """The name of the object, which no other case of the kind has."""
        return get_str(self.object, "metadata", "name") or ""

    def __str__(self) -> str:
        """Return kind and name, for the names of tests."""
        return f"{self.kind.name}-{self.name}"


@dataclass(frozen=True, slots=True)
class DefaultCase:
    """An object, and its spec as the API server stores it."""

    kind: Kind
    object: JsonObject
    stored: Json

    def __str__(self) -> str:
        """Return kind and name, for the names of tests."""
        return f"{self.kind.name}-{get_str(self.object, 'metadata', 'name')}"


@dataclass(frozen=True, slots=True)
class Example:
    """One manifest that is accepted."""

    kind: Kind
    object: JsonObject

    @property
    def name(self) -> str:
        """The name of the object."""
        return get_str(self.object, "metadata", "name") or ""

    def __str__(self) -> str:
        """Return kind and name, for the names of tests."""
        return f"{self.kind.name}-{self.name}"


def rule_cases() -> list[RuleCase]:
    """Return every case of every file; a misspelt key is an error."""
    return [
        _case(entry, str(kind), str(version))
        for path in sorted((FOLDER / "rules").glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text())
        for kind, version in product(_listed(entry["kind"]), _listed(entry["version"]))
    ]


def default_cases() -> list[DefaultCase]:
    """Return the cases about defaults."""
    return [
        DefaultCase(kind, _object(kind, f"defaults-{number}-{kind.version}", {"spec": entry["sent"]}), entry["stored"])
        for number, entry in enumerate(yaml.safe_load((FOLDER / "defaults.yaml").read_text()))
        for kind_name, version in product(_listed(entry["kind"]), _listed(entry["version"]))
        for kind in [KINDS[str(kind_name)].at(str(version))]
    ]


def examples() -> list[Example]:
    """Return the manifests of every file of examples."""
    found = []
    for path in sorted((FOLDER / "examples").glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            version = (get_str(document, "apiVersion") or "").rpartition("/")[2]
            found.append(Example(KINDS[document["kind"]].at(version), document))
    return found


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _case(entry: JsonObject, kind_name: str, version: str) -> RuleCase:
    unknown = entry.keys() - _KEYS
    if unknown:
        raise ValueError(f"the case {entry.get('name')} has unknown keys: {', '.join(sorted(unknown))}")
    kind = KINDS[kind_name].at(version)
    name = f"{entry['name']}-{version}"
    old = get_map(entry, "old")
    old_kind = kind.at(get_str(old, "version") or version)
    return RuleCase(
        kind=kind,
        object=_object(kind, name, entry),
        old_kind=old_kind,
        old=_object(old_kind, name, old) if old else None,
        refused=get_str(entry, "refused"),
        field=get_str(entry, "field"),
        trap=get_int(entry, "trap"),
    )


def _object(kind: Kind, name: str, content: JsonObject) -> JsonObject:
    metadata: JsonObject = {**get_map(content, "metadata"), "name": name}
    made: JsonObject = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}
    if "spec" in content:
        made["spec"] = content["spec"]
    return made
