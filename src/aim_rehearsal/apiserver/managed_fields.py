"""Who owns which fields: the managedFields of creates, updates and patches.

Source: Kubernetes documentation, "Server-Side Apply" (field management), and the answers of a kube-apiserver 1.36.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from aim_api.tree import Json, JsonObject, get_map, get_objects, get_str
from aim_rehearsal.apiserver.builtin_schemas import builtin_zero
from aim_rehearsal.apiserver.field_paths import (
    Path,
    all_fields,
    from_fields_v1,
    to_fields_v1,
    with_metadata_schema,
)
from aim_rehearsal.apiserver.resources import Resource, ServedVersion
from aim_rehearsal.apiserver.times import parse_time, rfc3339
from aim_rehearsal.apiserver.trees import same_value
from aim_rehearsal.apiserver.typed_values import typed_problems

APPLY, UPDATE = "Apply", "Update"
_MAX_UPDATERS = 10
_ANCIENT = "ancient-changes"
NEVER_OWNED: frozenset[Path] = frozenset(
    {
        ("f:apiVersion",),
        ("f:kind",),
        ("f:metadata",),
        *(
            ("f:metadata", f"f:{key}")
            for key in (
                "name",
                "namespace",
                "creationTimestamp",
                "selfLink",
                "uid",
                "clusterName",
                "generation",
                "managedFields",
                "resourceVersion",
            )
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Owner:
    """One entry of managedFields without its fields.

    Attributes:
        manager: the field manager.
        operation: ``Apply`` or ``Update``.
        api_version: the version whose field names are used.
        subresource: the subresource through which the fields were written.
    """

    manager: str
    operation: str
    api_version: str
    subresource: str

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What makes two entries one: an applier is the same at every version."""
        version = "" if self.operation == APPLY else self.api_version
        return self.manager, self.operation, version, self.subresource


@dataclass(frozen=True, slots=True)
class Ownership:
    """The fields of one owner and when they last changed."""

    owner: Owner
    fields: frozenset[Path]
    time: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two states of an object."""

    added: frozenset[Path]
    modified: frozenset[Path]
    removed: frozenset[Path]


def read_ownership(value: JsonObject) -> list[Ownership]:
    """Return the managedFields of an object; entries that cannot be read are left out."""
    found = []
    for entry in get_objects(value, "metadata", "managedFields"):
        manager, operation = get_str(entry, "manager") or "", get_str(entry, "operation") or ""
        if operation in (APPLY, UPDATE):
            owner = Owner(manager, operation, get_str(entry, "apiVersion") or "", get_str(entry, "subresource") or "")
            fields = frozenset(from_fields_v1(get_map(entry, "fieldsV1")))
            found.append(Ownership(owner, fields, get_str(entry, "time") or ""))
    return found


def with_ownership(value: JsonObject, ownership: Iterable[Ownership]) -> JsonObject:
    """Return an object with these managedFields, in the server's order."""
    entries: list[Json] = [_entry(item) for item in sorted(ownership, key=_order) if item.fields]
    metadata = {key: item for key, item in get_map(value, "metadata").items() if key != "managedFields"}
    if entries:
        metadata["managedFields"] = entries
    return {**value, "metadata": metadata}


def _order(item: Ownership) -> tuple[str, int, str, str, str]:
    moment = parse_time(item.time)
    seconds = int(moment.timestamp()) if moment else 0
    return item.owner.operation, seconds, item.owner.manager, item.owner.api_version, item.owner.subresource


def _entry(item: Ownership) -> JsonObject:
    entry: JsonObject = {
        "manager": item.owner.manager,
        "operation": item.owner.operation,
        "apiVersion": item.owner.api_version,
        "time": item.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": to_fields_v1(item.fields),
    }
    if item.owner.subresource:
        entry["subresource"] = item.owner.subresource
    return {key: entry[key] for key in entry if entry[key] != ""}


