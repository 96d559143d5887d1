"""A CRD's schema as typed nodes: what the API server keeps of an OpenAPI v3 schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aim_api.tree import Json, JsonObject, get_bool, get_int, get_list, get_map, get_str

META_FIELDS = frozenset({"apiVersion", "kind", "metadata"})
"""Fields of every object that a schema needs not name."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of ``x-kubernetes-validations``."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool | None = None

    @property
    def trimmed_message(self) -> str:
        """The message as it is reported."""
        return self.message.strip()

    @property
    def shown(self) -> str:
        """What stands for the rule in messages: its message, else its text."""
        return self.trimmed_message if self.message else self.rule.strip()


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on numbers, strings, lists and maps; None where there is none."""

    minimum: float | None = None
    exclusive_minimum: bool = False
    maximum: float | None = None
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One schema. Absent parts are empty; nodes are compared by identity.

    Attributes:
        default: None also stands for no default, as for the API server.
        additional: the schema of ``additionalProperties``, its boolean form, or None where it is absent.
    """

    type: str = ""
    format: str = ""
    nullable: bool = False
    default: Json = None
    properties: Mapping[str, "Node"] = field(default_factory=dict)
    additional: "Node | bool | None" = None
    items: "Node | None" = None
    required: tuple[str, ...] = ()
    enum: tuple[Json, ...] = ()
    pattern: str = ""
    limits: Limits = Limits()
    all_of: tuple["Node", ...] = ()
    any_of: tuple["Node", ...] = ()
    one_of: tuple["Node", ...] = ()
    negated: "Node | None" = None
    preserve_unknown: bool = False
    embedded: bool = False
    int_or_string: bool = False
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    rules: tuple[Rule, ...] = ()

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types that value validation accepts; empty where any is accepted."""
        if self.int_or_string:
            return ("integer", "string")
        return (self.type,) if self.type else ()

    @property
    def additional_node(self) -> "Node | None":
        """The schema of further keys, where there is one."""
        return self.additional if isinstance(self.additional, Node) else None

    def below(self, key: str) -> "Node | None":
        """Return the schema of the value at ``key`` of an object."""
        return self.properties.get(key) or self.additional_node


def parse(schema: JsonObject) -> Node:
    """Return the nodes of an OpenAPI v3 schema. Parts of an unexpected shape are read as absent."""
    return Node(
        type=get_str(schema, "type") or "",
        format=get_str(schema, "format") or "",
        nullable=get_bool(schema, "nullable") or False,
        default=schema.get("default"),
        properties={key: parse(item) for key, item in get_map(schema, "properties").items() if isinstance(item, dict)},
        additional=_additional(schema.get("additionalProperties")),
        items=_child(schema, "items"),
        required=_strings(schema, "required"),
        enum=tuple(get_list(schema, "enum")),
        pattern=get_str(schema, "pattern") or "",
        limits=_limits(schema),
        all_of=_children(schema, "allOf"),
        any_of=_children(schema, "anyOf"),
        one_of=_children(schema, "oneOf"),
        negated=_child(schema, "not"),
        preserve_unknown=get_bool(schema, "x-kubernetes-preserve-unknown-fields") or False,
        embedded=get_bool(schema, "x-kubernetes-embedded-resource") or False,
        int_or_string=get_bool(schema, "x-kubernetes-int-or-string") or False,
        list_type=get_str(schema, "x-kubernetes-list-type") or "",
        list_map_keys=_strings(schema, "x-kubernetes-list-map-keys"),
        map_type=get_str(schema, "x-kubernetes-map-type") or "",
        rules=tuple(_rule(item) for item in get_list(schema, "x-kubernetes-validations") if isinstance(item, dict)),
    )


def _additional(value: Json) -> Node | bool | None:
    if isinstance(value, dict):
        return parse(value)
    return value if isinstance(value, bool) else None


def _child(schema: JsonObject, key: str) -> Node | None:
    value = schema.get(key)
    return parse(value) if isinstance(value, dict) else None


def _children(schema: JsonObject, key: str) -> tuple[Node, ...]:
    return tuple(parse(item) for item in get_list(schema, key) if isinstance(item, dict))


def _strings(schema: JsonObject, key: str) -> tuple[str, ...]:
    return tuple(item for item in get_list(schema, key) if isinstance(item, str))


def _number(schema: JsonObject, key: str) -> float | None:
    value = schema.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _limits(schema: JsonObject) -> Limits:
    return Limits(
        minimum=_number(schema, "minimum"),
        exclusive_minimum=get_bool(schema, "exclusiveMinimum") or False,
        maximum=_number(schema, "maximum"),
        exclusive_maximum=get_bool(schema, "exclusiveMaximum") or False,
        multiple_of=_number(schema, "multipleOf"),
        min_length=get_int(schema, "minLength"),
        max_length=get_int(schema, "maxLength"),
        min_items=get_int(schema, "minItems"),
        max_items=get_int(schema, "maxItems"),
        min_properties=get_int(schema, "minProperties"),
        max_properties=get_int(schema, "maxProperties"),
    )


def _rule(entry: JsonObject) -> Rule:
    return Rule(
        rule=get_str(entry, "rule") or "",
        message=get_str(entry, "message") or "",
        message_expression=get_str(entry, "messageExpression") or "",
        reason=get_str(entry, "reason") or "",
        field_path=get_str(entry, "fieldPath") or "",
        optional_old_self=get_bool(entry, "optionalOldSelf"),
    )
