"""The type that expressions see for a schema.

A value whose schema says nothing that CEL knows (no type, or a list of such) cannot be named. At the root of an object
only ``metadata.name`` and ``metadata.generateName`` can be read of the metadata.

Source of the rules: seen on a real API server (Kubernetes 1.36).
"""

import base64
import binascii
from collections.abc import Callable, Mapping

from aim_schema import times
from aim_schema.cel import types
from aim_schema.cel.escaping import escape
from aim_schema.cel.failures import CelError
from aim_schema.cel.types import Decode, Field, Type
from aim_schema.nodes import Node

_STRING = Node(type="string")
_METADATA = Node(type="object", properties={"name": _STRING, "generateName": _STRING})


def declare(node: Node, *, root: bool, name: str = "selfType") -> Type | None:
    """Return the type of a schema, or None where expressions cannot see its values.

    Args:
        node: the schema.
        root: whether it is the schema of a whole object, embedded or not.
        name: what messages call the type; types of different places must have different names.
    """
    if node.int_or_string:
        return types.DYN
    if node.type == "array":
        return _list_type(node, name)
    if node.type == "object":
        return _map_type(node, name) if node.additional_node is not None else _object_type(node, name, root=root)
    if node.type == "string":
        return _STRING_FORMATS.get(node.format, types.STRING)
    return {"boolean": types.BOOL, "integer": types.INT, "number": _JSON_DOUBLE}.get(node.type)


def _list_type(node: Node, name: str) -> Type | None:
    element = None if node.items is None else declare(node.items, root=node.items.embedded, name=f"{name}.@idx")
    if element is None:
        return None
    decode = element.decode
    return Type(
        "list",
        (element,),
        list_type="" if node.list_type == "atomic" else node.list_type,
        list_map_keys=node.list_map_keys,
        decode=None if decode is None else _each(decode),
        exact=element.exact and node.list_type in ("", "atomic"),
    )


def _map_type(node: Node, name: str) -> Type | None:
    below = node.additional_node
    assert below is not None
    value = declare(below, root=below.embedded, name=f"{name}.@elem")
    if value is None:
        return None
    decode = value.decode
    return Type("map", (types.STRING, value), decode=None if decode is None else _values(decode), exact=value.exact)


def _object_type(node: Node, name: str, *, root: bool) -> Type:
    properties = _with_type_meta(node.properties) if root else node.properties
    fields: dict[str, Field] = {}
    visible = True
    for key, below in properties.items():
        field_type = declare(below, root=below.embedded, name=f"{name}.{key}")
        escaped = escape(key)
        if field_type is None or escaped is None:
            visible = False
        else:
            fields[escaped] = Field(key, field_type, below)
    decoders = {field.key: field.type.decode for field in fields.values() if field.type.decode is not None}
    return Type(
        name,
        fields=fields,
        decode=_properties(decoders) if decoders else None,
        exact=visible and not node.preserve_unknown and not root and all(each.type.exact for each in fields.values()),
    )


def _with_type_meta(properties: Mapping[str, Node]) -> dict[str, Node]:
    metadata = properties.get("metadata")
    named = metadata is not None and {"name", "generateName"} <= metadata.properties.keys()
    return {
        **properties,
        "apiVersion": _STRING,
        "kind": _STRING,
        "metadata": metadata if named and metadata is not None else _METADATA,
    }


def _each(decode: Decode) -> Decode:
    return lambda value: [decode(item) for item in value] if isinstance(value, list) else value


def _values(decode: Decode) -> Decode:
    return lambda value: {key: decode(item) for key, item in value.items()} if isinstance(value, dict) else value


def _properties(decoders: Mapping[str, Decode]) -> Decode:
    def decode(value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {key: decoders[key](item) if key in decoders else item for key, item in value.items()}

    return decode


def _double(value: object) -> object:
    return float(value) if type(value) is int else value


def _parsed(parse: Callable[[str], object], failure: str) -> Decode:
    def decode(value: object) -> object:
        if not isinstance(value, str):
            return value
        parsed = parse(value)
        if parsed is None:
            raise CelError(f"{failure} {value}")
        return parsed

    return decode


def _date_time(text: str) -> times.Timestamp | None:
    return times.parse_timestamp(text, zone_required=False) if text else times.Timestamp(0)


def _byte_string(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None


_JSON_DOUBLE = Type("double", decode=_double, exact=True)
_STRING_FORMATS = {
    "duration": Type(types.DURATION.name, decode=_parsed(times.parse_format_duration, "Invalid duration")),
    "date": Type(types.TIMESTAMP.name, decode=_parsed(times.parse_date, "Invalid date formatted string")),
    "date-time": Type(types.TIMESTAMP.name, decode=_parsed(_date_time, "Invalid date-time formatted string")),
    "byte": Type("bytes", decode=_parsed(_byte_string, "Invalid byte formatted string")),
}
