"""What an API server demands of the metadata of a manifest.

Source: Kubernetes API conventions (Metadata), and the answers of a kube-apiserver 1.36.
"""

import re
from collections.abc import Iterator

from aim_api.tree import Json, JsonObject, get_map
from aim_schema import FieldError
from aim_schema.errors import REQUIRED, invalid, required

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LONGEST_NAME = 253
_LONGEST_LABEL = 63
_FIELDS: dict[str, type] = {
    "name": str,
    "generateName": str,
    "namespace": str,
    "labels": dict,
    "annotations": dict,
    "finalizers": list,
    "ownerReferences": list,
}
_SET_BY_SERVER = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)


def metadata_errors(value: JsonObject) -> Iterator[FieldError]:
    """Yield what is wrong with the metadata of an object."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        yield required("metadata.name", "name or generateName is required")
        return
    for name, item in metadata.items():
        wanted = _FIELDS.get(name)
        if wanted is None and name not in _SET_BY_SERVER:
            yield FieldError("FieldValueUnknown", f"metadata.{name}", f'unknown field "metadata.{name}"')
        elif wanted is not None and item is not None and not isinstance(item, wanted):
            yield invalid(f"metadata.{name}", item, f"must be {_words(wanted)}")
    yield from _name(metadata)
    yield from _labels(get_map(metadata, "labels"))
    for key, item in get_map(metadata, "annotations").items():
        yield from _key("metadata.annotations", key.lower())
        if not isinstance(item, str):
            yield invalid(f"metadata.annotations.{key}", item, "must be text in quotes")


def _words(wanted: type) -> str:
    if wanted is str:
        return "text"
    return "a list" if wanted is list else "a mapping of text to text"


def _name(metadata: JsonObject) -> Iterator[FieldError]:
    name = metadata.get("name")
    if name in (None, ""):
        if not metadata.get("generateName"):
            yield FieldError(REQUIRED, "metadata.name", "Required value: name or generateName is required")
    elif isinstance(name, str) and (len(name) > _LONGEST_NAME or not _SUBDOMAIN.fullmatch(name)):
        yield invalid(
            "metadata.name",
            name,
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
            "start and end with an alphanumeric character",
        )


def _labels(labels: JsonObject) -> Iterator[FieldError]:
    for key, item in labels.items():
        yield from _key("metadata.labels", key)
        if not isinstance(item, str):
            yield invalid(f"metadata.labels.{key}", item, "must be text in quotes")
        elif item and (len(item) > _LONGEST_LABEL or not _NAME.fullmatch(item)):
            yield invalid(f"metadata.labels.{key}", item, "a valid label has at most 63 of the characters A-Za-z0-9-_.")


def _key(field: str, key: str) -> Iterator[FieldError]:
    prefix, separator, name = key.rpartition("/")
    sound: Json = (
        bool(_NAME.fullmatch(name))
        and len(name) <= _LONGEST_LABEL
        and (not separator or (len(prefix) <= _LONGEST_NAME and bool(_SUBDOMAIN.fullmatch(prefix))))
    )
    if not sound:
        yield invalid(field, key, "a key is a name of at most 63 characters, with a DNS subdomain and / before it")
