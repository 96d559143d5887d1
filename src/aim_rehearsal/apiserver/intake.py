"""From the value a client sent to an object that can be stored: names checked, unknown fields handled, defaults set."""

import re
from collections.abc import Sequence

from aim_api.tree import Json, JsonObject, get_map, get_str
from aim_rehearsal.apiserver.call import Call
from aim_rehearsal.apiserver.decoding import DecodeError, decode_object
from aim_rehearsal.apiserver.errors import ApiError, bad_request, invalid, quoted, unsupported_media_type
from aim_rehearsal.apiserver.go_json import go_kind
from aim_rehearsal.apiserver.metadata import MetadataTypeError, coerce_metadata
from aim_rehearsal.apiserver.protobuf import MEDIA_TYPE, ProtobufError, decode_protobuf, readable
from aim_schema import FieldError

_TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_WRONG_TYPE = re.compile(r'must be of type (?P<wanted>\w+): "(?P<found>\w+)"')
_GO_NAMES = {"integer": "number", "boolean": "bool"}
_JSON_TYPES = frozenset({"", "application/json", "*/*"})
_YAML_TYPES = frozenset({"application/yaml", "application/x-yaml"})
_ACCEPTED_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")


def read_body(call: Call) -> tuple[JsonObject, list[str]]:
    """Return the object in the body of a create or update, and what strict decoding says about fields given twice.

    Raises:
        ApiError: the body is of another format, no object, or of another kind or version than its path.
    """
    if call.content_type == MEDIA_TYPE and readable(call.resource.kind):
        return with_type(call, _from_protobuf(call)), []
    if call.content_type not in _JSON_TYPES | _YAML_TYPES:
        raise unsupported_media_type(_ACCEPTED_TYPES)
    try:
        value, repeated = decode_object(call.request.body, as_yaml=call.content_type in _YAML_TYPES)
    except DecodeError as error:
        raise _undecodable(call, str(error)) from None
    for key in ("apiVersion", "kind"):
        if key in value and not isinstance(value[key], str | None):
            what = f"json: cannot unmarshal {go_kind(value[key])} into Go struct field .{key} of type string"
            raise _unrecognized(call, f"couldn't get version/kind; json parse error: {what}")
    if call.resource.custom and not get_str(value, "kind"):
        raise _without_kind(call)
    return with_type(call, value), repeated


def with_type(call: Call, value: JsonObject) -> JsonObject:
    """Return an object with ``apiVersion`` and ``kind`` filled in.

    Raises:
        ApiError: it says that it is of another kind or version than the request's path.
    """
    wanted_version, wanted_kind = call.resource.api_version(call.version.name), call.resource.kind
    api_version, kind = get_str(value, "apiVersion") or "", get_str(value, "kind") or ""
    if api_version != wanted_version and (api_version or call.resource.custom):
        raise bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version ({wanted_version})"
        )
    if kind and kind != wanted_kind and call.resource.custom and call.info.verb == "create":
        return value  # refused with whatever else is wrong with it
    if kind and kind != wanted_kind and call.resource.custom:
        why = f"Invalid value: {quoted(kind)}: must be {wanted_kind}"
        name = get_str(value, "metadata", "name") or ""
        raise invalid(call.resource.group, kind, name, [FieldError("FieldValueInvalid", "kind", why)])
    if kind and kind != wanted_kind:
        version = (api_version or wanted_version).rpartition("/")[2]
        raise bad_request(
            f"{kind} in version {quoted(version)} cannot be handled as a {wanted_kind}: "
            f"converting ({api_version}.{kind}) to ({_internal(call)}.{wanted_kind}): unknown conversion"
        )
    return {**value, "apiVersion": wanted_version, "kind": wanted_kind}


def settle(call: Call, value: JsonObject) -> tuple[JsonObject, list[str]]:
    """Return an object as it can be stored (pruned, with defaults) and what strict decoding says about it.

    Raises:
        MetadataTypeError: the metadata, or any field of a built-in kind, is of a wrong type.
    """
    metadata, unknown = coerce_metadata(value.get("metadata"))
    if not call.resource.custom:
        _check_types(call, value)
    pruned, below = call.version.structural.prune({**value, "metadata": metadata})
    filled = call.version.structural.default(pruned)
    assert isinstance(filled, dict)  # an object stays one
    fields = [*unknown, *(path for path in below if not path.startswith("metadata."))]
    return {**filled, "metadata": metadata}, [f"unknown field {quoted(path)}" for path in fields]


