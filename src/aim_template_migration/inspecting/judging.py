"""Where a unit stands, from its records and what is there now (pure)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from aim_api.tree import JsonObject, get_str
from aim_template_migration.applying.fences import FenceCode
from aim_template_migration.applying.pinned_kinds import PINNED_KINDS
from aim_template_migration.applying.readiness import is_protected
from aim_template_migration.applying.revalidate import PinReading
from aim_template_migration.applying.targets import difference
from aim_template_migration.applying.writer import Found
from aim_template_migration.documents.inspection import Condition, InspectedAttempt, InspectedObject, InspectedUnit
from aim_template_migration.documents.plan import CreateProfile, CreateProfileCache, ProtectArtifact
from aim_template_migration.inspecting.backup import Backup, compare
from aim_template_migration.inspecting.live import Migration, UnitLive
from aim_template_migration.inspecting.neighbours import Beside, second_artifact, second_inference_service
from aim_template_migration.inspecting.proof import proof_of
from aim_template_migration.inspecting.records import Attempt, UnitRecord
from aim_template_migration.inspecting.recovery import advice_of
from aim_template_migration.inspecting.settling import settle

_CONDITIONS: Mapping[FenceCode, Condition] = {
    "PinReplaced": "replaced",
    "PinEdited": "edited",
    "PinAppeared": "appeared",
    "PinGone": "gone",
    "PinTerminating": "terminating",
}
_AS_IT_SHOULD = frozenset({"asPlanned", "asCutOver", "absent", "equal"})
_WEIGHTS = frozenset({"artifact", "pvc"})
_QUIET = frozenset({"AsPlanned", "CutOverConfirmed", "NotTouched"})
_TROUBLE = frozenset({"failed", "unknown"})
_WELL = frozenset({"", "succeeded", "manual"})


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every unit of one inspection is judged against.

    Attributes:
        targets: bodies of what the plan creates, by id.
        schemas: schemas of the targets' CRDs, for defaulting.
        backup: the backup.
        now: the time.
        commit: whether the run on record wrote for real.
        may_live: whether a process of that run may still be at work.
    """

    targets: Mapping[str, JsonObject]
    schemas: Mapping[str, JsonObject]
    backup: Backup
    now: datetime
    commit: bool
    may_live: bool


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Where a unit stands: a code, one sentence, and what both rest on."""

    finding: str
    message: str
    attempts: tuple[InspectedAttempt, ...] = ()
    objects: tuple[InspectedObject, ...] = ()


def judge(
    migration: Migration, record: UnitRecord, live: UnitLive, around: Surroundings, beside: Beside
) -> InspectedUnit:
    """Return where an automatic unit stands; ``beside`` is what else its namespace holds."""
    objects = tuple(_object(reading, migration, live, around) for reading in live.pins)
    attempts = tuple(
        settle(attempt, *_found(attempt, migration, live, objects), now=around.now, may_live=around.may_live)
        for attempt in record.attempts
    )
    waiting = next((attempt.message for attempt in attempts if attempt.code == "AttemptOpen"), "")
    differing = [item for item in objects if item.condition not in _AS_IT_SHOULD]
    rivals = [
        found
        for found in (
            second_inference_service(migration, beside.inference_services),
            second_artifact(migration, live, beside.artifacts),
        )
        if found
    ]
    if waiting:
        finding, message = "AttemptOpen", waiting
    elif live.cut_over:
        finding, message = _after_cutover(migration, record, live, differing, rivals, commit=around.commit)
    else:
        finding, message = _before_cutover(record, objects, differing, rivals, commit=around.commit)
    return _unit(migration, record, _Verdict(finding, message, attempts, objects))


def judge_unreadable(migration: Migration, record: UnitRecord, why: str, around: Surroundings) -> InspectedUnit:
    """Return where a unit stands of which something can't be read."""
    attempts = tuple(
        settle(attempt, None, why, now=around.now, may_live=around.may_live) for attempt in record.attempts
    )
    finding = "AttemptOpen" if attempts else "UnitUnreadable"
    return _unit(migration, record, _Verdict(finding, f"it can't be read: {why}", attempts))


def exit_code(units: Iterable[InspectedUnit], *, sound: bool) -> int:
    """Return 5 where a write's outcome can't be told yet, 3 where something must be looked at, else 0.

    Args:
        units: the units.
        sound: whether result and journal could be read whole and belong to the plan.
    """
    judged = tuple(units)
    if any(attempt.code == "AttemptOpen" for unit in judged for attempt in unit.attempts):
        return 5
    return 0 if sound and not any(unit.attention for unit in judged) else 3


def _before_cutover(
    record: UnitRecord,
    objects: tuple[InspectedObject, ...],
    differing: list[InspectedObject],
    rivals: list[str],
    *,
    commit: bool,
) -> tuple[str, str]:
    found = [*(item.message for item in differing), *rivals]
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return "UnitDiffers", f"{found[0]}{more}"
    if commit and record.attempted:
        return "PartlyApplied", f"not cut over; begun up to {record.attempted[-1]}, and everything pinned is as planned"
    there = sum(item.condition == "equal" for item in objects)
    targets = f"; {there} of its targets exist already and equal the plan's" if there else ""
    return "AsPlanned", f"everything pinned is as planned{targets}"


