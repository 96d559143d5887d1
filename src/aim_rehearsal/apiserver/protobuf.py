"""Request bodies in Kubernetes' protobuf encoding, which kubectl sends for kinds that it knows.

Only what kubectl's own commands write: namespaces, config maps, secrets, service accounts, roles and bindings, access
reviews, delete options. Source: Kubernetes API reference, "Kubernetes Protobuf encoding", and the API's field numbers.
"""

import base64
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from aim_api.tree import Json, JsonObject
from aim_rehearsal.apiserver.times import rfc3339

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_RAW_TYPE_META, _RAW_BODY = 1, 2
_META = "ObjectMeta"

# Field by number; types are scalars, names of other messages, or maps; a star marks lists.
_Message = Mapping[int, tuple[str, str]]
_MESSAGES: dict[str, _Message] = {
    "TypeMeta": {1: ("apiVersion", "string"), 2: ("kind", "string")},
    _META: {
        1: ("name", "string"),
        2: ("generateName", "string"),
        3: ("namespace", "string"),
        5: ("uid", "string"),
        6: ("resourceVersion", "string"),
        7: ("generation", "int"),
        8: ("creationTimestamp", "time"),
        9: ("deletionTimestamp", "time"),
        10: ("deletionGracePeriodSeconds", "int"),
        11: ("labels", "map string"),
        12: ("annotations", "map string"),
        13: ("ownerReferences", "*OwnerReference"),
        14: ("finalizers", "*string"),
    },
    "OwnerReference": {
        1: ("kind", "string"),
        3: ("name", "string"),
        4: ("uid", "string"),
        5: ("apiVersion", "string"),
        6: ("controller", "bool"),
        7: ("blockOwnerDeletion", "bool"),
    },
    "Namespace": {1: ("metadata", _META), 2: ("spec", "NamespaceSpec")},
    "NamespaceSpec": {1: ("finalizers", "*string")},
    "ConfigMap": {
        1: ("metadata", _META),
        2: ("data", "map string"),
        3: ("binaryData", "map bytes"),
        4: ("immutable", "bool"),
    },
    "Secret": {
        1: ("metadata", _META),
        2: ("data", "map bytes"),
        3: ("type", "string"),
        4: ("stringData", "map string"),
        5: ("immutable", "bool"),
    },
    "ServiceAccount": {1: ("metadata", _META), 3: ("imagePullSecrets", "*LocalObjectReference")},
    "LocalObjectReference": {1: ("name", "string")},
    "Role": {1: ("metadata", _META), 2: ("rules", "*PolicyRule")},
    "ClusterRole": {1: ("metadata", _META), 2: ("rules", "*PolicyRule")},
    "PolicyRule": {
        1: ("verbs", "*string"),
        2: ("apiGroups", "*string"),
        3: ("resources", "*string"),
        4: ("resourceNames", "*string"),
        5: ("nonResourceURLs", "*string"),
    },
    "RoleBinding": {1: ("metadata", _META), 2: ("subjects", "*Subject"), 3: ("roleRef", "RoleRef")},
    "ClusterRoleBinding": {1: ("metadata", _META), 2: ("subjects", "*Subject"), 3: ("roleRef", "RoleRef")},
    "Subject": {1: ("kind", "string"), 2: ("apiGroup", "string"), 3: ("name", "string"), 4: ("namespace", "string")},
    "RoleRef": {1: ("apiGroup", "string"), 2: ("kind", "string"), 3: ("name", "string")},
    "SelfSubjectAccessReview": {1: ("metadata", _META), 2: ("spec", "SelfSubjectAccessReviewSpec")},
    "SelfSubjectAccessReviewSpec": {
        1: ("resourceAttributes", "ResourceAttributes"),
        2: ("nonResourceAttributes", "NonResourceAttributes"),
    },
    "ResourceAttributes": {
        1: ("namespace", "string"),
        2: ("verb", "string"),
        3: ("group", "string"),
        4: ("version", "string"),
        5: ("resource", "string"),
        6: ("subresource", "string"),
        7: ("name", "string"),
    },
    "NonResourceAttributes": {1: ("path", "string"), 2: ("verb", "string")},
    "SelfSubjectRulesReview": {1: ("metadata", _META), 2: ("spec", "SelfSubjectRulesReviewSpec")},
    "SelfSubjectRulesReviewSpec": {1: ("namespace", "string")},
    "SelfSubjectReview": {1: ("metadata", _META)},
    "DeleteOptions": {
        1: ("gracePeriodSeconds", "int"),
        2: ("preconditions", "Preconditions"),
        3: ("orphanDependents", "bool"),
        4: ("propagationPolicy", "string"),
        5: ("dryRun", "*string"),
    },
    "Preconditions": {1: ("uid", "string"), 2: ("resourceVersion", "string")},
}


