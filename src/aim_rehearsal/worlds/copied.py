"""A world made of objects that live in another cluster, or did when somebody wrote them to a file (pure).

What has an identity is kept with it: UID, generation, owner references, managedFields, status. What has none is desired
state that somebody wrote by hand; the server creates it once the operator is at work, which then makes the rest.
"""

from collections.abc import Iterable, Sequence

from aim_api.bridge import COMPATIBLE_CONDITION
from aim_api.kinds import AIM_SERVICE, NAMESPACE
from aim_api.tree import Json, JsonObject, get_map, get_str
from aim_rehearsal.operator.conditions import find
from aim_rehearsal.sharing import Sharing
from aim_rehearsal.worlds.defaults import with_defaults
from aim_rehearsal.worlds.world import World

_ACCELERATORS = (("hardware", "gpu", "model"), ("acceleratorModel",))
_OWN_NAMESPACE = "kube-system"


def copied_world(
    name: str,
    summary: str,
    *,
    namespaces: Sequence[str],
    live: Iterable[JsonObject],
    desired: Iterable[JsonObject] = (),
) -> World:
    """Return the world.

    Args:
        name: what to call it.
        summary: one sentence on where it comes from.
        namespaces: the namespaces that the migration selects.
        live: objects with UID, as a server holds them.
        desired: manifests without identity.
    """
    sharing = Sharing()
    kept = [sharing.of(_as_read(item)) for item in live if not _is_own(item)]
    manifests = list(desired)
    kept += _missing_namespaces(kept, [*namespaces, *_namespaces_of(manifests)])
    incompatible: list[Json] = [_place(item) for item in kept if _is_refused(item)]
    return World(
        name=name,
        summary=summary,
        codes=(),
        namespaces=tuple(namespaces),
        objects=tuple(kept),
        operator={"incompatible": incompatible, "hardware": _wanted_hardware(manifests)},
        stored=True,
        desired=tuple(manifests),
    )


def _as_read(item: JsonObject) -> JsonObject:
    """Return an object with the defaults of the rehearsal's CRDs, and a namespace that goes as one that stays.

    The namespace controller of the rehearsal would empty it, while in the cluster something holds it.
    """
    if get_str(item, "kind") == NAMESPACE.name and "deletionTimestamp" in get_map(item, "metadata"):
        return item | {"spec": {}}
    return with_defaults(item)


def _is_own(item: JsonObject) -> bool:
    """Return whether an object must be the rehearsal's own, so that its plans fit no real cluster."""
    return get_str(item, "kind") == NAMESPACE.name and get_str(item, "metadata", "name") == _OWN_NAMESPACE


def _missing_namespaces(present: Iterable[JsonObject], wanted: Iterable[str]) -> list[JsonObject]:
    known = {get_str(item, "metadata", "name") for item in present if get_str(item, "kind") == NAMESPACE.name}
    return [
        {
            "apiVersion": NAMESPACE.api_version,
            "kind": NAMESPACE.name,
            "metadata": {"name": name},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }
        for name in sorted(set(wanted) - known - {_OWN_NAMESPACE})
    ]


def _namespaces_of(manifests: Iterable[JsonObject]) -> set[str]:
    return {name for item in manifests if (name := get_str(item, "metadata", "namespace"))}


def _wanted_hardware(manifests: Iterable[JsonObject]) -> list[Json]:
    """Return the accelerator models that manifests ask for; no status of theirs could say that a cluster has them."""
    found = {get_str(item, "spec", *path) for item in manifests for path in _ACCELERATORS}
    return [*sorted(model for model in found if model)]


def _is_refused(item: JsonObject) -> bool:
    """Return whether a bridge has already said of a service that it cannot take it over; that word must stand."""
    condition = find(item, COMPATIBLE_CONDITION) if get_str(item, "kind") == AIM_SERVICE.name else None
    return condition is not None and condition.get("status") == "False"


def _place(item: JsonObject) -> str:
    return f"{get_str(item, 'metadata', 'namespace')}/{get_str(item, 'metadata', 'name')}"
