"""AIMService: from a template and overrides to a profile and profileOverrides (G, "AIMService")."""

import re

from aim_api.labels import PIPELINE_PROFILE, PIPELINE_TEMPLATE, RECONCILER_PIPELINE
from aim_api.tree import Json, JsonObject, get_list, get_map, get_str
from aim_template_migration.mapping.defaulting import is_empty, normalised
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.context import Context
from aim_template_migration.mapping.recipes.draft import Draft
from aim_template_migration.mapping.recipes.hardware import accelerator_fields
from aim_template_migration.mapping.recipes.ledger import Path
from aim_template_migration.mapping.recipes.service_env import convert_service_env
from aim_template_migration.mapping.recipes.service_model import convert_service_model
from aim_template_migration.mapping.recipes.versions import V1ALPHA2, to_v1alpha2

_TEMPLATE: Path = ("spec", "template")
_PROFILE: Path = ("spec", "profile")
_SELECTOR: Path = ("spec", "profile", "selector")
_OVERRIDES: Path = ("spec", "overrides")
_OVERLAY: Path = ("spec", "profileOverrides")

_CRITERIA = ("precision", "acceleratorModel", "acceleratorCount", "metric", "engine", "type")
LEGACY_SERVICE_FIELDS = ("template", "overrides", "cacheModel")
_CACHING_WORDS = {"Auto": "Shared", "Always": "Shared", "Never": "Dedicated"}
_INT64 = re.compile(r"-?[1-9][0-9]{0,18}|0")
_INT64_RANGE = range(-(2**63), 2**63)

_NOT_NAMED = "spec.profileOverrides changes one named profile, and none is named"
_NAME_IT = "name the profile in spec.profile.name (or by --values, as profileName)"
OVERLAY_WARNING = (
    "spec.profileOverrides makes a profile of its own for this service, with a cache key of its own: weights may be "
    "downloaded again, and the workload rolls"
)


def convert_service(draft: Draft, context: Context) -> None:
    """Convert one AIMService; one that is at v1alpha2 and has nothing of v1alpha1 stays as it is."""
    legacy = any(draft.has("spec", name) for name in LEGACY_SERVICE_FIELDS) or draft.has("spec", "model", "custom")
    if draft.given("apiVersion") == V1ALPHA2 and not legacy:
        draft.unchanged = True
        return
    to_v1alpha2(draft)
    named = _template(draft, context) or _given_name(draft, context)
    _overrides(draft, named=named)
    if convert_service_env(draft, named=named):
        draft.note(("spec", "env"), OVERLAY_WARNING)
    _caching(draft)
    draft.drop(("spec", "cacheModel"))
    convert_service_model(draft, context)
    draft.finish()
    _dispatch(draft)


def _template(draft: Draft, context: Context) -> bool:
    """Convert ``spec.template``; return whether the service names its profile."""
    template = draft.given(*_TEMPLATE)
    if template is None or (isinstance(template, dict) and is_empty(normalised(template))):
        draft.drop(_TEMPLATE, "an empty template selects nothing")
        return bool(get_str(draft.given(*_PROFILE), "name"))
    if not isinstance(template, dict):
        return bool(get_str(draft.given(*_PROFILE), "name"))  # what has another shape stays where it is
    if draft.has(*_PROFILE):
        draft.leave(_TEMPLATE, "spec.profile is set already, and both exclude each other", "remove spec.template")
        return bool(get_str(draft.given(*_PROFILE), "name"))
    name, criteria = get_str(template, "name") or "", template.get("selectionCriteria")
    if name:
        _by_name(draft, context, name, whole=not criteria)
    else:
        _by_selection(draft, whole=get_str(criteria, "precision") != "auto")
    return bool(name)


