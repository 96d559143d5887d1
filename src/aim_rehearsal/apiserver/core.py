"""The API as one function from request to response; sockets, TLS and threads are the shell's.

The order of work is kube-apiserver's: who is asking, may they, does the path exist, then the verb.
"""

import logging
from functools import partial
from typing import TYPE_CHECKING

from aim_rehearsal.apiserver.audit import AuditLog, Exchange
from aim_rehearsal.apiserver.authentication import Authenticator, impersonated
from aim_rehearsal.apiserver.authorization import Action, Authorizer
from aim_rehearsal.apiserver.call import Call, User
from aim_rehearsal.apiserver.deleting import Deleter
from aim_rehearsal.apiserver.errors import (
    ApiError,
    bad_request,
    internal,
    method_not_allowed,
    no_such_method,
    no_such_resource,
    not_found,
    quoted,
    too_large,
)
from aim_rehearsal.apiserver.faults import FaultHook
from aim_rehearsal.apiserver.finalizing import finalize_namespace
from aim_rehearsal.apiserver.messages import Request, Response, as_yaml, json_response, text_response
from aim_rehearsal.apiserver.patching import patch_object, update_object
from aim_rehearsal.apiserver.paths import answer_path
from aim_rehearsal.apiserver.reading import get_object, list_objects
from aim_rehearsal.apiserver.registry import Registry
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.reviews import REVIEW_KINDS, review
from aim_rehearsal.apiserver.routing import RequestInfo, parse_request
from aim_rehearsal.apiserver.store import Store
from aim_rehearsal.apiserver.tables import wants_yaml
from aim_rehearsal.apiserver.times import now
from aim_rehearsal.apiserver.watching import watch_objects
from aim_rehearsal.apiserver.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BODY = 3 * 1024 * 1024
_COLLECTION_VERBS = frozenset({"create", "list", "watch", "deletecollection"})
_log = logging.getLogger(__name__)


