"""CustomResourceDefinitions: defaults and status of the definition itself, and the resource that it defines."""

from collections.abc import Iterator
from functools import lru_cache

from aim_api.tree import Json, JsonObject, get_bool, get_int, get_list, get_map, get_objects, get_str, leaves
from aim_rehearsal.apiserver.columns import CUSTOM_AGE, NAME
from aim_rehearsal.apiserver.decoding import decode_object
from aim_rehearsal.apiserver.errors import quoted
from aim_rehearsal.apiserver.jsonpath import JsonPathError, compile_path
from aim_rehearsal.apiserver.messages import encode
from aim_rehearsal.apiserver.resources import CUSTOM_VERBS, Column, Resource, ServedVersion, version_maturity
from aim_rehearsal.apiserver.times import age
from aim_schema import FieldError, SchemaError, StructuralSchema

CRD_COLLECTION = "customresourcedefinitions.apiextensions.k8s.io"
_STORED_TEXT = (
    "missing from spec.versions; {0} was previously a storage version, and must remain in spec.versions until a "
    "storage migration ensures no data remains persisted in {0} and removes {0} from status.storedVersions"
)
CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_CONDITION_FIELDS: JsonObject = {
    key: {} for key in (".", "f:lastTransitionTime", "f:message", "f:reason", "f:status", "f:type")
}


def with_crd_defaults(crd: JsonObject) -> JsonObject:
    """Return a definition with the fields that the server fills: names, conversion."""
    spec = get_map(crd, "spec")
    names = get_map(spec, "names")
    kind = get_str(names, "kind") or ""
    filled = {"singular": kind.lower(), "listKind": f"{kind}List", **names} if kind else names
    defaults: JsonObject = {"conversion": {"strategy": "None"}}
    return {**crd, "spec": {**defaults, **spec, "names": filled}}


def unestablished(crd: JsonObject) -> JsonObject:
    """Return the status of a definition that was just created."""
    nobody: JsonObject = {"plural": "", "kind": ""}
    storage = _storage_version(crd)
    stored: list[Json] = [storage] if storage else []
    return {"conditions": None, "acceptedNames": nobody, "storedVersions": stored}


def with_stored_version(crd: JsonObject) -> JsonObject:
    """Return the status of a definition with its storage version among the stored ones."""
    status, storage = get_map(crd, "status"), _storage_version(crd)
    stored = get_list(status, "storedVersions")
    return {**status, "storedVersions": [*stored, *([storage] if storage not in stored else [])]}


def established(crd: JsonObject, moment: str) -> JsonObject:
    """Return a definition whose names were accepted, which the server does right after its creation."""
    accepted: JsonObject = get_map(crd, "spec", "names")
    conditions: list[Json] = [
        condition("NamesAccepted", "NoConflicts", "no conflicts found", moment),
        condition("Established", "InitialNamesAccepted", "the initial names have been accepted", moment),
    ]
    status: JsonObject = {**get_map(crd, "status"), "conditions": conditions, "acceptedNames": accepted}
    by_type = {f'k:{{"type":"{kind}"}}': _CONDITION_FIELDS for kind in ("Established", "NamesAccepted")}
    fields: JsonObject = {
        "f:status": {"f:acceptedNames": {f"f:{key}": {} for key in accepted}, "f:conditions": {**by_type}}
    }
    entry: JsonObject = {
        "manager": "kube-apiserver",
        "operation": "Update",
        "apiVersion": "apiextensions.k8s.io/v1",
        "time": moment,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "subresource": "status",
    }
    metadata = get_map(crd, "metadata")
    managed = [*get_list(metadata, "managedFields"), entry]
    return {**crd, "metadata": {**metadata, "managedFields": managed}, "status": status}


def terminating(crd: JsonObject, moment: str) -> JsonObject:
    """Return a definition that waits for its objects to be deleted."""
    message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    conditions = [item for item in get_list(crd, "status", "conditions") if get_str(item, "type") != "Terminating"]
    conditions.append(condition("Terminating", "InstanceDeletionPending", message, moment))
    return {**crd, "status": {**get_map(crd, "status"), "conditions": conditions}}


