"""What the API serves: resources, their versions, columns and schemas, as values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from aim_api.tree import Json, JsonObject
from aim_rehearsal.apiserver.errors import qualified
from aim_schema import StructuralSchema

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the Table that ``kubectl get`` shows.

    Attributes:
        name: the heading.
        cell: gives the value for an object; ages come from creation timestamps.
        kind: the OpenAPI type of the values.
        format: the OpenAPI format, ``name`` for the first column.
        priority: 0 for the ordinary view, 1 for ``-o wide``.
        description: the text of the column's documentation.
    """

    name: str
    cell: Callable[[JsonObject], Json]
    kind: str = "string"
    format: str = ""
    priority: int = 0
    description: str = ""


@dataclass(frozen=True, slots=True)
class ServedVersion:
    """One served version of a resource.

    Attributes:
        name: for example ``v1alpha2``.
        schema: the OpenAPI v3 schema of the whole object.
        structural: the compiled schema.
        columns: the print columns; empty means name and age.
        deprecation: the text of the Warning header that every request of this version gets.
        selectable: the field paths that field selectors may use beside name and namespace, without the leading dot.
        ruled: whether the schema has CEL rules.
    """

    name: str
    schema: JsonObject
    structural: StructuralSchema
    columns: tuple[Column, ...] = ()
    deprecation: str = ""
    selectable: tuple[str, ...] = ()
    ruled: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the API.

    Attributes:
        group: the API group; empty for the core group.
        kind: the kind in CamelCase.
        plural: the resource name in paths.
        singular: the singular name.
        namespaced: whether objects live in a namespace.
        versions: the served versions by name, the preferred first.
        storage_version: the version objects are stored at.
        short_names: the short names of kubectl.
        categories: the groups of resources such as ``all``.
        subresources: ``status`` where it is one, and others that the core knows.
        custom: whether a CustomResourceDefinition defines it.
        tracks_generation: whether ``metadata.generation`` counts changes of the desired state.
        returns_deleted: whether a delete answers with the object rather than with a Status.
        verbs: the verbs it serves.
        list_kind: the kind of lists.
        same_trees: whether all versions know the same fields.
        view_of: the collection of another group that holds the objects, for a second face of one kind.
        renames: how that face calls the fields of the stored objects, by their names there.
    """

    group: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    versions: Mapping[str, ServedVersion]
    storage_version: str
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: frozenset[str] = frozenset()
    custom: bool = False
    tracks_generation: bool = False
    returns_deleted: bool = False
    verbs: tuple[str, ...] = ALL_VERBS
    list_kind: str = ""
    same_trees: bool = True
    view_of: str = ""
    renames: Mapping[str, str] = field(default_factory=dict)

    @property
    def collection(self) -> str:
        """The name under which objects are stored and messages speak of them: ``aimservices.aim.eai.amd.com``."""
        return self.view_of or qualified(self.group, self.plural)

    def api_version(self, version: str) -> str:
        """Return the ``apiVersion`` of objects at ``version``."""
        return f"{self.group}/{version}" if self.group else version

    @property
    def has_status(self) -> bool:
        """Whether status is written through its own subresource only."""
        return "status" in self.subresources

    def present(self, stored: JsonObject, version: str) -> JsonObject:
        """Return a stored object as readers of ``version`` see it: ``apiVersion`` rewritten, unknown fields pruned."""
        api_version = self.api_version(version)
        if stored.get("apiVersion") == api_version:
            return stored
        if self.view_of:
            return {**{self.renames.get(key, key): value for key, value in stored.items()}, "apiVersion": api_version}
        seen: JsonObject = {**stored, "apiVersion": api_version}
        if self.same_trees:
            return seen
        return self.versions[version].structural.prune(seen)[0]


def version_maturity(name: str) -> tuple[int, int, int, str]:
    """Order versions as Kubernetes prefers them: v2, v1, v1beta2, v1beta1, v1alpha1, others by name."""
    major, _, rest = name.removeprefix("v").partition("beta" if "beta" in name else "alpha")
    stage = 0 if not rest and major.isdigit() else 1 if "beta" in name else 2
    if not major.isdigit() or (stage and not rest.isdigit()):
        return (3, 0, 0, name)
    return (stage, -int(major), -int(rest or 0), name)
