"""Values of another type than their schema's, which only an update that leaves them as they are can have."""

from aim_schema.nodes import Node

_EXPECTED: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "expected string, got {}"),
    "integer": ((int,), "expected int, got {}"),
    "number": ((int, float), "expected float, got {}"),
    "boolean": ((bool,), "expected bool, got {}"),
    "object": ((dict,), "expected a map for the provided schema with type=object"),
    "array": ((list,), "expected an array for the provided schema with type=array"),
}
_INT_OR_STRING = ((int, str), "expected XIntOrString value to be either a string or integer")
_GO_TYPES: dict[type, str] = {
    str: "string",
    int: "int64",
    float: "float64",
    bool: "bool",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def expected_types(node: Node) -> tuple[type, ...]:
    """Return the Python types that values of a schema have; none where any will do."""
    return _INT_OR_STRING[0] if node.int_or_string else _EXPECTED.get(node.type, ((), ""))[0]


def mismatch(value: object, node: Node) -> str:
    """Return what the API server says of a value of a wrong type."""
    words = _INT_OR_STRING[1] if node.int_or_string else _EXPECTED[node.type][1]
    return "invalid data, " + words.format(_GO_TYPES.get(type(value), "nil"))
