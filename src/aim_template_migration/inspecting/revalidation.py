"""Would apply still take every unit? (shell) Apply's own fences and classification on fresh reads; writes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass

from aim_api.tree import JsonObject
from aim_template_migration.applying.cutover import is_cut_over
from aim_template_migration.applying.failures import RunStopped, UnitStopped
from aim_template_migration.applying.plan_files import PlanFiles, PlanRejected
from aim_template_migration.applying.preflight import require_no_dedicated, require_same_cluster, version_changes
from aim_template_migration.applying.revalidate import Revalidator
from aim_template_migration.documents.plan import Unit
from aim_template_migration.inspecting.live import Migration
from aim_template_migration.inspecting.reading import revalidator_of, side_by_side
from aim_template_migration.kube import Cluster


@dataclass(frozen=True, slots=True)
class Revalidated:
    """What revalidating a plan has found.

    Attributes:
        findings: units that apply would stop, or that carry the cutover already, in plan order.
        notices: versions that are others than when the plan was made, a sentence each.
    """

    findings: tuple["LiveFinding", ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LiveFinding:
    """What apply would stop a unit for; or that it carries the plan's cutover already.

    Attributes:
        unit: id of the unit.
        code: the code that apply would give.
        message: one sentence.
    """

    unit: str
    code: str
    message: str


def revalidate_plan(files: PlanFiles, cluster: Cluster, edited: Mapping[str, JsonObject]) -> Revalidated:
    """Revalidate every automatic unit of a sound plan, in plan order.

    Args:
        files: the plan.
        cluster: the connection.
        edited: bodies of target profiles that an administrator edited, by id.

    Raises:
        PlanRejected: it is another cluster, a unit is Dedicated by live state, or the credentials are rejected.
        RequestError: something can't be read.
    """
    live = require_same_cluster(files.plan, cluster)
    require_no_dedicated(files.plan, cluster)
    revalidator = revalidator_of(cluster, files.plan, edited)
    units = [unit for unit in files.plan.units if unit.disposition == "automatic"]
    found = side_by_side(lambda unit: _finding(revalidator, unit), units)
    return Revalidated(
        tuple(finding for finding in found if finding is not None), version_changes(files.plan.cluster, live)
    )


def _finding(revalidator: Revalidator, unit: Unit) -> LiveFinding | None:
    migration = Migration(unit)
    readings = tuple(revalidator.read(pin) for pin in unit.pins)
    service = next((reading.raw for reading in readings if reading.pin.role == "service"), None)
    if service is not None and is_cut_over(service, migration.cut_over, migration.confirmation.profile_name):
        return LiveFinding(unit.id, "AlreadyCutOver", "the service carries this plan's cutover already")
    try:
        revalidator.require_unchanged(unit, readings)
    except UnitStopped as stopped:
        return LiveFinding(unit.id, stopped.failure.code, stopped.failure.message)
    except RunStopped as stopped:
        raise PlanRejected(stopped.fault.message) from stopped
    return None
