"""Conversion of a set of objects: each by the recipe of its kind, with the others as what it may refer to (pure)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from aim_api.kinds import (
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_GROUP,
    AIM_KINDS,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_RUNTIME_CONFIG,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    LEGACY_VERSION,
)
from aim_api.tree import Json, JsonObject, field_path, get_map, get_str, has
from aim_template_migration.mapping.cache_fates import TEMPLATE_CACHE_FATES
from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate, is_moved
from aim_template_migration.mapping.model_fates import MODEL_FATES
from aim_template_migration.mapping.recipes.context import (
    LEGACY_MODEL_FIELDS,
    Context,
    Live,
    LiveModels,
    Values,
    id_in,
    no_models_live,
    nothing_live,
)
from aim_template_migration.mapping.recipes.draft import Draft, id_of, shape_of
from aim_template_migration.mapping.recipes.ledger import Path
from aim_template_migration.mapping.recipes.model import convert_model
from aim_template_migration.mapping.recipes.object_fates import whole_object
from aim_template_migration.mapping.recipes.patches import Patched, changes_the_same, convert_patch, with_part
from aim_template_migration.mapping.recipes.places import Placed
from aim_template_migration.mapping.recipes.service import LEGACY_SERVICE_FIELDS, convert_service
from aim_template_migration.mapping.recipes.template import convert_template
from aim_template_migration.mapping.recipes.template_cache import convert_template_cache
from aim_template_migration.mapping.recipes.versions import V1ALPHA2
from aim_template_migration.mapping.service_fates import SERVICE_FATES
from aim_template_migration.mapping.template_fates import TEMPLATE_FATES

_AT_V1ALPHA2 = FateTable(
    "AIMProfile",
    tuple(
        FieldFate(path, Fate.MAPPED, f"AIMProfile.{path.removesuffix('.**')}", "it is at v1alpha2 already")
        for path in ("apiVersion", "kind", "metadata.**", "spec.**", "status.**")
    ),
)

TABLES = {
    AIM_SERVICE.name: whole_object(SERVICE_FATES),
    AIM_MODEL.name: whole_object(MODEL_FATES),
    AIM_CLUSTER_MODEL.name: whole_object(MODEL_FATES),
    AIM_SERVICE_TEMPLATE.name: whole_object(TEMPLATE_FATES),
    AIM_CLUSTER_SERVICE_TEMPLATE.name: whole_object(TEMPLATE_FATES),
    AIM_TEMPLATE_CACHE.name: whole_object(TEMPLATE_CACHE_FATES),
    AIM_PROFILE.name: _AT_V1ALPHA2,
    AIM_CLUSTER_PROFILE.name: _AT_V1ALPHA2,
}

_INHERITED_FROM = frozenset(
    kind.name for kind in (AIM_MODEL, AIM_CLUSTER_MODEL, AIM_RUNTIME_CONFIG, AIM_CLUSTER_RUNTIME_CONFIG)
)
"""Kinds from which a template takes what its profile states."""
_LEGACY_FIELDS = {
    AIM_SERVICE.name: LEGACY_SERVICE_FIELDS,
    AIM_MODEL.name: LEGACY_MODEL_FIELDS,
    AIM_CLUSTER_MODEL.name: LEGACY_MODEL_FIELDS,
}
"""Fields of a spec that v1alpha2 has no more."""

_Recipe = Callable[[Draft, Context], None]

_RECIPES: tuple[tuple[str, _Recipe], ...] = (
    (AIM_CLUSTER_SERVICE_TEMPLATE.name, partial(convert_template, cluster=True)),
    (AIM_SERVICE_TEMPLATE.name, partial(convert_template, cluster=False)),
    (AIM_CLUSTER_MODEL.name, partial(convert_model, cluster=True)),
    (AIM_MODEL.name, partial(convert_model, cluster=False)),
    (AIM_TEMPLATE_CACHE.name, convert_template_cache),
    (AIM_SERVICE.name, convert_service),
)
"""In the order in which they run: later ones refer to what earlier ones have made."""

CONVERTED_KINDS = tuple(kind for kind, _ in _RECIPES)
"""Kinds that a conversion changes."""

_PARTS: tuple[tuple[Path, str], ...] = (
    (("metadata",), "an object"),
    (("metadata", "labels"), "an object"),
    (("metadata", "annotations"), "an object"),
    (("spec",), "an object"),
)
"""Parts of every object that every recipe reads, and what they are."""

_KNOWN = {kind.name: kind for kind in AIM_KINDS}


def is_aim_object(value: Json) -> bool:
    """Return whether a value is an object of the AIM API."""
    return (get_str(value, "apiVersion") or "").partition("/")[0] == AIM_GROUP


@dataclass(frozen=True, slots=True, eq=False)
class PatchedObject:
    """An object that a patch changes, both known by number.

    Attributes:
        number: the object.
        part: the patch.
        before: the same of the patch that changes it before this one, None where this is the first.
    """

    number: int
    part: int
    before: "PatchedObject | None" = None


@dataclass(frozen=True, slots=True)
class Change:
    """What something beside an object makes of it.

    Attributes:
        paths: the fields that it changes.
        apply: returns the object as it is changed.
        needs: the fields that have to be there.
    """

    paths: Sequence[Path]
    apply: Callable[[JsonObject], JsonObject]
    needs: Sequence[Path] = ()


class ObjectConversion:
    """The conversion of objects.

    Attributes:
        drafts: the conversion of each object; what is foreign to the AIM API is None.
    """

    def __init__(
        self,
        objects: Sequence[JsonObject],
        *,
        values: Values | None = None,
        live: Live = nothing_live,
        live_models: LiveModels = no_models_live,
        inline: bool = False,
        namespace: str = "",
        patches: Mapping[int, Sequence[PatchedObject]] | None = None,
        places: Sequence[str] = (),
    ) -> None:
        """Convert objects.

        Args:
            objects: the objects of the whole input.
            values: values that were given by hand.
            live: reads a live cluster, for what the input does not state.
            live_models: lists the models of a live cluster, for images whose model the input does not state.
            inline: put base image and derived profiles of a custom model into one AIMModel.
            namespace: the namespace of objects that state none, empty where it is not known.
            patches: the objects that are parts of others, which Kustomize puts together, with what they change.
            places: for each object the directory of a cluster or environment that it stands in; all are in one where
                none are given.
        """
        drafts = [_draft(value, place) for value, place in zip(objects, places or [""] * len(objects), strict=True)]
        patches = patches or {}
        self._states: dict[PatchedObject, JsonObject] = {}
        known = [draft for number, draft in enumerate(drafts) if draft is not None and number not in patches]
        self._context = Context(
            known, values=values, live=live, live_models=live_models, inline=inline, namespace=namespace
        )
        for kind, recipe in _RECIPES:
            for draft in known:
                if get_str(draft.source, "kind") == kind and not draft.gaps:
                    recipe(draft, self._context)
                    self._context.know(draft)
        parts = {number: part for number in sorted(patches) if (part := drafts[number]) is not None}
        for number, part in parts.items():
            drafts[number] = convert_patch(part, list(self._services(drafts, objects, patches[number])), self._context)
        for draft in filter(None, drafts):
            stays = draft.unchanged or draft.get("apiVersion") == f"{AIM_GROUP}/{LEGACY_VERSION}"
            if draft.removed or not stays:
                draft.finish()
        _name_collisions(known, namespace)
        self.drafts = drafts

    def _services(
        self, drafts: Sequence[Draft | None], objects: Sequence[JsonObject], patched: Sequence[PatchedObject]
    ) -> Iterator[Patched]:
        """Yield the services among patched objects, as they are before the patch."""
        for one in patched:
            service = drafts[one.number]
            if service is None or get_str(service.source, "kind") != AIM_SERVICE.name:
                continue
            chain: list[PatchedObject] = []
            link = one.before
            while link is not None and link not in self._states:
                chain.append(link)
                link = link.before
            state = service.source if link is None else self._states[link]
            for known in reversed(chain):
                state = self._states[known] = with_part(state, objects[known.part])
            yield Patched(service, state)

    def patched_forms(self, number: int, chains: Sequence[Sequence[int]]) -> list[JsonObject]:
        """Return a converted object with its converted patches, by each chain of them."""
        draft, forms = self.drafts[number], list[JsonObject]()
        if draft is None:
            return forms
        for chain in chains:
            parts = [part.value for one in chain if (part := self.drafts[one]) is not None and not part.gaps]
            forms.append(reduce(with_part, parts, draft.value))
        return forms

    def allows(self, number: int, change: Change, parts: Sequence[int] = ()) -> bool:
        """Return whether a change does to the conversion of an object what it does to the object.

        Args:
            number: the object.
            change: the change.
            parts: the patches that change the object as well; the change is tried without them and with all of them.
        """
        draft = self.drafts[number]
        if draft is None or draft.removed:
            return True
        kind = get_str(draft.source, "kind") or ""
        if get_str(draft.source, "apiVersion") == V1ALPHA2:
            return not any(path[:2] == ("spec", name) for path in change.paths for name in _LEGACY_FIELDS.get(kind, ()))
        of_spec = any(path[:1] == ("spec",) for path in change.paths)
        if kind in _INHERITED_FROM and of_spec and self._context.has_templates:
            return False  # the profiles of templates have taken what it is without the change
        if draft.value == draft.source:
            return True
        if kind != AIM_SERVICE.name:
            return not any(is_elsewhere(kind, path) or draft.where(path) != path for path in change.paths)
        converted = [part for one in parts if (part := self.drafts[one]) is not None and not part.gaps]
        patched = draft.like(reduce(with_part, (part.source for part in converted), draft.source))
        patched.value = reduce(with_part, (part.value for part in converted), draft.value)
        return not draft.gaps and all(
            self._is_the_same(one, change) for one in (draft, *([patched] if converted else ()))
        )

    def _is_the_same(self, service: Draft, change: Change) -> bool:
        gone = any(has(service.source, *path) and not has(service.value, *path) for path in change.needs)
        changed, now = change.apply(service.source), change.apply(service.value)
        return not gone and changes_the_same(service, changed, now, self._context)


def is_elsewhere(kind: str, path: Path) -> bool:
    """Return whether a field of a kind, or something in it, is at another place after the conversion."""
    return kind in TABLES and is_moved(TABLES[kind], path)


def _name_collisions(drafts: Sequence[Draft], namespace: str) -> None:
    """Say where a conversion writes an object that stands elsewhere as well, since the later of the two would win."""
    stands: dict[str, Placed[_Standing]] = {}
    for draft in drafts:
        if draft.id == id_of(draft.source) and not draft.removed:
            stands.setdefault(id_in(draft.value, namespace), Placed()).add(draft.place, (draft, draft.value))
    for draft in drafts:
        made = [beside.value for beside in draft.beside]
        if draft.id != id_of(draft.source):
            made.append(draft.value)
        for value in made:
            name = id_in(value, namespace)
            others = stands.setdefault(name, Placed())
            rivals = others.near(draft.place) if get_str(value, "metadata", "name") else ()
            if any(_collide((draft, value), rival) for rival in rivals):
                message = f"{name} is written twice, and kubectl would keep the later of the two; rename one of them"
                draft.need(("metadata", "name"), message, near=("metadata", "name"), object_=name)
            others.add(draft.place, (draft, value))


_Standing = tuple[Draft, JsonObject]
"""A conversion and an object of its output."""


def _collide(one: _Standing, other: _Standing) -> bool:
    """Return whether one of two objects of one id and one cluster would be lost: they are no copies."""
    (draft, value), (rival, standing) = one, other
    return draft is rival or value != standing or id_of(draft.source) != id_of(rival.source)


def _draft(value: JsonObject, place: str) -> Draft | None:
    if not is_aim_object(value):
        return None
    kind, version = get_str(value, "kind") or "", (get_str(value, "apiVersion") or "").partition("/")[2]
    table = TABLES.get(kind)
    known = _KNOWN.get(kind)
    if known is not None and version in _versions(kind):
        draft = Draft(value, table or _AT_V1ALPHA2, place)
        passive = table is None or table is _AT_V1ALPHA2
        draft.unchanged = passive or not get_map(value, "spec")
        _name_wrong_parts(draft)
        return draft
    draft = Draft(value, table or _AT_V1ALPHA2, place)
    draft.unchanged = True
    draft.need(("kind",), f"{get_str(value, 'apiVersion')} {kind} is not known, so it stays as it is", near=("kind",))
    return draft


def _name_wrong_parts(draft: Draft) -> None:
    """Say which parts of an object have a type that no version knows; what is next to them can't be converted."""
    for path, expected in _PARTS:
        value = draft.given(*path)
        if value is None or shape_of(value) == expected:
            continue
        draft.unchanged = True
        message = f"{field_path(path)} is {expected}, and here it is {shape_of(value)}; the object stays as it is"
        draft.need(path, message, near=path)


def _versions(kind: str) -> frozenset[str]:
    """Return the versions at which objects of a kind are converted.

    No template or template cache was ever at v1alpha2; one that says so had its version exchanged alone.
    """
    return frozenset({LEGACY_VERSION, "v1alpha2"} if kind in CONVERTED_KINDS else {_KNOWN[kind].version})
