"""Keywords of a CRD's schema: which are supported, and what their values must be.

Source of the rules: seen on a real API server (Kubernetes 1.36).
"""

from collections.abc import Iterator

from aim_api.tree import JsonObject, get_list, get_map, get_str
from aim_rehearsal.apiserver.structural import errors
from aim_rehearsal.apiserver.structural.errors import FieldError
from aim_rehearsal.apiserver.structural.fieldpaths import normalized
from aim_rehearsal.apiserver.structural.nodes import META_FIELDS, parse

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_REASONS = (errors.DUPLICATE, errors.FORBIDDEN, errors.INVALID, errors.REQUIRED)


def keyword_complaints(schema: JsonObject, path: str, *, forbidden_default: str = "") -> Iterator[FieldError]:
    """Yield keywords that are not supported or contradict each other, at and below a schema.

    Args:
        schema: the schema.
        path: its path, for complaints.
        forbidden_default: why there may be no default, where that is so.
    """
    kind = get_str(schema, "type") or ""
    if kind == "null":
        yield errors.forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    elif kind and kind not in _TYPES:
        yield errors.not_supported(f"{path}.type", kind, _TYPES)
    if schema.get("default") is not None and forbidden_default:
        yield errors.forbidden(f"{path}.default", forbidden_default)
    for keyword in _UNSUPPORTED:
        if schema.get(keyword):
            yield errors.forbidden(f"{path}.{keyword}", f"{keyword} is not supported")
    if isinstance(schema.get("items"), list):
        yield errors.forbidden(f"{path}.items", "items must be a schema object and not an array")
    if schema.get("uniqueItems") is True:
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield errors.forbidden(f"{path}.uniqueItems", detail)
    if schema.get("additionalProperties") not in (None, True) and get_map(schema, "properties"):
        detail = "additionalProperties and properties are mutual exclusive"
        yield errors.forbidden(f"{path}.additionalProperties", detail)
    yield from _extensions(schema, kind, path)
    for index, entry in enumerate(get_list(schema, "x-kubernetes-validations")):
        if isinstance(entry, dict):
            yield from _rule(schema, entry, f"{path}.x-kubernetes-validations[{index}]")
    for below, where, forbidden in _subschemas(schema, path, forbidden_default):
        yield from keyword_complaints(below, where, forbidden_default=forbidden)


def _subschemas(schema: JsonObject, path: str, forbidden: str) -> Iterator[tuple[JsonObject, str, str]]:
    is_root = path.endswith("openAPIV3Schema")
    for keyword in ("additionalProperties", "not", "items"):
        below = schema.get(keyword)
        if isinstance(below, dict):
            yield below, f"{path}.{keyword}", forbidden
    for key, below in get_map(schema, "properties").items():
        if isinstance(below, dict):
            in_meta = f"must not be set in top-level {key}" if is_root and key in META_FIELDS else forbidden
            yield below, f"{path}.properties[{key}]", in_meta
    for keyword in ("allOf", "oneOf", "anyOf"):
        for index, below in enumerate(get_list(schema, keyword)):
            if isinstance(below, dict):
                yield below, f"{path}.{keyword}[{index}]", forbidden


def _extensions(schema: JsonObject, kind: str, path: str) -> Iterator[FieldError]:
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        where = f"{path}.x-kubernetes-preserve-unknown-fields"
        yield errors.invalid(where, value=False, detail="must be true or undefined")
    for keyword, wanted, allowed in (
        ("x-kubernetes-map-type", "object", ("atomic", "granular")),
        ("x-kubernetes-list-type", "array", ("atomic", "set", "map")),
    ):
        value = get_str(schema, keyword)
        if value is not None and kind != wanted:
            detail = f"must be {wanted} if {keyword} is specified"
            yield errors.invalid(f"{path}.type", kind, detail) if kind else errors.required(f"{path}.type", detail)
        if value is not None and value not in allowed:
            yield errors.not_supported(f"{path}.{keyword}", value, allowed)
    list_type, items = get_str(schema, "x-kubernetes-list-type") or "", get_map(schema, "items")
    if list_type == "set":
        yield from _set_items(items, f"{path}.items")
    yield from _list_map(schema, list_type, items, path)
    if list_type in ("set", "map") and items.get("nullable") is True:
        detail = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        yield errors.forbidden(f"{path}.items.nullable", detail)


