"""A plain HTTP client for one identity, which adds nothing to and hides nothing of what the server says."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

import urllib3

from aim_api.tree import Json, JsonObject, get_str

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class UnexpectedAnswerError(AssertionError):
    """The server's answer is not the one that the caller relies on; the message shows request and answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said to one request."""

    request: str
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> Json:
        """The body, which must be JSON."""
        parsed: Json = json.loads(self.content)
        return parsed

    @property
    def object(self) -> JsonObject:
        """The body, which must be a JSON object."""
        body = self.body
        if not isinstance(body, dict):
            raise UnexpectedAnswerError(f"{self}: not an object")
        return body

    @property
    def reason(self) -> str | None:
        """The reason of a Status body, as in ``AlreadyExists``."""
        return get_str(self.body, "reason")

    def expect(self, *statuses: int) -> Self:
        """Return this answer, or fail if its status code is none of ``statuses``."""
        if self.status not in statuses:
            raise UnexpectedAnswerError(f"{self}: expected {' or '.join(str(status) for status in statuses)}")
        return self

    def __str__(self) -> str:
        """Return request, status code and the beginning of the body."""
        return f"{self.request} -> {self.status} {self.content[:2000].decode(errors='replace')}"


class Client:
    """Sends single requests with one bearer token, or with none; never repeats one and follows no redirect."""

    def __init__(self, url: str, ca_file: Path, token: str | None) -> None:
        """Verify the server by ``ca_file`` alone; ``token`` None is an anonymous client."""
        self._url = url
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._pool = urllib3.PoolManager(ca_certs=str(ca_file), retries=False, maxsize=16, timeout=60)

    def request(
        self,
        method: str,
        path: str,
        body: Json | bytes = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = JSON,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request; ``body`` None sends none, and bytes are sent as they are."""
        target = f"{path}?{urlencode(query)}" if query else path
        sent = dict(self._headers)
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if content is not None:
            sent["Content-Type"] = content_type
        sent.update(headers or {})
        response = self._pool.request(method, f"{self._url}{target}", body=content, headers=sent, redirect=False)
        return Answer(f"{method} {target}", response.status, response.headers, response.data)

    @contextmanager
    def stream(
        self, path: str, *, query: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[Iterator[Json]]:
        """Read one path whose answer does not end, such as a watch: the value of each line as it comes."""
        target = f"{path}?{urlencode(query)}" if query else path
        sent = {**self._headers, **(headers or {})}
        response = self._pool.request("GET", f"{self._url}{target}", headers=sent, preload_content=False)
        try:
            if response.status != 200:
                raise UnexpectedAnswerError(
                    f"{Answer(f'GET {target}', response.status, response.headers, response.read())}"
                )
            yield (json.loads(line) for line in _lines(response))
        finally:
            response.close()

    def get(self, path: str, *, query: Mapping[str, str] | None = None) -> Answer:
        """Read one path."""
        return self.request("GET", path, query=query)

    def post(self, path: str, body: Json, *, query: Mapping[str, str] | None = None) -> Answer:
        """Create below a collection's path."""
        return self.request("POST", path, body, query=query)

    def put(self, path: str, body: Json, *, query: Mapping[str, str] | None = None) -> Answer:
        """Replace one object."""
        return self.request("PUT", path, body, query=query)

    def patch(
        self, path: str, body: Json, *, content_type: str = MERGE_PATCH, query: Mapping[str, str] | None = None
    ) -> Answer:
        """Patch one object."""
        return self.request("PATCH", path, body, query=query, content_type=content_type)

    def delete(self, path: str, body: Json = None, *, query: Mapping[str, str] | None = None) -> Answer:
        """Delete one object or a collection."""
        return self.request("DELETE", path, body, query=query)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for chunk in response.stream(None):
        *complete, rest = (rest + chunk).split(b"\n")
        yield from (line for line in complete if line)
