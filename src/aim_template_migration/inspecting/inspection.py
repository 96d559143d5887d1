"""``inspect``: result, journal, plan, backup and live state of every unit, side by side (shell; it never writes)."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aim_template_migration.applying.plan_files import PlanFiles, read_plan
from aim_template_migration.applying.preflight import require_same_cluster
from aim_template_migration.documents.inspection import KIND, SCHEMA_URI, InspectedUnit, Inspection
from aim_template_migration.documents.plan import API_VERSION, Unit
from aim_template_migration.inspecting.judging import Surroundings, exit_code, judge, judge_unreadable
from aim_template_migration.inspecting.live import Migration, read_unit
from aim_template_migration.inspecting.neighbours import Neighbours
from aim_template_migration.inspecting.reading import (
    of_the_whole,
    require_readable,
    revalidator_of,
    select,
    side_by_side,
)
from aim_template_migration.inspecting.records import NOTHING
from aim_template_migration.inspecting.recovery import RECOVERY, advice_of
from aim_template_migration.inspecting.run_files import RunFiles, read_backup, read_run
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import RequestError
from aim_template_migration.version import __version__


@dataclass(frozen=True, slots=True)
class InspectOptions:
    """What is inspected.

    Attributes:
        plan: plan directory or plan file.
        result: the result file, None for the default beside the plan.
        only: ids of units, empty for all.
    """

    plan: Path
    result: Path | None = None
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InspectOutcome:
    """An inspection and the exit code that it means."""

    inspection: Inspection
    exit_code: int


def inspect_plan(options: InspectOptions, connect: Callable[[], Cluster], *, now: datetime) -> InspectOutcome:
    """Inspect a plan after a run of apply, or after none.

    Args:
        options: what is inspected.
        connect: opens the connection; called once the files were found readable, and closed at the end.
        now: the time.

    Raises:
        PlanRejected: the plan can't be read, is unsound, lacks a named unit, or is another cluster's.
        ClusterError: the cluster can't be reached or read.
    """
    files = read_plan(options.plan)
    require_readable(files)
    selected = select(files.plan, options.only)
    run = read_run(files, options.result)
    backup, no_backup = read_backup(files)
    cluster = connect()
    try:
        require_same_cluster(files.plan, cluster)
        revalidator = revalidator_of(cluster, files.plan)
        around = Surroundings(
            targets={target.id: target.body for target in files.plan.targets},
            schemas=revalidator.schemas,
            backup=backup,
            now=now,
            commit=run.commit,
            may_live=run.described.may_live,
        )

        neighbours = Neighbours(cluster)

        def one(unit: Unit) -> InspectedUnit:
            record = run.records.get(unit.id, NOTHING)
            if unit.disposition != "automatic":
                return _untouched(unit, record.status, record.code)
            migration = Migration(unit)
            try:
                live = read_unit(cluster, revalidator, migration)
                beside = neighbours.of(migration.namespace)
            except RequestError as error:
                if of_the_whole(error):
                    raise
                return judge_unreadable(migration, record, str(error), around)
            return judge(migration, record, live, around, beside)

        units = tuple(side_by_side(one, selected))
    finally:
        cluster.close()
    inspection = _document(files, run, units, no_backup=no_backup, server=cluster.server, now=now)
    return InspectOutcome(inspection, exit_code(units, sound=run.sound))


def _untouched(unit: Unit, status: str, code: str) -> InspectedUnit:
    return InspectedUnit(
        id=unit.id,
        disposition=unit.disposition,
        outcome=unit.outcome,
        finding="NotTouched",
        message="apply makes no write for it",
        attention=False,
        status=status,
        code=code,
        next_steps=advice_of(["NotTouched"]),
    )


def _document(
    files: PlanFiles, run: RunFiles, units: tuple[InspectedUnit, ...], *, no_backup: str, server: str, now: datetime
) -> Inspection:
    return Inspection(
        schema=SCHEMA_URI,
        api_version=API_VERSION,
        kind=KIND,
        tool_version=__version__,
        inspected_at=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        server=server,
        plan=str(files.path),
        plan_id=files.plan.plan_id,
        plan_sha256=files.sha256,
        run=run.described,
        counts=dict(sorted(Counter(unit.finding for unit in units).items())),
        units=units,
        backup=no_backup,
        recovery=RECOVERY if any(unit.attention for unit in units) else (),
    )
