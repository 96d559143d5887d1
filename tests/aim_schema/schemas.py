"""Schemas that a real API server refuses, each for one thing, and some near them that it accepts."""

from aim_api.tree import Json, JsonObject

TEXT: JsonObject = {"type": "string"}


def with_spec(spec: JsonObject, **root: Json) -> JsonObject:
    """Return a schema whose ``spec`` is the given one."""
    return {"type": "object", "properties": {"spec": spec}, **root}


def with_field(field: JsonObject) -> JsonObject:
    """Return a schema whose ``spec.a`` is the given one."""
    return with_spec({"type": "object", "properties": {"a": field}})


def rule(text: str, field: JsonObject | None = None, **more: Json) -> JsonObject:
    """Return a schema with one rule on ``spec.a``."""
    entry: JsonObject = {"rule": text, **more}
    return with_field({**(field or {"type": "string", "maxLength": 9}), "x-kubernetes-validations": [entry]})


def items(schema: JsonObject, **more: Json) -> JsonObject:
    """Return a list's schema."""
    return {"type": "array", "items": schema, "maxItems": 5, **more}


def keyed(properties: JsonObject, *keys: Json, **more: Json) -> JsonObject:
    """Return the schema of a list of type map."""
    list_type: JsonObject = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}
    return items({"type": "object", "properties": properties, **more}, **list_type)


