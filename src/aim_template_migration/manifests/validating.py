"""Offline validation of manifests: what a strict API server with these definitions would refuse, and where (pure)."""

from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from aim_api.crds import load_crd
from aim_api.kinds import AIM_GROUP, AIM_KINDS, LEGACY_VERSION
from aim_api.tree import Json, JsonObject, Key, get_map, get_objects, get_str
from aim_schema import FieldError, StructuralSchema
from aim_schema.errors import BLOCKING, REQUIRED, ROOT, TYPE_INVALID
from aim_template_migration.manifests.advice import advice_for, has_field
from aim_template_migration.manifests.kustomizations import patch_files, stated_by_patch
from aim_template_migration.manifests.list_rules import UNKNOWN_KIND, is_aim_kind
from aim_template_migration.manifests.located import ManifestFile, located_objects
from aim_template_migration.manifests.metadata_rules import UNKNOWN_FIELD, metadata_findings
from aim_template_migration.manifests.objects import ObjectPlace, objects_of
from aim_template_migration.manifests.traps import equivalent_of, removed_fields, trap_of
from aim_template_migration.manifests.violations import Level, Validation, Violation, violation_at
from aim_template_migration.manifests.whole_files import file_findings

LEGACY = "LegacyVersion"
PATCH = "KustomizePatch"
_IS_PATCH = "a Kustomization names this a patch, so that only its fields and their types are checked"
_OF_A_PART = (BLOCKING - {REQUIRED}) | {UNKNOWN_FIELD}
"""Reasons that hold of a part of an object, whatever the rest of it is."""

_KINDS = {kind.name: kind for kind in AIM_KINDS}
_ANY_OBJECT: JsonObject = {"type": "object"}
_MOST_JUDGED = 4096
REPLACED = {
    "AIMServiceTemplate": "AIMProfile",
    "AIMClusterServiceTemplate": "AIMClusterProfile",
    "AIMTemplateCache": "spec.caching of the AIMProfile",
}
_LEAST: dict[str, Json] = {"modelSources": [{"modelId": "a/b", "sourceUri": "hf://a/b"}], "customTemplates": [{}]}
"""What is in fields that do not count while they are empty."""
_BESIDE: dict[str, JsonObject] = {"AIMClusterProfile": {"image": "a"}}
"""What a spec must have before the server looks at its rules."""

NOT_CHECKED = (
    "whether what is named exists (profiles, models, configs, Secrets), and whether a selector matches a profile",
    "what may not change on an object that exists already, and what is tolerated there because it was stored before",
    "admission policies, webhooks, quotas and permissions, and what the cluster's own definitions have different",
    "objects of other APIs",
)
"""What no offline validation can know."""


Judgement = tuple[list[str], list[FieldError]]
"""Unknown fields, and what a server refuses otherwise."""


class Definition:
    """One served version of a kind.

    Attributes:
        open_api: its schema.
        schema: the same, compiled.
        reads_metadata: whether the schema or its rules look into the metadata of an object.
        judged: what was found in values, by their JSON.
    """

    def __init__(self, open_api: JsonObject) -> None:
        self.open_api = open_api
        self.schema = StructuralSchema.compile(open_api)
        rules = str(open_api.get("x-kubernetes-validations"))
        self.reads_metadata = get_map(open_api, "properties", "metadata") != _ANY_OBJECT or "metadata" in rules
        self.judged: dict[bytes, Judgement] = {}


def validate_files(files: Sequence[ManifestFile]) -> Validation:
    """Validate the objects of files; of the patches of a Kustomization what can be said of a part."""
    located = located_objects(files)
    patching = patch_files(files, located)
    violations: list[Violation] = []
    objects = others = refused = 0
    for number, file in enumerate(files):
        around = file_findings(file, _misfits)
        found = around.violations
        for place in objects_of(file.manifest):
            if not is_aim_kind(place.value):
                others += 1
                continue
            objects += 1
            own = list(_Object(file, place).violations(part=number in patching))
            found += own
            refused += place.document in around.refused or any(violation.level == "error" for violation in own)
        violations += sorted(found, key=lambda violation: (violation.line, violation.column))
    return Validation(tuple(violations), objects, others, refused)


