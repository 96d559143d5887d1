"""``verify``: what holds of each migrated unit, and what remains (shell; it never writes)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aim_api.kinds import AIM_PROFILE, CLUSTER_SERVING_RUNTIME, SERVING_RUNTIME
from aim_api.tree import JsonObject, get_str
from aim_template_migration.applying.edits import edited_bodies
from aim_template_migration.applying.plan_files import PlanFiles, PlanRejected, read_generated, read_plan
from aim_template_migration.applying.preflight import require_same_cluster
from aim_template_migration.documents.limits import LIMITS
from aim_template_migration.documents.plan import API_VERSION
from aim_template_migration.documents.plan_words import describe_stale_forecast
from aim_template_migration.documents.verification import (
    KIND,
    SCHEMA_URI,
    STANDINGS,
    Remaining,
    Standing,
    Verification,
    VerifiedFact,
    VerifiedUnit,
)
from aim_template_migration.inspecting.holding import Planned, neighbour_facts, target_facts, weight_facts
from aim_template_migration.inspecting.live import Migration, UnitLive, read_unit
from aim_template_migration.inspecting.neighbours import Neighbours
from aim_template_migration.inspecting.proof import proof_of, service_fact
from aim_template_migration.inspecting.reading import (
    of_the_whole,
    require_readable,
    revalidator_of,
    select,
    side_by_side,
)
from aim_template_migration.inspecting.records import NOTHING, UnitRecord
from aim_template_migration.inspecting.remaining import known_objects, merged, remaining_of, removals
from aim_template_migration.inspecting.run_files import RunFiles, read_run
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import NotFound, RequestError
from aim_template_migration.version import __version__


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """What is verified.

    Attributes:
        plan: plan directory or plan file.
        result: the result whose pods are compared with, None for the one beside the plan.
        only: ids of units, empty for all.
    """

    plan: Path
    result: Path | None = None
    only: tuple[str, ...] = ()


def verify_plan(options: VerifyOptions, connect: Callable[[], Cluster], *, now: datetime) -> Verification:
    """Verify the automatic units of a plan after they were applied.

    Args:
        options: what is verified.
        connect: opens the connection; called once the files were found readable, and closed at the end.
        now: the time.

    Raises:
        PlanRejected: there is nothing to verify, or the plan can't be read, is unsound or is another cluster's.
        ClusterError: the cluster can't be reached or read.
    """
    files = read_plan(options.plan)
    require_readable(files)
    migrations = [Migration(unit) for unit in select(files.plan, options.only) if unit.disposition == "automatic"]
    if not migrations:
        raise PlanRejected("there is nothing to verify: no automatic unit is selected; name a plan that was applied")
    run = read_run(files, options.result)
    cluster = connect()
    try:
        identity = require_same_cluster(files.plan, cluster)
        units = _Reader(cluster, files, run, migrations).read_all(migrations)
    finally:
        cluster.close()
    _require_something_applied(units, run)
    return _document(files, run, units, server=cluster.server, kube_system_uid=identity.kube_system_uid, now=now)


def all_hold(verification: Verification) -> bool:
    """Return whether every fact of every unit holds."""
    return all(unit.standing == "holding" for unit in verification.units)


@dataclass(frozen=True, slots=True)
class _Verified:
    """One unit with what was read of it, None where it can't be read."""

    unit: VerifiedUnit
    migration: Migration
    live: UnitLive | None


