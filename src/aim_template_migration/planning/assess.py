"""Classification: every check of every service, its outcome, and for automatic units their steps (pure).

Apply calls the same functions on fresh reads, so that a unit is applied only while the plan's own rules still call it
automatic (R, "Dry-run and commit").
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from aim_api.kinds import AIM_SERVICE
from aim_api.tree import JsonObject
from aim_template_migration.documents.plan import Disposition, Finding, Imputation, Pin, Target, Unit
from aim_template_migration.planning.after_expiry import after_expiry
from aim_template_migration.planning.case import Case, finding, open_case
from aim_template_migration.planning.checks.pipeline import (
    accepts_observed_generation,
    already_migrated,
    check_projection_mode,
)
from aim_template_migration.planning.comparison import same_target, taken_from_target
from aim_template_migration.planning.currency import currency
from aim_template_migration.planning.enumeration import few_of
from aim_template_migration.planning.rows import AUTOMATIC, DISAGREEMENT, all_findings, in_order, outcome
from aim_template_migration.planning.secret_references import secret_references
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import NamespaceScope, Observed, Snapshot
from aim_template_migration.planning.steps import pins_of, steps_of
from aim_template_migration.planning.unreferenced import unreferenced_units
from aim_template_migration.planning.warnings import namespace_warning, warnings_of


class Draft(msgspec.Struct, frozen=True, eq=False):
    """A case with what its own checks found, before it is compared with other units."""

    case: Case
    findings: tuple[Finding, ...]

    @property
    def target_ids(self) -> tuple[str, ...]:
        """The ids of the targets that the unit would create, where it may."""
        case = self.case
        profile = () if case.closure.cluster_template else (case.profile_reference.id,)
        return (*profile, case.cache_reference.id)


@dataclass(frozen=True, slots=True)
class Assessment:
    """The result of a classification.

    Attributes:
        units: every service and every unreferenced legacy object, by kind, namespace and name.
        targets: what automatic units create, once each, by id.
        warnings: findings about the plan as a whole.
        cases: the cases of the services, in the order of their units.
    """

    units: tuple[Unit, ...]
    targets: tuple[Target, ...]
    warnings: tuple[Finding, ...]
    cases: tuple[Case, ...]


def assess(snapshot: Snapshot, settings: Settings) -> Assessment:
    """Classify every service of a snapshot."""
    units: list[Unit] = []
    targets: dict[str, Target] = {}
    warnings = list(snapshot.cluster.warnings)
    cases: list[Case] = []
    for scope in snapshot.namespaces.values():
        drafts = _settled([_draft(snapshot, settings, service) for service in scope.all(AIM_SERVICE)])
        cases += [draft.case for draft in drafts]
        units += [_unit(draft) for draft in drafts]
        units += unreferenced_units(scope, [draft.case.closure for draft in drafts])
        for draft in drafts:
            for target in _targets(draft):
                targets.setdefault(target.id, target)
        if not drafts:
            warnings.append(namespace_warning(scope.name))
    return Assessment(
        units=tuple(sorted(units, key=lambda unit: unit.id.split("/"))),
        targets=tuple(target for _, target in sorted(targets.items())),
        warnings=tuple(warnings),
        cases=tuple(cases),
    )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a classification of one service decides: a unit without what only those who read a plan look at.

    Attributes:
        outcome: as the unit has it.
        reasons: likewise.
        pins: likewise.
    """

    outcome: str
    reasons: tuple[Finding, ...]
    pins: tuple[Pin, ...]


def judge_unit(
    snapshot: Snapshot, settings: Settings, unit_id: str, planned: Mapping[str, JsonObject] | None = None
) -> Judgement:
    """Classify one service, in the same way as ``assess`` does it among all others.

    Args:
        snapshot: fresh reads; the service's namespace must be among them.
        settings: the plan's settings.
        unit_id: ``AIMService/namespace/name``.
        planned: bodies of target profiles by id that an administrator edited, which take the place of the mapped ones.

    Raises:
        KeyError: the namespace was not read, or has no such service.
    """
    _, namespace, name = unit_id.split("/")
    scope = snapshot.namespace(namespace)
    service = scope.get(AIM_SERVICE, name)
    if service is None:
        raise KeyError(unit_id)
    draft = _draft(snapshot, settings, service, planned)
    if not draft.findings:
        partners = [draft, *(_draft(snapshot, settings, other, planned) for other in _sharing(scope, draft))]
        draft = next(item for item in _settled(partners) if item.case.service is service)
    return Judgement(outcome(draft.findings), draft.findings, pins_of(draft.case))


