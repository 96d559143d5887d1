"""Paths that are no resources: version, health, discovery, OpenAPI."""

from aim_rehearsal.apiserver import discovery
from aim_rehearsal.apiserver.errors import no_such_method, no_such_resource
from aim_rehearsal.apiserver.messages import Request, Response, encode, json_response, text_response
from aim_rehearsal.apiserver.openapi import openapi_document, openapi_index
from aim_rehearsal.apiserver.registry import Registry
from aim_rehearsal.apiserver.routing import RequestInfo
from aim_rehearsal.apiserver.tables import wants_yaml

_HEALTH = frozenset({"healthz", "readyz", "livez"})
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"


def answer_path(registry: Registry, request: Request, info: RequestInfo) -> Response:
    """Answer a request for a path that is no resource.

    Raises:
        ApiError: another method than GET or HEAD, or a format that cannot be written.
    """
    if request.method not in ("GET", "HEAD"):
        raise no_such_method()
    if "//" in info.path:
        return _no_such_path()
    wants_yaml(request.headers.get("accept", ""))
    parts = [part for part in info.path.split("/") if part]
    match parts:
        case ["version"]:
            return json_response(200, discovery.SERVER_VERSION)
        case [name, *_] if name in _HEALTH:
            return text_response(200, "ok")
        case ["openapi", "v3", *rest]:
            return _openapi(registry, rest)
        case []:
            return json_response(
                200, {"paths": ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]}
            )
        case _:
            return _discovery(registry, request, parts)


def _openapi(registry: Registry, rest: list[str]) -> Response:
    if not rest:
        # The real server calls its index a text.
        return text_response(200, encode(openapi_index(registry)).decode())
    document = openapi_document(registry, "/".join(rest))
    return json_response(200, document) if document is not None else _no_such_path()


def _discovery(registry: Registry, request: Request, parts: list[str]) -> Response:
    match parts:
        case ["api" | "apis" as root]:
            return _groups(registry, request, core=root == "api")
        case ["api", version]:
            found = discovery.resource_list(registry, "", version)
            if found is None:
                raise no_such_resource()
        case ["apis", group]:
            found = discovery.one_group(registry, group)
        case ["apis", group, version]:
            found = discovery.resource_list(registry, group, version)
        case _:
            found = None
    return json_response(200, found) if found is not None else _no_such_path()


def _groups(registry: Registry, request: Request, *, core: bool) -> Response:
    accept = request.headers.get("accept", "").replace(" ", "")
    for version in ("v2", "v2beta1"):
        if f"g=apidiscovery.k8s.io;v={version};" in accept:
            listed = discovery.aggregated(registry, core=core, version=version)
            response = json_response(200, listed)
            return Response(200, (("Content-Type", _AGGREGATED.format(version)),), response.body)
    if core:
        return json_response(200, discovery.api_versions(request.headers.get("host", "")))
    return json_response(200, discovery.group_list(registry))


def _no_such_path() -> Response:
    return text_response(404, "404 page not found\n")
