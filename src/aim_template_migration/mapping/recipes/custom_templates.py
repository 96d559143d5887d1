"""AIMModel ``spec.customTemplates``: covered by a derivation, or profile sets and profiles (G, "Resource mapping")."""

from dataclasses import dataclass
from itertools import takewhile

from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_CLUSTER_PROFILE_SET, AIM_PROFILE, AIM_PROFILE_SET
from aim_api.names import derive_name
from aim_api.tree import Json, JsonObject, get, get_list, get_map, get_str, has, leaves
from aim_template_migration.mapping.defaulting import is_empty, normalised
from aim_template_migration.mapping.engine_settings import deep_merge, merge_env
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.draft import Beside, Draft, copied, new_object
from aim_template_migration.mapping.recipes.environment import Variables, account_variable, kept_variables
from aim_template_migration.mapping.recipes.inherited_hardware import InheritedHardware, settle_hardware
from aim_template_migration.mapping.recipes.ledger import Path

_TEMPLATES: Path = ("spec", "customTemplates")

_DEVICE: Path = ("hardware", "gpu", "resourceName")
_SELECTING: tuple[tuple[Path, str], ...] = (
    (("hardware", "gpu", "model"), "acceleratorModel"),
    (("hardware", "gpu", "requests"), "acceleratorCount"),
    (("profile", "metric"), "metric"),
    (("profile", "precision"), "precision"),
    (("acceleratorModel",), "acceleratorModel"),
    (("acceleratorType",), "acceleratorType"),
    (("acceleratorCount",), "acceleratorCount"),
    (("metric",), "metric"),
    (("precision",), "precision"),
    (("engine",), "engine"),
)
"""Where a custom template says what it is for, in the served shape and in G's, and the selector's field for it."""

_LOST: tuple[tuple[Path, str, str], ...] = (
    (
        ("hardware", "gpu", "minVram"),
        "no field states a minimum of video memory",
        "state the model in acceleratorModel",
    ),
    (
        _DEVICE,
        "the device that is asked for follows from the accelerator's vendor",
        "state acceleratorVendor",
    ),
    (("hardware", "cpu"), "quantities of CPU are no accelerator", "state them in spec.resources of a profile"),
)
_DEFAULT_DEVICE = "amd.com/gpu"
_UNKNOWN: Path = ("spec", "customTemplate")
_COVERED = "the derivation takes every definition of the base image for this hardware, this one's among them"
_COVERABLE = frozenset({("name",), ("type",), ("aimId",), ("modelId",), *(path for path, _ in _SELECTING)})
"""What a template may state that a derivation covers, as long as the derivation does not say otherwise."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What profiles of a model serve.

    Attributes:
        image: the image that serves it, empty where it is not known.
        aim_id: the model family, empty where it is not known.
        model_id: the model variant, empty where it is not known.
        sources: the model sources.
        place: where the input states the sources.
        env: the environment that templates of the model have, below their own; those of a cluster-scoped model have
            none (v1alpha1 facts, model handling).
        derived: the model itself derives profiles with these weights from every definition of the image.
    """

    image: str = ""
    aim_id: str = ""
    model_id: str = ""
    sources: tuple[JsonObject, ...] = ()
    place: Path = ()
    env: tuple[JsonObject, ...] = ()
    derived: bool = False


def convert_custom_templates(draft: Draft, weights: Weights, selector: JsonObject, *, cluster: bool) -> None:
    """Convert every custom template of a model.

    Args:
        draft: the conversion of the model.
        weights: what its profiles serve.
        selector: what profile sets select from.
        cluster: whether the model is cluster-scoped.
    """
    templates = draft.given(*_TEMPLATES)
    if not isinstance(templates, list) or not all(isinstance(item, dict) for item in templates):
        return
    if not templates:
        draft.drop(_TEMPLATES, "an empty list states no template")
        return
    draft.take_out(_TEMPLATES)
    taken = {get_str(beside.value, "metadata", "name") or "" for beside in draft.beside}
    made = [
        _Template(draft, weights, index, item, taken, cluster=cluster).convert(selector)
        for index, item in enumerate(templates)
        if isinstance(item, dict)
    ]
    if not weights.derived:
        settle_hardware(draft, [beside for beside in made if beside is not None])


