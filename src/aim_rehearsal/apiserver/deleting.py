"""Delete and collection delete: preconditions, finalizers, grace periods, propagation."""

from dataclasses import dataclass
from datetime import timedelta

from aim_api.tree import JsonObject, get, get_int, get_list, get_map, get_str
from aim_rehearsal.apiserver.call import Call, write_options
from aim_rehearsal.apiserver.crds import CLEANUP_FINALIZER, CRD_COLLECTION, terminating
from aim_rehearsal.apiserver.decoding import DecodeError, decode_object
from aim_rehearsal.apiserver.errors import ApiError, bad_request, conflict, details, forbidden, invalid, quoted
from aim_rehearsal.apiserver.go_json import go_kind
from aim_rehearsal.apiserver.messages import Response, json_response
from aim_rehearsal.apiserver.protobuf import MEDIA_TYPE, ProtobufError, decode_protobuf
from aim_rehearsal.apiserver.reading import find, rendering_of, selector_of
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.store import Store, with_metadata
from aim_rehearsal.apiserver.times import now, rfc3339
from aim_schema import FieldError

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
_PROPAGATION = {"Foreground": FOREGROUND, "Orphan": ORPHAN, "Background": ""}
_PROTECTED_NAMESPACES = frozenset({"default", "kube-system", "kube-public"})
_POD_GRACE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """The options of a delete.

    Attributes:
        dry_run: whether nothing is changed.
        grace: the seconds an object gets to end, or None for its own default.
        finalizer: the finalizer that the propagation policy adds, or empty.
        uid: the UID that the object must have, or empty.
        revision: the resourceVersion that the object must have, or empty.
        accept_pending: whether 202 answers a delete that is only begun (``orphanDependents: false``).
    """

    dry_run: bool
    grace: int | None
    finalizer: str
    uid: str
    revision: str
    accept_pending: bool


@dataclass(frozen=True, slots=True)
class Deleter:
    """Deletes objects from one store."""

    store: Store

    def delete(self, call: Call) -> Response:
        """Answer a DELETE of one object.

        Raises:
            ApiError: there is no such object, or a precondition fails.
        """
        options, rendering = _options(call), rendering_of(call)
        with self.store:
            before, after = self.delete_object(call.resource, find(self.store, call), options)
        if after is not None or call.resource.returns_deleted or call.resource.collection == "namespaces":
            shown = after if after is not None else before
            return json_response(202 if after is not None and options.accept_pending else 200, rendering.one(shown))
        return json_response(200, _success(call.resource, before))

    def delete_collection(self, call: Call) -> Response:
        """Answer a DELETE of a collection with the objects it deleted."""
        options, rendering, selector = _options(call), rendering_of(call), selector_of(call)
        deleted: list[JsonObject] = []
        with self.store:
            namespace = call.info.namespace if call.resource.namespaced else ""
            for _, stored in self.store.scan(call.resource.collection, namespace):
                if selector.matches(stored):
                    self.delete_object(call.resource, stored, options)
                    deleted.append(stored)
            metadata: JsonObject = {"resourceVersion": str(self.store.revision)}
        if call.resource.custom:
            metadata = {"continue": "", **metadata}
        return json_response(200, rendering.many(deleted, metadata))

    def delete_object(
        self, resource: Resource, stored: JsonObject, options: DeleteOptions
    ) -> tuple[JsonObject, JsonObject | None]:
        """Delete a stored object, or begin to.

        Returns:
            the object before, and the object that waits for finalizers or its grace period; None when it is gone.

        Raises:
            ApiError: a precondition fails, or the object may not be deleted.
        """
        namespace, name = get_str(stored, "metadata", "namespace") or "", get_str(stored, "metadata", "name") or ""
        _check_preconditions(resource, stored, options)
        if resource.collection == "namespaces" and name in _PROTECTED_NAMESPACES:
            raise forbidden("", "namespaces", name, "this namespace may not be deleted")
        pending = _pending(resource, stored, options)
        if pending is None:
            if not options.dry_run:
                stored = self.store.remove(resource.collection, namespace, name)
            return _marked(resource, stored, 0) if resource.collection == "pods" else stored, None
        if pending == stored or options.dry_run:
            return stored, pending
        return stored, self.store.put(resource.collection, namespace, name, pending)


BACKGROUND = DeleteOptions(dry_run=False, grace=None, finalizer="", uid="", revision="", accept_pending=False)


def _pending(resource: Resource, stored: JsonObject, options: DeleteOptions) -> JsonObject | None:
    """Return the object as it waits for its end, or None if it can go at once."""
    grace = _grace(resource, stored, options)
    finalizers = get_list(stored, "metadata", "finalizers")
    if resource.collection == CRD_COLLECTION and CLEANUP_FINALIZER not in finalizers:
        finalizers = [*finalizers, CLEANUP_FINALIZER]
        stored = terminating(stored, rfc3339(now()))
    if options.finalizer and get(stored, "metadata", "deletionTimestamp") is None:
        finalizers = [*(item for item in finalizers if item not in (FOREGROUND, ORPHAN)), options.finalizer]
    held = resource.collection == "namespaces" and bool(get_list(stored, "spec", "finalizers"))
    if not finalizers and not held and not grace:
        return None
    marked = _marked(resource, stored, grace)
    if finalizers:
        marked = {**marked, "metadata": {**get_map(marked, "metadata"), "finalizers": finalizers}}
    if held:
        marked = {**marked, "status": {**get_map(marked, "status"), "phase": "Terminating"}}
    return marked


