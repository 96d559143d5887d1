"""Discovery: which groups, versions and resources there are, in the old and in the aggregated form."""

import base64
import hashlib
from collections.abc import Iterable, Sequence

from aim_api.tree import Json, JsonObject
from aim_rehearsal.apiserver.registry import Registry
from aim_rehearsal.apiserver.resources import Resource, version_maturity

SERVER_VERSION: JsonObject = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.0+rehearsal",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}
_STATUS_VERBS = ("get", "patch", "update")


def aggregated(registry: Registry, *, core: bool, version: str) -> JsonObject:
    """Return the APIGroupDiscoveryList of the core group or of all others.

    Args:
        registry: the known resources.
        core: whether ``/api`` is asked rather than ``/apis``.
        version: ``v2`` or ``v2beta1``.
    """
    items: list[Json] = []
    for group, resources in _by_group(registry).items():
        if (group == "") is not core:
            continue
        versions: list[Json] = [
            {
                "version": name,
                "resources": [_aggregated_resource(item, name) for item in resources if name in item.versions],
                "freshness": "Current",
            }
            for name in _versions(resources)
        ]
        metadata: JsonObject = {"name": group} if group else {}
        items.append({"metadata": metadata, "versions": versions})
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": items,
    }


def api_versions(host: str) -> JsonObject:
    """Return the APIVersions of ``/api``."""
    addresses: list[Json] = [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def group_list(registry: Registry) -> JsonObject:
    """Return the APIGroupList of ``/apis``."""
    groups: list[Json] = [_group(name, resources) for name, resources in _by_group(registry).items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def one_group(registry: Registry, group: str) -> JsonObject | None:
    """Return the APIGroup of ``/apis/<group>``, or None if there is none."""
    resources = _by_group(registry).get(group)
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, resources)} if resources and group else None


def resource_list(registry: Registry, group: str, version: str) -> JsonObject | None:
    """Return the APIResourceList of one group and version, or None if nothing is served there."""
    served = [item for item in _by_group(registry).get(group, []) if version in item.versions]
    if not served:
        return None
    resources: list[Json] = []
    for item in served:
        resources.append(_resource(item))
        resources += [_subresource(item, name) for name in sorted(item.subresources)]
    api_version = f"{group}/{version}" if group else version
    head: JsonObject = {"kind": "APIResourceList", "apiVersion": "v1"} if group else {"kind": "APIResourceList"}
    return {**head, "groupVersion": api_version, "resources": resources}


def _by_group(registry: Registry) -> dict[str, list[Resource]]:
    groups: dict[str, list[Resource]] = {}
    for item in registry.all():
        groups.setdefault(item.group, []).append(item)
    return groups


def _versions(resources: Iterable[Resource]) -> list[str]:
    return sorted({name for item in resources for name in item.versions}, key=version_maturity)


def _group(name: str, resources: Sequence[Resource]) -> JsonObject:
    versions: list[Json] = [{"groupVersion": f"{name}/{item}", "version": item} for item in _versions(resources)]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _resource(item: Resource) -> JsonObject:
    entry: JsonObject = {
        "name": item.plural,
        "singularName": item.singular,
        "namespaced": item.namespaced,
        "kind": item.kind,
        "verbs": [*item.verbs],
    }
    if item.short_names:
        entry["shortNames"] = [*item.short_names]
    if item.categories:
        entry["categories"] = [*item.categories]
    if len(item.verbs) > 1:
        entry["storageVersionHash"] = _storage_hash(item)
    return entry


def _storage_hash(item: Resource) -> str:
    """Return the digest by which clients see that a resource is stored at another version."""
    stored = f"{item.group}/{item.storage_version}/{item.kind}"
    return base64.b64encode(hashlib.sha256(stored.encode()).digest()[:8]).decode()


def _subresource(item: Resource, name: str) -> JsonObject:
    return {
        "name": f"{item.plural}/{name}",
        "singularName": "",
        "namespaced": item.namespaced,
        "kind": item.kind,
        "verbs": ["update"] if name == "finalize" else [*_STATUS_VERBS],
    }


def _aggregated_resource(item: Resource, version: str) -> JsonObject:
    named = {"group": item.group, "version": version} if item.custom else {"group": "", "version": ""}
    kind: JsonObject = {**named, "kind": item.kind}
    entry: JsonObject = {
        "resource": item.plural,
        "responseKind": kind,
        "scope": "Namespaced" if item.namespaced else "Cluster",
        "singularResource": item.singular,
        "verbs": [*item.verbs],
    }
    if item.short_names:
        entry["shortNames"] = [*item.short_names]
    if item.categories:
        entry["categories"] = [*item.categories]
    if item.subresources:
        entry["subresources"] = [
            {"subresource": name, "responseKind": kind, "verbs": ["update"] if name == "finalize" else [*_STATUS_VERBS]}
            for name in sorted(item.subresources)
        ]
    return entry