def states_no_template(templates: Json) -> bool:
    """Return whether a list of custom templates holds nothing."""
    return not templates or (isinstance(templates, list) and all(is_empty(normalised(item)) for item in templates))


class _Template:
    """The conversion of one custom template."""

    def __init__(
        self, draft: Draft, weights: Weights, index: int, item: JsonObject, taken: set[str], *, cluster: bool
    ) -> None:
        self._draft = draft
        self._weights = weights
        self._index = index
        self._item = item
        self._taken = taken
        self._cluster = cluster
        self._place: Path = (*_TEMPLATES, index)
        self._hardware = InheritedHardware(draft, item)

    def convert(self, selector: JsonObject) -> Beside | None:
        """Convert it: one with settings of its own into an object of its own, which is returned."""
        if is_empty(normalised(self._item)):
            self._draft.account(self._place, "", (), fate=Fate.DEFAULTED, reason="it states nothing")
            return None
        for path, value in leaves(self._item):
            if is_empty(value):
                self._account(path, "", (), "it states nothing", fate=Fate.DEFAULTED)
        if isinstance(self._item.get("customProfile"), dict) or (self._weights.sources and not self._weights.derived):
            made = self._to_profile()
        elif self._is_covered():
            self._covered()
            return None
        else:
            made = self._to_set(selector)
        self._leave_without_place(made)
        self._leave_unknown(made)
        return made

    def _is_covered(self) -> bool:
        """Return whether the model's derivation takes the definitions that the template means, as it means them."""
        stated = {path for path, value in leaves(self._item) if not is_empty(value) and value != _DEFAULT_DEVICE}
        inherits_no_environment = self._cluster and get_list(self._draft.source, "spec", "env")
        return (
            self._weights.derived
            and stated <= _COVERABLE
            and not inherits_no_environment
            and not self._has_own_identity()
            and self._hardware.lies_within_the_model()
        )

    def _has_own_identity(self) -> bool:
        """Return whether it states another identity than the profiles that the model derives."""
        known = {"aimId": self._weights.aim_id, "modelId": self._weights.model_id}
        return any(not is_empty(self._item.get(name)) and self._item[name] != own for name, own in known.items())

    def _undecided(self, made: Beside, path: Path, reason: str, advice: str) -> None:
        """Leave a field for a person to decide about, in a place of the new object where servers refuse it."""
        self._put_undecided(made, ("spec", *path), path)
        self._draft.leave((*self._place, *path), reason, advice)

    def _put_undecided(self, made: Beside, target: Path, path: Path) -> None:
        made.put(target, copied(get(self._item, *path)))
        made.origins[target] = (*self._place, *path)

    def _leave_without_place(self, made: Beside) -> None:
        """Leave what no object of v1alpha2 can state: of the template itself, or of the model that it inherits from."""
        for path, reason, advice in _LOST:
            value = get(self._item, *path)
            if value == _DEFAULT_DEVICE:
                self._account(path, "", (), "it is the device of AMD accelerators", fate=Fate.DEFAULTED)
            elif not is_empty(value):
                self._undecided(made, path, reason, advice)
            else:
                inherited = self._hardware.inherited(path)
                if inherited not in (None, _DEFAULT_DEVICE):
                    made.put(("spec", *path), copied(inherited))
                    made.origins["spec", *path] = self._hardware.place(path)

    def _leave_unknown(self, made: Beside) -> None:
        """Leave what no step has accounted for, in a place that no kind has, so that no server takes it."""
        for path, _ in leaves(self._item):
            if not self._draft.is_accounted((*self._place, *path)):
                part = tuple(takewhile(lambda key: isinstance(key, str), path))
                self._put_undecided(made, (*_UNKNOWN, *part), part)
                unknown = ("a custom template has no such field", "remove it")
                here: Path = (*self._place, *path)
                self._draft.leave(here, *(self._draft.wrong_type(here) or unknown))

    def _covered(self) -> None:
        target: Path = ("spec", "profiles", "derivedFrom")
        for path in (("name",), *(path for path, _ in _SELECTING)):
            self._account(path, self._draft.id, target, _COVERED)
        self._account(_DEVICE, "", (), "it is the device of AMD accelerators", fate=Fate.DEFAULTED)
        for name in ("aimId", "modelId"):
            self._account((name,), self._draft.id, ("spec", "profiles", "overrides", name), "the model states the same")
        self._type_is_inherited()
        self._draft.note(
            self._place,
            "the custom template is replaced by the definitions of the base image; verify that the image publishes one "
            "for its accelerator, precision and metric",
        )

    def _to_set(self, selector: JsonObject) -> Beside:
        kind = AIM_CLUSTER_PROFILE_SET if self._cluster else AIM_PROFILE_SET
        made = self._beside(new_object(kind, self._name(), self._draft.namespace, {}))
        made.put(("spec", "selector"), dict(selector))
        self._select(made, ("spec", "selector"))
        made.put(("spec", "versionPolicy"), "all")
        overrides: Path = ("spec", "overrides")
        if self._weights.derived:
            self._identity(made, overrides)
        else:
            self._own_identity(made, overrides)
        self._environment(made, (*overrides, "containerEnv"), (*overrides, "engineArgs"), {})
        self._type_is_inherited()
        return made

    def _to_profile(self) -> Beside:
        kind = AIM_CLUSTER_PROFILE if self._cluster else AIM_PROFILE
        made = self._beside(new_object(kind, self._name(), self._draft.namespace, {}))
        self._identity(made, ("spec",))
        self._select(made, ("spec",))
        accelerated = any(has(made.value, "spec", name) for name in ("acceleratorModel", "acceleratorCount"))
        if accelerated and not has(made.value, "spec", "acceleratorType"):
            made.put(("spec", "acceleratorType"), "gpu")
        for name in ("type", "image"):
            if not is_empty(self._item.get(name)):
                self._give(made, (name,), ("spec", name))
        if self._weights.image and not get_str(made.value, "spec", "image"):
            made.put(("spec", "image"), self._weights.image)
        self._environment(made, ("spec", "containerEnv"), ("spec", "engineArgs"), self._arguments(made))
        if get_map(self._item, "customProfile", "envVars"):
            self._give(made, ("customProfile", "envVars"), ("spec", "engineEnv"))
        self._draft.note(
            self._place,
            "a profile that is written by hand is found by name or by spec.profile.selector.aimId, not by its model",
        )
        return made

    def _arguments(self, made: Beside) -> JsonObject:
        """Return the engine arguments of both places, and leave what are none for a person."""
        arguments: JsonObject = {}
        for path in (("customProfile", "engineArgs"), ("engineArgs",)):
            stated = get(self._item, *path)
            if isinstance(stated, dict):
                arguments = deep_merge(arguments, stated)
                self._account(path, made.id, ("spec", "engineArgs"), "a profile holds its own")
            elif not is_empty(stated):
                self._undecided(made, path, "engine arguments are an object", "write them as one in spec.engineArgs")
        return arguments

    def _name(self) -> str:
        """Return a name for the object: the template's, behind the model's, since it is an alias within the model."""
        stated, model = get_str(self._item, "name") or "", self._draft.name
        selecting = [get_str(self._item, *path) or "" for path, _ in _SELECTING]
        parts = [stated] if stated else [str(self._index + 1), *selecting]
        owned = stated.startswith(f"{model}-")
        name = stated if owned else derive_name([part for part in (model, *parts) if part])
        name = derive_name([name, str(self._index + 1)]) if name in self._taken else name
        self._taken.add(name)
        return name

    def _beside(self, value: JsonObject) -> Beside:
        made = Beside(value, above=False)
        self._draft.beside.append(made)
        if get_str(self._item, "name"):
            self._account(("name",), made.id, ("metadata", "name"), "the object is named like the template")
        return made

    def _select(self, made: Beside, target: Path) -> None:
        """State what the template is for: its own hardware over that of the model, and everything else of its own."""
        for path, name in _SELECTING:
            inherited = self._hardware.inherited(path)
            if inherited == 0:
                # Servers refuse it, and the model's own field says why.
                made.put(("spec", *path), 0)
                made.origins["spec", *path] = self._hardware.place(path)
            elif inherited is not None:
                made.put((*target, name), copied(inherited))
                made.origins[(*target, name)] = self._hardware.place(path)
            if inherited is not None and has(self._item, *path):
                self._account(path, "", (), "the hardware of the model decides", fate=Fate.DEFAULTED)
            elif self._states(made, path, name):
                self._give(made, path, (*target, name))

    def _states(self, made: Beside, path: Path, name: str) -> bool:
        """Return whether the template states something that can be carried, and say so where it can't."""
        value = get(self._item, *path)
        if is_empty(value):
            return False
        if name == "precision" and value == "auto":
            advice = "state the precision that is meant"
            self._undecided(made, path, "no profile has the precision auto", advice)
            return False
        if isinstance(value, dict | list):
            self._undecided(made, path, "it is a single value in v1alpha1", "remove it, or write it as one")
            return False
        if path[0] == "hardware" and value == 0:
            reason = "a pod on a node with accelerators that asks for none can't be stated"
            self._undecided(made, path, reason, "state how many accelerators it needs")
            return False
        return True

    def _own_identity(self, made: Beside, target: Path) -> None:
        for name in ("aimId", "modelId"):
            if get_str(self._item, name):
                self._give(made, (name,), (*target, name))

    def _identity(self, made: Beside, target: Path) -> None:
        self._own_identity(made, target)
        for name, known in (("aimId", self._weights.aim_id), ("modelId", self._weights.model_id)):
            if get_str(self._item, name):
                continue
            if known:
                made.put((*target, name), known)
            elif name == "aimId" or self._weights.derived:
                self._draft.need(
                    (*target, name),
                    f"nothing states {name}; state it by --values for the model, or in the custom template",
                    near=self._place,
                    object_=made.id,
                )
        if self._weights.sources:
            made.put((*target, "modelSources"), list(self._weights.sources))
            made.origins[*target, "modelSources"] = self._weights.place
        else:
            # Without sources the server would take the profile for a base definition.
            made.put((*target, "modelSources"), [{}])
            self._draft.need(
                (*target, "modelSources"),
                "nothing states the model sources; state them in spec.modelSources of the model",
                near=self._place,
                object_=made.id,
            )

    def _environment(self, made: Beside, env: Path, args: Path, arguments: JsonObject) -> None:
        given = {index: item for index, item in enumerate(get_list(self._item, "env")) if isinstance(item, dict)}
        kept, found, fault = kept_variables(list(given.values()))
        inherited, below, _ = kept_variables(self._weights.env)
        carried = merge_env(inherited, kept)
        if carried:
            made.put(env, list(carried))
        variables = Variables(carried)
        for index, item in enumerate(self._weights.env):
            where = variables.below(env, item)
            if where:
                made.origins[where] = ("spec", "env", index)
        for index, item in given.items():
            place: Path = (*self._place, "env", index)
            where = variables.below(env, item)
            if where:
                made.origins[where] = place
            account_variable(self._draft, place, item, made.id, env=where, arguments=args, fault=fault)
        # As in a container: the arguments in an environment decide before those of the engine profile.
        merged = deep_merge(deep_merge(arguments, below), found)
        if merged:
            made.put(args, merged)

    def _type_is_inherited(self) -> None:
        if not is_empty(self._item.get("type")):
            reason = "derived profiles have the type of their sources"
            advice = "let services accept it: spec.profile.selector.minimumType"
            self._draft.leave((*self._place, "type"), reason, advice, fate=Fate.REFUSED)

    def _give(self, made: Beside, path: Path, target: Path) -> None:
        made.put(target, get(self._item, *path))
        made.origins[target] = (*self._place, *path)
        self._account(path, made.id, target, "")

    def _account(self, path: Path, object_: str, target: Path, reason: str, *, fate: Fate = Fate.RENAMED) -> None:
        if has(self._item, *path) or (isinstance(path[-1], int) and get(self._item, *path) is not None):
            self._draft.account((*self._place, *path), object_, target, fate=fate, reason=reason)