def _set_items(items: JsonObject, path: str) -> Iterator[FieldError]:
    detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
    inner = items.get("x-kubernetes-list-type")
    if items.get("type") == "array" and inner not in (None, "atomic"):
        yield errors.invalid(f"{path}.x-kubernetes-list-type", inner, detail)
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        yield errors.invalid(f"{path}.x-kubernetes-map-type", inner, detail)


def _list_map(schema: JsonObject, list_type: str, items: JsonObject, path: str) -> Iterator[FieldError]:
    keys = get_list(schema, "x-kubernetes-list-map-keys")
    if keys and list_type != "map":
        where, detail = f"{path}.x-kubernetes-list-type", "must be map if x-kubernetes-list-map-keys is non-empty"
        yield errors.invalid(where, list_type, detail) if list_type else errors.required(where, detail)
    if list_type != "map":
        return
    keys_path = f"{path}.x-kubernetes-list-map-keys"
    if not keys:
        yield errors.required(keys_path, "must not be empty if x-kubernetes-list-type is map")
    if items.get("type") != "object":
        detail = "must be object if parent array's x-kubernetes-list-type is map"
        yield errors.invalid(f"{path}.items.type", items.get("type") or "", detail)
        return
    if len({str(key) for key in keys}) < len(keys):
        yield errors.invalid(keys_path, keys, "must not contain duplicate entries")
    for key in keys:
        below = get_map(items, "properties").get(str(key))
        if not isinstance(below, dict):
            yield errors.invalid(keys_path, keys, "entries must all be names of item properties")
        else:
            yield from _list_map_key(below, str(key), items, path)


def _list_map_key(below: JsonObject, key: str, items: JsonObject, path: str) -> Iterator[FieldError]:
    where = f"{path}.items.properties[{key}]"
    listed = "this property is in x-kubernetes-list-map-keys, so it"
    if below.get("type") in ("array", "object"):
        detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
        yield errors.invalid(f"{where}.type", items.get("type"), detail)
    if key not in get_list(items, "required") and below.get("default") is None:
        yield errors.required(f"{where}.default", f"{listed} must have a default or be a required property")
    if below.get("nullable") is True:
        yield errors.forbidden(f"{where}.nullable", f"{listed} cannot be nullable")


def _rule(schema: JsonObject, entry: JsonObject, path: str) -> Iterator[FieldError]:
    rule = {key: get_str(entry, key) or "" for key in ("rule", "message", "messageExpression", "reason", "fieldPath")}
    trimmed = {key: text.strip() for key, text in rule.items()}
    if not trimmed["rule"]:
        yield errors.required(f"{path}.rule", "rule is not specified")
    elif rule["message"] and not trimmed["message"]:
        yield errors.invalid(f"{path}.message", rule["message"], "must be non-empty if specified")
    elif "\n" in trimmed["message"]:
        yield errors.invalid(f"{path}.message", rule["message"], "must not contain line breaks")
    elif "\n" in trimmed["rule"] and not trimmed["message"]:
        yield errors.required(f"{path}.message", "message must be specified if rule contains line breaks")
    if rule["messageExpression"] and not trimmed["messageExpression"]:
        yield errors.required(f"{path}.messageExpression", "messageExpression must be non-empty if specified")
    if rule["reason"] and rule["reason"] not in _REASONS:
        yield errors.not_supported(f"{path}.reason", rule["reason"], _REASONS)
    if rule["fieldPath"] and not trimmed["fieldPath"]:
        yield errors.invalid(f"{path}.fieldPath", rule["fieldPath"], "must be non-empty if specified")
    if "\n" in rule["fieldPath"]:
        yield errors.invalid(f"{path}.fieldPath", rule["fieldPath"], "must not contain line breaks")
    if rule["fieldPath"] and normalized(rule["fieldPath"], parse(schema)) is None:
        yield errors.invalid(f"{path}.fieldPath", rule["fieldPath"], "must be a valid path")
