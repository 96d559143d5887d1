"""Kustomizations of an input: what they change themselves, and which files are their patches (pure)."""

import posixpath
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from aim_api.kinds import AIM_GROUP, LEGACY_VERSION
from aim_api.tree import Json, JsonObject, get_list, get_str, leaves
from aim_template_migration.manifests.located import Located, ManifestFile
from aim_template_migration.mapping.recipes.ledger import Path

CHANGES = ("patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "vars")
"""Fields of a Kustomization that change objects of its resources."""

_LEGACY = f"{AIM_GROUP}/{LEGACY_VERSION}"
_API_GROUP = "kustomize.config.k8s.io/"
_FILES = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})


def is_kustomization(name: str, value: JsonObject) -> bool:
    """Return whether an object of a file is a Kustomization, which need not say so itself."""
    stated = (get_str(value, "apiVersion") or "").startswith(_API_GROUP)
    return stated or ("kind" not in value and PurePath(name).name in _FILES)


def old_patches(files: Sequence[ManifestFile], located: Sequence[Located]) -> Iterator[tuple[Located, Path]]:
    """Yield where a Kustomization itself changes objects at v1alpha1, which its resources no longer hold."""
    for item in located:
        value = item.place.value
        if is_kustomization(files[item.file].name, value):
            for field in CHANGES:
                for path, text in leaves(value.get(field), (field,)):
                    if isinstance(text, str) and _LEGACY in text:
                        yield item, path


def patches_of(files: Sequence[ManifestFile], located: Sequence[Located]) -> frozenset[int]:
    """Return the numbers of the objects that are patches: those of files that a Kustomization of the input names so."""
    named: set[str] = set()
    for item in located:
        name = files[item.file].name
        if is_kustomization(name, item.place.value):
            folder = posixpath.dirname(name.replace("\\", "/"))
            named.update(posixpath.normpath(posixpath.join(folder, path)) for path in _paths(item.place.value))
    if not named:
        return frozenset()
    patching = {
        number for number, file in enumerate(files) if posixpath.normpath(file.name.replace("\\", "/")) in named
    }
    return frozenset(number for number, item in enumerate(located) if item.file in patching)


def stated_by_patch(value: JsonObject) -> JsonObject:
    """Return what a patch sets: without what it removes by null, and without directives such as ``$patch``."""
    return {
        key: stated_by_patch(item) if isinstance(item, dict) else item
        for key, item in value.items()
        if item is not None and not key.startswith("$")
    }


def _paths(value: JsonObject) -> Iterator[str]:
    for field in CHANGES:
        for patch in get_list(value, field):
            path = _path(patch)
            if path:
                yield path


def _path(patch: Json) -> str:
    """Return the file of a patch; one that is written out in the Kustomization has several lines."""
    found = patch if isinstance(patch, str) else get_str(patch, "path") or ""
    return "" if "\n" in found else found
