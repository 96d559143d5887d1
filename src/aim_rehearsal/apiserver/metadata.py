"""ObjectMeta: what the server keeps of it, and what it refuses.

Source: Kubernetes API conventions (Metadata) and the answers of a kube-apiserver 1.36.
"""

import random
import re
from collections.abc import Iterator
from enum import Enum

from aim_api.tree import Json, JsonObject, get_map, get_objects, get_str
from aim_rehearsal.apiserver.errors import quoted
from aim_rehearsal.apiserver.go_json import go_kind
from aim_rehearsal.apiserver.messages import encode
from aim_rehearsal.apiserver.times import parse_time, rfc3339
from aim_schema import FieldError

ANNOTATIONS_LIMIT = 262144
_SUBDOMAIN_PATTERN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABEL_PATTERN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED_PATTERN = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_PATTERN = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN_PATTERN}')"
)
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL_PATTERN}')"
)
_QUALIFIED_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    f"'{_QUALIFIED_PATTERN}')"
)
_QUALIFIED_KEY_TEXT = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    f"'{_QUALIFIED_PATTERN}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'{_VALUE_PATTERN}')"
)
_FIELDS: dict[str, type] = {
    "name": str,
    "generateName": str,
    "namespace": str,
    "selfLink": str,
    "uid": str,
    "resourceVersion": str,
    "generation": int,
    "creationTimestamp": str,
    "deletionTimestamp": str,
    "deletionGracePeriodSeconds": int,
    "labels": dict,
    "annotations": dict,
    "ownerReferences": list,
    "finalizers": list,
    "managedFields": list,
}
_OWNER_FIELDS = frozenset({"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"})
_GO_TYPES: dict[type, str] = {str: "string", int: "int64", dict: "map[string]string", list: "[]v1.OwnerReference"}
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_GENERATED_BASE_LIMIT = 58


class MetadataTypeError(ValueError):
    """A metadata field of a type that ObjectMeta does not have."""


def coerce_metadata(metadata: Json) -> tuple[JsonObject, list[str]]:
    """Return metadata as ObjectMeta keeps it (no unknown, null or empty fields) and the names of unknown fields.

    Raises:
        MetadataTypeError: a field has another type than ObjectMeta's.
    """
    if metadata is None:
        return {}, []
    if not isinstance(metadata, dict):
        raise MetadataTypeError(f"json: cannot unmarshal {go_kind(metadata)} into Go value of type v1.ObjectMeta")
    unknown = [f"metadata.{key}" for key in metadata if key not in _FIELDS]
    kept = {
        key: _typed(key, value) for key, value in metadata.items() if key in _FIELDS and value not in (None, "", {}, [])
    }
    unknown += _clean_owners(kept)
    return kept, unknown


def _typed(key: str, value: Json) -> Json:
    wanted = _FIELDS[key]
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise MetadataTypeError(
            f"json: cannot unmarshal {go_kind(value)} into Go struct field ObjectMeta.{key} of type {_GO_TYPES[wanted]}"
        )
    if key in ("labels", "annotations") and isinstance(value, dict):
        for item in value.values():
            if item is not None and not isinstance(item, str):
                raise MetadataTypeError(
                    f"json: cannot unmarshal {go_kind(item)} into Go struct field ObjectMeta.{key} of type string"
                )
        return {name: "" if item is None else item for name, item in value.items()}
    if key.endswith("Timestamp"):
        moment = parse_time(str(value))
        if moment is None:
            raise MetadataTypeError(
                f"parsing time {quoted(str(value))} as "
                f'"2006-01-02T15:04:05Z07:00": cannot parse {quoted(str(value))} as "2006"'
            )
        return rfc3339(moment)
    return value


def _clean_owners(metadata: JsonObject) -> Iterator[str]:
    owners = get_objects(metadata, "ownerReferences")
    for index, owner in enumerate(owners):
        for key in owner:
            if key not in _OWNER_FIELDS:
                yield f"metadata.ownerReferences[{index}].{key}"
    if owners:
        metadata["ownerReferences"] = [
            {key: value for key, value in owner.items() if key in _OWNER_FIELDS and value is not None}
            for owner in owners
        ]


def generated_name(base: str) -> str:
    """Return ``base`` with a random suffix of five letters and digits that spell no words."""
    return base[:_GENERATED_BASE_LIMIT] + "".join(random.choices(_SUFFIX_LETTERS, k=5))  # noqa: S311  (no secret)


class NameRule(Enum):
    """What names of a kind must look like."""

    SUBDOMAIN = "subdomain"
    LABEL = "label"
    PATH_SEGMENT = "path segment"


def check_metadata(obj: JsonObject, rule: NameRule) -> Iterator[FieldError]:
    """Yield what is wrong with the metadata of an object that is written."""
    metadata = get_map(obj, "metadata")
    generate = get_str(metadata, "generateName")
    if generate:
        yield from _check_name("metadata.generateName", generate, rule, stem=generate.rstrip("-") or generate)
    name = get_str(metadata, "name") or ""
    if name:
        yield from _check_name("metadata.name", name, rule, stem=name)
    else:
        yield FieldError("FieldValueRequired", "metadata.name", "Required value: name or generateName is required")
    yield from _check_contents(metadata)
    finalizers = metadata.get("finalizers")
    for item in finalizers if isinstance(finalizers, list) else []:
        yield from _check_key("metadata.finalizers", str(item))


