"""What was read, as values: reduced objects, indexed by kind, name and UID; pure look-ups, no requests.

Objects are joined by owner UID, labels and status references, never by a recomputed name, because operator versions
derive names differently (legacy pipeline facts, join keys for a reader).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern

import msgspec

from aim_api.bridge import RECONCILIATION_PAUSED
from aim_api.kinds import Kind
from aim_api.tree import JsonObject, get_int, get_objects, get_str, get_strings
from aim_template_migration.derived import derived
from aim_template_migration.documents.plan import ClusterIdentity, Finding, OwnerReference, Reference


@dataclass(frozen=True, slots=True)
class SecretHit:
    """A place where a literal looks like a secret; the literal itself is kept nowhere.

    Attributes:
        field: path of the field, as Kubernetes writes it.
        what: what it looks like, for example ``JSON Web Token``.
    """

    field: str
    what: str


class Observed(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One object as it was read, reduced to what decisions need; two readings are never equal, only their UIDs are.

    Attributes:
        kind: its kind, at the version it was read.
        obj: the object without managedFields, with the part of its status that is used, secret-looking literals
            replaced.
        managers: the field managers of non-status entries, sorted.
        secrets: where literals were replaced.
        names_secrets: whether it may name a Secret; False where no word of it speaks of one.
    """

    kind: Kind
    obj: JsonObject
    managers: tuple[str, ...] = ()
    secrets: tuple[SecretHit, ...] = ()
    names_secrets: bool = True

    @derived
    def name(self) -> str:
        """The object's name."""
        return get_str(self.obj, "metadata", "name") or ""

    @derived
    def namespace(self) -> str:
        """The object's namespace, empty for a cluster-scoped kind."""
        return get_str(self.obj, "metadata", "namespace") or ""

    @derived
    def uid(self) -> str:
        """The object's UID."""
        return get_str(self.obj, "metadata", "uid") or ""

    @derived
    def id(self) -> str:
        """``Kind/namespace/name``, or ``Kind/name`` for a cluster-scoped object."""
        return "/".join(filter(None, (self.kind.name, self.namespace, self.name)))

    @derived
    def generation(self) -> int | None:
        """metadata.generation, where the kind has one."""
        return get_int(self.obj, "metadata", "generation")

    @property
    def observed_generation(self) -> int | None:
        """status.observedGeneration; older operators leave it absent or 0, which both mean None here."""
        return get_int(self.obj, "status", "observedGeneration") or None

    @property
    def resource_version(self) -> str:
        """The object's resourceVersion."""
        return get_str(self.obj, "metadata", "resourceVersion") or ""

    @derived
    def labels(self) -> dict[str, str]:
        """The object's labels."""
        return get_strings(self.obj, "metadata", "labels")

    @derived
    def annotations(self) -> dict[str, str]:
        """The object's annotations."""
        return get_strings(self.obj, "metadata", "annotations")

    @derived
    def owner_references(self) -> tuple[OwnerReference, ...]:
        """The owner references with both flags, in the object's order."""
        return tuple(_owner_reference(item) for item in get_objects(self.obj, "metadata", "ownerReferences"))

    @derived
    def controller(self) -> OwnerReference | None:
        """The owner reference that is marked as controller, if any."""
        return next((owner for owner in self.owner_references if owner.controller), None)

    @property
    def terminating(self) -> bool:
        """Whether the object has a deletionTimestamp."""
        return get_str(self.obj, "metadata", "deletionTimestamp") is not None

    @property
    def paused(self) -> bool:
        """Whether reconciliation is paused; any value but exactly ``true`` means no."""
        return self.annotations.get(RECONCILIATION_PAUSED) == "true"

    @property
    def status_word(self) -> str:
        """status.status, or an empty string."""
        return get_str(self.obj, "status", "status") or ""

    @derived
    def reference(self) -> Reference:
        """The object as a reference."""
        return reference_to(self.kind, self.namespace, self.name)

    @derived
    def conditions(self) -> dict[str, JsonObject]:
        """The conditions by type; the first of a type counts."""
        found: dict[str, JsonObject] = {}
        for item in get_objects(self.obj, "status", "conditions"):
            found.setdefault(get_str(item, "type") or "", item)
        return found

    def condition(self, condition_type: str) -> JsonObject | None:
        """Return the condition of a type, or None."""
        return self.conditions.get(condition_type)

    def condition_status(self, condition_type: str) -> str:
        """Return the status of a condition, or an empty string where it is absent."""
        condition = self.condition(condition_type)
        return get_str(condition, "status") or "" if condition else ""

    def owned_by(self, uid: str) -> bool:
        """Return whether the owner with this UID is the controller of the object."""
        controller = self.controller
        return bool(uid) and controller is not None and controller.uid == uid


def reference_to(kind: Kind, namespace: str, name: str) -> Reference:
    """Return a reference to an object; thousands of them share one text of the API version."""
    return Reference(
        api_version=intern(kind.api_version), kind=kind.name, name=name, namespace=namespace if kind.namespaced else ""
    )


