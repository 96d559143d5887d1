"""What value validation finds, in the words of the API server's OpenAPI validator."""

from collections.abc import Sequence
from dataclasses import dataclass

from aim_api.tree import Json
from aim_schema import errors, gotext
from aim_schema.errors import FieldError
from aim_schema.paths import Path, field_of, value_name


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding.

    Attributes:
        owner: the value whose equality with its old value excuses the finding (ratcheting).
        text: the validator's own sentence; findings with the same sentence are one.
        error: the cause to report.
    """

    owner: Path
    text: str
    error: FieldError


def wrong_type(path: Path, expected: str, actual: str) -> Problem:
    """A value of another JSON type, or a string that does not have its format."""
    name = value_name(path)
    text = f"{name} in body must be of type {expected}: {gotext.quote(actual)}"
    return Problem(path, text, errors.type_invalid(field_of(name), actual, text))


def required(path: Path, key: str) -> Problem:
    """A required key that is absent."""
    name = f"{value_name(path)}.{key}"
    return Problem(path, f"{name} in body is required", errors.required(field_of(name)))


def not_supported(path: Path, value: Json, supported: Sequence[Json]) -> Problem:
    """A value that is not one of an enum."""
    name = value_name(path)
    return Problem(
        path, f"{name} in body should be one of the enum", errors.not_supported(field_of(name), value, supported)
    )


def forbidden_property(path: Path, key: str) -> Problem:
    """A key where ``additionalProperties`` is false."""
    name = value_name(path)
    text = f"{name}.{key} in body is a forbidden property"
    return Problem(path, text, errors.invalid(field_of(name), key, text))


def too_long(path: Path, limit: int) -> Problem:
    """A string of too many characters."""
    name = value_name(path)
    return Problem(path, f"{name} in body should be at most {limit} chars long", errors.too_long(field_of(name), limit))


def too_many(path: Path, actual: int, limit: int, what: str) -> Problem:
    """A list of too many items, or a map of too many properties."""
    name = value_name(path)
    return Problem(
        path, f"{name} in body should have at most {limit} {what}", errors.too_many(field_of(name), actual, limit)
    )


def unfit(path: Path, value: Json, demand: str) -> Problem:
    """A value that breaks a bound or a pattern; ``demand`` says what it should be."""
    name = value_name(path)
    text = f"{name} in body should {demand}"
    return Problem(path, text, errors.invalid(field_of(name), value, text))


def bad_factor(path: Path, factor: float) -> Problem:
    """A ``multipleOf`` that is not positive once it is cut to an integer, as it is for integers."""
    name = value_name(path)
    text = f"factor MultipleOf declared for {name} must be positive: {gotext.number(factor)}"
    return Problem(path, text, errors.invalid(field_of(name), factor, text))


def whole(path: Path, text: str) -> Problem:
    """A finding that the API server attaches to the whole object, although it names a value."""
    return Problem(path, text, errors.invalid(errors.ROOT, "", text))
