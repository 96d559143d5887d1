"""Keywords of a CRD's schema: which are supported, and what their values must be.

Source of the rules: seen on a real API server (Kubernetes 1.36).
"""

from collections.abc import Iterator

from aim_api.tree import JsonObject, get_list, get_map, get_objects, get_str
from aim_schema import errors
from aim_schema.errors import FieldError
from aim_schema.fieldpaths import normalized
from aim_schema.nodes import META_FIELDS, Node, Rule

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_META_PATHS = {f".properties[{name}]": name for name in META_FIELDS}
_REASONS = (errors.DUPLICATE, errors.FORBIDDEN, errors.INVALID, errors.REQUIRED)


def keyword_complaints(
    schema: JsonObject, node: Node, path: str, *, forbidden_default: str = ""
) -> Iterator[FieldError]:
    """Yield keywords that are not supported or contradict each other, at and below a schema.

    Args:
        schema: the schema.
        node: the same schema as a node.
        path: its path, for complaints.
        forbidden_default: why there may be no default, where that is so.
    """
    if node.type == "null":
        yield errors.forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    if node.type and node.type not in _TYPES:
        yield errors.not_supported(f"{path}.type", node.type, _TYPES)
    if node.default is not None and forbidden_default:
        yield errors.forbidden(f"{path}.default", forbidden_default)
    yield from _unsupported(schema, path)
    yield from _extensions(schema, node.type, path)
    for index, rule in enumerate(node.rules):
        yield from _rule(rule, node, f"{path}.x-kubernetes-validations[{index}]")
    for below, part, where in _subschemas(schema, node, path):
        in_meta = path.endswith("openAPIV3Schema") and where.removeprefix(path) in _META_PATHS
        forbidden = f"must not be set in top-level {_META_PATHS[where.removeprefix(path)]}" if in_meta else ""
        yield from keyword_complaints(below, part, where, forbidden_default=forbidden or forbidden_default)


def _unsupported(schema: JsonObject, path: str) -> Iterator[FieldError]:
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


def _subschemas(schema: JsonObject, node: Node, path: str) -> Iterator[tuple[JsonObject, Node, str]]:
    single = {"additionalProperties": node.additional_node, "not": node.negated, "items": node.items}
    for keyword, part in single.items():
        if part is not None:
            yield get_map(schema, keyword), part, f"{path}.{keyword}"
    for key, part in node.properties.items():
        yield get_map(schema, "properties", key), part, f"{path}.properties[{key}]"
    for keyword, parts in {"allOf": node.all_of, "oneOf": node.one_of, "anyOf": node.any_of}.items():
        for index, (below, part) in enumerate(zip(get_objects(schema, keyword), parts, strict=True)):
            yield below, part, f"{path}.{keyword}[{index}]"


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


def _rule(rule: Rule, node: Node, path: str) -> Iterator[FieldError]:
    text, message = rule.rule.strip(), rule.trimmed_message
    if not text:
        yield errors.required(f"{path}.rule", "rule is not specified")
    elif rule.message and not message:
        yield errors.invalid(f"{path}.message", rule.message, "must be non-empty if specified")
    elif "\n" in message:
        yield errors.invalid(f"{path}.message", rule.message, "must not contain line breaks")
    elif "\n" in text and not message:
        yield errors.required(f"{path}.message", "message must be specified if rule contains line breaks")
    if rule.message_expression and not rule.message_expression.strip():
        yield errors.required(f"{path}.messageExpression", "messageExpression must be non-empty if specified")
    if rule.reason and rule.reason not in _REASONS:
        yield errors.not_supported(f"{path}.reason", rule.reason, _REASONS)
    if rule.field_path and not rule.field_path.strip():
        yield errors.invalid(f"{path}.fieldPath", rule.field_path, "must be non-empty if specified")
    if "\n" in rule.field_path:
        yield errors.invalid(f"{path}.fieldPath", rule.field_path, "must not contain line breaks")
    if rule.field_path and normalized(rule.field_path, node) is None:
        yield errors.invalid(f"{path}.fieldPath", rule.field_path, "must be a valid path")
