"""What an API server demands of the contents of metadata: names, labels, annotations, owners and finalizers.

Source: Kubernetes API conventions (Metadata), and the answers of a kube-apiserver 1.36.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from aim_api.tree import Json, JsonObject, Key, get_list, get_map, get_str
from aim_schema.errors import FieldError, invalid, invalid_without_value, required, too_long
from aim_schema.gotext import json_text
from aim_schema.metadata_decoding import OWNER_FIELDS

ANNOTATIONS_LIMIT = 262144
"""Bytes of all keys and values."""

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
_GENERATED_BASE_LIMIT = 58
_KNOWN = 4096  # the keys of a fleet are few
_NEVER_OWNERS = frozenset({("v1", "Event"), ("/v1", "Event")})
_EXCLUSIVE_FINALIZERS = ("orphan", "foregroundDeletion")
_BOTH_FINALIZERS = "finalizer orphan and foregroundDeletion cannot be both set"


@dataclass(frozen=True, slots=True)
class MetadataProblem:
    """One thing that a server refuses.

    Attributes:
        path: where it is in the object.
        error: what the server says; it names the field less precisely.
        of_key: it is the key at the end of the path that is refused, not its value.
    """

    path: tuple[Key, ...]
    error: FieldError
    of_key: bool = False


class NameRule(Enum):
    """What names of a kind must look like."""

    SUBDOMAIN = "subdomain"
    LABEL = "label"
    PATH_SEGMENT = "path segment"


def name_problems(name: str, rule: NameRule) -> list[str]:
    """Return what is wrong with the name of an object."""
    if rule is NameRule.PATH_SEGMENT:
        dots = [f"may not be '{name}'"] if name in (".", "..") else []
        return [*dots, *(f"may not contain '{part}'" for part in ("/", "%") if part in name)]
    label = rule is NameRule.LABEL
    limit, pattern, text = (63, _LABEL_PATTERN, _LABEL_TEXT) if label else (253, _SUBDOMAIN_PATTERN, _SUBDOMAIN_TEXT)
    problems = [f"must be no more than {limit} characters"] if len(name) > limit else []
    if label and "." in name and re.fullmatch(_SUBDOMAIN_PATTERN, name):
        return [*problems, "must not contain dots"]
    return problems if re.fullmatch(pattern, name) else [*problems, text]


def prefix_problems(prefix: str, rule: NameRule) -> list[str]:
    """Return what is wrong with generateName: the server looks at it with its last two characters as one letter."""
    masked = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
    return name_problems(prefix if rule is NameRule.PATH_SEGMENT else masked, rule)


def generated_base(prefix: str) -> str:
    """Return what a generated name begins with; five characters follow."""
    return prefix[:_GENERATED_BASE_LIMIT]


@lru_cache(maxsize=_KNOWN)
def key_problems(key: str) -> tuple[str, ...]:
    """Return what is wrong with the key of a label, an annotation or the name of a finalizer."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return (_QUALIFIED_KEY_TEXT,)
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += ["prefix part must be no more than 253 bytes"] if len(prefix) > 253 else []
        problems += [] if re.fullmatch(_SUBDOMAIN_PATTERN, prefix) else [f"prefix part {_SUBDOMAIN_TEXT}"]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        problems.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_QUALIFIED_PATTERN, name):
        problems.append(_QUALIFIED_TEXT)
    return tuple(problems)


def label_value_problems(value: str) -> list[str]:
    """Return what is wrong with the value of a label."""
    problems = ["must be no more than 63 bytes"] if len(value.encode()) > 63 else []
    return problems if re.fullmatch(_VALUE_PATTERN, value) else [*problems, _VALUE_TEXT]


def identity_problems(metadata: JsonObject, rule: NameRule) -> Iterator[MetadataProblem]:
    """Yield what is wrong with the name of a new object, and with what one was or will be generated from."""
    prefix, name = get_str(metadata, "generateName") or "", get_str(metadata, "name") or ""
    if prefix:
        yield from _invalid(("metadata", "generateName"), prefix, prefix_problems(prefix, rule))
    if name:
        yield from _invalid(("metadata", "name"), name, name_problems(name, rule))
    elif metadata.get("name") in (None, "") and not prefix:
        yield MetadataProblem(("metadata", "name"), required("metadata.name", "name or generateName is required"))


def content_problems(metadata: JsonObject) -> Iterator[MetadataProblem]:
    """Yield what is wrong with labels, annotations and owners, which updates may not get wrong either.

    Values of other types than ObjectMeta's are passed over.
    """
    for key, value in get_map(metadata, "labels").items():
        yield from _keys("metadata.labels", key, key)
        if isinstance(value, str):
            yield from _invalid(("metadata", "labels", key), value, label_value_problems(value), "metadata.labels")
    yield from _annotations(get_map(metadata, "annotations"))
    yield from _owners(get_list(metadata, "ownerReferences"))