def _after_cutover(
    migration: Migration,
    record: UnitRecord,
    live: UnitLive,
    differing: list[InspectedObject],
    rivals: list[str],
    *,
    commit: bool,
) -> tuple[str, str]:
    before = record.workload_before(live.workload) if live.workload else None
    facts, not_compared = proof_of(migration, live, before)
    broken = [fact.message for fact in facts if not fact.holds]
    broken += [item.message for item in differing if item.role in _WEIGHTS]
    broken += rivals
    if broken:
        return "CutOverChanged", f"{broken[0]}{f' (and {len(broken) - 1} more)' if len(broken) > 1 else ''}"
    name = migration.confirmation.profile_name
    pods = "; the pods could not be compared" if not_compared else ", and InferenceService and pods are unchanged"
    if commit and record.confirmed:  # a dry run may find the cutover, but does not wait for pods or compare them
        return "CutOverConfirmed", f"cut over to profile {name}, with a confirmation on record{pods}"
    return "CutOverUnconfirmed", f"cut over to profile {name}, without a confirmation on record{pods}"


def _object(reading: PinReading, migration: Migration, live: UnitLive, around: Surroundings) -> InspectedObject:
    condition, message = _condition(reading, migration, live, around)
    reference = reading.pin.reference
    compared, fields = compare(around.backup, reading.observed, (reference.kind, reference.namespace, reference.name))
    return InspectedObject(
        role=reading.pin.role,
        reference=reference,
        condition=condition,
        message=message,
        identity=reading.identity,
        backup="" if reading.pin.absent else compared,
        backup_differences=() if reading.pin.absent else fields,
    )


def _cut_over_service(reading: PinReading, pinned: int) -> tuple[Condition, str]:
    generation = reading.observed.generation if reading.observed else None
    if generation == pinned:
        return "asCutOver", ""
    return (
        "edited",
        f"{reading.pin.reference.id} was edited after its cutover: generation {generation}, pinned {pinned}",
    )


def _condition(
    reading: PinReading, migration: Migration, live: UnitLive, around: Surroundings
) -> tuple[Condition, str]:
    pin = reading.pin
    if pin.role == "service" and live.cut_over:
        return _cut_over_service(reading, migration.cut_over.pinned_generation)
    body = around.targets.get(pin.reference.id)
    if pin.absent and body is not None and reading.raw is not None:
        fault = difference(PINNED_KINDS[pin.reference.kind], body, reading.raw, around.schemas)
        return ("other", f"{pin.reference.id} exists, and {fault}") if fault else ("equal", "")
    breach = reading.breach
    if breach is None:
        protected = pin.role == "artifact" and is_protected(reading.raw)
        return ("absent" if pin.absent else "asPlanned"), "protected from quota eviction" if protected else ""
    return _CONDITIONS[breach.code], breach.message


def _found(
    attempt: Attempt, migration: Migration, live: UnitLive, objects: tuple[InspectedObject, ...]
) -> tuple[Found | None, str]:
    """Return what reading shows of the object of an attempt, and one clause on it."""
    item = next((item for item in objects if item.reference.id == attempt.object), None)
    if item is None:
        return None, f"{attempt.object} is no object of the unit"
    seen = item.message or f"{attempt.object} is as planned"
    match attempt.step:
        case CreateProfile.__name__ | CreateProfileCache.__name__:
            return _created(item)
        case ProtectArtifact.__name__:
            artifact = live.raw(attempt.object)
            if artifact is None or get_str(artifact, "metadata", "uid") != _pinned_uid(live, attempt.object):
                return "other", seen
            return ("stored", "the artifact is protected") if is_protected(artifact) else ("notStored", "no protection")
        case _ if live.cut_over:
            return "stored", f"the service is cut over to profile {migration.confirmation.profile_name}"
        case _:
            return ("notStored" if item.condition == "asPlanned" else "other"), seen


def _created(item: InspectedObject) -> tuple[Found, str]:
    match item.condition:
        case "equal":
            return "stored", f"{item.reference.id} exists and equals the plan's"
        case "absent":
            return "notStored", f"{item.reference.id} does not exist"
        case _:
            return "other", item.message


def _pinned_uid(live: UnitLive, object_id: str) -> str:
    return next((reading.pin.uid for reading in live.pins if reading.pin.reference.id == object_id), "")


def _unit(migration: Migration, record: UnitRecord, verdict: _Verdict) -> InspectedUnit:
    unit = migration.unit
    troubled = record.status in _TROUBLE
    ending = [record.code] if record.status not in _WELL else []
    codes = [*(attempt.code for attempt in verdict.attempts), verdict.finding, *ending]
    return InspectedUnit(
        id=unit.id,
        disposition=unit.disposition,
        outcome=unit.outcome,
        finding=verdict.finding,
        message=verdict.message,
        attention=verdict.finding not in _QUIET or troubled or bool(verdict.attempts),
        status=record.status,
        code=record.code,
        recorded_message=record.message,
        http_status=record.http_status,
        server_message=record.server_message,
        attempted_steps=record.attempted,
        completed_steps=record.completed,
        last_attempted_step=record.attempted[-1] if record.attempted else "",
        last_completed_step=record.completed[-1] if record.completed else "",
        attempts=verdict.attempts,
        objects=verdict.objects,
        next_steps=advice_of(codes),
    )