def check_crd_change(crd: JsonObject, old: JsonObject) -> list[FieldError]:
    """Return which changes of a definition are refused: of group and scope, and the loss of stored versions."""
    problems = []
    for key in ("group", "scope"):
        value = get_str(crd, "spec", key) or ""
        if value != get_str(old, "spec", key):
            why = f"Invalid value: {quoted(value)}: field is immutable"
            problems.append(FieldError("FieldValueInvalid", f"spec.{key}", why))
    listed = [get_str(item, "name") for item in get_objects(crd, "spec", "versions")]
    for index, version in enumerate(get_list(old, "status", "storedVersions")):
        if version not in listed:
            why = f"Invalid value: {quoted(str(version))}: {_STORED_TEXT.format(version)}"
            problems.append(FieldError("FieldValueInvalid", f"status.storedVersions[{index}]", why))
    return problems


def check_crd(crd: JsonObject) -> list[FieldError]:
    """Return what is wrong with a definition, as far as it matters here."""
    return list(_problems(crd))


def _problems(crd: JsonObject) -> Iterator[FieldError]:
    spec = get_map(crd, "spec")
    name, wanted = (
        get_str(crd, "metadata", "name") or "",
        f"{get_str(spec, 'names', 'plural')}.{get_str(spec, 'group')}",
    )
    if name != wanted:
        why = 'must be spec.names.plural+"."+spec.group'
        yield FieldError("FieldValueInvalid", "metadata.name", f"Invalid value: {quoted(name)}: {why}")
    for path in (("group",), ("scope",), *(("names", key) for key in ("plural", "singular", "kind", "listKind"))):
        if not get_str(spec, *path):
            yield FieldError("FieldValueRequired", f"spec.{'.'.join(path)}", "Required value")
    versions = get_objects(spec, "versions")
    if not any(version.get("storage") is True for version in versions):
        why = "Invalid value: null: must have at least one stored version"
        stored = [FieldError("FieldValueInvalid", "status.storedVersions", why)]
    else:
        stored = []
    if sum(version.get("storage") is True for version in versions) != 1:
        shown = encode([*versions] or None).decode().strip()
        why = f"Invalid value: {shown}: must have exactly one version marked as storage version"
        yield FieldError("FieldValueInvalid", "spec.versions", why)
    for index, version in enumerate(versions):
        path_text = f"spec.versions[{index}].schema.openAPIV3Schema"
        if not get_map(version, "schema", "openAPIV3Schema"):
            yield FieldError("FieldValueRequired", path_text, "Required value")
            continue
        try:
            _compile_version(version, "")
        except SchemaError as error:
            yield from error.complaints
        except JsonPathError as error:
            yield FieldError("FieldValueInvalid", path_text, f"Invalid value: {error}")
    yield from stored


def define(crd: JsonObject) -> Resource:
    """Return the resource that an accepted definition serves.

    Raises:
        SchemaError: the schema is not structural; `check_crd` reports this beforehand.
    """
    spec = get_map(crd, "spec")
    names = get_map(spec, "names")
    group, kind, plural = (get_str(spec, "group") or "", get_str(names, "kind") or "", get_str(names, "plural") or "")
    listed = get_objects(spec, "versions")
    served = [_compile_version(item, _deprecation(item, listed, group, kind)) for item in listed if item.get("served")]
    subresources = {name for item in listed for name in get_map(item, "subresources")}
    outlines = [_outline(get_map(item, "schema", "openAPIV3Schema")) for item in listed]
    return Resource(
        group=group,
        kind=kind,
        plural=plural,
        singular=get_str(names, "singular") or kind.lower(),
        namespaced=get_str(spec, "scope") == "Namespaced",
        versions={version.name: version for version in sorted(served, key=lambda item: version_maturity(item.name))},
        storage_version=_storage_version(crd),
        short_names=tuple(str(item) for item in get_list(names, "shortNames")),
        categories=tuple(str(item) for item in get_list(names, "categories")),
        subresources=frozenset(subresources & {"status"}),
        custom=True,
        verbs=CUSTOM_VERBS,
        tracks_generation=True,
        list_kind=get_str(names, "listKind") or f"{kind}List",
        same_trees=all(outline == outlines[0] for outline in outlines),
    )


