"""Parts of services, which Kustomize puts together: they are converted so that the whole is what it was (pure)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from aim_api.kinds import AIM_CLUSTER_RUNTIME_CONFIG, AIM_RUNTIME_CONFIG, AIM_SERVICE, LEGACY_VERSION
from aim_api.labels import PIPELINE_PROFILE, RECONCILER_PIPELINE
from aim_api.tree import Json, JsonObject, get, get_map, get_str, has, leaves
from aim_template_migration.mapping.defaulting import normalised
from aim_template_migration.mapping.fates import Fate, is_moved
from aim_template_migration.mapping.recipes.context import Context
from aim_template_migration.mapping.recipes.draft import Beside, Draft, copied
from aim_template_migration.mapping.recipes.ledger import LeafFate, Path
from aim_template_migration.mapping.recipes.service import convert_service
from aim_template_migration.mapping.recipes.service_model import COPIED
from aim_template_migration.mapping.recipes.versions import V1ALPHA2
from aim_template_migration.mapping.service_fates import SERVICE_FATES

_CONVERT_THE_BUILD = "or convert what kustomize build gives"
_CONFIGS = frozenset({AIM_RUNTIME_CONFIG.name, AIM_CLUSTER_RUNTIME_CONFIG.name})
_FOR_PROFILES = (
    "the profiles of converted templates have the environment of their runtime configs as it is without this patch; "
    "write what it sets into spec.containerEnv of these profiles, "
)
_DIRECTIVE = "$patch"
_ANNOTATION: Path = ("metadata", "annotations", RECONCILER_PIPELINE)


@dataclass(frozen=True, slots=True)
class Patched:
    """A service that a patch changes.

    Attributes:
        service: its conversion.
        before: the service as it stands in the input, with the patches that change it before this one.
    """

    service: Draft
    before: JsonObject


def convert_patch(draft: Draft, patched: Sequence[Patched], context: Context) -> Draft:
    """Return the conversion of a part of an object.

    A part of a service becomes what makes of every converted service that it patches the conversion of the service as
    it is patched. Where one such part does not exist it stays as it is and is named, so that nothing is lost that a
    patch removes or empties, and no model that a patch alone knows.

    Args:
        draft: the part, of which nothing is converted.
        patched: the services of the input that it changes.
        context: what else is known; nothing that is found out about a part is noted there.
    """
    kind, version = get_str(draft.source, "kind") or "", (get_str(draft.source, "apiVersion") or "").partition("/")[2]
    if draft.gaps:
        return draft
    if kind in _CONFIGS:
        if context.has_templates:
            _stay(draft, _FOR_PROFILES)
        return draft
    if kind != AIM_SERVICE.name:
        if version == LEGACY_VERSION:
            reason = f"this patches an object of the kind {kind}, and only the whole object says what becomes of it"
            _stay(draft, f"{reason}, so the patch stays as it is; write it anew for the converted object, ")
        return draft
    alone = _alone(draft, context)
    if alone.unchanged:
        return alone
    for made in alone.beside:
        _stay(draft, _new_object(made), object_=made.id)
    converted = None if draft.gaps else _fitting(draft, alone, patched, context)
    if converted is None and not draft.gaps:
        _stay(draft, _no_form(draft, patched))
    return draft if converted is None else _with_directives(converted)


def _alone(draft: Draft, context: Context) -> Draft:
    """Return the conversion of a part as if it were a service."""
    alone = draft.like(draft.source)
    convert_service(alone, context.apart())
    if not alone.unchanged:
        for path, value in leaves(draft.source):
            if value is None:
                _keep_null(alone, path)
    return alone


def _with_directives(part: Draft) -> Draft:
    """Account for what tells Kustomize how to patch."""
    for path, _ in leaves(part.source):
        here = part.where(path)
        if path[-1] == _DIRECTIVE and has(part.value, *here):
            part.account(path, part.id, here, fate=Fate.MAPPED, reason="it tells Kustomize how to patch")
    return part


def changes_the_same(service: Draft, changed: JsonObject, now: JsonObject, context: Context) -> bool:
    """Return whether a change of a service and the same change of its conversion end in the same.

    Args:
        service: the conversion of the service.
        changed: the service as it is changed.
        now: the converted service as it is changed.
        context: what else is known.
    """
    own = context.apart()
    before = _converted(service.like(service.source), own)
    further = own.apart()
    whole = _converted(service.like(changed), further)
    return not _needs_more(before, whole, further) and _meaning(now) == _meaning(whole.value)


def _needs_more(before: Draft, after: Draft, trial: Context, named: Collection[Path] = ()) -> bool:
    """Return whether a changed service gives another object, or leaves more to be decided, than it did before.

    Args:
        before: the conversion before the change.
        after: the conversion after it, in a trial.
        trial: what the conversion after it has noted.
        named: what is left to be decided and is named elsewhere.
    """
    written = [made.value for made in before.beside]
    more = any(made.value not in written for made in after.beside)
    return trial.written.changed or more or bool(_lost(after).difference(_lost(before), named))


def _lost(service: Draft) -> set[Path]:
    return {fate.path for fate in service.fates() if fate.lost}


def _fitting(draft: Draft, alone: Draft, patched: Sequence[Patched], context: Context) -> Draft | None:
    """Return the conversion of a part that does to the converted services what the part does to the services."""
    if not patched:
        return alone if _changes_the_version_alone(alone) else None
    if any(get_str(one.service.source, "apiVersion") == V1ALPHA2 for one in patched):
        # Nobody knows any more what the part did to the service as it was.
        for_the_model = any(draft.has("spec", name) for name in COPIED)
        return alone if _changes_the_version_alone(alone) and not _lost(alone) and not for_the_model else None
    trials = [_Trial(draft, alone, one, context) for one in patched]
    annotated = has(alone.value, *_ANNOTATION) and not has(draft.source, *_ANNOTATION)
    if not annotated and all(trial.is_met_by(alone.value) for trial in trials):
        return alone
    rewritten = [trial.rewritten() for trial in trials]
    first = rewritten[0]
    same = all(other is not None and first is not None and other.value == first.value for other in rewritten)
    return first if same else None


def _stay(draft: Draft, message: str, *, object_: str = "") -> None:
    draft.unchanged = True
    draft.need(("kind",), message + _CONVERT_THE_BUILD, near=("kind",), object_=object_)


def _no_form(draft: Draft, patched: Sequence[Patched]) -> str:
    shared = [f"spec.{name}" for name in COPIED if draft.has("spec", name)]
    if shared and any(get_str(one.before, "spec", "model", "image") or one.service.beside for one in patched):
        return (
            f"{' and '.join(shared)} of this patch may concern the AIMModel of the service's image as well, so it "
            "stays as it is; write it anew for the converted service and its model, "
        )
    return (
        "what becomes of this patch depends on the service that it patches, so it stays as it is; write it anew for "
        "the converted service, "
    )


def _new_object(made: Beside) -> str:
    image = get_str(made.value, "spec", "image")
    spec = f" with spec.image: {image}" if image else ""
    return (
        "Kustomize takes no new object from a patch, so the patch stays as it is; "
        f"write {made.id}{spec} to a file of the resources and name it in the patch, at v1alpha2, "
    )


def _keep_null(part: Draft, path: Path) -> bool:
    """Let a part remove a field that v1alpha2 has as well; return whether it is one."""
    if is_moved(SERVICE_FATES, path):
        return False
    if not has(part.value, *path):
        part.put(path, None)
    part.account(path, part.id, path, fate=Fate.MAPPED, reason="it removes the field in v1alpha2, too")
    return True


def _changes_the_version_alone(converted: Draft) -> bool:
    return {**converted.source, "apiVersion": ""} == {**converted.value, "apiVersion": ""}


class _Trial:
    """A service before and after a patch, both of them converted."""

    def __init__(self, part: Draft, alone: Draft, patched: Patched, context: Context) -> None:
        self._part = part
        service = patched.service
        own = context.apart()
        as_it_stands = patched.before is service.source
        self._before = service if as_it_stands else _converted(service.like(patched.before), own)
        further = own.apart()
        self._after = _converted(service.like(with_part(patched.before, part.source)), further)
        self._needs_more = _needs_more(self._before, self._after, further, _lost(alone))

    def is_met_by(self, part: JsonObject) -> bool:
        """Return whether a converted part makes of the service what it has to be."""
        if self._needs_more or _unquotes(self._before.value, part):
            return False
        return _meaning(with_part(self._before.value, part)) == _meaning(self._after.value)

    def rewritten(self) -> Draft | None:
        """Return the part as what it changes in the converted service, None where it can't be stated so."""
        if self._needs_more:
            return None
        draft = self._part.like(self._part.source)
        draft.put(("apiVersion",), V1ALPHA2)
        draft.account(("apiVersion",), draft.id, ("apiVersion",), fate=Fate.TYPED)
        draft.take_out(("spec",))
        fates = {fate.path: fate for fate in self._after.fates()}
        for path, value in leaves(self._part.source):
            fate = fates.get(path)
            if fate is not None and fate.lost:
                return None
            if path[0] == "spec":
                self._carry(draft, path, value, fate)
        further = _difference(_meaning(with_part(self._before.value, draft.value)), _meaning(self._after.value))
        draft.value = _laid_over(draft.value, further)
        draft.notes += [note for note in self._after.notes if has(draft.source, *note.near)]
        return draft if self.is_met_by(draft.value) else None

    def _carry(self, draft: Draft, path: Path, value: Json, fate: LeafFate | None) -> None:
        if value is None and _keep_null(draft, path):
            return
        if value is None or fate is None:
            reason = "what it removes is removed from the converted service" if value is None else "it states nothing"
            draft.account(path, "", (), fate=Fate.RENAMED if value is None else Fate.DEFAULTED, reason=reason)
            return
        draft.account(path, fate.object, fate.target, fate=fate.fate, reason=fate.reason)
        target: Path = tuple(takewhile(lambda key: isinstance(key, str), fate.target))
        if fate.object == self._after.id and has(self._after.value, *target):
            draft.put(target, copied(get(self._after.value, *target)))
            origin = path[: len(path) - (len(fate.target) - len(target))]
            while len(target) > 1 and len(origin) > 1:
                draft.origins[target] = origin  # of what is around the field as well, up to where it was renamed
                target, origin = (target[:-1], origin[:-1]) if target[-1] == origin[-1] else ((), ())