def _draft(
    snapshot: Snapshot, settings: Settings, service: Observed, planned: Mapping[str, JsonObject] | None = None
) -> Draft:
    case = open_case(snapshot, settings, service, planned)
    if already_migrated(service):
        # Its closure is no longer a predecessor's, so that the other checks would only list what a migration leaves.
        message = "the profile pipeline owns the service already"
        migrated = finding("AlreadyMigrated", service, message, "spec.profile")
        return Draft(case, (migrated, *check_projection_mode(case)))
    return Draft(case, all_findings(case))


def _sharing(scope: NamespaceScope, draft: Draft) -> Iterable[Observed]:
    """Return the other services that resolve the same template, and so want the same targets."""
    template = draft.case.closure.template.found
    uid = template.uid if template else ""
    same = scope.with_field(AIM_SERVICE, ("status", "resolvedTemplate", "uid"), uid)
    return (item for item in same if item is not draft.case.service)


def _settled(drafts: list[Draft]) -> list[Draft]:
    """Mark units that want different content for one target; only units whose other rows all hold take part."""
    wanted: dict[str, list[Draft]] = {}
    for draft in drafts:
        if not draft.findings:
            for target_id in draft.target_ids:
                wanted.setdefault(target_id, []).append(draft)
    found: dict[str, list[Finding]] = {}
    for target_id, group in wanted.items():
        if len(group) > 1 and not _agree(target_id, group):
            for draft in group:
                found.setdefault(draft.case.service.id, []).append(_disagreement(draft, target_id, group))
    return [_with_findings(draft, found.get(draft.case.service.id, [])) for draft in drafts]


def _agree(target_id: str, group: list[Draft]) -> bool:
    bodies = [target.body for draft in group for target in _bodies(draft.case) if target.id == target_id]
    schemas = group[0].case.snapshot.cluster.schemas
    return all(same_target(bodies[0], other, schemas) for other in bodies[1:])


def _disagreement(draft: Draft, target_id: str, group: list[Draft]) -> Finding:
    others = few_of((item.case.service.name for item in group if item is not draft), len(group) - 1)
    return finding(DISAGREEMENT, draft.case.service, f"it wants another {target_id} than {others}", "spec")


def _with_findings(draft: Draft, found: list[Finding]) -> Draft:
    return Draft(draft.case, in_order([*draft.findings, *found])) if found else draft


def _unit(draft: Draft) -> Unit:
    case, closure = draft.case, draft.case.closure
    result = outcome(draft.findings)
    automatic = result == AUTOMATIC
    secrets = secret_references(closure.objects, case.service.namespace)
    isvc = closure.inference_service
    resolved = closure.profile_name if closure.template.found else ""
    return Unit(
        id=case.service.id,
        disposition=_disposition(result, case.settings),
        outcome=result,
        inference_service=isvc.name if isvc else "",
        resolved_profile=resolved,
        reasons=draft.findings,
        warnings=() if result == "AlreadyMigrated" else warnings_of(case, secrets, automatic=automatic),
        imputations=_imputations(draft),
        pins=pins_of(case),
        steps=steps_of(case) if automatic else (),
        secret_refs=secrets,
        after_expiry=after_expiry(case) if automatic else None,
        proofs=_proofs(case) if automatic else {},
    )


def _disposition(result: str, settings: Settings) -> Disposition:
    if result == AUTOMATIC:
        return "automatic"
    # In mode Reduced every unit is manual, one that was migrated already, too (R, "Plan and review").
    every_unit_manual = settings.runtime_projection_mode == "Reduced"
    return "skip" if result == "AlreadyMigrated" and not every_unit_manual else "manual"


def _imputations(draft: Draft) -> tuple[Imputation, ...]:
    case = draft.case
    if case.mapped is None or already_migrated(case.service):
        return ()
    existing = case.closure.target_profile
    taken = taken_from_target(case.profile_body or {}, existing, case.snapshot.cluster.schemas) if existing else ()
    return (*case.mapped.imputations, *taken)


def _proofs(case: Case) -> dict[str, str]:
    """Return by what it is known that the operator is the bridge, and that the InferenceService is current."""
    bridge = "observedGeneration" if accepts_observed_generation(case) else "BridgeCompatible"
    return {"bridge": bridge, "inferenceServiceCurrent": currency(case.closure)[0] or ""}


def _targets(draft: Draft) -> tuple[Target, ...]:
    return () if draft.findings else tuple(_bodies(draft.case))


def _bodies(case: Case) -> Iterable[Target]:
    if case.profile_body is not None and not case.closure.cluster_template:
        yield Target(id=case.profile_reference.id, body=case.profile_body)
    if case.cache_body is not None:
        yield Target(id=case.cache_reference.id, body=case.cache_body)
