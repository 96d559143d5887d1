"""What a request's path and query mean: resource or not, verb, names, options."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

from aim_rehearsal.apiserver.messages import Request

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get", "HEAD": "get"}
_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """The meaning of a request's path.

    Attributes:
        path: the decoded path.
        query: the last value of each parameter.
        verb: the verb that authorisation and audit see, or the HTTP method in lower case for other paths.
        is_resource: whether the path names a resource.
        group: the API group.
        version: the API version.
        namespace: the namespace; for a Namespace object its own name.
        resource: the plural.
        subresource: for example ``status``.
        name: the object's name.
        rest: path segments beyond a subresource, which nothing here serves.
    """

    path: str
    query: Mapping[str, str]
    verb: str
    is_resource: bool = False
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    rest: tuple[str, ...] = ()

    def flag(self, name: str) -> bool:
        """Return whether a boolean parameter is set to a true value."""
        return self.query.get(name, "").lower() in ("1", "true", "t") or (name in self.query and not self.query[name])


def parse_request(request: Request) -> RequestInfo:
    """Return what a request addresses."""
    raw_path, _, raw_query = request.target.partition("?")
    query = dict(parse_qsl(raw_query, keep_blank_values=True))
    path = unquote(raw_path)
    plain = RequestInfo(path, query, request.method.lower())
    if "//" in path:
        return plain
    parts = [part for part in path.split("/") if part]
    if len(parts) >= 3 and parts[0] == "api":
        group, version, rest = "", parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return plain
    if rest[0] == "watch" and len(rest) > 1:
        rest, query = rest[1:], {**query, "watch": "true"}
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    return RequestInfo(
        path=path,
        query=query,
        verb=_verb(request.method, query, name),
        is_resource=True,
        group=group,
        version=version,
        namespace=namespace,
        resource=resource,
        subresource=subresource,
        name=name,
        rest=tuple(rest[3:]),
    )


def _verb(method: str, query: Mapping[str, str], name: str) -> str:
    verb = _VERBS.get(method, "")
    if name:
        return verb
    if verb == "get":
        return "watch" if query.get("watch", "").lower() in ("1", "true", "t") else "list"
    return "deletecollection" if verb == "delete" else verb