def _by_name(draft: Draft, context: Context, name: str, *, whole: bool) -> None:
    """Name the profile; beside a name nothing selects."""
    if whole:
        draft.relocate(_TEMPLATE, _PROFILE)
    draft.move((*_TEMPLATE, "name"), (*_PROFILE, "name"))
    draft.drop((*_TEMPLATE, "allowUnoptimized"), "a profile that is named needs no minimum")
    if not whole:
        draft.leave(
            (*_TEMPLATE, "selectionCriteria"),
            "a profile is chosen by name or by selector, and template.name gives the name",
            "remove spec.template.selectionCriteria, or remove the name and use spec.profile.selector",
        )
    if not context.profile_is_written(draft, name):
        draft.note(
            (*_TEMPLATE, "name"),
            f"a profile is assumed to be named like its template; verify that the profile {name} exists",
        )


def _by_selection(draft: Draft, *, whole: bool) -> None:
    """Turn criteria into a selector; ``whole`` carries them as they stand."""
    criteria: Path = (*_TEMPLATE, "selectionCriteria")
    if whole:
        draft.relocate(_TEMPLATE, _PROFILE)
        draft.relocate(criteria, _SELECTOR)
    given = get_map(draft.source, *criteria)
    for name in _CRITERIA:
        if name == "precision" and given.get(name) == "auto":
            _leave_auto(draft, (*criteria, name))
        elif name in given:
            draft.move((*criteria, name), (*_SELECTOR, name))
    for name in sorted(given.keys() - set(_CRITERIA)):
        draft.leave((*criteria, name), "a selector has no such field", "remove it, or use a field of the selector")
    if get_str(given, "type") not in (None, "optimized"):
        draft.note(
            (*criteria, "type"),
            "a service takes optimized profiles unless spec.profile.selector.minimumType says otherwise",
        )
    if draft.given(*_TEMPLATE, "name") in ("", None):
        draft.drop((*_TEMPLATE, "name"), "an empty name names nothing")
    allows = draft.given(*_TEMPLATE, "allowUnoptimized")
    if allows is True:
        draft.retype((*_TEMPLATE, "allowUnoptimized"), (*_SELECTOR, "minimumType"), "any")
    elif allows in (False, None):
        draft.drop((*_TEMPLATE, "allowUnoptimized"), "without a minimumType a service takes optimized profiles as well")


def _given_name(draft: Draft, context: Context) -> bool:
    """Name the profile that --values names, where nothing selects one."""
    name = context.values.text(draft.source, "profileName")
    overlay = draft.has(*_OVERRIDES, "engineArgs") or draft.has(*_OVERRIDES, "modelSources")
    selected = draft.given(*_PROFILE) is not None or not is_empty(normalised(draft.get(*_PROFILE)))
    if not name or not overlay or selected:
        return False
    draft.put((*_PROFILE, "name"), name)
    return True


def _overrides(draft: Draft, *, named: bool) -> None:
    overrides = draft.given(*_OVERRIDES)
    if overrides in ({}, None):
        draft.drop(_OVERRIDES, "empty overrides change nothing")
        return
    if not isinstance(overrides, dict):
        return
    if named and overrides.keys() <= {"engineArgs", "modelSources"} and not draft.has(*_OVERLAY):
        draft.relocate(_OVERRIDES, _OVERLAY)
    _engine_args(draft, overrides, named=named)
    _model_sources(draft, overrides, named=named)
    if "env" in overrides:
        draft.leave(
            (*_OVERRIDES, "env"),
            "containerEnv and engineEnv are two different targets",
            "write it as spec.profileOverrides.containerEnv for the container, or as spec.profileOverrides.engineEnv "
            "for the engine",
        )
    selecting: dict[str, Path] = {name: (*_OVERRIDES, name) for name in ("metric", "precision") if name in overrides}
    for name, source in {**selecting, **accelerator_fields(draft, (*_OVERRIDES, "hardware"))}.items():
        _select(draft, source, name, named=named)


def _select(draft: Draft, source: Path, name: str, *, named: bool) -> None:
    target: Path = (*_SELECTOR, name)
    value = draft.given(*source)
    if named:
        draft.leave(
            source,
            "it selects a profile, but spec.profile.name names one, and both exclude each other",
            f"name the profile that has it in spec.profile.name, or select by spec.profile.selector.{name} instead",
        )
    elif name == "precision" and value == "auto":
        _leave_auto(draft, source)
    elif draft.get(*target) is not None and draft.get(*target) == value:
        draft.drop(source, f"{'.'.join(map(str, target))} says the same", fate=Fate.RENAMED, target=target)
    else:
        draft.move(source, target)


