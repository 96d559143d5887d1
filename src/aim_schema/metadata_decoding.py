"""ObjectMeta as the API server decodes it: its fields, their types, and what it says about others.

Source: Kubernetes API conventions (Metadata), and the answers of a kube-apiserver 1.36 about custom resources.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from aim_api.tree import Json, Key
from aim_schema.gotext import number
from aim_schema.times import layout_complaint

Path = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class GoType:
    """One type that metadata is decoded into.

    Attributes:
        name: how the server's messages call it.
        json: the type of its JSON values; None where any value will do.
        struct: how messages call it as the owner of fields; empty for what has none.
        fields: the types of its fields.
        below: the type of its items or of its values.
        time: whether it is a text that names a time.
    """

    name: str
    json: type | None
    struct: str = ""
    fields: "dict[str, GoType]" = field(default_factory=dict)
    below: "GoType | None" = None
    time: bool = False


_TEXT = GoType("string", str)
_UID = GoType("types.UID", str)
_TIME = GoType("string", str, time=True)
_WHOLE = GoType("int64", int)
_FLAG = GoType("bool", bool)
_TEXTS = GoType("map[string]string", dict, below=_TEXT)
_OWNER = GoType(
    "v1.OwnerReference",
    dict,
    "OwnerReference",
    {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "name": _TEXT,
        "uid": _UID,
        "controller": _FLAG,
        "blockOwnerDeletion": _FLAG,
    },
)
_MANAGED = GoType(
    "v1.ManagedFieldsEntry",
    dict,
    "ManagedFieldsEntry",
    {
        "manager": _TEXT,
        "operation": GoType("v1.ManagedFieldsOperationType", str),
        "apiVersion": _TEXT,
        "time": _TIME,
        "fieldsType": _TEXT,
        "fieldsV1": GoType("v1.FieldsV1", None),
        "subresource": _TEXT,
    },
)
OBJECT_META = GoType(
    "v1.ObjectMeta",
    dict,
    "ObjectMeta",
    {
        "name": _TEXT,
        "generateName": _TEXT,
        "namespace": _TEXT,
        "selfLink": _TEXT,
        "uid": _UID,
        "resourceVersion": _TEXT,
        "generation": _WHOLE,
        "creationTimestamp": _TIME,
        "deletionTimestamp": _TIME,
        "deletionGracePeriodSeconds": _WHOLE,
        "labels": _TEXTS,
        "annotations": _TEXTS,
        "ownerReferences": GoType("[]v1.OwnerReference", list, below=_OWNER),
        "finalizers": GoType("[]string", list, below=_TEXT),
        "managedFields": GoType("[]v1.ManagedFieldsEntry", list, below=_MANAGED),
    },
)
OWNER_FIELDS = tuple(_OWNER.fields)
"""The fields of an owner reference, in the order in which the server writes them."""
_INT64 = range(-(2**63), 2**63)
_JSON_NAMES: dict[type, str] = {str: "string", list: "array", dict: "object", int: "number", float: "number"}


@dataclass(frozen=True, slots=True)
class DecodingFault:
    """A value that the server can't decode.

    Attributes:
        path: where it is in the object.
        message: what the server says.
        wanted: the type that it should have.
    """

    path: Path
    message: str
    wanted: GoType


def decoding_faults(metadata: Json) -> Iterator[DecodingFault]:
    """Yield what can't be decoded, in the server's order; it names one fault alone."""
    yield from _faults(metadata, OBJECT_META, ("metadata",), ("", ()))


def unknown_metadata(metadata: Json) -> Iterator[Path]:
    """Yield the fields that ObjectMeta does not have, in the server's order."""
    yield from _unknown(metadata, OBJECT_META, ("metadata",))


_Owner = tuple[str, tuple[str, ...]]
"""How messages call where a value is: the innermost structure, and the fields on the way."""


def _faults(value: Json, wanted: GoType, path: Path, owner: _Owner) -> Iterator[DecodingFault]:
    if value is None or wanted.json is None:
        return
    struct, names = owner
    place = f"struct field {'.'.join((struct, *names))} of" if names else "value of"
    if not _fits(value, wanted):
        message = f"json: cannot unmarshal {_shown(value, wanted)} into Go {place} type {wanted.name}"
        yield DecodingFault(path, message, wanted)
    elif wanted.time:
        complaint = layout_complaint(str(value))
        if complaint:
            yield DecodingFault(path, complaint, wanted)
    for key, item, below in _parts(value, wanted):
        if below.json is None or (isinstance(item, str) and below.json is str and not below.time):
            continue  # most parts are such
        inner = (wanted.struct, (*names, str(key))) if wanted.fields else owner
        yield from _faults(item, below, (*path, key), inner)


def _unknown(value: Json, wanted: GoType, path: Path) -> Iterator[Path]:
    if wanted.fields and isinstance(value, dict):
        yield from ((*path, key) for key in sorted(value) if key not in wanted.fields)
    for key, item, below in _parts(value, wanted):
        if below.fields or below.below is not None:
            yield from _unknown(item, below, (*path, key))


def _parts(value: Json, wanted: GoType) -> Iterator[tuple[Key, Json, GoType]]:
    """Yield what is known below a value, in the order of the server, which sorts."""
    if isinstance(value, dict) and wanted.json is dict:
        for key in sorted(value):
            below = wanted.fields.get(key, wanted.below)
            if below is not None:
                yield key, value[key], below
    elif isinstance(value, list) and wanted.json is list and wanted.below is not None:
        for index, item in enumerate(value):
            yield index, item, wanted.below


def _fits(value: Json, wanted: GoType) -> bool:
    if wanted.json is int:
        return isinstance(value, int) and not isinstance(value, bool) and value in _INT64
    return wanted.json is not None and isinstance(value, wanted.json)


def _shown(value: Json, wanted: GoType) -> str:
    """Return how messages call a value: by its type, and a number that is no integer of 64 bits by itself as well."""
    if isinstance(value, bool):
        return "bool"
    if wanted.json is int and isinstance(value, int | float):
        return f"number {number(value)}"
    return _JSON_NAMES[type(value)]
