"""ObjectMeta: what the server keeps of it, and what it refuses.

Source: Kubernetes API conventions (Metadata) and the answers of a kube-apiserver 1.36.
"""

import random
from collections.abc import Iterator

from aim_api.tree import Json, JsonObject, field_path, get_list, get_map, get_str
from aim_rehearsal.apiserver.errors import quoted
from aim_rehearsal.apiserver.times import parse_time, rfc3339
from aim_schema import FieldError
from aim_schema.metadata_decoding import OBJECT_META, GoType, decoding_faults, unknown_metadata
from aim_schema.metadata_rules import (
    NameRule,
    content_problems,
    finalizer_problems,
    generated_base,
    identity_problems,
    repeated_owners,
)

_REPEATED_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries{}; API server dedups owner references in 1.20+, and may "
    "reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}"
)
_AFTER_ADMISSION = " after mutating admission happens"
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class MetadataTypeError(ValueError):
    """A metadata field of a type that ObjectMeta does not have."""


def coerce_metadata(metadata: Json) -> tuple[JsonObject, list[str]]:
    """Return metadata as ObjectMeta keeps it (no unknown, null or empty fields) and the names of unknown fields.

    Raises:
        MetadataTypeError: a field has another type than ObjectMeta's.
    """
    # A bad time ends the decoding at once, while of other faults the first is named at the end.
    fault = min(decoding_faults(metadata), key=lambda found: not found.wanted.time, default=None)
    if fault is not None:
        raise MetadataTypeError(fault.message)
    if not isinstance(metadata, dict):
        return {}, []
    kept = {
        key: _kept(value, OBJECT_META.fields[key])
        for key, value in metadata.items()
        if key in OBJECT_META.fields and value not in (None, "", {}, [])
    }
    return kept, [field_path(path) for path in unknown_metadata(metadata)]


def _kept(value: Json, kind: GoType) -> Json:
    """Return a value as it is once decoded and encoded again: nulls are zero values, times have no fractions."""
    if kind.time:
        moment = parse_time(str(value))
        return value if moment is None else rfc3339(moment)
    if kind.below is not None and isinstance(value, list):
        return [_kept({} if item is None and kind.below.fields else item, kind.below) for item in value]
    if kind.fields and isinstance(value, dict):
        return {
            key: _kept(item, kind.fields[key]) for key, item in value.items() if key in kind.fields and item is not None
        }
    if kind.below is not None and isinstance(value, dict):
        return {key: _kept(item, kind.below) for key, item in value.items()}
    return "" if value is None else value


def with_distinct_owners(value: JsonObject, *, patched: bool) -> tuple[JsonObject, str]:
    """Return an object without owners that equal an earlier one, and the warning about them, empty without any.

    Patches are looked at later than other requests, and the warning says so.
    """
    metadata = get_map(value, "metadata")
    owners = get_list(metadata, "ownerReferences")
    repeated = repeated_owners(owners)
    if not repeated:
        return value, ""
    kept = [owner for index, owner in enumerate(owners) if index not in repeated]
    uids = ", ".join(get_str(owners[index], "uid") or "" for index in repeated)
    return {**value, "metadata": {**metadata, "ownerReferences": kept}}, _REPEATED_OWNERS.format(
        _AFTER_ADMISSION if patched else "", uids
    )


def generated_name(base: str) -> str:
    """Return ``base`` with a random suffix of five letters and digits that spell no words."""
    return generated_base(base) + "".join(random.choices(_SUFFIX_LETTERS, k=5))  # noqa: S311  (no secret)


def check_metadata(obj: JsonObject, rule: NameRule) -> Iterator[FieldError]:
    """Yield what is wrong with the metadata of an object that is written."""
    metadata = get_map(obj, "metadata")
    for problems in (identity_problems(metadata, rule), content_problems(metadata), finalizer_problems(metadata)):
        yield from (problem.error for problem in problems)


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
    yield from (problem.error for problem in content_problems(get_map(new, "metadata")))


def _strings(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
