"""Findings in the API server's words: one cause of a 422 answer, and the complaints about a schema.

Source of the wording: seen on a real API server (Kubernetes 1.36).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aim_api.tree import Json
from aim_schema import gotext

ROOT = "<nil>"
"""What the API server writes for the field of a finding that concerns the whole object."""

INVALID = "FieldValueInvalid"
REQUIRED = "FieldValueRequired"
NOT_SUPPORTED = "FieldValueNotSupported"
TYPE_INVALID = "FieldValueTypeInvalid"
DUPLICATE = "FieldValueDuplicate"
FORBIDDEN = "FieldValueForbidden"
TOO_LONG = "FieldValueTooLong"
TOO_MANY = "FieldValueTooMany"

BLOCKING = frozenset({NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})
"""Reasons after which the API server does not run CEL rules."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One cause of a 422 answer.

    Attributes:
        reason: the cause's reason, such as ``FieldValueInvalid``.
        field: the path of the field, such as ``spec.env[1]``; ``<nil>`` for the whole object.
        message: the cause's message, without the field before it.
    """

    reason: str
    field: str
    message: str

    def __str__(self) -> str:
        """Return the finding as it stands in the message of a Status object."""
        return f"{self.field}: {self.message}"


class SchemaError(Exception):
    """A schema that the API server would refuse.

    Attributes:
        complaints: every complaint, in the API server's order and words where it has any.
    """

    def __init__(self, complaints: Sequence[FieldError]) -> None:
        super().__init__(aggregate(complaints))
        self.complaints = tuple(complaints)


def aggregate(errors: Iterable[FieldError]) -> str:
    """Return findings as one text, as the message of a Status joins them: duplicates once, several in brackets."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    return texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"


def invalid(field: str, value: Json, detail: str) -> FieldError:
    """Return ``Invalid value: <value>: <detail>``."""
    return FieldError(INVALID, field, f"Invalid value: {gotext.rejected(value)}: {detail}")


def invalid_without_value(field: str, detail: str) -> FieldError:
    """Return ``Invalid value: <detail>``, as CEL rules on objects and lists are reported."""
    return FieldError(INVALID, field, f"Invalid value: {detail}")


def type_invalid(field: str, value: Json, detail: str) -> FieldError:
    """Return a finding about a value of a wrong type or format."""
    return FieldError(TYPE_INVALID, field, f"Invalid value: {gotext.rejected(value)}: {detail}")


def required(field: str, detail: str = "") -> FieldError:
    """Return ``Required value``."""
    return FieldError(REQUIRED, field, f"Required value: {detail}" if detail else "Required value")


def forbidden(field: str, detail: str) -> FieldError:
    """Return ``Forbidden: <detail>``."""
    return FieldError(FORBIDDEN, field, f"Forbidden: {detail}" if detail else "Forbidden")


def duplicate(field: str, value: Json) -> FieldError:
    """Return ``Duplicate value: <value>``."""
    return FieldError(DUPLICATE, field, f"Duplicate value: {gotext.rejected(value)}")


def not_supported(field: str, value: Json, supported: Sequence[Json]) -> FieldError:
    """Return ``Unsupported value: <value>: supported values: …``."""
    names = [item if isinstance(item, str) else gotext.json_text(item) for item in supported]
    listed = ", ".join(gotext.quote(name) for name in names)
    return FieldError(NOT_SUPPORTED, field, f"Unsupported value: {gotext.rejected(value)}: supported values: {listed}")


def too_long(field: str, limit: int) -> FieldError:
    """Return ``Too long: may not be more than <limit> bytes`` (characters are counted; the server says bytes)."""
    return FieldError(TOO_LONG, field, f"Too long: may not be more than {limit} byte{'' if limit == 1 else 's'}")


def too_many(field: str, actual: int, limit: int) -> FieldError:
    """Return ``Too many: <actual>: must have at most <limit> items``."""
    return FieldError(TOO_MANY, field, f"Too many: {actual}: must have at most {limit} item{'' if limit == 1 else 's'}")