def _leave_auto(draft: Draft, path: Path) -> None:
    draft.leave(path, "no profile has the precision auto", "remove it, or state the precision that is meant")


def _engine_args(draft: Draft, overrides: JsonObject, *, named: bool) -> None:
    if "engineArgs" not in overrides:
        return
    source: Path = (*_OVERRIDES, "engineArgs")
    if not named:
        draft.leave(source, _NOT_NAMED, _NAME_IT)
        return
    arguments = overrides["engineArgs"]
    if not isinstance(arguments, dict):
        draft.leave(source, "engine arguments are an object", "write them as an object")
        return
    target: Path = (*_OVERLAY, "engineArgs")
    if not draft.move(source, target):
        return
    for name, value in arguments.items():
        typed = typed_argument(value)
        if typed is not value:
            draft.retype((*source, name), (*target, name), typed)
        else:
            draft.account((*source, name), draft.id, (*target, name), fate=Fate.RENAMED, reason="it stays as it is")
    draft.note(source, OVERLAY_WARNING)


def _model_sources(draft: Draft, overrides: JsonObject, *, named: bool) -> None:
    """Carry own weights of one service, which before were one of the ways to fine-tune (G, "Fine-tunes")."""
    source: Path = (*_OVERRIDES, "modelSources")
    if is_empty(overrides.get("modelSources")):
        return
    if not named:
        draft.leave(source, _NOT_NAMED, _NAME_IT)
    elif draft.move(source, (*_OVERLAY, "modelSources")):
        draft.note(source, OVERLAY_WARNING)


def typed_argument(value: Json) -> Json:
    """Return an engine argument with its type: a string that is plainly an int64 becomes an integer (G)."""
    if isinstance(value, str) and _INT64.fullmatch(value) and int(value) in _INT64_RANGE:
        return int(value)
    return value


def _caching(draft: Draft) -> None:
    path: Path = ("spec", "caching", "mode")
    mode = draft.given(*path)
    canonical = _CACHING_WORDS.get(mode) if isinstance(mode, str) else None
    if mode in ("Shared", "Dedicated"):
        draft.account(path, draft.id, path, fate=Fate.MAPPED, reason="the word is the same in v1alpha2")
    elif canonical:
        draft.retype(path, path, canonical)
        draft.note(
            path,
            f"{mode} is an older word for {canonical}; a service that exists with {mode} can't be changed to it, so "
            "its manifest has to keep the word (convert --plan does)",
        )


def _dispatch(draft: Draft) -> None:
    """Make sure that the profile pipeline takes the service: by ``spec.profile``, or by the annotation."""
    annotation: Path = ("metadata", "annotations", RECONCILER_PIPELINE)
    pipeline = draft.given(*annotation)
    if pipeline == PIPELINE_TEMPLATE:
        draft.leave(
            annotation,
            "the annotation keeps the service on the template pipeline",
            "remove the annotation once the service shall move",
        )
        return
    spec = get_map(draft.value, "spec")
    model = get_str(spec, "model", "name")
    if "profile" in spec or "template" in spec:
        return
    if not model and get_list(spec, "adapters"):
        draft.leave(
            ("spec", "adapters"),
            "adapters need spec.profile, and the service names no model whose profile could be taken",
            "state spec.profile, with the name of a profile or with a selector",
        )
    if not model:
        return
    if get_list(spec, "adapters"):
        draft.put((*_SELECTOR, "modelRef", "name"), model)
        draft.note(("spec", "adapters"), "adapters need spec.profile, so the model is named in its selector")
        return
    if pipeline == PIPELINE_PROFILE:
        return
    metadata = draft.value.get("metadata")
    if not isinstance(metadata, dict):
        return
    if not isinstance(metadata.get("annotations"), dict):
        metadata["annotations"] = {}
    draft.put(annotation, PIPELINE_PROFILE)
    draft.note(
        ("spec", "model", "name"),
        f"without spec.profile the annotation {RECONCILER_PIPELINE} says that the profile pipeline takes the service",
    )
