"""What Kustomizations still say of objects as they were before a conversion (pure).

A conversion leaves a Kustomization as it is. What it selects by a version or a kind that is gone, Kustomize passes over
without a word; so it does with the names of what the conversion adds.
"""

from collections.abc import Iterator, Sequence

from aim_api.kinds import AIM_GROUP, AIM_MODEL, AIM_SERVICE, LEGACY_VERSION
from aim_api.tree import Json, JsonObject, Key, field_path, get, get_list, get_map, get_objects, get_str, leaves
from aim_template_migration.manifests.field_specs import keys_of
from aim_template_migration.manifests.json_patches import needed_fields, patched, patched_fields
from aim_template_migration.manifests.kustomizations import (
    RENAMES,
    Kustomized,
    Patch,
    Patching,
    matches,
    normalised,
    patches_in,
    selects,
)
from aim_template_migration.manifests.located import Located, ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.validating import REPLACED
from aim_template_migration.mapping.recipes.conversion import (
    CONVERTED_KINDS,
    Change,
    ObjectConversion,
    is_aim_object,
    is_elsewhere,
)
from aim_template_migration.mapping.recipes.draft import Draft, id_of
from aim_template_migration.mapping.recipes.patches import merged
from aim_template_migration.mapping.recipes.versions import V1ALPHA2

_Place = tuple[Key, ...]
Outdated = tuple[Located, _Place, str]
"""An object, a field of it, and what is wrong with it after the conversion."""

_OLD_PATCH = "this patches an object at v1alpha1, and stays as it is; write it anew for the converted object"
_OLD_VERSION = (
    "this selects objects at v1alpha1, which are at v1alpha2 now, and Kustomize passes over what it does not find; "
    "state v1alpha2, or no version"
)
_OF_V1ALPHA2 = (("spec", "profile"), ("spec", "profileOverrides"))
"""Fields by which a patch shows that it is written for converted services."""
_REFERENCES = {
    AIM_SERVICE.name: ("spec", "model", "name"),
    AIM_MODEL.name: ("spec", "profiles", "derivedFrom", "selector", "modelRef", "name"),
}
"""Where objects of a kind refer to a model by its name."""


def outdated_changes(
    files: Sequence[ManifestFile],
    located: Sequence[Located],
    found: Sequence[Kustomized],
    patching: Patching,
    conversion: ObjectConversion,
) -> Iterator[Outdated]:
    """Yield what a Kustomization says that no longer holds, or has no effect any more."""
    if found:
        looked = _Looked(files, located, patching, conversion)
        for one in found:
            yield from looked.patches(one)
            yield from looked.replacements(one)
            yield from looked.configurations(one)
            yield from looked.names(one)


def passed_over(found: Sequence[Kustomized]) -> Iterator[Outdated]:
    """Yield where a patch takes services at v1alpha1 alone."""
    for one in found:
        for patch in patches_in(one):
            target = patch.target or {}
            for path, sentence in _missed((*patch.path[:-1], "target"), target):
                if path[-1] == "version" and matches(get_str(target, "kind") or "", AIM_SERVICE.name):
                    yield one.item, path, sentence


