"""Which hand edits of a plan are allowed (pure).

The plan is compared with the copy that ``plan`` wrote beside it. Allowed: a unit deleted, an automatic unit made
manual, and five fields of a target profile whose semantics an administrator may own (R, "Plan and review").
Everything else is refused: apply validates identity and structure, not the equivalence of arbitrary edits. So is a
literal that looks like a secret, as plan would have refused it, too: a profile is no place for one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from aim_api.kinds import AIM_PROFILE
from aim_api.tree import Json, JsonObject, field_path, get_str
from aim_template_migration.documents.plan import Plan, Unit
from aim_template_migration.planning.secret_scan import sanitise

EDITABLE_PROFILE_FIELDS = ("engineArgs", "engineEnv", "containerEnv", "resources", "features")


@dataclass(frozen=True, slots=True)
class Edit:
    """One difference between the plan and its generated copy.

    Attributes:
        where: the field, as a path in the plan that names units and targets by id.
        what: one sentence.
        allowed: whether apply accepts it.
    """

    where: str
    what: str
    allowed: bool


def find_edits(generated: Plan, edited: Plan) -> tuple[Edit, ...]:
    """Return every edit, in the order of the plan."""
    return (*_header_edits(generated, edited), *_unit_edits(generated, edited), *_target_edits(generated, edited))


def made_automatic(generated: Plan, edited: Plan) -> tuple[str, ...]:
    """Return the ids of units that are automatic in the plan and were not when it was generated."""
    before = {unit.id: unit.disposition for unit in generated.units}
    return tuple(
        unit.id for unit in edited.units if unit.disposition == "automatic" and before.get(unit.id) != "automatic"
    )


def made_manual(generated: Plan, edited: Plan) -> frozenset[str]:
    """Return the ids of units that were automatic when the plan was generated and are manual now."""
    before = {unit.id: unit.disposition for unit in generated.units}
    return frozenset(
        unit.id for unit in edited.units if unit.disposition == "manual" and before.get(unit.id) == "automatic"
    )


def _header_edits(generated: Plan, edited: Plan) -> Iterator[Edit]:
    for field in msgspec.structs.fields(Plan):
        if field.name in ("units", "targets"):
            continue
        if getattr(generated, field.name) != getattr(edited, field.name):
            yield Edit(field.encode_name, f"{field.encode_name} was changed", allowed=False)


def _unit_edits(generated: Plan, edited: Plan) -> Iterator[Edit]:
    before = {unit.id: unit for unit in generated.units}
    after = {unit.id: unit for unit in edited.units}
    for unit_id, unit in before.items():
        if unit_id not in after:
            yield Edit(f"units[{unit_id}]", f"{unit_id} was deleted from the plan; it stays as it is", allowed=True)
        else:
            yield from _one_unit(unit, after[unit_id])
    for unit_id in after:
        if unit_id not in before:
            yield Edit(f"units[{unit_id}]", f"{unit_id} was added; only plan adds units, so plan again", allowed=False)
    kept = [unit_id for unit_id in before if unit_id in after]
    if kept != [unit_id for unit_id in after if unit_id in before] or len(after) != len(edited.units):
        yield Edit("units", "units were reordered or repeated", allowed=False)


def _one_unit(before: Unit, after: Unit) -> Iterator[Edit]:
    where = f"units[{before.id}]"
    if before.disposition != after.disposition:
        allowed = (before.disposition, after.disposition) == ("automatic", "manual")
        made = "only plan makes a unit automatic, so plan again"
        other = "the only change allowed is from automatic to manual"
        hint = "it will make no writes" if allowed else made if after.disposition == "automatic" else other
        what = f"disposition was changed from {before.disposition} to {after.disposition}; {hint}"
        yield Edit(f"{where}.disposition", what, allowed=allowed)
    for field in msgspec.structs.fields(Unit):
        if field.name != "disposition" and getattr(before, field.name) != getattr(after, field.name):
            yield Edit(f"{where}.{field.encode_name}", f"{field.encode_name} of {before.id} was changed", allowed=False)


def _target_edits(generated: Plan, edited: Plan) -> Iterator[Edit]:
    before = {target.id: target.body for target in generated.targets}
    after = {target.id: target.body for target in edited.targets}
    for target_id, body in before.items():
        if target_id in after:
            yield from _one_target(target_id, body, after[target_id])
        else:
            yield Edit(
                f"targets[{target_id}]", f"{target_id} was deleted; delete the units that use it instead", allowed=False
            )
    for target_id in after:
        if target_id not in before:
            yield Edit(f"targets[{target_id}]", f"{target_id} was added; only plan adds targets", allowed=False)
    if len(after) != len(edited.targets):
        yield Edit("targets", "targets were repeated", allowed=False)


def _one_target(target_id: str, before: JsonObject, after: JsonObject) -> Iterator[Edit]:
    is_profile = get_str(before, "kind") == AIM_PROFILE.name
    yield from _secrets(target_id, before, after)
    for path in _differing_paths(before, after):
        allowed = is_profile and len(path) >= 2 and path[0] == "spec" and path[1] in EDITABLE_PROFILE_FIELDS
        where = field_path(path)
        what = f"{where} of {target_id} was changed"
        yield Edit(
            f"targets[{target_id}].body.{where}", what if allowed else f"{what}, which is not allowed", allowed=allowed
        )


def _secrets(target_id: str, before: JsonObject, after: JsonObject) -> Iterator[Edit]:
    if before == after:
        return
    known = sanitise(before)[1]
    for hit in sanitise(after)[1]:
        if hit not in known:
            what = f"{hit.field} of {target_id} holds what looks like a secret ({hit.what}); refer to a Secret instead"
            yield Edit(f"targets[{target_id}].body.{hit.field}", what, allowed=False)


def _differing_paths(before: Json, after: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the deepest object paths at which two values differ; a list differs as a whole."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        if before != after or type(before) is not type(after):
            yield path
        return
    for key in sorted({*before, *after}):
        if key not in before or key not in after:
            yield (*path, key)
        else:
            yield from _differing_paths(before[key], after[key], (*path, key))


def edited_bodies(generated: Plan, edited: Plan) -> dict[str, JsonObject]:
    """Return the bodies of targets that were edited, by target id."""
    before = {target.id: target.body for target in generated.targets}
    return {target.id: target.body for target in edited.targets if before.get(target.id) != target.body}