def _misfits(kind: str, version: str, value: JsonObject) -> list[str] | None:
    """Return what kubectl finds in an object by the definition of a kind: it looks at fields and their types."""
    found = definition(kind, version)
    if found is None:
        return None
    unknown, errors = server_errors(value, found)
    typed = [str(error) for error in errors if error.reason in (REQUIRED, TYPE_INVALID)]
    return [*(f'unknown field "{field}"' for field in unknown if not field.startswith("metadata.")), *typed]


@cache
def definition(kind: str, version: str) -> Definition | None:
    """Return the definition of a kind at a version, None where no definition serves it; compiled once."""
    found = _served(kind).get(version)
    return None if found is None else Definition(found)


@cache
def _served(kind: str) -> dict[str, JsonObject]:
    """Return the schemas of a kind by version."""
    versions = get_objects(load_crd(_KINDS[kind]), "spec", "versions") if kind in _KINDS else []
    return {get_str(version, "name") or "": get_map(version, "schema", "openAPIV3Schema") for version in versions}


@cache
def removal(kind: str, version: str, field: str) -> FieldError | None:
    """Return what a server says to a field that v1alpha2 has no more, by the rule of the definition itself."""
    found = definition(kind, version)
    if found is None:
        return None
    least: Json = _LEAST.get(field, {})
    value: JsonObject = {
        "apiVersion": f"{AIM_GROUP}/{version}",
        "kind": kind,
        "metadata": {"name": "a"},
        "spec": {**_BESIDE.get(kind, {}), field: least},
    }
    _, errors = server_errors(value, found)
    return next((error for error in errors if error.field == f"spec.{field}"), None)


def server_errors(value: JsonObject, found: Definition) -> Judgement:
    """Return the unknown fields of an object, and what a server refuses in it otherwise.

    Objects that differ in nothing but metadata that the schema does not look into are one value, which is judged once.
    """
    apart = not found.reads_metadata and isinstance(value.get("metadata"), dict)
    try:
        key = msgspec.json.encode({**value, "metadata": {}} if apart else value)
    except UnicodeEncodeError:  # half of a surrogate pair
        return _judgement(value, found)
    if key not in found.judged:
        if len(found.judged) >= _MOST_JUDGED:
            found.judged.clear()
        found.judged[key] = _judgement(value, found)
    unknown, errors = found.judged[key]
    return [*unknown], [*errors]


def _judgement(value: JsonObject, found: Definition) -> Judgement:
    """Judge a value; a status is looked through for unknown fields alone, as it is written through its subresource."""
    pruned, unknown = found.schema.prune(value)
    pruned.pop("status", None)
    return unknown, found.schema.validate(found.schema.default(pruned))