class _Reader:
    """Reads and verifies units of one plan."""

    def __init__(self, cluster: Cluster, files: PlanFiles, run: RunFiles, migrations: Sequence[Migration]) -> None:
        self._cluster = cluster
        self._records = run.records if run.of_plan(files) else {}
        self._revalidator = revalidator_of(cluster, files.plan)
        bodies = {target.id: target.body for target in files.plan.targets}
        self._planned = Planned(bodies, self._revalidator.schemas)
        self._neighbours = Neighbours(cluster)
        side_by_side(self._neighbours.of, sorted({migration.namespace for migration in migrations}))

    def read_all(self, migrations: Sequence[Migration]) -> list[_Verified]:
        """Return every unit, in order.

        Raises:
            RequestError: what concerns every read: permissions, credentials, no connection.
        """
        return side_by_side(self._one, migrations)

    def _one(self, migration: Migration) -> _Verified:
        record = self._records.get(migration.unit.id, NOTHING)
        try:
            live = read_unit(self._cluster, self._revalidator, migration)
            moved = live.cut_over or any(reading.breach is not None for reading in live.role("service"))
            runtime = self._runtime(migration, live) if moved else None
        except RequestError as error:
            if of_the_whole(error):
                raise
            return _Verified(_without_proof(migration, "unreadable", message=str(error)), migration, None)
        if not moved:
            return _Verified(_without_proof(migration, "notCutOver", service_fact(migration, live)), migration, live)
        return _Verified(self._verified(migration, record, live, runtime), migration, live)

    def _verified(
        self, migration: Migration, record: UnitRecord, live: UnitLive, runtime: JsonObject | None
    ) -> VerifiedUnit:
        before = record.workload_before(live.workload) if live.workload else None
        proof, warnings = proof_of(migration, live, before)
        facts: tuple[VerifiedFact, ...] = (
            service_fact(migration, live),
            *proof,
            *weight_facts(migration, live),
            *neighbour_facts(migration, live, self._neighbours.of(migration.namespace)),
            *target_facts(migration, live, self._planned, runtime),
        )
        standing: Standing = "holding" if all(fact.holds for fact in facts) else "differing"
        service = live.raw(migration.unit.id)
        return VerifiedUnit(
            id=migration.unit.id,
            cut_over=live.cut_over,
            standing=standing,
            resolved_profile=get_str(service, "status", "resolvedProfile", "name") or "",
            facts=facts,
            warnings=warnings,
        )

    def _runtime(self, migration: Migration, live: UnitLive) -> JsonObject | None:
        """Return the runtime that the target profile projects, or None."""
        reference = migration.profile
        name = get_str(live.raw(reference.id), "status", "projectedRuntimeName")
        if not name:
            return None
        namespaced = reference.kind == AIM_PROFILE.name
        kind = SERVING_RUNTIME if namespaced else CLUSTER_SERVING_RUNTIME
        try:
            return self._cluster.get(kind, name, migration.namespace if namespaced else None)
        except NotFound:
            return None


def _without_proof(migration: Migration, standing: Standing, *facts: VerifiedFact, message: str = "") -> VerifiedUnit:
    return VerifiedUnit(
        migration.unit.id, cut_over=False, standing=standing, resolved_profile="", facts=facts, message=message
    )


def _require_something_applied(units: Sequence[_Verified], run: RunFiles) -> None:
    """Refuse to verify what nobody has committed.

    Raises:
        PlanRejected: no service is cut over, and no commit is on record.
    """
    if run.commit or any(item.unit.standing != "notCutOver" for item in units):
        return
    raise PlanRejected(
        "there is nothing to verify: no selected service is cut over, and no commit is on record at "
        f"{run.described.result}; commit the plan first, or name the archived result with --result"
    )


def _edited(files: PlanFiles) -> frozenset[str] | None:
    """Return the ids of the targets that were edited since the plan was made, None where that can't be told."""
    try:
        return frozenset(edited_bodies(read_generated(files), files.plan))
    except PlanRejected:
        return None


def _stale(item: _Verified, edited: frozenset[str] | None) -> str:
    """Return why what the plan says of the pin's end is no longer whole, or an empty string."""
    profile = item.migration.profile.id
    if edited is None:
        return "whether the plan's forecast of that is whole can't be told, since its generated copy can't be read"
    if profile in edited:
        return describe_stale_forecast([profile])
    if any(fact.code == "TargetProfileReady" and not fact.holds for fact in item.unit.facts):
        return f"{profile} is not as planned, so that the plan's forecast of that may not be whole"
    return ""


def _document(
    files: PlanFiles, run: RunFiles, units: Sequence[_Verified], *, server: str, kube_system_uid: str, now: datetime
) -> Verification:
    moved = [item for item in units if item.live is not None and item.unit.standing != "notCutOver"]
    lives = [item.live for item in moved if item.live is not None]
    remaining: list[Remaining] = []
    edited = _edited(files)
    for item in moved:
        if item.live is not None:
            remaining += remaining_of(item.migration, item.live, _stale(item, edited))
    found = Counter(item.unit.standing for item in units)
    known = run.result is not None or run.described.state == "incomplete"
    return Verification(
        schema=SCHEMA_URI,
        api_version=API_VERSION,
        kind=KIND,
        tool_version=__version__,
        verified_at=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        server=server,
        kube_system_uid=kube_system_uid,
        plan=str(files.path),
        plan_id=files.plan.plan_id,
        plan_sha256=files.sha256,
        result=run.described.result if known else "",
        run_id=run.described.run_id,
        problems=run.described.problems,
        counts={standing: found[standing] for standing in STANDINGS},
        units=tuple(item.unit for item in units),
        remaining=merged(remaining),
        removals=removals(known_objects(lives)),
        limits=LIMITS,
    )