class ApiCore:
    """Answers requests from one store.

    Args:
        store: the objects.
        registry: the resources.
        authenticator: the identities.
        audit: the audit log.
        faults: injects trouble, or None.
    """

    def __init__(
        self, store: Store, registry: Registry, authenticator: Authenticator, audit: AuditLog, faults: FaultHook | None
    ) -> None:
        self._registry = registry
        self._authenticator = authenticator
        self._authorizer = Authorizer(store)
        self._audit = audit
        self._faults = faults
        self._writer = writer = Writer(store)
        deleter = Deleter(store)
        self._verbs: dict[str, Callable[[Call], Response]] = {
            "get": partial(get_object, store),
            "list": partial(list_objects, store),
            "watch": partial(watch_objects, store),
            "create": writer.create,
            "update": partial(update_object, writer),
            "patch": partial(patch_object, writer),
            "delete": deleter.delete,
            "deletecollection": deleter.delete_collection,
        }

    def handle(self, request: Request) -> Response:
        """Answer a request; every failure becomes a Status object.

        Raises:
            DropConnectionError: the fault hook wants the connection to end without an answer.
        """
        work = _Work(request)
        response = self._faults(request, None) if self._faults is not None else None
        if response is None:
            response = self._answer(work)
        exchange = Exchange(request, work.info, work.user, work.acting_as, work.received)
        self._audit.record(exchange, response)
        if self._faults is not None:
            response = self._faults(request, response) or response
        return response

    def _answer(self, work: "_Work") -> Response:
        try:
            response = self._serve(work)
        except ApiError as error:
            response = _failure(error)
        except Exception as error:  # noqa: BLE001  (a fault of ours must look like the server's 500)
            _log.error("%s %s: %s: %s", work.request.method, work.request.target, type(error).__name__, error)
            _log.debug("the request failed", exc_info=error)
            response = _failure(internal(type(error).__name__))
        response = _in_wanted_format(work.request, response)
        for text in work.warnings:
            escaped = text.replace("\\", "\\\\").replace('"', '\\"')
            response = response.with_headers(("Warning", f'299 - "{escaped}"'))
        return response

    def _serve(self, work: "_Work") -> Response:
        request, info = work.request, work.info
        work.user = user = self._authenticator.user_of(request)
        action = _action(info)
        work.acting_as = impersonated(request, user, action, self._authorizer)
        acting = work.acting_as or user
        self._authorizer.check(acting, action)
        if len(request.body) > MAX_BODY:
            raise too_large(MAX_BODY)
        if not info.is_resource:
            return answer_path(self._registry, request, info)
        resource = self._registry.find(info.group, info.version, info.resource)
        too_deep = bool(info.rest) and not (resource is not None and resource.custom)
        if resource is None or too_deep or not _is_well_placed(resource, info):
            return self._nothing_there(info)
        if info.subresource and info.subresource not in resource.subresources:
            raise not_found(resource.group, resource.plural, info.name) if resource.custom else no_such_resource()
        if "%" in info.name:
            raise bad_request(f"Name parameter invalid: {quoted(info.name)}: may not contain '%'")
        call = Call(request, info, acting, resource, resource.versions[info.version], work.warnings)
        if call.version.deprecation:
            call.warn(call.version.deprecation)
        return self._dispatch(call)

    def _dispatch(self, call: Call) -> Response:
        info, resource = call.info, call.resource
        if info.subresource == "finalize":
            return finalize_namespace(self._writer, call)
        if resource.custom and not info.name and info.verb in ("update", "patch"):
            raise bad_request("name must be provided")
        allowed = ("get", "update", "patch") if info.subresource else resource.verbs
        misplaced = bool(info.name) is (info.verb in _COLLECTION_VERBS) and not (
            resource.custom and info.verb == "create"
        )
        if info.verb not in allowed or misplaced:
            if resource.custom:
                action = info.verb if info.verb in self._verbs else ""
                raise method_not_allowed(resource.group, resource.plural, action)
            raise no_such_method()
        if resource.kind in REVIEW_KINDS:
            return review(self._authorizer, call)
        return self._verbs[info.verb](call)

    def _nothing_there(self, info: RequestInfo) -> Response:
        """Answer a path that no resource serves; only the built-in groups answer with a Status."""
        builtin = any(item.group == info.group and not item.custom for item in self._registry.all())
        if not builtin:
            return text_response(404, "404 page not found\n")
        known = self._registry.find(info.group, info.version, info.resource) is not None
        raise no_such_method() if known and info.verb == "create" else no_such_resource()


def _is_well_placed(resource: Resource, info: RequestInfo) -> bool:
    """Return whether a path names a namespace if and only if its resource and verb ask for one."""
    if resource.collection == "namespaces":
        return info.namespace == info.name
    reads_all = not info.name and info.verb in ("list", "watch")
    return resource.namespaced if info.namespace else not resource.namespaced or reads_all


class _Work:
    """What becomes known of a request while it is answered."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.info = parse_request(request)
        self.received = now()
        self.user: User | None = None
        self.acting_as: User | None = None
        self.warnings: list[str] = []


def _in_wanted_format(request: Request, response: Response) -> Response:
    accept = request.headers.get("accept", "")
    if "yaml" not in accept:
        return response
    try:
        return as_yaml(response) if wants_yaml(accept) else response
    except ApiError:
        return response


def _action(info: RequestInfo) -> Action:
    if not info.is_resource:
        return Action(info.verb, path=info.path)
    name = info.name or _selected_name(info)
    return Action(info.verb, info.group, info.resource, info.subresource, info.namespace, name)


def _selected_name(info: RequestInfo) -> str:
    """Lists and watches of one name are judged as requests for that name."""
    selector = info.query.get("fieldSelector", "")
    name = selector.removeprefix("metadata.name=")
    return name if name != selector and "," not in name and info.verb in ("list", "watch", "deletecollection") else ""


def _failure(error: ApiError) -> Response:
    response = json_response(error.code, error.status)
    return response.with_headers(("Retry-After", str(error.retry_after))) if error.retry_after else response