def _converted(draft: Draft, context: Context) -> Draft:
    convert_service(draft, context)
    return draft


def _meaning(service: JsonObject) -> JsonObject:
    """Return a service without what states nothing, and the annotation that says again what ``spec.profile`` says."""
    stated = normalised(service)
    annotations = get_map(stated, "metadata", "annotations")
    if has(stated, "spec", "profile") and annotations.get(RECONCILER_PIPELINE) == PIPELINE_PROFILE:
        del annotations[RECONCILER_PIPELINE]
        stated = normalised(stated)
    return stated if isinstance(stated, dict) else {}


def _unquotes(value: JsonObject, patch: JsonObject) -> bool:
    """Return whether a patch puts a number in the place of a text, which Kustomize quotes if the text was quoted."""
    pairs = [(value.get(key), item) for key, item in patch.items()]
    return any(
        (isinstance(old, str) and isinstance(new, int | float) and not isinstance(new, bool))
        or (isinstance(old, dict) and isinstance(new, dict) and _unquotes(old, new))
        for old, new in pairs
    )


def _difference(one: JsonObject, other: JsonObject) -> JsonObject:
    """Return the patch that makes ``other`` of ``one``."""
    found: JsonObject = {key: None for key in one if key not in other}
    for key, item in other.items():
        before = one.get(key)
        if isinstance(item, dict) and isinstance(before, dict):
            below = _difference(before, item)
            found |= {key: below} if below else {}
        elif key not in one or item != before:
            found[key] = item
    return found


