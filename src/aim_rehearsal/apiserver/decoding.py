"""Request bodies as JSON values, with the duplicate fields that strict decoding names."""

import json
import math
import re
from collections.abc import Hashable, Iterator
from decimal import Decimal
from typing import ClassVar, Final

import yaml
import yaml.scanner

from aim_api.tree import Json, JsonObject
from aim_rehearsal.apiserver.go_json import go_complaint, go_kind

_LONG_INTEGER: Final = re.compile(rb"[0-9]{19}")
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_MAX_LONG: Final = 2**63 - 1
_MAX_ENCODABLE: Final = 2**64 - 1
_GO_MAP: Final = "map[string]interface {}"
_Pairs = list[tuple[str, Json]]


class DecodeError(ValueError):
    """A body that is no JSON or YAML document."""


class _Loader(yaml.CSafeLoader):
    """YAML as the API server reads it: ``y`` is true, timestamps stay strings, repeated keys are noted."""

    repeated: list[str]
    bool_values: ClassVar[dict[str, bool]] = {**yaml.CSafeLoader.bool_values, "y": True, "n": False}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:  # noqa: FBT001, FBT002
        """Build a mapping, and note the keys that come twice in it."""
        seen: set[object] = set()
        for key, _ in node.value:
            name = self.construct_object(key)
            if isinstance(name, Hashable) and name in seen:
                shown = f'"{name}"' if isinstance(name, str) else json.dumps(name)
                self.repeated.append(f"line {key.start_mark.line + 1}: key {shown} already set in map")
            seen.add(name if isinstance(name, Hashable) else id(key))
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}

_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^[yYnN]$"), list("yYnN"))


def decode_json(body: bytes) -> tuple[Json, list[str]]:
    """Return the value of a JSON body and the paths of fields that it gives twice; the last one counts, as in Go.

    Raises:
        DecodeError: the body is no JSON that Go's decoder takes.
    """
    repeated = False

    def build(pairs: _Pairs) -> Json:
        nonlocal repeated
        built = dict(pairs)
        repeated = repeated or len(built) != len(pairs)
        return built

    integer = _integer if _LONG_INTEGER.search(body) else None
    try:
        value: Json = json.loads(
            body, object_pairs_hook=build, parse_constant=_constant, parse_float=_number, parse_int=integer
        )
        if _SURROGATE.search(body):
            value = _printable(value)
        return value, list(_repeated_fields(body)) if repeated else []
    except RecursionError:
        if body.lstrip()[:1] == b"[":
            raise DecodeError(f"json: cannot unmarshal array into Go value of type {_GO_MAP}") from None
        raise DecodeError("exceeded max depth") from None
    except ValueError as error:
        raise DecodeError(go_complaint(error)) from None


def decode_yaml(body: bytes) -> tuple[Json, list[str]]:
    """Return the value of a body that is YAML or, more often, JSON, and what strict decoding says about it.

    Raises:
        DecodeError: the body is neither.
    """
    if body.lstrip()[:1] in (b"{", b"["):
        value, repeated = decode_json(body)
        return value, [f'duplicate field "{path}"' for path in repeated]
    loader = _Loader(body)
    loader.repeated = []
    try:
        read = loader.get_single_data()
        value, _ = decode_json(json.dumps(read, allow_nan=False).encode())
    except yaml.MarkedYAMLError as error:
        raise DecodeError(f"yaml: {_where(error)}{error.problem}") from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise DecodeError(f"yaml: {error}".replace("\n", " ")) from None
    finally:
        loader.dispose()
    return value, loader.repeated


def _where(error: yaml.MarkedYAMLError) -> str:
    """Return the line of an error as Go's YAML reader counts it: from 0 in the parser, from 1 in the scanner."""
    marks = [mark.line for mark in (error.context_mark, error.problem_mark) if mark is not None and mark.line]
    if not marks:
        return ""
    return f"line {marks[0] + isinstance(error, yaml.scanner.ScannerError)}: "


def decode_object(body: bytes, *, as_yaml: bool = False) -> tuple[JsonObject, list[str]]:
    """Return the object of a body and what strict decoding says about fields that come twice.

    Raises:
        DecodeError: the body is no object.
    """
    if as_yaml:
        value, repeated = decode_yaml(body)
    else:
        value, paths = decode_json(body)
        repeated = [f'duplicate field "{path}"' for path in paths]
    if not isinstance(value, dict):
        raise DecodeError(f"json: cannot unmarshal {go_kind(value)} into Go value of type {_GO_MAP}")
    return value, repeated


def _constant(text: str) -> Json:
    raise ValueError(f"invalid character {text[0]!r} looking for beginning of value")


def _number(text: str) -> Json:
    """Read a fraction; one without a fractional part is an integer, as it is once Go has written and read it."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return int(value) if value.is_integer() and abs(value) <= _MAX_LONG else value


def _integer(text: str) -> Json:
    """Read a long integer; beyond 64 bits Go makes it a float and writes its shortest digits."""
    value = int(text)
    return value if -_MAX_LONG - 1 <= value <= _MAX_LONG else _shortest(float(value))


def _shortest(value: float) -> Json:
    return int(Decimal(repr(value))) if abs(value) <= _MAX_ENCODABLE else value


def _printable(value: Json) -> Json:
    """Replace lone surrogates, which no answer could carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, dict):
        return {str(_printable(key)): _printable(item) for key, item in value.items()}
    return value


class _Object:
    """An object with its fields as written, so that repeated ones can be named."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        self.pairs = pairs


def _repeated_fields(body: bytes) -> Iterator[str]:
    yield from _walk(json.loads(body, object_pairs_hook=_Object), "")


def _walk(value: object, path: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, f"{path}[{index}]")
    if isinstance(value, _Object):
        seen: set[str] = set()
        for key, item in value.pairs:
            below = f"{path}.{key}" if path else key
            if key in seen:
                yield below
            seen.add(key)
            yield from _walk(item, below)