class ProtobufError(ValueError):
    """A body that is no protobuf, or of a kind that is not read here."""


def readable(kind: str) -> bool:
    """Return whether objects of a kind can be read."""
    return kind in _MESSAGES


def decode_protobuf(body: bytes) -> JsonObject:
    """Return the object in a body.

    Raises:
        ProtobufError: it is none that can be read.
    """
    if not body.startswith(_MAGIC):
        raise ProtobufError("the body is not in Kubernetes' protobuf encoding")
    parts = dict(_fields(body[len(_MAGIC) :]))
    head, content = parts.get(_RAW_TYPE_META), parts.get(_RAW_BODY, b"")
    if not isinstance(head, bytes) or not isinstance(content, bytes):
        raise ProtobufError("the body has no type")
    named = _message(head, "TypeMeta")
    kind = str(named.get("kind", ""))
    if not readable(kind):
        raise ProtobufError(f"bodies of kind {kind} are read as JSON only")
    return {**named, **_message(content, kind)}


def _message(data: bytes, name: str) -> JsonObject:
    known = _MESSAGES[name]
    found: JsonObject = {}
    for number, raw in _fields(data):
        if number not in known:
            continue
        field, kind = known[number]
        if kind.startswith("map "):
            key, value = _entry(raw, kind.removeprefix("map "))
            entries = found.setdefault(field, {})
            assert isinstance(entries, dict)  # set above
            entries[key] = value
        elif kind.startswith("*"):
            items = found.setdefault(field, [])
            assert isinstance(items, list)  # set above
            items.append(_value(raw, kind[1:]))
        else:
            found[field] = _value(raw, kind)
    # Go writes empty strings and structures; JSON leaves them out.
    return {key: value for key, value in found.items() if value not in ("", {}, None)}


def _value(raw: int | bytes, kind: str) -> Json:
    if isinstance(raw, int):
        return bool(raw) if kind == "bool" else raw
    if kind == "string":
        return raw.decode("utf-8", "replace")
    if kind == "time":
        seconds = dict(_fields(raw)).get(1, 0)
        return rfc3339(datetime.fromtimestamp(seconds, UTC)) if isinstance(seconds, int) and seconds > 0 else None
    if kind not in _MESSAGES:
        raise ProtobufError(f"unexpected value of type {kind}")
    return _message(raw, kind)


def _entry(raw: int | bytes, kind: str) -> tuple[str, Json]:
    parts = dict(_fields(raw)) if isinstance(raw, bytes) else {}
    key, value = parts.get(1, b""), parts.get(2, b"")
    if not isinstance(key, bytes) or not isinstance(value, bytes):
        raise ProtobufError("malformed map entry")
    text = base64.b64encode(value).decode() if kind == "bytes" else value.decode("utf-8", "replace")
    return key.decode("utf-8", "replace"), text


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and the value of every field: an integer, or the bytes of anything with a length."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire = tag & 7
        if wire == 0:
            value, position = _varint(data, position)
            yield tag >> 3, value
        elif wire == 2:
            length, position = _varint(data, position)
            if position + length > len(data):
                raise ProtobufError("unexpected EOF")
            yield tag >> 3, data[position : position + length]
            position += length
        elif wire in (1, 5):
            position += 8 if wire == 1 else 4
        else:
            raise ProtobufError(f"illegal wire type {wire}")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value, shift = 0, 0
    while position < len(data) and shift < 64:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value - (1 << 64) if value >= 1 << 63 else value, position
        shift += 7
    raise ProtobufError("unexpected EOF")
