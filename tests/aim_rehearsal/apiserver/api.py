"""A client for a server in the same process, and a definition to work with."""

import copy
import json
from collections.abc import Iterator, Mapping

from aim_rehearsal.apiserver import LocalApiServer, Request

JSON = "application/json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

SPEC = {
    "type": "object",
    "x-kubernetes-validations": [{"rule": "!has(self.size) || self.size < 100", "message": "size must stay below 100"}],
    "properties": {
        "size": {"type": "integer", "default": 3},
        "color": {"type": "string"},
        "fixed": {
            "type": "string",
            "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "fixed is immutable"}],
        },
        "env": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
            },
        },
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "args": {"type": "array", "items": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
CONDITIONS = {
    "type": "array",
    "items": {"type": "object", "properties": {"type": {"type": "string"}, "status": {"type": "string"}}},
}
STATUS = {"type": "object", "properties": {"phase": {"type": "string"}, "conditions": CONDITIONS}}


def _version(name):
    return {
        "name": name,
        "served": True,
        "storage": name == "v2",
        "deprecated": name == "v1",
        "subresources": {"status": {}},
        "selectableFields": [{"jsonPath": ".spec.color"}],
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
            {"name": "Color", "type": "string", "priority": 1, "jsonPath": ".spec.color"},
        ],
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC, "status": STATUS}}},
    }


def widget_crd(plural="widgets", kind="Widget", scope="Namespaced"):
    return copy.deepcopy(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.example.com"},
            "spec": {
                "group": "example.com",
                "scope": scope,
                "names": {"plural": plural, "kind": kind, "shortNames": [kind[:2].lower()]},
                "versions": [_version("v1"), _version("v2")],
            },
        }
    )


def widget(name, version="v2", metadata=None, **spec):
    metadata = {"name": name, **(metadata or {})}
    return {"apiVersion": f"example.com/{version}", "kind": "Widget", "metadata": metadata, "spec": spec}


class Answer:
    """An answer of the server."""

    def __init__(self, response):
        self.response = response
        self.status = response.status
        self.warnings = [value for name, value in response.headers if name == "Warning"]

    @property
    def body(self):
        return self.response.json()

    @property
    def reason(self):
        return self.body.get("reason")

    @property
    def message(self):
        return self.body.get("message")


class Api:
    """A client of one identity, in the server's own process."""

    widgets = "/apis/example.com/v2/namespaces/default/widgets"
    old_widgets = "/apis/example.com/v1/namespaces/default/widgets"

    def __init__(self, server: LocalApiServer, identity: str | None = "admin") -> None:
        self.server = server
        self._token = {} if identity is None else {"authorization": f"Bearer {server.token(identity)}"}

    def send(self, method, path, body=None, content_type=JSON, headers: Mapping[str, str] | None = None) -> Answer:
        given = {"user-agent": "test/1", **self._token, **(headers or {})}
        if body is not None:
            given["content-type"] = content_type
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Answer(self.server.handle(Request(method, path, given, body or b"")))

    def get(self, path, **headers) -> Answer:
        return self.send("GET", path, headers=headers)

    def table(self, path) -> Answer:
        return self.get(path, accept=TABLE)

    def post(self, path, body, **keywords) -> Answer:
        return self.send("POST", path, body, **keywords)

    def put(self, path, body) -> Answer:
        return self.send("PUT", path, body)

    def merge(self, path, body) -> Answer:
        return self.send("PATCH", path, body, MERGE)

    def patch(self, path, *operations) -> Answer:
        return self.send("PATCH", path, list(operations), JSON_PATCH)

    def apply(self, path, body, manager, query="") -> Answer:
        return self.send("PATCH", f"{path}?fieldManager={manager}{query}", body, APPLY)

    def delete(self, path, body=None) -> Answer:
        return self.send("DELETE", path, body)

    def watch(self, path, query) -> Iterator[dict]:
        answer = self.get(f"{path}?watch=1&{query}")
        assert answer.response.stream is not None
        for chunk in answer.response.stream:
            if chunk:
                yield json.loads(chunk)
