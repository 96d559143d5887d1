"""Create, and the common end of update and patch: rules of the kind, ownership of fields, validation, storing."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from aim_api.tree import Json, JsonObject, get, get_map, get_str
from aim_rehearsal.apiserver.builtin_defaults import with_defaults
from aim_rehearsal.apiserver.call import Call, WriteOptions, write_options
from aim_rehearsal.apiserver.crds import CRD_COLLECTION, established
from aim_rehearsal.apiserver.errors import (
    ApiError,
    already_exists,
    conflict,
    details,
    forbidden,
    invalid,
    not_found,
    quoted,
)
from aim_rehearsal.apiserver.intake import check_names, take_in
from aim_rehearsal.apiserver.kind_rules import check_kind
from aim_rehearsal.apiserver.managed_fields import FieldTracker
from aim_rehearsal.apiserver.messages import Response, encode, json_response
from aim_rehearsal.apiserver.metadata import (
    check_metadata,
    check_metadata_change,
    generated_name,
    with_distinct_owners,
)
from aim_rehearsal.apiserver.reading import find, rendering_of
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.routing import RequestInfo
from aim_rehearsal.apiserver.store import Store
from aim_rehearsal.apiserver.strategies import (
    before_create,
    before_status_update,
    before_update,
    finalizer_warnings,
    may_go,
    name_rule,
)
from aim_rehearsal.apiserver.times import now, rfc3339
from aim_rehearsal.apiserver.trees import same_value
from aim_schema import FieldError
from aim_schema.errors import BLOCKING

_STATUS = "status"
_STORE_LIMIT = 3 * 512 * 1024 - 200
_TERMINATING = "unable to create new content in namespace {} because it is being terminated"
_STORAGE_ERROR = (
    "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
    "UID in precondition: {}, UID in object meta: {}"
)
_RULES_NOT_CHECKED = FieldError(
    "FieldValueInvalid",
    "<nil>",
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation",
)
Change = Callable[[JsonObject], JsonObject]


@dataclass(frozen=True, slots=True)
class Writer:
    """Creates and updates objects in one store."""

    store: Store

    def create(self, call: Call) -> Response:
        """Answer a POST to a collection.

        Raises:
            ApiError: the object is refused.
        """
        options = write_options(call, "CreateOptions")
        rendering = rendering_of(call)
        value = check_names(call, take_in(call, options.field_validation), name_required=False)
        with self.store:
            stored = self.create_object(call, value, options, applied=False)
        return json_response(201, rendering.one(stored))

    def create_object(self, call: Call, value: JsonObject, options: WriteOptions, *, applied: bool) -> JsonObject:
        """Store a new object and return it; on a dry run return what would be stored.

        Args:
            call: the request.
            value: the object, taken in.
            options: the options of the request.
            applied: whether ``value`` carries its managedFields already (server-side apply).

        Raises:
            ApiError: the object is refused.
        """
        resource = call.resource
        moment = now()
        if get_str(value, "metadata", "resourceVersion"):
            raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
        value = _with_distinct_owners(call, _fresh_metadata(value, rfc3339(moment), keep_managed=applied))
        name = get_str(value, "metadata", "name") or ""
        self._check_home(call, name)
        value = with_defaults(resource, value)
        if not applied:
            value = _tracker(call).updated(None, value, options.field_manager, moment)
        value = before_create(resource, value)
        problems = _problems_of_new(call, value)
        if problems:
            raise invalid(resource.group, get_str(value, "kind") or "", name, problems)
        for text in finalizer_warnings(resource, value):
            call.warn(text)
        namespace = get_str(value, "metadata", "namespace") or ""
        present = self.store.get(resource.collection, namespace, name)
        if present is not None:
            deleting = get(present, "metadata", "deletionTimestamp") is not None
            raise already_exists(resource.group, resource.plural, name, deleting=deleting)
        if options.dry_run:
            return value
        _check_size(value)
        stored = self.store.put(resource.collection, namespace, name, to_storage(resource, value))
        if resource.collection == CRD_COLLECTION:
            self.store.put(resource.collection, namespace, name, established(stored, rfc3339(moment)))
        return stored

    def change(
        self, call: Call, change: Change, options: WriteOptions, *, applied: bool = False, must_be: str = ""
    ) -> JsonObject:
        """Store what ``change`` makes of the object that a request names, and return it.

        Args:
            call: the request; its subresource decides whether status or all else is written.
            change: gives the new object for the current one, both at the request's version.
            options: the options of the request.
            applied: whether the new object carries its managedFields already (server-side apply).
            must_be: the UID that the object must have, or empty.

        Raises:
            ApiError: there is no such object, or the change is refused.
        """
        resource = call.resource
        with self.store:
            stored = find(self.store, call)
            uid = get_str(stored, "metadata", "uid") or ""
            if must_be and must_be != uid:
                why = _STORAGE_ERROR.format(storage_key(resource, call.info), must_be, uid)
                raise conflict(resource.group, resource.plural, call.info.name, why)
            old = resource.present(stored, call.version.name)
            new = _with_distinct_owners(call, _keep_identity(change(old), old))
            _check_revision(call, new, old)
            new = self._prepared(call, new, old, options, applied=applied)
            problems = _problems(call, new, old)
            if problems:
                raise invalid(resource.group, resource.kind, call.info.name, problems)
            for text in finalizer_warnings(resource, new):
                call.warn(text)
            return self._commit(resource, new, old, stored, dry_run=options.dry_run)

    def _prepared(
        self, call: Call, new: JsonObject, old: JsonObject, options: WriteOptions, *, applied: bool
    ) -> JsonObject:
        new = with_defaults(call.resource, new)
        if not applied:
            new = _tracker(call).updated(old, new, options.field_manager, now())
        if call.info.subresource == _STATUS:
            return before_status_update(new, old, custom=call.resource.custom)
        return before_update(call.resource, new, old)

    def _commit(
        self, resource: Resource, new: JsonObject, old: JsonObject, stored: JsonObject, *, dry_run: bool
    ) -> JsonObject:
        namespace, name = get_str(old, "metadata", "namespace") or "", get_str(old, "metadata", "name") or ""
        if same_value(new, old):
            return stored
        if dry_run:
            return new
        if may_go(resource, new):
            self.store.remove(resource.collection, namespace, name)
            return new
        _check_size(new)
        return self.store.put(resource.collection, namespace, name, to_storage(resource, new))

    def _check_home(self, call: Call, name: str) -> None:
        """Refuse creates in a namespace, or of a custom kind, that is absent or on its way out."""
        resource = call.resource
        if resource.custom:
            crd = self.store.get(CRD_COLLECTION, "", resource.collection) or {}
            if get(crd, "metadata", "deletionTimestamp"):
                message = f"{call.info.verb} not allowed while custom resource definition is terminating"
                raise ApiError(405, "MethodNotAllowed", message, details(resource.group, resource.plural))
        if not call.resource.namespaced:
            return
        namespace = self.store.get("namespaces", "", call.info.namespace)
        if namespace is None:
            raise not_found("", "namespaces", call.info.namespace)
        if get(namespace, "metadata", "deletionTimestamp"):
            cause: JsonObject = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {call.info.namespace} is being terminated",
                "field": "metadata.namespace",
            }
            why = _TERMINATING.format(call.info.namespace)
            raise forbidden(call.resource.group, call.resource.plural, name, why, [cause])


def storage_key(resource: Resource, info: RequestInfo) -> str:
    """Return the key under which a real server would store an object, as some of its messages name it."""
    parts = ["", "registry", resource.group if resource.custom else "", resource.plural, info.namespace, info.name]
    return "/".join([parts[0], *(part for part in parts[1:] if part)])


def to_storage(resource: Resource, value: JsonObject) -> JsonObject:
    """Return an object at the version that its resource is stored at."""
    if resource.view_of:
        names = {shown: stored for stored, shown in resource.renames.items()}
        return {**{names.get(key, key): item for key, item in value.items()}, "apiVersion": "v1"}
    api_version = resource.api_version(resource.storage_version)
    if value.get("apiVersion") == api_version or resource.storage_version not in resource.versions:
        return {**value, "apiVersion": api_version}
    return resource.present(value, resource.storage_version)


def _check_size(value: JsonObject) -> None:
    """Refuse what the store of a real server could not take in one request."""
    if len(encode(value)) > _STORE_LIMIT:
        raise ApiError(500, "", "etcdserver: request is too large")


def _tracker(call: Call) -> FieldTracker:
    return FieldTracker(call.resource, call.version, call.info.subresource)


def _fresh_metadata(value: JsonObject, moment: str, *, keep_managed: bool) -> JsonObject:
    """Return an object with a new identity; what a client may not choose is dropped."""
    metadata = dict(get_map(value, "metadata"))
    dropped = ["resourceVersion", "selfLink", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"]
    for key in dropped if keep_managed else [*dropped, "managedFields"]:
        metadata.pop(key, None)
    if metadata.get("generateName") and not metadata.get("name"):
        metadata["name"] = generated_name(str(metadata["generateName"]))
    return {**value, "metadata": {**metadata, "uid": str(uuid.uuid4()), "creationTimestamp": moment}}


def _with_distinct_owners(call: Call, value: JsonObject) -> JsonObject:
    distinct, warning = with_distinct_owners(value, patched=call.info.verb == "patch")
    if warning:
        call.warn(warning)
    return distinct


def _keep_identity(new: JsonObject, old: JsonObject) -> JsonObject:
    """Return the new object with the parts of metadata that an update cannot set taken from the old one."""
    metadata, before = dict(get_map(new, "metadata")), get_map(old, "metadata")
    for key in ("generation", "creationTimestamp", "selfLink"):
        metadata.pop(key, None)
        if key in before:
            metadata[key] = before[key]
    for key in ("uid", "deletionGracePeriodSeconds", "namespace"):
        if key in before:
            metadata.setdefault(key, before[key])
    if "deletionTimestamp" in before:
        metadata["deletionTimestamp"] = before["deletionTimestamp"]
    return {**new, "metadata": metadata}


def _check_revision(call: Call, new: JsonObject, old: JsonObject) -> None:
    resource = call.resource
    metadata: dict[str, Json] = get_map(new, "metadata")
    given, current = str(metadata.get("resourceVersion") or ""), get_str(old, "metadata", "resourceVersion")
    if given in ("", "0"):
        if resource.custom or resource.kind == "CustomResourceDefinition":
            why = "Invalid value: 0: must be specified for an update"
            problem = FieldError("FieldValueInvalid", "metadata.resourceVersion", why)
            raise invalid(resource.group, resource.plural, call.info.name, [problem])
        metadata["resourceVersion"] = current
    elif not given.isdigit():
        raise ApiError(500, "", f"strconv.ParseUint: parsing {quoted(given)}: invalid syntax")
    elif given != current:
        raise conflict(resource.group, resource.plural, call.info.name)


def _problems_of_new(call: Call, value: JsonObject) -> list[FieldError]:
    resource, version = call.resource, call.version
    found = version.structural.validate(value)
    if value.get("kind") != resource.kind:
        why = f"Invalid value: {quoted(str(value.get('kind')))}: must be {resource.kind}"
        return [FieldError("FieldValueInvalid", "kind", why), *found]
    about_metadata = list(check_metadata(value, name_rule(resource)))
    unchecked = [] if _RULES_NOT_CHECKED in found else [_RULES_NOT_CHECKED]
    blocked = version.ruled and any(problem.reason in BLOCKING for problem in about_metadata)
    return [*about_metadata, *check_kind(resource, value, None), *found, *(unchecked if blocked else [])]


def _problems(call: Call, new: JsonObject, old: JsonObject) -> list[FieldError]:
    # The real server looks at metadata twice, for every kind and for this one, and reports twice.
    found = [*check_metadata_change(new, old)] * 2
    if call.info.subresource == _STATUS:
        return [*found, *call.version.structural.validate_status(new, old)]
    return [*found, *check_kind(call.resource, new, old), *call.version.structural.validate(new, old)]
