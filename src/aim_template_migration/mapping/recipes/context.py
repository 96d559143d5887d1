"""What a conversion knows besides the object: other objects of the input, given values, a live cluster (pure)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

from aim_api.kinds import (
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_KINDS,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_RUNTIME_CONFIG,
    AIM_SERVICE_TEMPLATE,
    Kind,
)
from aim_api.tree import Json, JsonObject, get_list, get_str
from aim_template_migration.mapping.profile import Source
from aim_template_migration.mapping.recipes.draft import Beside, Draft, id_of, object_id
from aim_template_migration.mapping.recipes.places import Placed, with_all_above
from aim_template_migration.mapping.recipes.written_models import WrittenModels

VALUE_FIELDS: Mapping[str, frozenset[str]] = {
    "AIMService": frozenset({"aimId", "baseImage", "baseModelName", "modelName", "profileName"}),
    "AIMModel": frozenset({"aimId", "baseImage", "baseModelName", "image", "modelId", "modelSources", "version"}),
    "AIMServiceTemplate": frozenset({"aimId", "image", "modelId", "modelSources", "precision"}),
}
"""Which values can be given for an object of a kind; the cluster-scoped kinds take the same."""

Live = Callable[[Kind, str, str], JsonObject | None]
"""Reads one object of a cluster by kind, namespace and name."""

LiveModels = Callable[[Kind, str], Iterable[JsonObject]]
"""Lists the models of a cluster, of one kind and namespace."""

_KINDS = {kind.name: kind for kind in AIM_KINDS}

NAMESPACED_PROFILES = (AIM_SERVICE_TEMPLATE, AIM_PROFILE)
CLUSTER_PROFILES = (AIM_CLUSTER_SERVICE_TEMPLATE, AIM_CLUSTER_PROFILE)
"""Kinds of the input that are profiles, or become profiles, in the output."""


def nothing_live(kind: Kind, namespace: str, name: str) -> None:
    """Read nothing: the conversion contacts no cluster."""
    del kind, namespace, name


def no_models_live(kind: Kind, namespace: str) -> tuple[JsonObject, ...]:
    """List nothing: the conversion contacts no cluster."""
    del kind, namespace
    return ()


def value_fields(kind: str) -> frozenset[str]:
    """Return which values can be given for an object of a kind."""
    return VALUE_FIELDS.get(kind.replace("AIMCluster", "AIM"), frozenset())


@dataclass(slots=True)
class Values:
    """Values that were given by hand.

    Attributes:
        by_id: the values by ``Kind/namespace/name`` or ``Kind/name``.
        used: the ids whose values some object has taken.
        namespace: the namespace of objects that state none, empty where it is not known.
    """

    by_id: Mapping[str, JsonObject] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    namespace: str = ""

    def of(self, value: JsonObject, name: str) -> Json:
        """Return the value ``name`` that is given for an object, or None."""
        kind, own = get_str(value, "kind") or "", get_str(value, "metadata", "name") or ""
        for key in dict.fromkeys((id_of(value), id_in(value, self.namespace), f"{kind}/{own}")):
            given = self.by_id.get(key)
            if given is not None:
                self.used.add(key)
                if name in given:
                    return given[name]
        return None

    def text(self, value: JsonObject, name: str) -> str:
        """Return a given value that is text, or an empty text."""
        found = self.of(value, name)
        return found if isinstance(found, str) else ""


def in_namespace(kind: str, namespace: str, default: str) -> str:
    """Return the namespace of an object of a kind: the one it states or a default, empty for a cluster-scoped kind."""
    known = _KINDS.get(kind)
    return "" if known is not None and not known.namespaced else namespace or default


def id_in(value: JsonObject, default: str) -> str:
    """Return the id of an object that may leave its namespace to a default."""
    kind, namespace = get_str(value, "kind") or "", get_str(value, "metadata", "namespace") or ""
    return object_id(kind, in_namespace(kind, namespace, default), get_str(value, "metadata", "name") or "")


@dataclass(frozen=True, slots=True)
class _Index:
    """Objects of the input by what they are looked up by; the namespace is empty for cluster-scoped kinds."""

    namespace: str
    by_name: dict[tuple[str, str, str], dict[str, JsonObject]] = field(default_factory=dict)
    placed: dict[tuple[str, str, str], Placed[JsonObject]] = field(default_factory=dict)
    image_models: dict[tuple[str, str, str], Placed[JsonObject]] = field(default_factory=dict)
    templates: dict[tuple[str, str, str], dict[str, None]] = field(default_factory=dict)

    def add(self, value: JsonObject, place: str) -> None:
        """Add an object; of several of a place that are looked up by the same words the first counts."""
        kind = get_str(value, "kind") or ""
        namespace = in_namespace(kind, get_str(value, "metadata", "namespace") or "", self.namespace)
        name = get_str(value, "metadata", "name") or ""
        named = self.by_name.setdefault((kind, namespace, name), {})
        if place not in named:
            named[place] = value
            self.placed.setdefault((kind, namespace, name), Placed()).add(place, value)
        image, model = get_str(value, "spec", "image"), get_str(value, "spec", "modelName")
        if image and is_image_model(value):
            self.image_models.setdefault((kind, namespace, image), Placed()).add(place, value)
        if model:
            self.templates.setdefault((kind, namespace, model), {})[name] = None

    def named(self, key: tuple[str, str, str], place: str) -> JsonObject | None:
        """Return the object that a name means in a place: its own, else that of what is above it.

        Where only places below have one, it is theirs as long as all have the same.
        """
        found = self.by_name.get(key, {})
        own = next((found[above] for above in with_all_above(place) if above in found), None)
        if own is not None or not found:
            return own
        below = list(self.placed[key].near(place))
        return below[0] if below and all(value == below[0] for value in below) else None


class Context:
    """Everything a recipe may look up.

    Attributes:
        values: values that were given by hand.
        live: reads a live cluster.
        inline: base image and derived profiles of a custom model go into one AIMModel.
        namespace: the namespace of objects that state none, empty where it is not known.
        written: the models that were written so far.
    """

    def __init__(
        self,
        drafts: Iterable[Draft],
        *,
        values: Values | None = None,
        live: Live = nothing_live,
        live_models: LiveModels = no_models_live,
        inline: bool = False,
        namespace: str = "",
    ) -> None:
        self.values = values or Values()
        self.live = live
        self.inline = inline
        self.namespace = namespace
        self._live_models = live_models
        self.written = WrittenModels()
        self._index = _Index(namespace)
        self._drafts: dict[tuple[str, str, str], Placed[Draft]] = {}
        for draft in drafts:
            self._index.add(draft.source, draft.place)
            if draft.gaps:
                continue  # it stays as it is, and so it gives no profile
            kind = get_str(draft.source, "kind") or ""
            key = (kind, in_namespace(kind, draft.namespace, namespace), draft.name)
            self._drafts.setdefault(key, Placed()).add(draft.place, draft)
        self._profiles_beside: dict[str, Placed[Beside]] = {}

    def find(self, kinds: Iterable[Kind], draft: Draft, name: str) -> Source | None:
        """Return what a name means for a draft, of the first kind that has one: of the input, else of the cluster."""
        if not name:
            return None
        kinds = tuple(kinds)
        found = next((item for kind in kinds if (item := self._named(kind, draft, name))), None)
        if found is None:
            live = (self.live(kind, self._own(kind, draft.namespace), name) for kind in kinds)
            found = next((item for item in live if item is not None), None)
        return None if found is None else Source(id_of(found), found)

    def runtime_configs(self, draft: Draft, name: str) -> tuple[Source, ...]:
        """Return the runtime configs that a name means for a draft, lowest precedence first."""
        found = (self.find((kind,), draft, name) for kind in (AIM_CLUSTER_RUNTIME_CONFIG, AIM_RUNTIME_CONFIG))
        return tuple(config for config in found if config is not None)

    def model_of_image(self, draft: Draft, image: str, *, cluster: bool) -> JsonObject | None:
        """Return a model that onboards an image for a draft and nothing else: of the input, else of the cluster."""
        kinds = (AIM_CLUSTER_MODEL,) if cluster else (AIM_MODEL, AIM_CLUSTER_MODEL)
        for kind in kinds:
            placed = self._index.image_models.get((kind.name, self._own(kind, draft.namespace), image))
            for model in placed.near(draft.place) if placed else ():
                return model
        return next(self._live_models_of(kinds, draft, image), None)

    def _live_models_of(self, kinds: Iterable[Kind], draft: Draft, image: str) -> Iterator[JsonObject]:
        """Yield the models of an image in the cluster, except those of which the input has another form."""
        for kind in kinds:
            for model in self._live_models(kind, self._own(kind, draft.namespace)):
                known = self._named(kind, draft, get_str(model, "metadata", "name") or "")
                if known is None and get_str(model, "spec", "image") == image and is_image_model(model):
                    yield model

    def written_model(self, kind: Kind, draft: Draft, image: str, name: str = "") -> JsonObject | None:
        """Return a model of an image that was written so far for a draft, of a kind, and of a name if one is given."""
        models = self.written.near((kind.name, self._own(kind, draft.namespace), image), draft.place)
        return next((model for model in models if name in ("", get_str(model, "metadata", "name"))), None)

    def note_model(self, draft: Draft, image: str, model: JsonObject) -> None:
        """Take note of a model of an image that the conversion of a draft writes."""
        kind = get_str(model, "kind") or ""
        namespace = in_namespace(kind, get_str(model, "metadata", "namespace") or "", self.namespace)
        self.written.add((kind, namespace, image), draft.place, model)

    def apart(self) -> "Context":
        """Return a context of the same knowledge, of which nothing that is noted or changed there comes back here."""
        other = copy(self)
        other.written = WrittenModels(self.written)
        return other

    def templates_of(self, namespace: str, model: str, *, cluster: bool) -> Iterable[str]:
        """Return the names of the templates of the input that belong to a model, each once."""
        kind = AIM_CLUSTER_SERVICE_TEMPLATE if cluster else AIM_SERVICE_TEMPLATE
        return self._index.templates.get((kind.name, self._own(kind, namespace), model), ())

    @property
    def has_templates(self) -> bool:
        """Whether the input has templates that become profiles."""
        names = (AIM_SERVICE_TEMPLATE.name, AIM_CLUSTER_SERVICE_TEMPLATE.name)
        return any(kind in names for kind, _, _ in self._drafts)

    def profile_is_written(self, draft: Draft, name: str) -> bool:
        """Return whether the output has a profile of this name for a draft."""
        return next(self.profiles((*NAMESPACED_PROFILES, *CLUSTER_PROFILES), draft, name), None) is not None

    def profiles(self, kinds: Iterable[Kind], draft: Draft, name: str) -> Iterator[Draft | Beside]:
        """Yield what gives profiles of this name for a draft: the conversions of an input, by kind.

        Profiles that a conversion writes beside come after them.
        """
        keys = [(kind.name, self._own(kind, draft.namespace), name) for kind in kinds]
        for key in keys:
            if key in self._drafts:
                yield from self._drafts[key].near(draft.place)
        for key in keys:
            beside = self._profiles_beside.get(object_id(*key))
            if beside is not None:
                yield from beside.near(draft.place)

    @staticmethod
    def profiles_differ(found: Sequence[Draft | Beside]) -> bool:
        """Return whether several profiles of one name are no copies of one template.

        Nothing says which of them is meant. Templates of one name are copies.
        """
        templates = (AIM_SERVICE_TEMPLATE.name, AIM_CLUSTER_SERVICE_TEMPLATE.name)
        copies = all(isinstance(one, Draft) and get_str(one.source, "kind") in templates for one in found)
        return len(found) > 1 and not copies

    def know(self, draft: Draft) -> None:
        """Take note of objects that a conversion writes beside."""
        for made in draft.beside:
            self._profiles_beside.setdefault(id_in(made.value, self.namespace), Placed()).add(draft.place, made)

    def _named(self, kind: Kind, draft: Draft, name: str) -> JsonObject | None:
        return self._index.named((kind.name, self._own(kind, draft.namespace), name), draft.place)

    def _own(self, kind: Kind, namespace: str) -> str:
        return (namespace or self.namespace) if kind.namespaced else ""


LEGACY_MODEL_FIELDS = ("custom", "customTemplates", "modelSources", "profileCopy", "derivedFrom")


def is_image_model(model: JsonObject) -> bool:
    """Return whether a model is an image alone: nothing is derived from it and it has no weights of its own."""
    spec = model.get("spec")
    if not isinstance(spec, dict):
        return False
    lists = ("customTemplates", "modelSources")
    given = [name for name in LEGACY_MODEL_FIELDS if name in spec and (name not in lists or get_list(spec, name))]
    return not given and "profiles" not in spec


def has_weights(spec: JsonObject) -> bool:
    """Return whether a model states weights of its own, in the shape that model sources have."""
    sources = get_list(spec, "modelSources")
    return bool(sources) and all(isinstance(source, dict) for source in sources)
