"""The steps that create targets: an AIMProfile, and the service-driven AIMProfileCache."""

from collections.abc import Mapping
from dataclasses import replace

from aim_api.kinds import AIM_PROFILE, AIM_PROFILE_CACHE, Kind
from aim_api.tree import JsonObject, get_objects, get_str
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import UnitStopped, refusal, stop_unit
from aim_template_migration.applying.weights import know_sources, require_no_earlier_download, require_weights
from aim_template_migration.applying.writer import Found, Write
from aim_template_migration.documents.plan import CreateProfile, CreateProfileCache, Pin
from aim_template_migration.kube.errors import NotFound, RequestError
from aim_template_migration.planning.comparison import differing_fields
from aim_template_migration.planning.reduction import reduce

_SHOWN_FIELDS = 5


def create_profile(state: UnitState, step: CreateProfile) -> None:
    """Create the AIMProfile only if absent; an equal one counts as done.

    Raises:
        UnitStopped: another profile of this name exists, or the creation is refused.
    """
    _ensure(state, "CreateProfile", AIM_PROFILE, step.target)


def create_profile_cache(state: UnitState, step: CreateProfileCache) -> None:
    """Create the AIMProfileCache only if absent, right after re-reading the artifacts that it must adopt.

    Raises:
        UnitStopped: an artifact or PVC is not as pinned, another cache of this name exists, the creation is refused, or
            something has downloaded the weights since a former run created the cache.
    """
    require_weights(state)
    if not state.dry_run:
        know_sources(state)
    found = _ensure(state, "CreateProfileCache", AIM_PROFILE_CACHE, step.target)
    if found is not None and not state.dry_run:
        require_no_earlier_download(state, found)


def _ensure(state: UnitState, step: str, kind: Kind, target_id: str) -> JsonObject | None:
    """Create a target if it is absent; return one that has come since the plan was made, and is equal to it."""
    pin = next((pin for pin in state.unit.pins if pin.reference.id == target_id), None)
    if pin is not None and not pin.absent:
        _require_pinned(state, step, pin)
        return None
    body = state.context.targets[target_id]
    name = get_str(body, "metadata", "name") or ""
    schemas = _schemas(state)
    live = state.read(kind, name)
    if live is not None:
        fault = difference(kind, body, live, schemas)
        if fault:
            raise stop_unit("TargetDiffers", f"{target_id} exists already: {fault}")
        state.record(step, {"alreadyPresent": True, "uid": get_str(live, "metadata", "uid") or ""})
        return live
    write = Write(
        unit=state.unit.id,
        step=step,
        object_id=target_id,
        prepared=state.context.cluster.prepare_create(kind, body, state.namespace, dry_run=state.dry_run),
        must_hold=body,
        read_back=lambda: _found(kind, body, read_back(state, kind, name), schemas),
    )
    try:
        sent = state.context.writer.send(write)
    except UnitStopped as stopped:
        raise _named_cause(state, kind, target_id, stopped) from stopped
    state.warn(step, sent.warnings)
    state.keep_answer(target_id, sent.body)
    # A commit reads back what is stored; of a dry run the answer is all there is.
    fault = difference(kind, body, sent.body, schemas) if state.dry_run else ""
    if fault:
        raise stop_unit(
            "AnswerDiffers", f"the dry run of {step} shows that {target_id} would be stored otherwise: {fault}"
        )
    return None


def _require_pinned(state: UnitState, step: str, pin: Pin) -> None:
    """A target that was there when the plan was made must still be that one; it is never made anew."""
    reading = state.read_pin(pin)
    breach = reading.breach
    if breach is not None:
        raise stop_unit(breach.code, breach.message)
    state.record(step, {"alreadyPresent": True, "uid": pin.uid})


def difference(kind: Kind, body: JsonObject, live: JsonObject, schemas: Mapping[str, JsonObject]) -> str:
    """Return in which way a live object is not the planned target, or an empty string (pure).

    A target that the plan would create may be there already only if it is ownerless, is not terminating, and equals the
    plan's: every planned field after defaulting, and no other field that a template could state.
    """
    observed = reduce(kind, live)
    if observed.owner_references:
        owner = observed.owner_references[0]
        return f"it is owned by {owner.kind} {owner.name}"
    if observed.terminating:
        return "it is terminating"
    differing = differing_fields(body, observed, schemas)
    if not differing:
        return ""
    more = f" and {len(differing) - _SHOWN_FIELDS} more" if len(differing) > _SHOWN_FIELDS else ""
    return f"it has other content in {', '.join(differing[:_SHOWN_FIELDS])}{more}"


def read_back(state: UnitState, kind: Kind, name: str) -> JsonObject | None:
    """Read an object after a write to it.

    Raises:
        RequestError: it can't be read now.
    """
    try:
        return state.context.cluster.get(kind, name, state.namespace if kind.namespaced else None)
    except NotFound:
        return None


def _found(
    kind: Kind, body: JsonObject, live: JsonObject | None, schemas: Mapping[str, JsonObject]
) -> tuple[Found, JsonObject]:
    if live is None:
        return "notStored", {}
    return ("other" if difference(kind, body, live, schemas) else "stored"), live


def _named_cause(state: UnitState, kind: Kind, target_id: str, stopped: UnitStopped) -> UnitStopped:
    """After a conflict: read again and say what is there now. The unit stops all the same."""
    if stopped.failure.http_status not in (409, 422):
        return stopped
    body = state.context.targets[target_id]
    try:
        live = read_back(state, kind, get_str(body, "metadata", "name") or "")
    except RequestError:
        return stopped
    if live is None:
        return stopped
    fault = difference(kind, body, live, _schemas(state))
    if fault:
        message = f"{target_id} appeared between reading and writing: {fault}"
        return UnitStopped(replace(stopped.failure, code="TargetDiffers", message=message))
    managers = sorted({get_str(entry, "manager") or "" for entry in get_objects(live, "metadata", "managedFields")})
    message = (
        f"{target_id} appeared between reading and writing (field managers: {', '.join(managers) or 'none'}); "
        "it equals the plan's"
    )
    return UnitStopped(replace(stopped.failure, code="WriteConflict", message=message))


def _schemas(state: UnitState) -> Mapping[str, JsonObject]:
    try:
        return state.context.revalidator.schemas
    except RequestError as error:
        raise refusal(error, verb="reading", object_id="the CRDs of the targets", dry_run=False) from error