class _Looked:
    """Looks at what Kustomizations say."""

    def __init__(
        self,
        files: Sequence[ManifestFile],
        located: Sequence[Located],
        patching: Patching,
        conversion: ObjectConversion,
    ) -> None:
        self._conversion = conversion
        self._patching = patching
        self._files = {normalised(file.name): file for file in files}
        self._items: dict[str, list[Located]] = {}
        for item in located:
            self._items.setdefault(normalised(files[item.file].name), []).append(item)

    def patches(self, one: Kustomized) -> Iterator[Outdated]:
        """Look at what it patches; files of patches of the AIM API are converted or named on their own."""
        for patch in patches_in(one):
            target = patch.target or {}
            missed = list(_missed((*patch.path[:-1], "target"), target))
            yield from ((one.item, path, sentence) for path, sentence in missed)
            for value in self._texts(patch):
                if patch.text is not None and _is_legacy(value):
                    yield one.item, patch.path, _OLD_PATCH
                elif patch.target is not None and not any(path[-1] == "kind" for path, _ in missed):
                    sentence = self._wrong(one, target, value)
                    if sentence:
                        yield one.item, patch.path, sentence

    def _texts(self, patch: Patch) -> Iterator[Json]:
        if patch.text is None:
            file = self._files.get(patch.file)
            documents = file.manifest.documents if file else ()
            yield from (document.value for document in documents if not is_aim_object(document.value))
        elif isinstance(patch.text, str):
            yield from (document.value for document in read_manifest(patch.text.encode()).documents)
        else:
            yield patch.text

    def _wrong(self, one: Kustomized, target: JsonObject, value: Json) -> str:
        """Return why a patch does not do any more what it did, or an empty text."""
        change = None if get_str(value, "apiVersion") == V1ALPHA2 else _change(value)
        if change is None or _is_written_anew(change):
            return ""
        chosen = self._selected(one, target)
        for number, draft in chosen:
            if not self._conversion.allows(number, change, self._patching.all_of(one, number)):
                fields = ", ".join(sorted({field_path(path) for path in change.paths}))
                return f"what this makes of {fields} of {draft.id} is another thing now; write it anew for v1alpha2"
        moved = [path for path in change.paths if any(is_elsewhere(kind, path) for kind in _kinds(target))]
        if chosen or not moved:
            return ""
        return f"this changes {field_path(moved[0])}, which is elsewhere at v1alpha2; write it anew for v1alpha2"

    def _selected(self, one: Kustomized, target: JsonObject) -> list[tuple[int, Draft]]:
        found = self._patching.select(one, lambda value: selects(target, value, renamed=one.renames))
        return [(number, draft) for number in found if (draft := self._conversion.drafts[number]) is not None]

    def replacements(self, one: Kustomized) -> Iterator[Outdated]:
        """Look at what it copies from one field to others."""
        for index, entry in enumerate(get_objects(one.value, "replacements")):
            at: _Place = (*one.at, "replacements", index)
            file = self._files.get(one.path_to(get_str(entry, "path") or ""))
            inside = [document.value for document in file.manifest.documents] if file else [entry]
            for stated in (item for value in inside for item in (value if isinstance(value, list) else [value])):
                for place, sentence in self._replaced(one, stated):
                    yield one.item, (*at, "path") if file else (*at, *place), sentence
        for index, entry in enumerate(get_objects(one.value, "vars")):
            if _is_legacy(entry.get("objref")):
                yield one.item, (*one.at, "vars", index, "objref"), _OLD_VERSION

    def _replaced(self, one: Kustomized, entry: Json) -> Iterator[tuple[_Place, str]]:
        source = get_map(entry, "source")
        yield from _missed(("source",), source)
        yield from self._elsewhere(one, ("source", "fieldPath"), source, get_str(source, "fieldPath") or "")
        for index, target in enumerate(get_objects(entry, "targets")):
            at: _Place = ("targets", index)
            select = get_map(target, "select")
            yield from _missed((*at, "select"), select)
            for number, rejected in enumerate(get_objects(target, "reject")):
                yield from _missed((*at, "reject", number), rejected)
            for number, path in enumerate(get_list(target, "fieldPaths")):
                yield from self._elsewhere(
                    one, (*at, "fieldPaths", number), select, path if isinstance(path, str) else ""
                )

    def _elsewhere(self, one: Kustomized, at: _Place, selector: JsonObject, text: str) -> Iterator[tuple[_Place, str]]:
        keys = keys_of(text, ".")
        moved = False
        known = False
        for _, draft in self._selected(one, selector) if keys else ():
            path = keys_of(text, ".", draft.source)
            stated = get(draft.source, *path)
            known = known or stated is not None
            moved = moved or stated != get(draft.value, *path)
        moved = moved or (not known and any(is_elsewhere(kind, keys) for kind in _kinds(selector)))
        if moved:
            yield at, f"{text} is elsewhere at v1alpha2; name the field of the converted object"

    def configurations(self, one: Kustomized) -> Iterator[Outdated]:
        """Look at the fields that it takes for names, images and the like, in files of the input."""
        for item in self._configured(one):
            for name in item.place.value:
                for index, entry in enumerate(get_objects(item.place.value, name)):
                    specs = get_objects(entry, "fieldSpecs") if name == "nameReference" else []
                    places = [
                        ((name, index), entry),
                        *(((name, index, "fieldSpecs", n), s) for n, s in enumerate(specs)),
                    ]
                    for at, spec in places:
                        yield from ((item, path, sentence) for path, sentence in _missed(at, spec))
                        text = get_str(spec, "path") or ""
                        if text and any(is_elsewhere(kind, keys_of(text, "/")) for kind in _kinds(spec)):
                            yield (
                                item,
                                (*at, "path"),
                                f"{text} is elsewhere at v1alpha2; name the field of the converted object",
                            )

    def _configured(self, one: Kustomized) -> Iterator[Located]:
        for path in get_list(one.value, "configurations"):
            yield from self._items.get(one.path_to(path if isinstance(path, str) else ""), ())

    def names(self, one: Kustomized) -> Iterator[Outdated]:
        """Look whether it gives a model that it builds a name by which nothing refers to it."""
        field = next((name for name in RENAMES if get_str(one.value, name)), "")
        if not field or self._follows_models(one):
            return
        built = (self._conversion.drafts[number] for number in self._patching.built_by(one))
        drafts = [draft for draft in built if draft is not None]
        values = [value for draft in drafts for value in (draft.value, *(made.value for made in draft.beside))]
        models = {get_str(value, "metadata", "name") for value in values if get_str(value, "kind") == AIM_MODEL.name}
        for value in values:
            path = _REFERENCES.get(get_str(value, "kind") or "", ())
            name = get_str(value, *path) if path else None
            if name in models:
                message = (
                    f"Kustomize changes the name of the AIMModel {name} and not the reference to it in {id_of(value)}; "
                    f"state it as a nameReference of the kind AIMModel in a file of configurations: kind "
                    f"{get_str(value, 'kind')}, path {'/'.join(path)}"
                )
                yield one.item, (*one.at, field), message
                return

    def _follows_models(self, one: Kustomized) -> bool:
        return any(
            get_str(entry, "kind") == AIM_MODEL.name
            for maker in (*one.nested, one)
            for item in self._configured(maker)
            for entry in get_objects(item.place.value, "nameReference")
        )