@dataclass(frozen=True, slots=True)
class FieldTracker:
    """Keeps managedFields for one resource, version and subresource."""

    resource: Resource
    version: ServedVersion
    subresource: str

    @property
    def schema(self) -> JsonObject:
        """The schema that decides what is owned as a whole."""
        return with_metadata_schema(self.version.schema)

    @property
    def zero(self) -> JsonObject:
        """What nobody ever wrote: built-in kinds have their structures from the beginning."""
        return {} if self.resource.custom else builtin_zero(self.resource.kind)

    @property
    def api_version(self) -> str:
        """The version that entries name."""
        return self.resource.api_version(self.version.name)

    def updated(self, old: JsonObject | None, new: JsonObject, manager: str, moment: datetime) -> JsonObject:
        """Return ``new`` with its managedFields after a create, update or patch.

        Args:
            old: the object before; None for a create.
            new: the object after; managedFields in it replace the old ones, as the API allows.
            manager: the field manager of the request.
            moment: the time of the request.
        """
        given = get_objects(new, "metadata", "managedFields")
        if len(given) == 1 and not any(given[0].values()):
            return with_ownership(new, [])
        ownership = read_ownership(new) if given and not self.subresource else []
        ownership = ownership or read_ownership(old or {})
        untracked = old is not None and not ownership
        if untracked or (self.resource.custom and typed_problems(new, self.schema, duplicates=False)):
            # The real server, too, forgets who owns what when it cannot make sense of an object.
            return with_ownership(new, [])
        owner = Owner(manager, UPDATE, self.api_version, self.subresource)
        whole = self.compare(old or self.zero, new)
        kept = [self.without_changed(item, whole) for item in ownership]
        difference = self.written(whole)
        taken = difference.added | difference.modified
        # The manager of this request keeps what it had: only others lose what changes hands.
        own = next((item for item in ownership if item.owner.identity == owner.identity), None)
        gained = taken - NEVER_OWNED
        if gained:
            before = own.fields - difference.removed if own else frozenset()
            kept = [item for item in kept if item.owner.identity != owner.identity]
            kept.append(Ownership(owner, before | gained, rfc3339(moment)))
        return with_ownership(new, _capped(kept))

    def compare(self, old: JsonObject, new: JsonObject) -> Comparison:
        """Return which fields differ."""
        schema = self.schema
        before, after = all_fields(_own_part(old), schema), all_fields(_own_part(new), schema)
        shared = before.keys() & after.keys()
        modified = {path for path in shared if _differs(before[path], after[path])}
        return Comparison(frozenset(after.keys() - shared), frozenset(modified), frozenset(before.keys() - shared))

    def without_changed(self, item: Ownership, difference: Comparison) -> Ownership:
        """Return what an owner keeps after a change of others.

        On a change of all but status, owners at another version lose status fields too: the real server leaves them
        out at its own version alone.
        """
        own = item.owner.api_version == self.api_version or self.subresource == "status"
        seen = self.written(difference) if own else difference
        return replace(item, fields=item.fields - seen.added - seen.modified - seen.removed)

    def written(self, difference: Comparison) -> Comparison:
        """Return the differences that this endpoint writes."""
        return Comparison(
            self.writable(difference.added), self.writable(difference.modified), self.writable(difference.removed)
        )

    def writable(self, paths: Iterable[Path]) -> frozenset[Path]:
        """Return the paths that this endpoint writes: status has its own where it is a subresource."""
        if self.subresource == "status":
            foreign = {"f:spec", "f:metadata"} if self.resource.custom else {"f:spec"}
        else:
            foreign = {"f:status"} if self.resource.has_status else set()
        return frozenset(path for path in paths if path[0] not in foreign)


def _own_part(value: JsonObject) -> JsonObject:
    """Return an object without its managedFields, which nobody owns."""
    metadata = {key: item for key, item in get_map(value, "metadata").items() if key != "managedFields"}
    return {**value, "metadata": metadata} if metadata else value


def _differs(before: tuple[bool, Json], after: tuple[bool, Json]) -> bool:
    if before[1] is None and not after[0]:
        return not after[1]  # null fits any structure, but an empty one is another value
    return before[0] != after[0] or (before[0] and not same_value(before[1], after[1]))


def _capped(ownership: list[Ownership]) -> list[Ownership]:
    """Merge the oldest updaters into one when there are too many, as the server does."""
    updaters = sorted((item for item in ownership if item.owner.operation == UPDATE and item.fields), key=_order)
    if len(updaters) <= _MAX_UPDATERS:
        return ownership
    old = updaters[: len(updaters) - _MAX_UPDATERS + 1]
    merged: dict[str, Ownership] = {}
    for item in old:
        owner = Owner(_ANCIENT, UPDATE, item.owner.api_version, "")
        before = merged.get(owner.api_version)
        fields = item.fields | before.fields if before else item.fields
        merged[owner.api_version] = Ownership(owner, fields, item.time)
    return [*(item for item in ownership if item not in old), *merged.values()]
