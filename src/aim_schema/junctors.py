"""``allOf``, ``anyOf``, ``oneOf`` and ``not`` in a structural schema: they restrict values and define nothing.

Source of the rules: seen on a real API server (Kubernetes 1.36).
"""

from collections.abc import Iterator

from aim_schema import errors
from aim_schema.errors import FieldError
from aim_schema.nodes import Node


def junctor_complaints(node: Node, path: str) -> Iterator[FieldError]:
    """Yield what the junctors at and below a schema define although they may not."""
    for where, part in _parts(node, path):
        if not _is_int_or_string(node, part, where, path):
            yield from _definitions(part, where)
    if node.items is not None:
        yield from junctor_complaints(node.items, f"{path}.items")
    for key, below in node.properties.items():
        yield from junctor_complaints(below, f"{path}.properties[{key}]")
    if node.additional_node is not None:
        yield from junctor_complaints(node.additional_node, f"{path}.additionalProperties")


def _parts(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    for keyword, parts in (("allOf", node.all_of), ("anyOf", node.any_of), ("oneOf", node.one_of)):
        for index, part in enumerate(parts):
            yield f"{path}.{keyword}[{index}]", part
    if node.negated is not None:
        yield f"{path}.not", node.negated


def _is_int_or_string(node: Node, part: Node, where: str, path: str) -> bool:
    """Return whether a part says "integer or string" in one of the two places where that is allowed."""
    if where.startswith(f"{path}.anyOf"):
        return _spells_out(node.any_of)
    return where == f"{path}.allOf[0]" and _spells_out(part.any_of) and part.type == ""


def _spells_out(alternatives: tuple[Node, ...]) -> bool:
    return [each.type for each in alternatives] == ["integer", "string"]


def _definitions(part: Node, path: str) -> Iterator[FieldError]:
    """Yield everything in a part of a junctor that only the schema around it may say."""
    extensions = {
        "x-kubernetes-preserve-unknown-fields": (part.preserve_unknown, "must be false to be structural"),
        "x-kubernetes-embedded-resource": (part.embedded, "must be false to be structural"),
        "x-kubernetes-int-or-string": (part.int_or_string, "must be false to be structural"),
        "x-kubernetes-list-map-keys": (bool(part.list_map_keys), "must be empty to be structural"),
        "x-kubernetes-list-type": (bool(part.list_type), "must be undefined to be structural"),
        "x-kubernetes-map-type": (bool(part.map_type), "must be undefined to be structural"),
        "x-kubernetes-validations": (bool(part.rules), "must be empty to be structural"),
    }
    generics = {
        "type": (bool(part.type), "must be empty to be structural"),
        "additionalProperties": (part.additional is not None, "must be undefined to be structural"),
        "default": (part.default is not None, "must be undefined to be structural"),
        "nullable": (part.nullable, "must be false to be structural"),
    }
    for keyword, (present, detail) in (generics | extensions).items():
        if present:
            yield errors.forbidden(f"{path}.{keyword}", detail)
    if "metadata" in part.properties:
        yield errors.forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")
    for where, inner in _parts(part, path):
        yield from _definitions(inner, where)
    for key, below in part.properties.items():
        yield from _definitions(below, f"{path}.properties[{key}]")
    if part.items is not None:
        yield from _definitions(part.items, f"{path}.items")


def missing_definitions(node: Node, path: str) -> Iterator[FieldError]:
    """Yield what the junctors of a schema restrict although the schema does not define it."""
    for where, part in _parts(node, path):
        yield from _missing(part, node, where, path)


def _missing(part: Node, node: Node, where: str, path: str) -> Iterator[FieldError]:
    """Yield what a part of a junctor restricts although the schema around it does not define it."""
    for nested, inner in _parts(part, where):
        yield from _missing(inner, node, nested, path)
    for key, below in part.properties.items():
        defined = node.properties.get(key)
        if defined is None:
            detail = f"because it is defined in {where}.properties[{key}]"
            yield errors.required(f"{path}.properties[{key}]", detail)
        else:
            yield from _missing(below, defined, f"{where}.properties[{key}]", f"{path}.properties[{key}]")
    if part.items is not None:
        if node.items is None:
            yield errors.required(f"{path}.items", f"because it is defined in {where}.items")
        else:
            yield from _missing(part.items, node.items, f"{where}.items", f"{path}.items")