def _storage_version(crd: JsonObject) -> str:
    versions = get_objects(crd, "spec", "versions")
    return next((get_str(item, "name") or "" for item in versions if item.get("storage") is True), "")


def _deprecation(version: JsonObject, listed: list[JsonObject], group: str, kind: str) -> str:
    """Return the warning of a deprecated version; it names the preferred of the newer ones that are not."""
    if not get_bool(version, "deprecated"):
        return ""
    name = get_str(version, "name") or ""
    fresh = [get_str(item, "name") or "" for item in listed if item.get("served") and not item.get("deprecated")]
    newer = sorted((item for item in fresh if version_maturity(item) < version_maturity(name)), key=version_maturity)
    advice = f"; use {group}/{newer[0]} {kind}" if newer else ""
    return get_str(version, "deprecationWarning") or f"{group}/{name} {kind} is deprecated{advice}"


def _compile_version(version: JsonObject, deprecation: str) -> ServedVersion:
    name = get_str(version, "name") or ""
    schema = get_map(version, "schema", "openAPIV3Schema")
    columns = tuple(_column(item) for item in get_objects(version, "additionalPrinterColumns"))
    fields = get_objects(version, "selectableFields")
    return ServedVersion(
        name,
        schema,
        _compiled(encode(schema)),
        (NAME, *columns) if columns else (NAME, CUSTOM_AGE),
        deprecation,
        tuple((get_str(item, "jsonPath") or "").removeprefix(".") for item in fields),
        ruled=any("x-kubernetes-validations" in path for path, _ in leaves(schema)),
    )


@lru_cache(maxsize=64)
def _compiled(schema: bytes) -> StructuralSchema:
    """Compile a schema once for the check of its definition, for serving it, and for every server of the process."""
    return StructuralSchema.compile(decode_object(schema)[0])


def _column(spec: JsonObject) -> Column:
    kind = get_str(spec, "type") or "string"
    path = get_str(spec, "jsonPath") or ""
    find = compile_path(path)

    def cell(value: JsonObject) -> Json:
        found = find(value)
        return _cell(kind, found[0]) if found else None

    return Column(
        get_str(spec, "name") or "",
        cell,
        kind,
        get_str(spec, "format") or "",
        get_int(spec, "priority") or 0,
        get_str(spec, "description") or f"Custom resource definition column (in JSONPath format): {path}",
    )


def _cell(kind: str, value: Json) -> Json:
    if kind == "string":
        if isinstance(value, bool):
            return "true" if value else "false"
        return encode(value).decode().strip() if isinstance(value, dict | list) else "" if value is None else str(value)
    if kind == "date":
        return age(value) if isinstance(value, str) else None
    wanted: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "boolean": (bool,)}
    fits = isinstance(value, wanted.get(kind, ())) and (kind == "boolean") == isinstance(value, bool)
    return value if fits else None


def _outline(schema: Json) -> Json:
    """Return which fields a schema knows, without their constraints, so that versions can be compared."""
    if not isinstance(schema, dict):
        return schema
    outline: JsonObject = {}
    properties = get_map(schema, "properties")
    if properties:
        outline["properties"] = {key: _outline(properties[key]) for key in sorted(properties)}
    for key in ("items", "additionalProperties"):
        if key in schema:
            outline[key] = _outline(schema[key])
    for key in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
        if schema.get(key):
            outline[key] = True
    return outline


def condition(kind: str, reason: str, message: str, moment: str) -> JsonObject:
    """Return a true condition."""
    return {"type": kind, "status": "True", "lastTransitionTime": moment, "reason": reason, "message": message}