def _check_contents(metadata: JsonObject) -> Iterator[FieldError]:
    for key, value in get_map(metadata, "labels").items():
        yield from _check_key("metadata.labels", key)
        yield from _check_label_value("metadata.labels", str(value))
    yield from _check_annotations(get_map(metadata, "annotations"))
    yield from _check_owners(get_objects(metadata, "ownerReferences"))


def check_metadata_change(new: JsonObject, old: JsonObject) -> Iterator[FieldError]:
    """Yield what is wrong with the metadata of an update: changes that none may make, and bad contents."""
    if get_map(old, "metadata").get("deletionTimestamp"):
        before = _strings(get_map(old, "metadata").get("finalizers"))
        added = [item for item in _strings(get_map(new, "metadata").get("finalizers")) if item not in before]
        if added:
            listed = "[]string{" + ", ".join(quoted(item) for item in added) + "}"
            why = f"no new finalizers can be added if the object is being deleted, found new finalizers {listed}"
            yield FieldError("FieldValueForbidden", "metadata.finalizers", f"Forbidden: {why}")
    for key in ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        value = get_map(new, "metadata").get(key)
        if value != get_map(old, "metadata").get(key):
            shown = quoted(value) if isinstance(value, str) else "null" if value is None else str(value)
            yield FieldError("FieldValueInvalid", f"metadata.{key}", f"Invalid value: {shown}: field is immutable")
    yield from _check_contents(get_map(new, "metadata"))


def _strings(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _invalid(path: str, value: str, why: str) -> FieldError:
    return FieldError("FieldValueInvalid", path, f"Invalid value: {quoted(value)}: {why}")


def _check_name(path: str, name: str, rule: NameRule, *, stem: str) -> Iterator[FieldError]:
    if rule is NameRule.PATH_SEGMENT:
        if name in (".", ".."):
            yield _invalid(path, name, f"may not be '{name}'")
        for part in ("/", "%"):
            if part in name:
                yield _invalid(path, name, f"may not contain '{part}'")
        return
    label = rule is NameRule.LABEL
    limit, pattern, text = (63, _LABEL_PATTERN, _LABEL_TEXT) if label else (253, _SUBDOMAIN_PATTERN, _SUBDOMAIN_TEXT)
    if len(stem) > limit:
        yield _invalid(path, name, f"must be no more than {limit} characters")
    if label and "." in stem and re.fullmatch(_SUBDOMAIN_PATTERN, stem):
        yield _invalid(path, name, "must not contain dots")
    elif not re.fullmatch(pattern, stem):
        yield _invalid(path, name, text)


def key_problems(key: str) -> list[str]:
    """Return what is wrong with the key of a label, an annotation or the name of a finalizer."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return [_QUALIFIED_KEY_TEXT]
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash and not re.fullmatch(_SUBDOMAIN_PATTERN, prefix):
        problems.append(f"prefix part {_SUBDOMAIN_TEXT}")
    if not name:
        problems.append("name part must be non-empty")
    elif len(name) > 63:
        problems.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_QUALIFIED_PATTERN, name):
        problems.append(_QUALIFIED_TEXT)
    return problems


def label_value_problems(value: str) -> list[str]:
    """Return what is wrong with the value of a label."""
    problems = ["must be no more than 63 bytes"] if len(value) > 63 else []
    return problems if re.fullmatch(_VALUE_PATTERN, value) else [*problems, _VALUE_TEXT]


def _check_key(path: str, key: str) -> Iterator[FieldError]:
    for problem in key_problems(key):
        yield _invalid(path, key, problem)


def _check_label_value(path: str, value: str) -> Iterator[FieldError]:
    for problem in label_value_problems(value):
        yield _invalid(path, value, problem)


def _check_annotations(annotations: JsonObject) -> Iterator[FieldError]:
    size = 0
    for key, value in annotations.items():
        yield from _check_key("metadata.annotations", key.lower())
        size += len(key.encode()) + len(str(value).encode())
    if size > ANNOTATIONS_LIMIT:
        why = f"Too long: may not be more than {ANNOTATIONS_LIMIT} bytes"
        yield FieldError("FieldValueTooLong", "metadata.annotations", why)


def _check_owners(owners: list[JsonObject]) -> Iterator[FieldError]:
    path, first = "metadata.ownerReferences", ""
    for owner in owners:
        for key in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(key):
                yield _invalid(f"{path}.{key}", "", f"{'version ' if key == 'apiVersion' else ''}must not be empty")
        if owner.get("controller") is True:
            this = f"{owner.get('kind')}/{owner.get('name')}"
            if first:
                both = f'Found "true" in references for {first} and {this}'
                why = f"Only one reference can have Controller set to true. {both}"
                yield FieldError(
                    "FieldValueInvalid", path, f"Invalid value: {encode([*owners]).decode().strip()}: {why}"
                )
            first = first or this
