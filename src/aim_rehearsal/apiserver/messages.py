"""The request and response values of the API core, so that it needs no socket."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import msgspec
import yaml

from aim_api.tree import Json

JSON_TYPE = "application/json"
_sorted = msgspec.json.Encoder(order="deterministic")


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request.

    Attributes:
        method: the HTTP method in upper case.
        target: path and query as the client sent them.
        headers: header values by lower-case name.
        body: the whole body, after transfer decoding.
        source: the client's address, for the audit log.
    """

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    source: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response.

    Attributes:
        status: the HTTP status code.
        headers: header names and values in sending order; length and connection headers are the shell's.
        body: the whole body, unless ``stream`` is set.
        stream: the chunks of a watch; an empty chunk asks the shell to look whether the client is still there.
        declared_length: the Content-Length to send instead of the body's own, for a truncated answer.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = (("Content-Type", JSON_TYPE),)
    body: bytes = b""
    stream: Iterator[bytes] | None = None
    declared_length: int | None = None

    def json(self) -> Json:
        """Return the decoded body.

        Raises:
            msgspec.DecodeError: the body is no JSON.
        """
        decoded: Json = msgspec.json.decode(self.body)
        return decoded

    def header(self, name: str) -> str | None:
        """Return the first header of that name, compared without case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def with_headers(self, *extra: tuple[str, str]) -> "Response":
        """Return this response with more headers."""
        return replace(self, headers=(*self.headers, *extra))


def json_response(status: int, value: Json) -> Response:
    """Return a response that carries ``value`` as JSON."""
    return Response(status, body=encode(value))


def as_yaml(response: Response) -> Response:
    """Return a JSON response as YAML."""
    if response.stream is not None or response.header("Content-Type") != JSON_TYPE:
        return response
    text = yaml.dump(response.json(), Dumper=yaml.CSafeDumper, default_flow_style=False, allow_unicode=True)
    headers = tuple((name, "application/yaml" if value == JSON_TYPE else value) for name, value in response.headers)
    return replace(response, headers=headers, body=text.encode())


def text_response(status: int, text: str) -> Response:
    """Return a plain-text response."""
    return Response(status, (("Content-Type", "text/plain; charset=utf-8"),), text.encode())


def encode_sorted(value: Json) -> bytes:
    """Return ``value`` as compact JSON with sorted fields."""
    return _sorted.encode(value)


def encode(value: Json) -> bytes:
    """Return ``value`` as compact JSON with a final newline, as kube-apiserver writes it."""
    return msgspec.json.encode(value) + b"\n"