def _marked(resource: Resource, stored: JsonObject, grace: int) -> JsonObject:
    """Return an object with its deletion time; only a shorter grace period changes one that is set."""
    before = get_int(stored, "metadata", "deletionGracePeriodSeconds")
    if get(stored, "metadata", "deletionTimestamp") is not None and (before is None or grace >= before):
        return stored
    moment = rfc3339(now() + timedelta(seconds=grace))
    marked = with_metadata(stored, deletionTimestamp=moment)
    if resource.collection in ("namespaces", CRD_COLLECTION):
        return marked
    marked = with_metadata(marked, deletionGracePeriodSeconds=grace)
    generation = get_int(stored, "metadata", "generation") or 0
    first = get(stored, "metadata", "deletionTimestamp") is None
    return with_metadata(marked, generation=generation + 1) if generation and first else marked


def _grace(resource: Resource, stored: JsonObject, options: DeleteOptions) -> int:
    """Return the seconds that an object gets to end: only scheduled, running pods have any."""
    scheduled = get_str(stored, "spec", "nodeName")
    ended = get_str(stored, "status", "phase") in ("Succeeded", "Failed")
    if resource.collection != "pods" or not scheduled or ended:
        return 0
    own = get_int(stored, "spec", "terminationGracePeriodSeconds")
    pending = get_int(stored, "metadata", "deletionGracePeriodSeconds")
    default = pending if pending is not None else own if own is not None else _POD_GRACE_SECONDS
    return default if options.grace is None else max(options.grace, 0)


def _check_preconditions(resource: Resource, stored: JsonObject, options: DeleteOptions) -> None:
    name = get_str(stored, "metadata", "name") or ""
    uid, revision = get_str(stored, "metadata", "uid"), get_str(stored, "metadata", "resourceVersion")
    if options.uid and options.uid != uid:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({uid}). "
            "The object might have been deleted and then recreated"
        )
        raise conflict(resource.group, resource.kind, name, why)
    if options.revision and options.revision != revision:
        why = (
            f"the ResourceVersion in the precondition ({options.revision}) does not match the ResourceVersion in "
            f"record ({revision}). The object might have been modified"
        )
        raise conflict(resource.group, resource.kind, name, why)


def _success(resource: Resource, gone: JsonObject) -> JsonObject:
    metadata = get_map(gone, "metadata")
    about = details(
        resource.group, resource.plural, get_str(metadata, "name") or "", uid=get_str(metadata, "uid") or ""
    )
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": about}


def _options(call: Call) -> DeleteOptions:
    """Return the options in the body, or else in the query."""
    values = _body(call) or _query(call)
    policy, orphan = values.get("propagationPolicy"), values.get("orphanDependents")
    if policy is not None and policy not in _PROPAGATION:
        known = '"Foreground", "Background", "Orphan", "nil"'
        raise _refused("propagationPolicy", f"Unsupported value: {quoted(str(policy))}: supported values: {known}")
    if policy is not None and orphan is not None:
        raise _refused(
            "propagationPolicy",
            f"Invalid value: {quoted(str(policy))}: orphanDependents and deletionPropagation cannot be both set",
        )
    grace = values.get("gracePeriodSeconds")
    if grace is not None and not isinstance(grace, int):
        where = "Go struct field DeleteOptions.gracePeriodSeconds of type int64"
        raise bad_request(f"json: cannot unmarshal {go_kind(grace)} into {where}")
    dry_run = values.get("dryRun") or []
    if dry_run not in ([], ["All"]):
        listed = " ".join(quoted(str(item)) for item in dry_run) if isinstance(dry_run, list) else str(dry_run)
        raise _refused("dryRun", f'Unsupported value: [{listed}]: supported values: "All"')
    return DeleteOptions(
        dry_run=bool(dry_run) or write_options(call, "DeleteOptions").dry_run,
        grace=grace if isinstance(grace, int) else None,
        finalizer=ORPHAN if orphan is True else _PROPAGATION.get(str(policy or ""), ""),
        uid=str(get(values, "preconditions", "uid") or ""),
        revision=str(get(values, "preconditions", "resourceVersion") or ""),
        accept_pending=orphan is False,
    )


def _body(call: Call) -> JsonObject:
    if not call.request.body.strip():
        return {}
    try:
        if call.content_type == MEDIA_TYPE:
            return decode_protobuf(call.request.body)
        value, _ = decode_object(call.request.body, as_yaml="yaml" in call.content_type)
    except (DecodeError, ProtobufError) as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from None
    kind = value.get("kind")
    if kind not in (None, "DeleteOptions"):
        version = quoted(str(value.get("apiVersion") or ""))
        raise bad_request(
            f'no kind {quoted(str(kind))} is registered for version {version} in scheme "pkg/runtime/scheme.go:111"'
        )
    return value


def _query(call: Call) -> JsonObject:
    query = call.info.query
    values: JsonObject = {key: query[key] for key in ("propagationPolicy",) if key in query}
    if "gracePeriodSeconds" in query:
        try:
            values["gracePeriodSeconds"] = int(query["gracePeriodSeconds"])
        except ValueError:
            text = quoted(query["gracePeriodSeconds"])
            raise bad_request(f"strconv.ParseInt: parsing {text}: invalid syntax") from None
    if "orphanDependents" in query:
        values["orphanDependents"] = query["orphanDependents"].lower() in ("1", "true")
    return values


def _refused(field: str, message: str) -> ApiError:
    reason = "FieldValueNotSupported" if message.startswith("Unsupported") else "FieldValueInvalid"
    return invalid("meta.k8s.io", "DeleteOptions", "", [FieldError(reason, field, message)])
