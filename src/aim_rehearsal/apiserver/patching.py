"""PUT and PATCH: the four patch types, each giving the new object for the current one."""

from dataclasses import dataclass

from aim_api.tree import Json, JsonObject, get_str
from aim_rehearsal.apiserver.call import Call, WriteOptions, write_options
from aim_rehearsal.apiserver.decoding import DecodeError, decode_json
from aim_rehearsal.apiserver.errors import (
    ApiError,
    bad_request,
    invalid,
    quoted,
    too_large_patch,
    unprocessable,
    unsupported_media_type,
)
from aim_rehearsal.apiserver.go_json import go_kind
from aim_rehearsal.apiserver.intake import check_names, complain, settle, take_in, with_type
from aim_rehearsal.apiserver.json_patch import MAX_OPERATIONS, PatchError, apply_json_patch, read_operations
from aim_rehearsal.apiserver.merge_patch import merge, strategic_merge
from aim_rehearsal.apiserver.messages import Response, encode_sorted, json_response
from aim_rehearsal.apiserver.metadata import MetadataTypeError
from aim_rehearsal.apiserver.reading import rendering_of
from aim_rehearsal.apiserver.server_side_apply import Applier
from aim_rehearsal.apiserver.writing import Writer
from aim_schema import FieldError

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
_GO_MAP, _GO_OPERATIONS = "map[string]interface {}", "[]handlers.jsonPatchOp"
_OPERATION_FIELDS = frozenset({"op", "path", "from", "value"})


def update_object(writer: Writer, call: Call) -> Response:
    """Answer a PUT.

    Raises:
        ApiError: the object is refused.
    """
    options = write_options(call, "UpdateOptions")
    rendering = rendering_of(call)
    value = check_names(call, take_in(call, options.field_validation), name_required=True)
    uid = get_str(value, "metadata", "uid") or ""
    return json_response(200, rendering.one(writer.change(call, lambda _: value, options, must_be=uid)))


def patch_object(writer: Writer, call: Call) -> Response:
    """Answer a PATCH of any type that the resource knows.

    Raises:
        ApiError: the patch or what it makes of the object is refused.
    """
    accepted = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH]
    if not call.resource.custom:
        accepted.insert(2, STRATEGIC_PATCH)
    if call.content_type not in accepted:
        raise unsupported_media_type(accepted)
    rendering = rendering_of(call)
    if call.content_type == APPLY_PATCH:
        stored, created = Applier(writer).apply(call, write_options(call, "PatchOptions", applying=True))
        return json_response(201 if created else 200, rendering.one(stored))
    patch = _Patch(call, write_options(call, "PatchOptions"), *_decoded(call))
    return json_response(200, rendering.one(writer.change(call, patch.applied_to, patch.options)))


def _decoded(call: Call) -> tuple[Json, list[str]]:
    try:
        value, repeated = decode_json(call.request.body)
    except DecodeError as error:
        raise bad_request(f"error decoding patch: {error}") from None
    if call.content_type == JSON_PATCH:
        if not isinstance(value, list):
            kind = go_kind(value)
            raise bad_request(
                f"error decoding patch: json: cannot unmarshal {kind} into Go value of type {_GO_OPERATIONS}"
            )
        if len(value) > MAX_OPERATIONS:
            raise too_large_patch(MAX_OPERATIONS, len(value))
        findings = [f"json patch duplicate field {quoted(path)}" for path in repeated]
        for index, operation in enumerate(value):
            unknown = operation.keys() - _OPERATION_FIELDS if isinstance(operation, dict) else ()
            findings += [f"json patch unknown field {quoted(f'[{index}].{key}')}" for key in sorted(unknown)]
        return value, findings
    if not isinstance(value, dict):
        kind = go_kind(value)
        raise bad_request(f"error decoding patch: json: cannot unmarshal {kind} into Go value of type {_GO_MAP}")
    return value, [f"duplicate field {quoted(path)}" for path in repeated]


@dataclass(frozen=True, slots=True)
class _Patch:
    call: Call
    options: WriteOptions
    value: Json
    findings: list[str]

    def applied_to(self, current: JsonObject) -> JsonObject:
        patched = self._patched(current)
        if not isinstance(patched, dict):
            raise _refused(patched, f"json: cannot unmarshal {go_kind(patched)} into Go value of type {_GO_MAP}")
        if not get_str(patched, "kind") and self.call.resource.custom:
            raise _refused(patched, f"Object 'Kind' is missing in '{encode_sorted(patched).decode()}'")
        try:
            settled, unknown = settle(self.call, self._typed(patched))
        except MetadataTypeError as error:
            raise _refused(patched, str(error)) from None
        refusal = complain(self.call, self.options.field_validation, [*self.findings, *unknown])
        if refusal is not None:
            raise _refused(patched, refusal)
        return check_names(self.call, settled, name_required=True)

    def _typed(self, patched: JsonObject) -> JsonObject:
        resource = self.call.resource
        wanted = resource.api_version(self.call.version.name)
        given = get_str(patched, "apiVersion") or wanted
        if given != wanted and resource.custom:
            why = f"Invalid value: {quoted(given)}: must be {wanted}"
            problem = FieldError("FieldValueInvalid", "apiVersion", why)
            raise invalid(resource.group, resource.kind, self.call.info.name, [problem])
        return with_type(self.call, patched)

    def _patched(self, current: JsonObject) -> Json:
        if isinstance(self.value, list):
            try:
                return apply_json_patch(current, read_operations(self.call.request.body, self.value))
            except PatchError:
                raise unprocessable() from None
        if self.call.content_type == STRATEGIC_PATCH and isinstance(self.value, dict):
            return strategic_merge(current, self.value, self.call.version.schema)
        return merge(current, self.value)


def _refused(patched: Json, why: str) -> ApiError:
    shown = quoted(encode_sorted(patched).decode())
    return invalid("", "", "", [FieldError("FieldValueInvalid", "patch", f"Invalid value: {shown}: {why}")])
