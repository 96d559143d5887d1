"""Which resources the server knows at this moment: the built-in ones and those of the stored definitions."""

from collections.abc import Iterator

from aim_api.tree import JsonObject, get, get_str
from aim_rehearsal.apiserver.builtins import builtin_resources
from aim_rehearsal.apiserver.crds import CRD_COLLECTION, define
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.store import Store


class Registry:
    """Finds resources by group and plural; a definition counts from the moment it is stored."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._builtins = {(item.group, item.plural): item for item in builtin_resources()}
        self._defined: dict[str, tuple[tuple[str | None, str], Resource]] = {}

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """Return the resource that serves ``plural`` at this group and version, or None."""
        resource = self.resource(group, plural)
        return resource if resource is not None and version in resource.versions else None

    def resource(self, group: str, plural: str) -> Resource | None:
        """Return the resource of that group and plural, or None."""
        builtin = self._builtins.get((group, plural))
        if builtin is not None:
            return builtin
        crd = self._store.get(CRD_COLLECTION, "", f"{plural}.{group}")
        return self._defined_by(crd) if crd is not None else None

    def by_kind(self, api_version: str, kind: str) -> Resource | None:
        """Return the resource whose objects have this ``apiVersion`` and ``kind``, or None."""
        group, _, version = api_version.rpartition("/")
        return next(
            (item for item in self.all() if item.kind == kind and item.group == group and version in item.versions),
            None,
        )

    def all(self) -> Iterator[Resource]:
        """Yield every served resource."""
        yield from self._builtins.values()
        for _, crd in self._store.scan(CRD_COLLECTION):
            yield self._defined_by(crd)

    def _defined_by(self, crd: JsonObject) -> Resource:
        name = get_str(crd, "metadata", "name") or ""
        state = (get_str(crd, "metadata", "uid"), str(get(crd, "metadata", "generation")))
        known = self._defined.get(name)
        if known is None or known[0] != state:
            known = self._defined[name] = (state, define(crd))
        return known[1]