def _owner_reference(item: JsonObject) -> OwnerReference:
    controller, block = item.get("controller"), item.get("blockOwnerDeletion")
    return OwnerReference(
        api_version=intern(get_str(item, "apiVersion") or ""),
        kind=intern(get_str(item, "kind") or ""),
        name=get_str(item, "name") or "",
        uid=get_str(item, "uid") or "",
        controller=controller if isinstance(controller, bool) else None,
        block_owner_deletion=block if isinstance(block, bool) else None,
    )


KeysOf = Callable[[Observed], tuple[str, ...]]

Objects = Mapping[str, Mapping[str, Observed]]
"""Objects of one scope: by kind name, then by object name."""


def index(objects: Iterable[Observed]) -> Objects:
    """Return objects by kind name and object name, each sorted by name."""
    found: dict[str, dict[str, Observed]] = {}
    for item in objects:
        found.setdefault(item.kind.name, {})[item.name] = item
    return {kind: dict(sorted(items.items())) for kind, items in found.items()}


def _controller_uid(item: Observed) -> tuple[str, ...]:
    return (item.controller.uid,) if item.controller else ()


def _present(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()


@dataclass(frozen=True)
class ClusterScope:
    """What was read outside namespaces.

    Attributes:
        identity: which cluster it is.
        objects: the cluster-scoped objects.
        schemas: openAPIV3Schema of the CRDs that define targets, by kind name, for defaulting.
        warnings: what could not be read, where that only warns.
    """

    identity: ClusterIdentity
    objects: Objects
    schemas: Mapping[str, JsonObject] = field(default_factory=dict)
    warnings: tuple[Finding, ...] = ()


class NamespaceScope:
    """What was read in one namespace, with look-ups that are computed once."""

    def __init__(self, name: str, objects: Iterable[Observed], *, terminating: bool = False) -> None:
        """Index ``objects``, which all live in namespace ``name``."""
        self.name = name
        self.terminating = terminating
        self._objects = index(objects)
        self._lookups: dict[tuple[str, str | tuple[str, ...]], dict[str, tuple[Observed, ...]]] = {}

    @property
    def size(self) -> int:
        """How many objects were read."""
        return sum(map(len, self._objects.values()))

    def all(self, kind: Kind) -> Iterable[Observed]:
        """Return the objects of a kind, by name."""
        return self._objects.get(kind.name, {}).values()

    def get(self, kind: Kind, name: str) -> Observed | None:
        """Return an object by kind and name, or None."""
        return self._objects.get(kind.name, {}).get(name)

    def every(self) -> Iterable[Observed]:
        """Return all objects, by kind and name."""
        return (item for kind in sorted(self._objects) for item in self._objects[kind].values())

    def grouped(self, kind: Kind, key: str, keys_of: KeysOf) -> Mapping[str, tuple[Observed, ...]]:
        """Return the objects of a kind grouped by what ``keys_of`` says, by name; ``key`` names the grouping."""
        return self._lookup(kind, key, keys_of)

    def owned_by(self, kind: Kind, uid: str) -> tuple[Observed, ...]:
        """Return the objects of a kind whose controller has this UID, by name."""
        return self._lookup(kind, "owner", _controller_uid).get(uid, ())

    def with_label(self, kind: Kind, label: str, value: str) -> tuple[Observed, ...]:
        """Return the objects of a kind whose label has this value, by name."""
        return self._lookup(kind, f"label {label}", lambda item: _present(item.labels.get(label))).get(value, ())

    def with_field(self, kind: Kind, path: tuple[str, ...], value: str) -> tuple[Observed, ...]:
        """Return the objects of a kind whose string field at ``path`` has this value, by name."""
        return self._lookup(kind, path, lambda item: _present(get_str(item.obj, *path))).get(value, ())

    def _lookup(self, kind: Kind, key: str | tuple[str, ...], keys_of: KeysOf) -> dict[str, tuple[Observed, ...]]:
        found = self._lookups.get((kind.name, key))
        if found is None:
            lists: dict[str, list[Observed]] = {}
            for item in self.all(kind):
                for value in keys_of(item):
                    lists.setdefault(value, []).append(item)
            found = {value: tuple(items) for value, items in lists.items()}
            self._lookups[kind.name, key] = found
        return found


class Snapshot:
    """Everything that one classification sees: the cluster scope and the selected namespaces."""

    def __init__(self, cluster: ClusterScope, namespaces: Iterable[NamespaceScope]) -> None:
        """Take the cluster scope and the namespaces as they were read."""
        self.cluster = cluster
        self.namespaces = {scope.name: scope for scope in sorted(namespaces, key=lambda scope: scope.name)}

    def namespace(self, name: str) -> NamespaceScope:
        """Return a namespace that was read.

        Raises:
            KeyError: it was not selected.
        """
        return self.namespaces[name]

    def get(self, kind: Kind, namespace: str, name: str) -> Observed | None:
        """Return an object by kind, namespace (empty for a cluster-scoped kind) and name, or None."""
        if not kind.namespaced:
            return self.cluster.objects.get(kind.name, {}).get(name)
        scope = self.namespaces.get(namespace)
        return scope.get(kind, name) if scope else None
