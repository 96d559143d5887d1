"""One valid object of each of the project's kinds at each version."""

from collections.abc import Iterator
from functools import cache

from aim_api.crds import load_crds
from aim_api.kinds import (
    AIM_CLUSTER_MODEL,
    AIM_KINDS,
    AIM_MODEL,
    DUAL_VERSION_KINDS,
    KSERVE_KINDS,
    LEGACY_VERSION,
    Kind,
)
from aim_api.tree import JsonObject, get, get_objects
from tests.aim_api.crd_cases import examples

# No example is one of these, and the namespaced kind's fits.
_STAND_INS = {AIM_CLUSTER_MODEL.at(LEGACY_VERSION): AIM_MODEL.at(LEGACY_VERSION)}


def kinds() -> list[Kind]:
    """Return each kind of the project at each served version."""
    legacy = [kind.at(LEGACY_VERSION) for kind in DUAL_VERSION_KINDS]
    return [*AIM_KINDS, *legacy, *KSERVE_KINDS]


@cache
def _manifests() -> dict[Kind, JsonObject]:
    richest: dict[Kind, JsonObject] = {}
    for example in examples():
        known = richest.get(example.kind)
        if known is None or _weight(example.object) > _weight(known):
            richest[example.kind] = example.object
    return richest


def _weight(manifest: JsonObject) -> tuple[bool, int]:
    return bool(manifest.get("status")), len(str(manifest))


def sample(kind: Kind, name: str) -> JsonObject:
    """Return a manifest of a kind, without status."""
    found = _manifests()[_STAND_INS.get(kind, kind)]
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": name, "labels": {"sample": "yes"}},
        "spec": found.get("spec", {}),
    }


def sample_status(kind: Kind) -> JsonObject:
    """Return a status of a kind; empty where it has none."""
    if not _has_status(kind):
        return {}
    found = get(_manifests()[_STAND_INS.get(kind, kind)], "status")
    return found if isinstance(found, dict) and found else {"observedGeneration": 1}


@cache
def _has_status(kind: Kind) -> bool:
    definition = next(crd for crd in load_crds() if get(crd, "spec", "names", "kind") == kind.name)
    versions = get_objects(definition, "spec", "versions")
    return any(get(item, "subresources", "status") == {} for item in versions if item["name"] == kind.version)


def sample_values() -> Iterator[tuple[str, JsonObject]]:
    """Yield, for each kind and version, a name and the values that a script is played with."""
    for kind in kinds():
        scope = "/namespaces/${namespace}" if kind.namespaced else ""
        yield (
            f"{kind.name}-{kind.version}",
            {
                "kind": kind.name,
                "version": kind.version,
                "group": kind.group,
                "apiVersion": kind.api_version,
                "schema": ".".join([*reversed(kind.group.split(".")), kind.version, kind.name]),
                "plural": kind.plural,
                "collection": f"/apis/{kind.api_version}{scope}/{kind.plural}",
                "everywhere": f"/apis/{kind.api_version}/{kind.plural}",
                "name": "${namespace}-one",
                "manifest": sample(kind, "${namespace}-one"),
                "status": sample_status(kind),
            },
        )
