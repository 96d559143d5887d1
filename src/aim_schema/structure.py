"""What the API server demands of a CRD's schema before it accepts it.

Source of the rules: seen on a real API server (Kubernetes 1.36). Its limits on the cost of CEL rules are left out.
"""

from collections.abc import Iterator

from aim_api.tree import JsonObject
from aim_schema import errors
from aim_schema.errors import FieldError
from aim_schema.junctors import junctor_complaints, missing_definitions
from aim_schema.keywords import keyword_complaints
from aim_schema.nodes import Node
from aim_schema.re2 import PatternError, compile_pattern

_EMPTY_TYPE = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}


def complaints(schema: JsonObject, root: Node, path: str) -> list[FieldError]:
    """Return what is wrong with a schema, without its rules' expressions and its defaults' values."""
    found = [*_invariants(root, "root", path), *junctor_complaints(root, path), *missing_definitions(root, path)]
    found.sort(key=str)
    if root.nullable:
        found.append(errors.forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    return [*found, *keyword_complaints(schema, root, path)]


def _invariants(node: Node, level: str, path: str) -> Iterator[FieldError]:
    """Yield breaches of the shape that makes a schema structural."""
    if node.type == "array" and node.items is None:
        yield errors.required(f"{path}.items", "must be specified")
    if node.items is not None:
        yield from _invariants(node.items, "item", f"{path}.items")
    for key, below in node.properties.items():
        yield from _invariants(below, "field", f"{path}.properties[{key}]")
    if node.additional is not None and level == "root":
        yield errors.forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if node.additional_node is not None:
        yield from _invariants(node.additional_node, "field", f"{path}.additionalProperties")
    if node.int_or_string:
        yield from _int_or_string(node, path)
    if node.pattern:
        yield from _pattern(node.pattern, path)
    yield from _type(node, level, path)
    if level == "root" or node.embedded:
        yield from _meta_fields(node, level, path)
    if node.embedded and not node.preserve_unknown and not node.properties:
        detail = (
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        )
        yield errors.required(f"{path}.properties", detail)


def _int_or_string(node: Node, path: str) -> Iterator[FieldError]:
    contradicting = {"preserve-unknown-fields": node.preserve_unknown, "embedded-resource": node.embedded}
    for name, present in contradicting.items():
        if present:
            detail = "must be false if x-kubernetes-int-or-string is true"
            yield errors.invalid(f"{path}.x-kubernetes-{name}", value=True, detail=detail)


def _pattern(pattern: str, path: str) -> Iterator[FieldError]:
    try:
        compile_pattern(pattern)
    except PatternError as error:
        detail = f"must be a valid regular expression, but isn't: {error}"
        yield errors.invalid(f"{path}.pattern", pattern, detail)


def _type(node: Node, level: str, path: str) -> Iterator[FieldError]:
    where = f"{path}.type"
    if node.embedded and node.type != "object":
        detail = "must be object if x-kubernetes-embedded-resource is true"
        yield errors.invalid(where, node.type, detail) if node.type else errors.required(where, detail)
    elif not node.type and not node.int_or_string and not node.preserve_unknown:
        yield errors.required(where, _EMPTY_TYPE[level])
    if node.embedded and node.additional is not None:
        detail = "must not be used if x-kubernetes-embedded-resource is set"
        yield errors.forbidden(f"{path}.additionalProperties", detail)
    if level == "root" and node.type not in ("", "object"):
        yield errors.invalid(where, node.type, "must be object at the root")


def _meta_fields(node: Node, level: str, path: str) -> Iterator[FieldError]:
    for key in ("kind", "apiVersion"):
        below = node.properties.get(key)
        if below is not None and below.type != "string":
            yield errors.invalid(f"{path}.properties[{key}].type", below.type, "must be string")
    metadata = node.properties.get("metadata")
    if metadata is None:
        return
    where = f"{path}.properties[metadata]"
    if metadata.type != "object":
        yield errors.invalid(f"{where}.type", metadata.type, "must be object")
    more = metadata.properties.keys() - {"name", "generateName"} or metadata.required or metadata.rules
    if level == "root" and (more or metadata.additional is not None or metadata.preserve_unknown):
        detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield errors.forbidden(where, detail)