class _Object:
    """The validation of one object."""

    def __init__(self, file: ManifestFile, place: ObjectPlace) -> None:
        self._file = file
        self._place = place
        self._value = place.value
        self._kind = get_str(place.value, "kind") or ""
        self._version = (get_str(place.value, "apiVersion") or "").partition("/")[2]

    def violations(self, *, part: bool) -> Iterator[Violation]:
        found = definition(self._kind, self._version)
        if found is None:
            yield self._unserved()
            return
        value = stated_by_patch(self._value) if part else self._value
        for bad in metadata_findings(value):
            if not part or bad.reason in _OF_A_PART:
                yield violation_at(
                    self._file, self._place, bad.path, bad.reason, bad.message, field=bad.field, equivalent=bad.advice
                )
        unknown, errors = server_errors(value, found)
        if part:
            yield self._at("kind", PATCH, _IS_PATCH, "validate what kustomize build gives", level="note")
            errors = [error for error in errors if error.reason in _OF_A_PART]
        for field in unknown:
            if not field.startswith("metadata."):
                advice = advice_for(self._kind, field, found.open_api) or self._of_the_successor(field)
                yield self._at(field, UNKNOWN_FIELD, f'unknown field "{field}"', advice)
        yield from (self._refused(error) for error in errors)
        if self._version != LEGACY_VERSION and (part or any(error.reason in BLOCKING for error in errors)):
            yield from self._removed({error.field for error in errors})
        if self._version == LEGACY_VERSION:
            yield from self._legacy()

    def _legacy(self) -> Iterator[Violation]:
        """Say what a server takes and the profile pipeline replaces."""
        message = f"it is at {LEGACY_VERSION}, which the server takes and calls deprecated"
        if self._kind in REPLACED:
            advice = f"use {REPLACED[self._kind]}; convert does that"
            yield self._at("kind", LEGACY, "it belongs to the template pipeline", advice, level="note")
        elif definition(self._kind, "v1alpha2") is not None:
            yield self._at("apiVersion", LEGACY, message, "rewrite it with convert", level="note")

    def _of_the_successor(self, field: str) -> str:
        """Return what to do about a field that the kind does not have, and the one that replaces it has."""
        successor = REPLACED.get(self._kind, "")
        found = definition(successor, "v1alpha2")
        known = found is not None and has_field(found.open_api, field)
        return f"use {successor}, which has it; convert does that" if known else ""

    def _unserved(self) -> Violation:
        others = list(_served(self._kind))
        advice = f"it is served at {AIM_GROUP}/{' and '.join(others)}" if others else ""
        for field in ("apiVersion", "kind"):
            if not get_str(self._value, field):
                return self._at(field, REQUIRED, f"Required value: {field} not set", advice)
        if definition(self._kind.removesuffix("List"), self._version) is not None:
            return self._at("items", REQUIRED, "Required value: a list has items")
        if self._kind in REPLACED:
            advice = f"use {REPLACED[self._kind]}; convert does that"
        message = f"no matches for kind {self._kind!r} in version {get_str(self._value, 'apiVersion')!r}"
        return self._at("kind", UNKNOWN_KIND, message, advice)

    def _refused(self, error: FieldError) -> Violation:
        field = "" if error.field == ROOT else error.field
        trap = trap_of(self._kind, field, error.message)
        equivalent = equivalent_of(error.message) if trap is not None else ""
        # That rules were not checked is no fault of its own: what keeps them from being checked is named as well.
        level: Level = "note" if not field and "rules were not checked" in error.message else "error"
        return self._at(field, error.reason, error.message, equivalent, trap=trap.row if trap else 0, level=level)

    def _removed(self, named: set[str]) -> Iterator[Violation]:
        """Name what v1alpha2 has no more although the server stops at other faults first."""
        for path in removed_fields(self._kind, self._value):
            field = ".".join(map(str, path))
            error = None if field in named else removal(self._kind, self._version, str(path[-1]))
            if error is not None:
                yield self._refused(error)

    def _at(
        self, field: str, reason: str, message: str, equivalent: str = "", *, trap: int = 0, level: Level = "error"
    ) -> Violation:
        path = resolve_field(self._value, field)
        return violation_at(
            self._file,
            self._place,
            path,
            reason,
            message,
            field=field,
            equivalent=equivalent,
            trap=trap,
            level=level,
        )


def resolve_field(value: Json, field: str) -> tuple[Key, ...]:
    """Return the path that a field of a message means in a value, as far as the value goes.

    Keys may hold dots and brackets, so that the longest key that fits is taken.
    """
    path: list[Key] = []
    rest = field
    while rest:
        rest = rest.removeprefix(".")
        if isinstance(value, list) and rest.startswith("["):
            index, _, rest = rest[1:].partition("]")
            if not index.isdecimal() or int(index) >= len(value):
                break
            path.append(int(index))
            value = value[int(index)]
            continue
        if not isinstance(value, dict):
            break
        bracketed = rest.startswith("[")
        rest = rest[1:] if bracketed else rest
        ends = [place for place, sign in enumerate(rest) if (sign == "]" if bracketed else sign in ".[")]
        fitting = (rest[:end] for end in reversed(ends if bracketed else [*ends, len(rest)]))
        key = next((key for key in fitting if key in value), None)
        if key is None:
            break
        path.append(key)
        value = value[key]
        rest = rest[len(key) + bracketed :]
    return tuple(path)
