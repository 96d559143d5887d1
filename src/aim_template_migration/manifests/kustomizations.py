"""Kustomizations of an input: which files they build, and which objects are parts that patch others (pure)."""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from aim_api.tree import Json, JsonObject, Key, get_list, get_map, get_str
from aim_template_migration.manifests.located import Located, ManifestFile
from aim_template_migration.mapping.recipes.conversion import PatchedObject, is_aim_object

CHANGES = ("patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "vars")
"""Fields of a Kustomization that change objects of its resources."""

_BUILT = ("resources", "bases", "components")
RENAMES = ("namePrefix", "nameSuffix")
"""Fields of a Kustomization that change the names of its resources."""

_API_GROUP = "kustomize.config.k8s.io/"
_FLUX = "kustomize.toolkit.fluxcd.io/"
_ARGO = "argoproj.io/"
_FILES = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})


@dataclass(slots=True)
class Kustomized:
    """A Kustomization, or what an object of Flux or Argo CD states like one.

    Attributes:
        item: the object that states it.
        at: where in the object it stands.
        value: what it states.
        folder: the directory that its paths start from, None where they mean another place.
        files: the numbers of the files of the input whose objects it changes.
        complete: whether it changes no others.
        nested: the Kustomizations among what it builds, each before what is built after it.
    """

    item: Located
    at: tuple[Key, ...]
    value: JsonObject
    folder: str | None
    files: set[int] = field(default_factory=set)
    complete: bool = False
    nested: "list[Kustomized]" = field(default_factory=list)

    @property
    def renames(self) -> bool:
        """Whether what it builds gets other names."""
        return any(get_str(one.value, name) for one in (*self.nested, self) for name in RENAMES)

    @property
    def is_component(self) -> bool:
        """Whether it changes what is built by those that name it."""
        return get_str(self.value, "kind") == "Component"

    def path_to(self, path: str) -> str:
        """Return a path that it states, from where the names of files start; empty where that is not known."""
        return normalised(posixpath.join(self.folder, path)) if path and self.folder is not None else ""


def is_kustomization(name: str, value: JsonObject) -> bool:
    """Return whether an object of a file is a Kustomization, which need not say so itself."""
    api_version, kind = get_str(value, "apiVersion") or "", get_str(value, "kind") or ""
    if api_version or kind not in ("", "Kustomization", "Component"):
        return api_version.startswith(_API_GROUP)
    return PurePath(name).name in _FILES


def kustomizations(files: Sequence[ManifestFile], located: Sequence[Located]) -> list[Kustomized]:
    """Return the Kustomizations of an input, and what objects of Flux and Argo CD state like one."""
    found = [one for item in located for one in _stated(files[item.file].name, item)]
    build = _Build(files, found)
    for one in found:
        if one.folder is not None:
            build.settle(one)
    for one in found:
        for component in (nested for nested in one.nested if nested.is_component):
            component.files |= one.files
            component.complete = component.complete and one.complete
    return found


def _stated(name: str, item: Located) -> Iterator[Kustomized]:
    value = item.place.value
    if is_kustomization(name, value):
        yield Kustomized(item, (), value, posixpath.dirname(normalised(name)))
        return
    api_version = get_str(value, "apiVersion") or ""
    places: list[tuple[Key, ...]] = []
    if api_version.startswith(_FLUX):
        places = [("spec",)]
    elif api_version.startswith(_ARGO):
        top: tuple[Key, ...] = ("spec", "template", "spec") if value.get("kind") == "ApplicationSet" else ("spec",)
        sources = [(*top, "sources", index) for index in range(len(get_list(value, *top, "sources")))]
        places = [(*source, "kustomize") for source in [(*top, "source"), *sources]]
    yield from (Kustomized(item, at, get_map(value, *at), None) for at in places if get_map(value, *at))


def normalised(path: str) -> str:
    """Return a path as it is compared with others."""
    return posixpath.normpath(path.replace("\\", "/"))