def _check_types(call: Call, value: JsonObject) -> None:
    """Refuse fields of wrong types where a real server decodes into fixed structures."""
    for problem in call.version.structural.validate(value):
        match = _WRONG_TYPE.search(problem.message)
        if problem.reason == "FieldValueTypeInvalid" and match is not None and match["found"] != "null":
            found, wanted = (_GO_NAMES.get(name, name) for name in (match["found"], match["wanted"]))
            field = ".".join(re.sub(r"\[\d+\]", "", problem.field).split(".")[:-1]) or problem.field
            where = f"{call.resource.kind}.{field}"
            raise MetadataTypeError(f"json: cannot unmarshal {found} into Go struct field {where} of type {wanted}")


def complain(call: Call, validation: str, findings: Sequence[str]) -> str | None:
    """Handle what strict decoding found.

    Args:
        call: the request; under ``Warn`` it gets one Warning header per finding.
        validation: ``Strict``, ``Warn`` or ``Ignore``.
        findings: what was found.

    Returns:
        the text of the refusal under ``Strict``, else None.
    """
    if not findings or validation == "Ignore":
        return None
    if validation == "Strict":
        return f"strict decoding error: {', '.join(strict_findings(findings))}"
    for finding in findings:
        call.warn(finding)
    return None


def strict_findings(findings: Sequence[str]) -> list[str]:
    """Return findings as a refusal lists them: repeated keys of YAML come first, as one error of the YAML reader."""
    lines = [finding for finding in findings if finding.startswith("line ")]
    reader = ["yaml: unmarshal errors:\n  " + "\n  ".join(lines)] if lines else []
    return [*reader, *(finding for finding in findings if finding not in lines)]


def take_in(call: Call, validation: str) -> JsonObject:
    """Return the body of a create or update as an object that can be stored.

    Raises:
        ApiError: the body is refused.
    """
    value, repeated = read_body(call)
    try:
        settled, unknown = settle(call, value)
    except MetadataTypeError as error:
        raise bad_request(f"{_handled(call)}: {error}") from None
    refusal = complain(call, validation, [*repeated, *unknown])
    if refusal is not None:
        raise bad_request(f"{_handled(call)}: {refusal}")
    return settled


def check_names(call: Call, value: JsonObject, *, name_required: bool) -> JsonObject:
    """Return an object with the namespace of its path, after checking that it fits the path.

    Raises:
        ApiError: name or namespace differ from the path's.
    """
    metadata = get_map(value, "metadata")
    name, namespace = get_str(metadata, "name") or "", get_str(metadata, "namespace") or ""
    if name_required and not name:
        raise bad_request(
            f"the name of the object ({call.info.name} based on URL) was undeterminable: name must be provided"
        )
    if name_required and name != call.info.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.info.name})")
    if not call.resource.namespaced:
        return {**value, "metadata": {key: item for key, item in metadata.items() if key != "namespace"}}
    if namespace and namespace != call.info.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    filled: dict[str, Json] = {**metadata, "namespace": call.info.namespace}
    return {**value, "metadata": filled}


def _handled(call: Call) -> str:
    kind = call.resource.kind
    return f"{kind} in version {quoted(call.version.name)} cannot be handled as a {kind}"


def _from_protobuf(call: Call) -> JsonObject:
    try:
        return decode_protobuf(call.request.body)
    except ProtobufError as error:
        raise _unrecognized(call, str(error)) from None


def _internal(call: Call) -> str:
    """Return how the server names the version it keeps built-in objects at."""
    return call.resource.group.partition(".")[0] or "core"


def _unrecognized(call: Call, why: str) -> ApiError:
    kind = call.resource.kind
    return bad_request(
        f"the object provided is unrecognized (must be of type {kind}): {why} ({_summary(call.request.body)})"
    )


def _without_kind(call: Call) -> ApiError:
    shown = call.request.body.decode("utf-8", "replace")
    return _unrecognized(call, f"Object 'Kind' is missing in '{shown}'")


def _undecodable(call: Call, why: str) -> ApiError:
    if call.request.body.strip() == b"null":
        return _without_kind(call)
    if why.startswith("yaml: "):
        return _unrecognized(call, why)
    if "of type float64" in why:
        return bad_request(f"{_handled(call)}: {why}")
    # The decoder of apiVersion and kind comes first.
    return _unrecognized(
        call, f"couldn't get version/kind; json parse error: {why.replace('map[string]interface {}', _TYPE_META)}"
    )


def _summary(body: bytes) -> str:
    if not body:
        return "<empty>"
    shown = body[:30].decode("utf-8", "replace") if body[:1] == b"{" else body[:30].hex()
    return shown + (" ..." if len(body) > 30 else "")
