"""``preflight``: the runbook's prerequisites, looked at before anything is planned (shell; it never writes)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from aim_api.kinds import AIM_KINDS, AIM_SERVICE, CRD, DEPLOYMENT, MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from aim_api.tree import JsonObject, get_strings
from aim_template_migration.documents.plan import API_VERSION, ClusterIdentity
from aim_template_migration.documents.preflight import (
    ANSWERS,
    KIND,
    SCHEMA_URI,
    CheckedService,
    Preflight,
    Prerequisite,
)
from aim_template_migration.inspecting.access import Access, ask
from aim_template_migration.inspecting.builds import Operator, at_work, not_found, operator_of, same_build
from aim_template_migration.inspecting.checklist import (
    EXCLUSION,
    access_lines,
    bridge_line,
    checked_service,
    crd_line,
    finding_lines,
    namespace_line,
    pipeline_line,
    webhook_line,
)
from aim_template_migration.inspecting.webhooks import refusing
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import Forbidden, NotFound
from aim_template_migration.kube.permissions import OPERATOR, OperatorPlace
from aim_template_migration.planning.assess import Assessment, assess
from aim_template_migration.planning.inventory import PlanningError, read_cluster_scope, read_namespace
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import ClusterScope, NamespaceScope, Snapshot
from aim_template_migration.version import __version__


def run_preflight(
    cluster: Cluster, namespaces: Sequence[str], *, now: datetime, operator: OperatorPlace = OPERATOR
) -> Preflight:
    """Look at every prerequisite; one that can't be looked at is said so, and the others are looked at all the same.

    Args:
        cluster: the connection.
        namespaces: the selected namespaces.
        now: the time.
        operator: where the operator's Deployment is.

    Raises:
        ClusterError: the server can't be reached, or does not accept the credentials.
    """
    access = ask(cluster, namespaces, operator)
    scope, why = _cluster_scope(cluster)
    lines: list[Prerequisite] = []
    services: tuple[CheckedService, ...] = ()
    if scope is None:
        # Nothing else could be looked at either, and what was not looked at is never taken for good.
        lines.append(Prerequisite("CrdsSuitable", "stop", f"the cluster can't be read: {why}"))
    else:
        lines += [crd_line(scope.identity), *_operator_lines(cluster, scope, operator)]
        found = _namespaces(cluster, namespaces, access)
        lines.append(namespace_line(namespaces, found.faults, found.services))
        assessment = _assess(scope, found)
        lines += _service_lines(assessment)
        units = {unit.id: unit for unit in assessment.units}
        services = tuple(checked_service(case, units[case.service.id]) for case in assessment.cases)
    lines += [*access_lines(access), _webhooks(cluster)]
    return Preflight(
        schema=SCHEMA_URI,
        api_version=API_VERSION,
        kind=KIND,
        tool_version=__version__,
        checked_at=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        server=cluster.server,
        cluster=scope.identity if scope else ClusterIdentity("", ()),
        namespaces=tuple(namespaces),
        counts={answer: sum(line.answer == answer for line in lines) for answer in ANSWERS},
        prerequisites=tuple(lines),
        services=services,
        exclusion=EXCLUSION,
    )


def must_stop(preflight: Preflight) -> bool:
    """Return whether a stop condition holds."""
    return preflight.counts["stop"] > 0


@dataclass(frozen=True, slots=True)
class _Namespaces:
    """What was read of the namespaces.

    Attributes:
        scopes: those that could be read.
        faults: why the others could not, or are going away, by name.
    """

    scopes: tuple[NamespaceScope, ...]
    faults: dict[str, str]

    @property
    def services(self) -> dict[str, int]:
        """How many services each holds."""
        return {scope.name: len(tuple(scope.all(AIM_SERVICE))) for scope in self.scopes}


def _cluster_scope(cluster: Cluster) -> tuple[ClusterScope | None, str]:
    try:
        return read_cluster_scope(cluster), ""
    except Forbidden as error:
        return None, str(error)


def _namespaces(cluster: Cluster, namespaces: Sequence[str], access: Access) -> _Namespaces:
    scopes: list[NamespaceScope] = []
    faults: dict[str, str] = {}
    for name in namespaces:
        if not access.may_read(name):
            faults[name] = f"namespace {name} can't be read: some lists are not permitted"
            continue
        try:
            scope = read_namespace(cluster, name)
        except (PlanningError, Forbidden) as error:
            faults[name] = str(error)
            continue
        scopes.append(scope)
        if scope.terminating:
            faults[name] = f"namespace {name} is terminating"
    return _Namespaces(tuple(scopes), faults)


def _assess(scope: ClusterScope, found: _Namespaces) -> Assessment:
    """Classify the services as plan does; the projection mode is the administrator's to state, and is not looked at."""
    settings = Settings(
        namespaces=tuple(item.name for item in found.scopes),
        runtime_projection_mode="Both",
        accept_observed_generation=True,
    )
    return assess(Snapshot(scope, found.scopes), settings)


def _service_lines(assessment: Assessment) -> list[Prerequisite]:
    services = [unit for unit in assessment.units if unit.id.startswith(f"{AIM_SERVICE.name}/")]
    units = {unit.id: unit for unit in services}
    return [pipeline_line(services), bridge_line(assessment.cases, units), *finding_lines(services)]


def _operator_lines(cluster: Cluster, scope: ClusterScope, place: OperatorPlace) -> list[Prerequisite]:
    own = {kind.crd_name for kind in AIM_KINDS}
    crds = {crd.name: cluster.get(CRD, crd.name) for crd in scope.identity.crds if crd.name in own}
    operator, why = _operator(cluster, place, crds)
    labels = {name: get_strings(crd, "metadata", "labels") for name, crd in crds.items()}
    return [same_build(labels, operator, why), at_work(place, operator, why)]


def _operator(cluster: Cluster, place: OperatorPlace, crds: dict[str, JsonObject]) -> tuple[Operator | None, str]:
    try:
        return operator_of(cluster.get(DEPLOYMENT, place.name, place.namespace)), ""
    except NotFound:
        annotations = {name: get_strings(crd, "metadata", "annotations") for name, crd in crds.items()}
        return None, not_found(place, annotations)
    except Forbidden as error:
        return None, f"Deployment {place} can't be read: {error}"


def _webhooks(cluster: Cluster) -> Prerequisite:
    configurations: list[JsonObject] = []
    try:
        for kind in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS):
            configurations += cluster.list(kind)
    except Forbidden as error:
        return webhook_line(None, 0, str(error))
    return webhook_line(tuple(refusing(configurations)), len(configurations), "")
