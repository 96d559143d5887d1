"""The writes that a controller asks for, as values; carrying them out is another module's work."""

from dataclasses import dataclass

from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, get_map, get_str, has
from aim_rehearsal.operator.store import Key, name, namespace, uid

# Label prefixes whose keys belong to the operator on objects that it renders whole.
_OPERATOR_LABELS = "aim.eai.amd.com/"


@dataclass(frozen=True, slots=True)
class Render:
    """Create an object, or bring what this manager renders of it back in place."""

    kind: Kind
    manifest: JsonObject
    manager: str


@dataclass(frozen=True, slots=True)
class Patch:
    """Change an object with a JSON merge patch."""

    kind: Kind
    target: JsonObject
    patch: JsonObject
    manager: str


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Replace an object's status."""

    kind: Kind
    target: JsonObject
    status: JsonObject
    manager: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete an object, if it still has this UID."""

    kind: Kind
    target: JsonObject


Write = Render | Patch | SetStatus | Remove


def key_of(write: Write) -> Key:
    """Return the key of the object that a write changes."""
    target = write.manifest if isinstance(write, Render) else write.target
    return Key(write.kind.name, namespace(target), name(target))


def changes(write: Write, live: JsonObject | None) -> bool:
    """Return whether a write would change anything, given the object as last seen."""
    if isinstance(write, Render):
        return live is None or not covers(live, write.manifest) or bool(_stale_keys(live, write.manifest))
    if live is None:
        return False
    if isinstance(write, Remove):
        return uid(live) == uid(write.target)
    if isinstance(write, SetStatus):
        return not _same(get_map(live, "status"), write.status)
    return not _patched(live, write.patch)


def in_place(live: JsonObject, manifest: JsonObject) -> JsonObject:
    """Return the live object with what ``manifest`` renders in place.

    The spec and data are the manifest's; of labels and annotations those that the operator owns and no longer renders
    go, as they do when a field manager stops to send a field.
    """
    result: JsonObject = dict(live)
    for field in manifest:
        if field not in {"metadata", "status"}:
            result[field] = manifest[field]
    metadata: JsonObject = dict(get_map(live, "metadata"))
    wanted = get_map(manifest, "metadata")
    for field in ("labels", "annotations"):
        stale = _stale(get_map(metadata, field), get_map(wanted, field)) if has(wanted, field) else set()
        merged = {key: value for key, value in get_map(metadata, field).items() if key not in stale}
        merged |= get_map(wanted, field)
        if merged:
            metadata[field] = merged
        else:
            metadata.pop(field, None)
    if has(wanted, "ownerReferences"):
        metadata["ownerReferences"] = wanted["ownerReferences"]
    metadata.pop("managedFields", None)
    result["metadata"] = metadata
    return result


def covers(live: Json, wanted: Json) -> bool:
    """Return whether every field of ``wanted`` stands in ``live``; lists must be of equal length.

    Empty fields count as absent, since servers leave them out of the types that they know.
    """
    if isinstance(wanted, dict):
        if not isinstance(live, dict):
            return False
        return all(key in live and covers(live[key], value) for key, value in wanted.items() if not _empty(value))
    if isinstance(wanted, list):
        return (
            isinstance(live, list)
            and len(live) == len(wanted)
            and all(covers(old, new) for old, new in zip(live, wanted, strict=True))
        )
    return live == wanted


def _same(one: Json, other: Json) -> bool:
    """Return whether two values are equal but for empty fields."""
    return covers(one, other) and covers(other, one)


def _empty(value: Json) -> bool:
    return value is None or value is False or value in ("", 0) or value in ([], {})


def _stale_keys(live: JsonObject, manifest: JsonObject) -> set[str]:
    found: set[str] = set()
    for field in ("labels", "annotations"):
        if has(manifest, "metadata", field):
            found |= _stale(get_map(live, "metadata", field), get_map(manifest, "metadata", field))
    return found


def _stale(live: JsonObject, wanted: JsonObject) -> set[str]:
    return {key for key in live if key.startswith(_OPERATOR_LABELS) and key not in wanted}


def _patched(live: Json, patch: Json) -> bool:
    if not isinstance(patch, dict):
        return live == patch
    if not isinstance(live, dict):
        return False
    return all(
        (key not in live) if value is None else (key in live and _patched(live[key], value))
        for key, value in patch.items()
    )


def owner_reference(owner: JsonObject, api_version: str, kind: str) -> JsonObject:
    """Return the controller owner reference that the operator's framework writes: without blockOwnerDeletion."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": get_str(owner, "metadata", "name") or "",
        "uid": uid(owner),
        "controller": True,
    }