def _is_legacy(value: Json) -> bool:
    """Return whether something names an object at v1alpha1 of a kind that moves on."""
    stated = get_str(value, "apiVersion") == f"{AIM_GROUP}/{LEGACY_VERSION}"
    return stated and get_str(value, "kind") in CONVERTED_KINDS


def _change(value: Json) -> Change | None:
    """Return what a patch does that does not say itself whose it is."""
    if isinstance(value, list):
        return Change(list(patched_fields(value)), lambda before: patched(before, value), list(needed_fields(value)))
    if isinstance(value, dict):
        part = {key: item for key, item in value.items() if key not in ("apiVersion", "kind", "metadata")}
        return Change([path for path, _ in leaves(part)], lambda before: merged(before, part))
    return None


def _is_written_anew(change: Change) -> bool:
    """Return whether a patch is one of converted services."""
    of_both = any(is_elsewhere(AIM_SERVICE.name, path) for path in change.paths)
    return not of_both and any(path[:2] in _OF_V1ALPHA2 for path in change.paths)


def _kinds(selector: JsonObject) -> list[str]:
    """Return the kinds that move on which a selector names."""
    pattern, group = get_str(selector, "kind") or "", get_str(selector, "group") or ""
    return [kind for kind in CONVERTED_KINDS if pattern and matches(pattern, kind) and matches(group, AIM_GROUP)]


def _missed(at: _Place, selector: JsonObject) -> Iterator[tuple[_Place, str]]:
    """Yield where a selector takes only what was there before the conversion."""
    pattern, version = get_str(selector, "kind") or "", get_str(selector, "version") or ""
    kinds = _kinds(selector)
    gone = [kind for kind in kinds if kind in REPLACED]
    if gone and gone == kinds and not any(matches(pattern, REPLACED[kind]) for kind in gone):
        message = f"this selects objects of the kind {gone[0]}, which are gone: use {REPLACED[gone[0]]}"
        yield (*at, "kind"), f"{message}, since Kustomize passes over what it does not find"
        return
    ours = bool(kinds) or (not pattern and get_str(selector, "group") == AIM_GROUP)
    if ours and version and matches(version, LEGACY_VERSION) and not matches(version, "v1alpha2"):
        yield (*at, "version"), _OLD_VERSION
