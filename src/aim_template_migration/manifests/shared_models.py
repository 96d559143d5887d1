"""Models that a conversion writes once and that objects of several directories refer to (pure)."""

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from aim_api.kinds import AIM_MODEL
from aim_api.tree import get_str
from aim_template_migration.manifests.kustomizations import Kustomized, normalised
from aim_template_migration.manifests.located import Located, ManifestFile
from aim_template_migration.manifests.remarks import Remark
from aim_template_migration.mapping.recipes.context import id_in
from aim_template_migration.mapping.recipes.draft import Draft, object_id

_REFERENCES = (("spec", "model", "name"), ("spec", "profiles", "derivedFrom", "selector", "modelRef", "name"))


@dataclass(slots=True)
class _Makers:
    """The files in which a model is written.

    Attributes:
        files: their numbers, in order.
        folders: their directories.
        above: these directories and all above them.
    """

    files: list[int] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    above: set[str] = field(default_factory=set)


def models_of_other_directories(
    files: Sequence[ManifestFile],
    located: Sequence[Located],
    drafts: Sequence[Draft | None],
    kustomized: Sequence[Kustomized],
    namespace: str,
) -> Iterator[Remark]:
    """Yield once for two directories where an object of one gets the model that is written in the other.

    Nothing tells whether they are for one cluster. What lies in one directory below the other, or what a Kustomization
    builds together, is.
    """
    makers = _makers(files, located, drafts, namespace)
    builds: list[set[int]] = [set() for _ in files]
    for index, build in enumerate(kustomized if makers else ()):
        for file in build.files:
            builds[file].add(index)
    said: set[tuple[str, str]] = set()
    for number, draft in enumerate(drafts if makers else ()):
        if draft is None or draft.value == draft.source:
            continue
        for path in _REFERENCES:
            model = object_id(AIM_MODEL.name, draft.namespace or namespace, get_str(draft.value, *path) or "")
            found, own = makers.get(model), located[number].file
            if found is None or _is_beside(_folder(files[own]), found):
                continue
            maker = files[found.files[0]]
            folders = _folder(maker), _folder(files[own])
            if folders in said or any(not builds[own].isdisjoint(builds[file]) for file in found.files):
                continue
            said.add(folders)
            message = (
                f"it gets {model}, which is written in {maker.name}; if the two directories are for different "
                "clusters, convert each of them on its own"
            )
            yield located[number], path[:2], message


def _makers(
    files: Sequence[ManifestFile], located: Sequence[Located], drafts: Sequence[Draft | None], namespace: str
) -> dict[str, _Makers]:
    found: dict[str, _Makers] = {}
    for number, draft in enumerate(drafts):
        for made in draft.beside if draft else ():
            if made.above and get_str(made.value, "kind") == AIM_MODEL.name:
                makers = found.setdefault(id_in(made.value, namespace), _Makers())
                makers.files.append(located[number].file)
                folder = _folder(files[located[number].file])
                makers.folders.add(folder)
                makers.above.update(_upwards(folder))
    return found


def _is_beside(folder: str, makers: _Makers) -> bool:
    """Return whether a directory is one of those that have a model, or above or below one."""
    return folder in makers.above or any(above in makers.folders for above in _upwards(folder))


def _folder(file: ManifestFile) -> str:
    return posixpath.dirname(normalised(file.name))


def _upwards(folder: str) -> Iterator[str]:
    """Yield a directory and all above it."""
    while folder.strip("/"):
        yield folder
        folder = posixpath.dirname(folder)
    yield folder
