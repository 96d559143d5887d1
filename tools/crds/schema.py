"""Constructors of structural OpenAPI v3 schemas, as apiextensions.k8s.io/v1 wants them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from aim_api.tree import Json, JsonObject, get_list

Schema = JsonObject

# FieldValueDuplicate is left out: the API server shows no message with it.
Reason = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired"]
INVALID: Reason = "FieldValueInvalid"
FORBIDDEN: Reason = "FieldValueForbidden"
REQUIRED: Reason = "FieldValueRequired"

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


class Shared(dict[str, Json]):
    """A schema that is written once per file, under an anchor, however often it is used there."""

    def __init__(self, anchor: str, schema: Schema) -> None:
        """Name ``schema`` for the file."""
        super().__init__(schema)
        self.anchor = anchor


@dataclass(frozen=True, slots=True)
class Rule:
    """One CEL rule of ``x-kubernetes-validations``.

    Attributes:
        cel: the expression; true means that the object is fine.
        message: names the field, the reason and what to write instead.
        field: where the error is reported, relative to the schema that has the rule, for example ``.spec.template``.
        reason: the type of the error, which also sets its wording ("Forbidden: ...", "Required value: ...").
    """

    cel: str
    message: str
    field: str = ""
    reason: Reason = INVALID

    def schema(self) -> JsonObject:
        """Return the rule as the API server reads it."""
        written: JsonObject = {"rule": self.cel, "message": self.message}
        if "oldSelf.hasValue()" in self.cel:
            written["optionalOldSelf"] = True
        if self.field:
            written["fieldPath"] = self.field
        if self.reason != INVALID:
            written["reason"] = self.reason
        return written


def present(path: str) -> str:
    """Return CEL that is true where ``path``, as in ``self.spec.profile.name``, is present.

    Every step is guarded, since a dereference of an absent field is an error. ``spec`` itself is not: the kinds whose
    object-level rules read it require it.
    """
    parts = path.split(".")
    start = 2 if parts[1] == "spec" else 1
    steps = [".".join(parts[: end + 1]) for end in range(start, len(parts))]
    return " && ".join(f"has({step})" for step in steps)


def filled(path: str) -> str:
    """Return CEL that is true where the string or list at ``path`` is present and not empty."""
    return f"{present(path)} && size({path}) > 0"


def ratcheted(violation: str) -> str:
    """Return CEL that refuses ``violation`` unless the stored object has it already.

    Objects that an earlier version stored must stay updatable, by their status writers too.
    """
    stored = violation.replace("self.", "oldSelf.value().")
    return f"!({violation}) || (oldSelf.hasValue() && {stored})"


def with_rules(schema: Schema, *rules: Rule) -> Schema:
    """Return a copy of ``schema`` with further CEL rules."""
    return {**schema, "x-kubernetes-validations": [*get_list(schema, "x-kubernetes-validations"), *_written(rules)]}


def immutable(schema: Schema, name: str, advice: str = "") -> Schema:
    """Return a copy of ``schema`` whose value cannot be changed, though it can be added and removed.

    The rule is a transition rule on the field itself, so it is asked only where the field exists before and after.
    """
    message = f"{name} is immutable once set" + (f": {advice}" if advice else "")
    return with_rules(schema, Rule("self == oldSelf", message))


def described(schema: Schema, description: str) -> Schema:
    """Return a copy of ``schema`` with another description."""
    return {"description": description, **{key: value for key, value in schema.items() if key != "description"}}


def string(
    description: str = "",
    *,
    enum: Sequence[str] = (),
    default: str | None = None,
    pattern: str = "",
    min_length: int | None = None,
    max_length: int | None = None,
) -> Schema:
    """Return the schema of a string."""
    return _scalar(
        "string",
        description,
        default=default,
        enum=[*enum] or None,
        minLength=min_length,
        maxLength=max_length,
        pattern=pattern or None,
    )


def date_time(description: str = "") -> Schema:
    """Return the schema of an RFC 3339 time."""
    return _scalar("string", description, format="date-time")


def integer(
    description: str = "",
    *,
    bits: int | None = 32,
    default: int | None = None,
    enum: Sequence[int] = (),
    minimum: int | None = None,
    maximum: int | None = None,
) -> Schema:
    """Return the schema of an integer; ``bits`` None leaves its size open."""
    return _scalar(
        "integer",
        description,
        format=f"int{bits}" if bits else None,
        default=default,
        enum=[*enum] or None,
        minimum=minimum,
        maximum=maximum,
    )


def boolean(description: str = "", *, default: bool | None = None) -> Schema:
    """Return the schema of a boolean."""
    return _scalar("boolean", description, default=default)


def quantity(description: str = "") -> Schema:
    """Return the schema of a Kubernetes quantity: an integer, or a string such as ``40Gi``."""
    return {
        **({"description": description} if description else {}),
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": QUANTITY,
        "x-kubernetes-int-or-string": True,
    }


def any_json(description: str = "") -> Schema:
    """Return the schema of a field that takes any JSON value."""
    return {**({"description": description} if description else {}), "x-kubernetes-preserve-unknown-fields": True}


def mapping(values: Schema, description: str = "") -> Schema:
    """Return the schema of a map from strings to ``values``."""
    return {**_scalar("object", description), "additionalProperties": values}


def array(
    items: Schema,
    description: str = "",
    *,
    keys: Sequence[str] = (),
    list_type: Literal["", "set", "atomic"] = "",
    min_items: int | None = None,
    max_items: int | None = None,
) -> Schema:
    """Return the schema of a list; ``keys`` make it a map whose items are told apart by these fields."""
    schema = _scalar("array", description, minItems=min_items, maxItems=max_items)
    schema["items"] = items
    if keys:
        schema["x-kubernetes-list-map-keys"] = [*keys]
    if keys or list_type:
        schema["x-kubernetes-list-type"] = "map" if keys else list_type
    return schema


def obj(
    properties: Mapping[str, Schema],
    description: str = "",
    *,
    required: Sequence[str] = (),
    rules: Sequence[Rule] = (),
    atomic: bool = False,
    keeps_unknown: bool = False,
) -> Schema:
    """Return the schema of an object; ``keeps_unknown`` also stores fields that it does not name."""
    schema = _scalar("object", description)
    if properties:
        schema["properties"] = dict(properties)
    if required:
        schema["required"] = [*required]
    if atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    if keeps_unknown:
        schema["x-kubernetes-preserve-unknown-fields"] = True
    if rules:
        schema["x-kubernetes-validations"] = _written(rules)
    return schema


def _written(rules: Sequence[Rule]) -> list[Json]:
    return [rule.schema() for rule in rules]


def _scalar(type_name: str, description: str, **details: Json) -> Schema:
    schema: Schema = {"description": description} if description else {}
    schema["type"] = type_name
    schema.update({key: value for key, value in details.items() if value is not None})
    return schema