def finalizer_problems(metadata: JsonObject) -> Iterator[MetadataProblem]:
    """Yield what is wrong with the finalizers of a new object."""
    field = "metadata.finalizers"
    finalizers = get_list(metadata, "finalizers")
    for index, item in enumerate(finalizers):
        if item is None or isinstance(item, str):
            name = item or ""
            yield from _invalid(("metadata", "finalizers", index), name, key_problems(name), field)
    if all(name in finalizers for name in _EXCLUSIVE_FINALIZERS):
        yield MetadataProblem(("metadata", "finalizers"), invalid(field, finalizers, _BOTH_FINALIZERS))


def _invalid(path: tuple[Key, ...], value: str, problems: Sequence[str], field: str = "") -> Iterator[MetadataProblem]:
    named = field or ".".join(map(str, path))
    return (MetadataProblem(path, invalid(named, value, problem)) for problem in problems)


def _keys(field: str, key: str, looked_at: str) -> Iterator[MetadataProblem]:
    path = (*field.split("."), key)
    return (
        MetadataProblem(path, invalid(field, looked_at, problem), of_key=True) for problem in key_problems(looked_at)
    )


def _annotations(annotations: JsonObject) -> Iterator[MetadataProblem]:
    size = 0
    for key, value in annotations.items():
        yield from _keys("metadata.annotations", key, key.lower())
        size += len(key.encode()) + (len(value.encode()) if isinstance(value, str) else 0)
    if size > ANNOTATIONS_LIMIT:
        yield MetadataProblem(("metadata", "annotations"), too_long("metadata.annotations", ANNOTATIONS_LIMIT))


def repeated_owners(owners: Sequence[Json]) -> list[int]:
    """Return the indexes of owners that equal an earlier one; the server drops them before it looks at any."""
    seen: set[str] = set()
    found = []
    for index, text in enumerate(map(_owner_text, owners)):
        found += [index] if text in seen else []
        seen.add(text)
    return found


def _owners(owners: list[Json]) -> Iterator[MetadataProblem]:
    field, first = "metadata.ownerReferences", ""
    repeated = repeated_owners(owners)
    for index, item in enumerate(owners):
        if index in repeated or (item is not None and not isinstance(item, dict)):
            continue
        owner: JsonObject = item or {}
        path: tuple[Key, ...] = ("metadata", "ownerReferences", index)
        yield from _owner(owner, path)
        if owner.get("controller") is True:
            this = f"{get_str(owner, 'kind') or ''}/{get_str(owner, 'name') or ''}"
            if first:
                both = f'Found "true" in references for {first} and {this}'
                why = f"Only one reference can have Controller set to true. {both}"
                shown = f"[{','.join(dict.fromkeys(map(_owner_text, owners)))}]"
                yield MetadataProblem(path, invalid_without_value(field, f"{shown}: {why}"))
            first = first or this


def _owner(owner: JsonObject, path: tuple[Key, ...]) -> Iterator[MetadataProblem]:
    field = "metadata.ownerReferences"
    for key in OWNER_FIELDS[:4]:
        value = get_str(owner, key) or ""
        missing = not (_version(value) if key == "apiVersion" else value)
        if missing and isinstance(owner.get(key), str | None):
            why = "version must not be empty" if key == "apiVersion" else "must not be empty"
            yield MetadataProblem((*path, key), invalid(f"{field}.{key}", value, why))
    if (get_str(owner, "apiVersion"), get_str(owner, "kind")) in _NEVER_OWNERS:
        why = f"/v1, Kind={owner.get('kind')} is disallowed from being an owner"
        yield MetadataProblem(path, invalid_without_value(field, f"{_owner_text(owner)}: {why}"))


def _version(api_version: str) -> str:
    """Return the version in an apiVersion; one that has several groups has none."""
    group, slash, version = api_version.partition("/")
    return "" if "/" in version else version if slash else group


def _owner_text(owner: Json) -> str:
    """Return an owner as the server's messages quote it: in its own order, with what must be there."""
    known = owner if isinstance(owner, dict) else {}
    shown: JsonObject = {key: known.get(key) or "" for key in OWNER_FIELDS[:4]}
    shown |= {key: known[key] for key in OWNER_FIELDS[4:] if known.get(key) is not None}
    return "{" + ",".join(f"{json_text(key)}:{json_text(value)}" for key, value in shown.items()) + "}"