class _Build:
    """Finds what Kustomizations build."""

    def __init__(self, files: Sequence[ManifestFile], found: Sequence[Kustomized]) -> None:
        self._files = {normalised(file.name): number for number, file in enumerate(files)}
        self._folders = {one.folder or ".": one for one in found if one.folder is not None}
        self._settled: dict[int, Kustomized] = {}

    def settle(self, one: Kustomized) -> None:
        """Say of a Kustomization what it builds, of those that it builds first."""
        if id(one) in self._settled:
            return
        self._settled[id(one)] = one  # before its parts, since a cycle of them would not end
        one.complete = True
        for name in (entry for built in _BUILT for entry in get_list(one.value, built)):
            path = one.path_to(name) if isinstance(name, str) else ""
            nested = self._folders.get(path)
            if nested is not None:
                self.settle(nested)
                one.nested += [
                    other for other in (*nested.nested, nested) if all(other is not own for own in one.nested)
                ]
                one.files |= nested.files
                one.complete = one.complete and nested.complete
            elif path in self._files:
                one.files.add(self._files[path])
            else:
                one.complete = False


@dataclass(frozen=True, slots=True)
class Patch:
    """One entry of what patches the objects of a Kustomization.

    Attributes:
        by: the Kustomization.
        path: where the entry stands in the object that states it.
        target: what it selects, None where the patch names its object itself.
        file: the path of the file that holds it, empty where it is written out in the Kustomization.
        text: the patch itself, where it is written out.
    """

    by: Kustomized
    path: tuple[Key, ...]
    target: JsonObject | None
    file: str
    text: Json


def patches_in(one: Kustomized) -> Iterator[Patch]:
    """Yield the patches of a Kustomization."""
    for name in ("patchesStrategicMerge", "patches", "patchesJson6902"):
        for index, entry in enumerate(get_list(one.value, name)):
            at = (*one.at, name, index)
            if isinstance(entry, str):
                inline = "\n" in entry
                yield Patch(one, at, None, "" if inline else one.path_to(entry), entry if inline else None)
            elif isinstance(entry, dict):
                target = entry.get("target")
                path = get_str(entry, "path") or ""
                where = (*at, "path" if path else "patch") if path or "patch" in entry else at
                text = entry.get("patch", entry) if not path else None
                yield Patch(one, where, target if isinstance(target, dict) else None, one.path_to(path), text)


def patch_files(files: Sequence[ManifestFile], located: Sequence[Located]) -> set[int]:
    """Return the numbers of the files that a Kustomization of the input names as patches."""
    named = {patch.file for one in kustomizations(files, located) for patch in patches_in(one)}
    return {number for number, file in enumerate(files) if normalised(file.name) in named}


class Patching:
    """Which objects of an input are patches, those of files that a Kustomization names so, and what they change.

    Attributes:
        parts: the numbers of the patches.
    """

    def __init__(self, files: Sequence[ManifestFile], located: Sequence[Located], found: Sequence[Kustomized]) -> None:
        self._found = found
        self._links: dict[tuple[int, int, PatchedObject | None], PatchedObject] = {}
        self._located = located
        self._in_file: dict[str, list[int]] = {}
        located = located if found else ()
        names = [normalised(file.name) for file in files]
        for number, item in enumerate(located):
            self._in_file.setdefault(names[item.file], []).append(number)
        self._patches = {
            id(one): [(patch, self._in_file[patch.file]) for patch in patches_in(one) if patch.file in self._in_file]
            for one in found
        }
        self.parts = {number for patches in self._patches.values() for _, numbers in patches for number in numbers}
        self._named: dict[str, list[int]] = {}
        self._objects: list[int] = []
        self._of_file: dict[int, list[int]] = {}
        for number, item in enumerate(located):
            if number not in self.parts and is_aim_object(item.place.value):
                self._objects.append(number)
                self._of_file.setdefault(item.file, []).append(number)
                self._named.setdefault(get_str(item.place.value, "metadata", "name") or "", []).append(number)
        self._by_object: dict[int, dict[int, list[int]]] = {}

    def patched(self) -> dict[int, list[PatchedObject]]:
        """Return for each patch the objects that it changes, with the patches before it."""
        patched: dict[int, list[PatchedObject]] = {number: [] for number in sorted(self.parts)}
        for one in self._found:
            for number, parts in self._by(one).items():
                before = None
                for part in (part for nested in one.nested for part in self._by(nested).get(number, ())):
                    before = self._patched(number, part, before)
                for part in parts:
                    before = self._patched(number, part, before)
                    patched[part].append(before)
        return patched

    def chains(self, number: int) -> list[tuple[int, ...]]:
        """Return the patches of an object by each Kustomization that patches it."""
        return [parts for one in self._found if (parts := self.all_of(one, number))]

    def _patched(self, number: int, part: int, before: PatchedObject | None) -> PatchedObject:
        """Return one link of a chain, which is one object wherever the links before it are."""
        return self._links.setdefault((number, part, before), PatchedObject(number, part, before))

    def all_of(self, one: Kustomized, number: int) -> tuple[int, ...]:
        """Return the patches of an object that a Kustomization applies, in order."""
        return tuple(part for maker in (*one.nested, one) for part in self._by(maker).get(number, ()))

    def _by(self, one: Kustomized) -> dict[int, list[int]]:
        """Return for each object that a Kustomization patches the parts, in order."""
        if id(one) not in self._by_object:
            changed: dict[int, list[int]] = {}
            for patch, parts in self._patches.get(id(one), ()):
                for part in parts:
                    for number in self._changed(patch, part):
                        changed.setdefault(number, []).append(part)
            self._by_object[id(one)] = changed
        return self._by_object[id(one)]

    def built_by(self, one: Kustomized) -> list[int]:
        """Return the objects of the AIM API that a Kustomization builds, as far as they are known."""
        return [number for file in sorted(one.files) for number in self._of_file.get(file, ())]

    def select(self, one: Kustomized, fits: Callable[[JsonObject], bool]) -> list[int]:
        """Return the objects of a kind that a Kustomization builds.

        Where it builds none that is known and more than is known, any object of the input may be one.
        """
        found = self._that_fit(self.built_by(one), fits)
        return found if found or one.complete else self._that_fit(self._objects, fits)

    def _that_fit(self, numbers: Iterable[int], fits: Callable[[JsonObject], bool]) -> list[int]:
        return [number for number in numbers if fits(self._located[number].place.value)]

    def _changed(self, patch: Patch, part: int) -> list[int]:
        value, one = self._located[part].place.value, patch.by
        name = get_str(value, "metadata", "name") or ""

        def fits(item: JsonObject) -> bool:
            return changes(patch, value, item, renamed=one.renames)

        if patch.target is not None:
            return self.select(one, fits)
        same = self._that_fit(self._named.get(name, ()), fits)
        inside = [number for number in same if self._located[number].file in one.files]
        if inside or (same and not one.complete):
            return inside or same
        return self.select(one, fits) if one.renames else []