SCHEMAS: dict[str, JsonObject] = {
    "no type at the root": {"properties": {}},
    "a list at the root": {"type": "array", "items": TEXT},
    "nullable root": {"type": "object", "nullable": True},
    "additionalProperties at the root": {"type": "object", "additionalProperties": TEXT},
    "no type of a field": with_field({}),
    "no type of an item": with_field({"type": "array", "items": {}}),
    "no type of a map's values": with_field({"type": "object", "additionalProperties": {}}),
    "a list without items": with_field({"type": "array"}),
    "an unknown type": with_field({"type": "text"}),
    "type null": with_field({"type": "null"}),
    "properties and additionalProperties": with_spec(
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXT}
    ),
    "uniqueItems": with_field({"type": "array", "items": TEXT, "uniqueItems": True}),
    "pattern with look-ahead": with_field({"type": "string", "pattern": "(?=a)"}),
    "pattern with a back-reference": with_field({"type": "string", "pattern": r"(a)\1"}),
    "pattern never closed": with_field({"type": "string", "pattern": "[a"}),
    "good pattern": with_field({"type": "string", "pattern": r"^\pL[[:alnum:]]+(?i)x\z"}),
    "int-or-string that preserves": with_field(
        {"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True}
    ),
    "int-or-string spelled out": with_field(
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
    ),
    "int-or-string in allOf": with_field(
        {
            "x-kubernetes-int-or-string": True,
            "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "a"}],
        }
    ),
    "int-or-string the other way round": with_field(
        {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "string"}, {"type": "integer"}]}
    ),
    "preserve false": with_field({"type": "object", "x-kubernetes-preserve-unknown-fields": False}),
    "embedded string": with_field({"type": "string", "x-kubernetes-embedded-resource": True}),
    "embedded without properties": with_field({"type": "object", "x-kubernetes-embedded-resource": True}),
    "embedded with additionalProperties": with_field(
        {"type": "object", "x-kubernetes-embedded-resource": True, "additionalProperties": TEXT}
    ),
    "metadata with labels": with_spec(TEXT)
    | {"properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}},
    "metadata with a name": {
        "type": "object",
        "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}},
    },
    "metadata of type string": {"type": "object", "properties": {"metadata": TEXT}},
    "kind of type integer": {"type": "object", "properties": {"kind": {"type": "integer"}}},
    "default in metadata": {
        "type": "object",
        "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "default": "x"}}}},
    },
    "type in anyOf": with_spec({"type": "object", "properties": {"a": TEXT}, "anyOf": [{"type": "object"}]}),
    "default in oneOf": with_spec(
        {"type": "object", "properties": {"a": TEXT}, "oneOf": [{"properties": {"a": {"default": "x"}}}]}
    ),
    "nullable in not": with_spec({"type": "object", "properties": {"a": TEXT}, "not": {"nullable": True}}),
    "additionalProperties in allOf": with_spec(
        {"type": "object", "properties": {"a": TEXT}, "allOf": [{"additionalProperties": {"maxLength": 3}}]}
    ),
    "undefined property in anyOf": with_spec(
        {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"properties": {"b": {"maxLength": 3}}}]}
    ),
    "undefined items in anyOf": with_spec(
        {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"properties": {"a": {"items": {"maxLength": 3}}}}]}
    ),
    "rules in allOf": with_spec(
        {
            "type": "object",
            "properties": {"a": TEXT},
            "allOf": [{"x-kubernetes-validations": [{"rule": "true"}]}],
        }
    ),
    "list type of a string": with_field({"type": "string", "x-kubernetes-list-type": "set"}),
    "unknown list type": with_field(items(TEXT, **{"x-kubernetes-list-type": "bag"})),
    "map type of a string": with_field({"type": "string", "x-kubernetes-map-type": "atomic"}),
    "unknown map type": with_field({"type": "object", "x-kubernetes-map-type": "loose"}),
    "set of granular objects": with_field(
        items({"type": "object", "properties": {"a": TEXT}}, **{"x-kubernetes-list-type": "set"})
    ),
    "set of sets": with_field(
        items(items(TEXT, **{"x-kubernetes-list-type": "set"}), **{"x-kubernetes-list-type": "set"})
    ),
    "set of nullables": with_field(items({**TEXT, "nullable": True}, **{"x-kubernetes-list-type": "set"})),
    "keys without list type": with_field(
        items({"type": "object", "properties": {"n": TEXT}}, **{"x-kubernetes-list-map-keys": ["n"]})
    ),
    "list map without keys": with_field(keyed({"n": TEXT}, required=["n"])),
    "list map of strings": with_field(
        items(TEXT, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"]})
    ),
    "list map with an unknown key": with_field(keyed({"n": TEXT}, "m", required=["n"])),
    "list map with a key twice": with_field(keyed({"n": TEXT}, "n", "n", required=["n"])),
    "list map with an optional key": with_field(keyed({"n": TEXT}, "n")),
    "list map with a default key": with_field(keyed({"n": {**TEXT, "default": "x"}}, "n")),
    "list map with an object key": with_field(keyed({"n": {"type": "object"}}, "n", required=["n"])),
    "list map with a nullable key": with_field(keyed({"n": {**TEXT, "nullable": True}}, "n", required=["n"])),
    "default of a wrong type": with_field({"type": "string", "default": 1}),
    "default out of bounds": with_field({"type": "integer", "minimum": 5, "default": 1}),
    "default with an unknown field": with_field({"type": "object", "properties": {"b": TEXT}, "default": {"c": "x"}}),
    "default that breaks an inner bound": with_field(
        {"type": "object", "properties": {"b": {"type": "string", "maxLength": 1}}, "default": {"b": "xx"}}
    ),
    "default that breaks a rule": rule(
        "self != 'x'", {"type": "string", "maxLength": 9, "default": "x"}, message="no x"
    ),
    "default of a list with a bad item": with_field(items(TEXT, default=["a", 1])),
    "empty rule": rule(" "),
    "rule with an undefined field": rule("self.b == 1", {"type": "object", "properties": {"c": TEXT}}),
    "rule that is no bool": rule("self"),
    "rule that does not parse": rule("self =="),
    "rule of several lines": rule("self == 'a' ||\nself == 'b'"),
    "rule of several lines with a message": rule("self == 'a' ||\nself == 'b'", message="a or b"),
    "message of several lines": rule("self == 'a'", message="a\nb"),
    "blank message": rule("self == 'a'", message=" "),
    "blank message expression": rule("self == 'a'", messageExpression=" "),
    "message expression that is no string": rule("self == 'a'", messageExpression="1"),
    "message expression with an undefined name": rule("self == 'a'", messageExpression="foo"),
    "unknown reason": rule("self == 'a'", reason="Because"),
    "unknown field path": rule("has(self.c)", {"type": "object", "properties": {"c": TEXT}}, fieldPath=".d"),
    "field path into a map": rule(
        "self.size() > 0",
        {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string", "maxLength": 5}},
        fieldPath=".d",
    ),
    "optionalOldSelf without oldSelf": rule("self == 'a'", optionalOldSelf=True),
    "optionalOldSelf": rule("oldSelf.orValue('') == self", optionalOldSelf=True),
    "optional method without optionalOldSelf": rule("oldSelf.hasValue()"),
    "transition rule in an atomic list": with_field(
        items({"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]})
    ),
    "transition rule in a set": with_field(
        items(
            {"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
            **{"x-kubernetes-list-type": "set"},
        )
    ),
    "transition rule in a list map": with_field(
        keyed(
            {
                "n": {"type": "string", "maxLength": 5},
                "v": {"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]},
            },
            "n",
            required=["n"],
        )
    ),
    "rule on preserved unknown data": rule("self == 'a'", {"x-kubernetes-preserve-unknown-fields": True}),
    "rule that reads labels": with_spec(TEXT, **{"x-kubernetes-validations": [{"rule": "has(self.metadata.labels)"}]}),
    "several complaints": with_spec(
        {
            "type": "object",
            "properties": {
                "a": {"type": "array"},
                "b": {"type": "string", "pattern": "["},
                "c": {"type": "string", "x-kubernetes-validations": [{"rule": "self ==="}]},
            },
        }
    ),
}
