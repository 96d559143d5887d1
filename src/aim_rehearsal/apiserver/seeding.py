"""Objects that enter the store without a request: the first namespaces and roles, definitions, copies of live ones."""

import uuid
from collections.abc import Iterable

from aim_api.tree import JsonObject, get_int, get_map, get_objects, get_str
from aim_rehearsal.apiserver.authorization import initial_roles
from aim_rehearsal.apiserver.builtin_defaults import with_defaults
from aim_rehearsal.apiserver.crds import CRD_COLLECTION, check_crd, established, with_crd_defaults
from aim_rehearsal.apiserver.registry import Registry
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.store import Store
from aim_rehearsal.apiserver.strategies import before_create
from aim_rehearsal.apiserver.times import now, rfc3339
from aim_rehearsal.apiserver.writing import to_storage

_FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class Seeder:
    """Puts objects into one store."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry

    def start_cluster(self) -> None:
        """Store what every cluster has from the beginning."""
        for name in _FIRST_NAMESPACES:
            self._create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for role in initial_roles():
            self._create(role)

    def install_crds(self, crds: Iterable[JsonObject]) -> None:
        """Install or replace definitions.

        Raises:
            ValueError: a definition is not acceptable.
        """
        for crd in crds:
            name = get_str(crd, "metadata", "name") or ""
            problems = check_crd(with_crd_defaults(crd))
            if problems:
                listed = "; ".join(f"{problem.field}: {problem.message}" for problem in problems)
                raise ValueError(f"CustomResourceDefinition {name} is not acceptable: {listed}")
            with self._store:
                before = self._store.get(CRD_COLLECTION, "", name)
                if before is None:
                    self._create(crd)
                    continue
                generation = (get_int(before, "metadata", "generation") or 0) + 1
                kept = {**get_map(before, "metadata"), "generation": generation}
                self._store.put(CRD_COLLECTION, "", name, {**before, **with_crd_defaults(crd), "metadata": kept})

    def seed(self, objects: Iterable[JsonObject]) -> set[str]:
        """Store objects as they are.

        Returns:
            the UIDs of owners that are not in the store: they exist, but were not copied.

        Raises:
            ValueError: an object's kind is not served, or it has no name.
        """
        owners: set[str] = set()
        known: dict[tuple[str | None, str | None], Resource] = {}
        for value in objects:
            kind = (get_str(value, "apiVersion"), get_str(value, "kind"))
            resource = known[kind] = known.get(kind) or self._resource_of(value)
            metadata = get_map(value, "metadata")
            name = get_str(metadata, "name")
            if not name:
                raise ValueError(f"a {resource.kind} without metadata.name cannot be loaded")
            namespace = get_str(metadata, "namespace") or "" if resource.namespaced else ""
            if resource.namespaced and not namespace:
                raise ValueError(f"{resource.kind} {name} has no metadata.namespace and cannot be loaded")
            self._store.put(resource.collection, namespace, name, to_storage(resource, _complete(resource, value)))
            owners |= {get_str(item, "uid") or "" for item in get_objects(metadata, "ownerReferences")}
        return owners - self._uids() if owners else owners

    def _uids(self) -> set[str]:
        stored = (value for item in self._registry.all() for _, value in self._store.scan(item.collection))
        return {get_str(value, "metadata", "uid") or "" for value in stored}

    def _create(self, value: JsonObject) -> None:
        """Store a new object as a create request would."""
        resource = self._resource_of(value)
        fresh = before_create(resource, with_defaults(resource, _complete(resource, value)))
        if resource.collection == CRD_COLLECTION:
            fresh = established(fresh, rfc3339(now()))
        metadata = get_map(fresh, "metadata")
        namespace, name = get_str(metadata, "namespace") or "", get_str(metadata, "name") or ""
        self._store.put(resource.collection, namespace, name, fresh)

    def _resource_of(self, value: JsonObject) -> Resource:
        api_version, kind = get_str(value, "apiVersion") or "", get_str(value, "kind") or ""
        resource = self._registry.by_kind(api_version, kind)
        if resource is None:
            raise ValueError(
                f"{kind or 'an object without kind'} of {api_version or 'no apiVersion'} is not served here"
            )
        return resource


def _complete(resource: Resource, value: JsonObject) -> JsonObject:
    defaults: JsonObject = {"uid": str(uuid.uuid4()), "creationTimestamp": rfc3339(now())}
    if resource.custom:
        defaults["generation"] = 1
    return {**value, "metadata": {**defaults, **get_map(value, "metadata")}}
