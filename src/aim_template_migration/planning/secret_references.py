"""Secrets that a closure names (pure); they are never read."""

from collections.abc import Iterable, Iterator

from aim_api.tree import Json, JsonObject, get_objects, get_str
from aim_template_migration.documents.plan import SecretReference
from aim_template_migration.planning.snapshot import Observed

_KEYED = ("key", "accessKeyIdKey", "secretAccessKeyKey", "sessionTokenKey")


def secret_references(objects: Iterable[Observed], namespace: str) -> tuple[SecretReference, ...]:
    """Return the Secrets that objects name, by namespace and name, each with the keys that are used of it.

    Cluster-scoped objects name Secrets of the operator's namespace; where they are used by a service of ``namespace``,
    pods look them up there.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for item in objects:
        if not item.names_secrets:
            continue
        for name, keys in _names(item.obj.get("spec")):
            found.setdefault((item.namespace or namespace, name), set()).update(keys)
    return tuple(
        SecretReference(namespace=where, name=name, keys=tuple(sorted(keys)))
        for (where, name), keys in sorted(found.items())
    )


def _names(value: Json) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(value, list):
        for item in value:
            yield from _names(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "imagePullSecrets":
                yield from (
                    (name, ()) for name in (get_str(entry, "name") for entry in get_objects(value, key)) if name
                )
            elif isinstance(item, dict) and _is_reference(key, item):
                name = get_str(item, "name") or get_str(item, "secretName")
                yield from ((name, _keys(item)) for name in (name,) if name)
            else:
                yield from _names(item)


def _is_reference(key: str, value: JsonObject) -> bool:
    if key in ("secretKeyRef", "secretRef", "credentialsSecretRef"):
        return True
    return (key == "secret" and "secretName" in value) or (key == "caBundleRef" and value.get("kind") == "Secret")


def _keys(reference: JsonObject) -> tuple[str, ...]:
    items = (get_str(item, "key") for item in get_objects(reference, "items"))
    return tuple(key for key in (*(get_str(reference, name) for name in _KEYED), *items) if key)