def changes(patch: Patch, part: JsonObject, value: JsonObject, *, renamed: bool) -> bool:
    """Return whether a patch is one of an object, by what it selects or by the object that it names itself."""
    if patch.target is not None:
        return selects(patch.target, value, renamed=renamed)
    same_kind = get_str(part, "kind") == get_str(value, "kind")
    own, other = get_str(part, "metadata", "namespace") or "", get_str(value, "metadata", "namespace") or ""
    name, stated = get_str(value, "metadata", "name") or "", get_str(part, "metadata", "name") or ""
    fits = name == stated or (renamed and bool(name) and name in stated)
    return same_kind and fits and len({own, other} - {""}) < 2


def selects(selector: JsonObject, value: JsonObject, *, renamed: bool) -> bool:
    """Return whether a selector takes an object, whatever its version.

    A name that Kustomize changes, or a label that it may add, is taken for one that fits.
    """
    group = (get_str(value, "apiVersion") or "").partition("/")[0]
    stated = {"group": group, "kind": get_str(value, "kind") or ""}
    if not renamed:
        stated["name"] = get_str(value, "metadata", "name") or ""
    namespace = get_str(value, "metadata", "namespace") or ""
    if namespace:
        stated["namespace"] = namespace
    return all(matches(get_str(selector, key) or "", known) for key, known in stated.items())


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern of a selector fits all of a text, as an empty one does."""
    try:
        return not pattern or re.fullmatch(pattern, text) is not None
    except re.error:
        return pattern == text


def environments(found: Sequence[Kustomized], ours: Collection[int]) -> set[str]:
    """Return the directories of Kustomizations that build the same objects, and so are for different clusters.

    What one Kustomization builds together is for one cluster.

    Args:
        found: the Kustomizations of the input.
        ours: the numbers of the files that hold objects of the AIM API.
    """
    included = {id(nested) for one in found for nested in one.nested}
    builders: dict[int, list[str]] = {}
    for one in found:
        if one.folder and id(one) not in included:
            for number in one.files.intersection(ours):
                builders.setdefault(number, []).append(one.folder)
    return {folder for folders in builders.values() if len(folders) > 1 for folder in folders}


def stated_by_patch(value: JsonObject) -> JsonObject:
    """Return what a patch sets: without what it removes by null, and without directives such as ``$patch``."""
    return {
        key: stated_by_patch(item) if isinstance(item, dict) else item
        for key, item in value.items()
        if item is not None and not key.startswith("$")
    }