def _laid_over(value: JsonObject, patch: JsonObject) -> JsonObject:
    """Return a patch that does what one and then another does."""
    result = dict(value)
    for key, item in patch.items():
        below = result.get(key)
        if isinstance(below, dict) and isinstance(item, dict):
            result[key] = _laid_over(below, item)
        else:
            result[key] = copied(item)
    return result


def with_part(value: JsonObject, part: JsonObject) -> JsonObject:
    """Return an object with a patch, which changes neither its name nor its namespace."""
    metadata = {key: item for key, item in get_map(part, "metadata").items() if key not in ("name", "namespace")}
    return merged(value, {**part, "metadata": metadata})


def merged(value: JsonObject, patch: JsonObject) -> JsonObject:
    """Return an object with a JSON merge patch (RFC 7386), as Kustomize applies a patch to a custom resource.

    The directive ``$patch`` of an object deletes or replaces it.
    """
    result: dict[str, Json] = dict(value) if patch.get(_DIRECTIVE) != "replace" else {}
    for key, item in _stated(patch):
        if item is None or (isinstance(item, dict) and item.get(_DIRECTIVE) == "delete"):
            result.pop(key, None)
        elif isinstance(item, dict):
            below = result.get(key)
            result[key] = merged(below if isinstance(below, dict) else {}, item)
        else:
            result[key] = item
    return result


def _stated(patch: JsonObject) -> Iterator[tuple[str, Json]]:
    return ((key, item) for key, item in patch.items() if key != _DIRECTIVE)
