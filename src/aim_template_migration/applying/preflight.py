"""What is checked before a run starts: the plan's approval, edits, structure, evidence and cluster. No writes."""

import shlex
from pathlib import Path

from aim_api.kinds import AIM_SERVICE, AIM_TEMPLATE_CACHE
from aim_api.tree import JsonObject, get_str
from aim_template_migration.applying.edits import find_edits
from aim_template_migration.applying.plan_files import PlanFiles, PlanRejected, journal_path, read_generated
from aim_template_migration.applying.structure import structural_faults
from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.plan import ClusterIdentity, Plan, Unit
from aim_template_migration.documents.private_files import PrivateFileError, read
from aim_template_migration.documents.result import ResultError, decode_result
from aim_template_migration.kube import Cluster
from aim_template_migration.planning.inventory import read_identity

_DEDICATED_MODES = frozenset({"Dedicated", "Never"})


def require_no_result(result: Path) -> None:
    """Refuse a result or journal that exists, a dry run's included, and name the command that archives both.

    Raises:
        PlanRejected: one exists.
    """
    present = [path for path in (result, journal_path(result)) if path.exists() or path.is_symlink()]
    if not present:
        return
    archive = result.parent / "archive" / _run_id(result)
    files = " ".join(shlex.quote(str(path)) for path in present)
    folder = shlex.quote(str(archive))
    raise PlanRejected(
        f"{present[0]} exists already and is never overwritten; archive it first: "
        f"mkdir -m 700 -p {folder} && mv {files} {folder}/"
    )


def require_sound_plan(files: PlanFiles, approved_sha256: str) -> None:
    """Check the approval, the hand edits, the structure and the evidence files.

    Raises:
        PlanRejected: one of them does not hold; all findings of the first kind that fails are named.
    """
    if approved_sha256 and approved_sha256.lower() != files.sha256:
        raise PlanRejected(
            f"{files.path} has SHA-256 {files.sha256}, not the approved {approved_sha256}; review it again"
        )
    refused = [edit.what for edit in find_edits(read_generated(files), files.plan) if not edit.allowed]
    if refused:
        raise PlanRejected(
            f"{files.path} has edits that are not allowed: {_some(refused)}; undo them (compare with "
            f"{files.directory}/plan.generated.json) or plan again"
        )
    faults = structural_faults(files.plan)
    if faults:
        raise PlanRejected(f"{files.path} is not safe to run: {_some(faults)}; plan again")
    for unit in files.plan.units:
        _require_evidence(files.directory, unit)


def require_same_cluster(plan: Plan, cluster: Cluster) -> ClusterIdentity:
    """Check that the cluster is the plan's, by UIDs and never by name or address.

    Raises:
        PlanRejected: the kube-system namespace or a CRD has another UID.
        RequestError: they can't be read.
    """
    live = read_identity(cluster)
    if plan.cluster.kube_system_uid and live.kube_system_uid and plan.cluster.kube_system_uid != live.kube_system_uid:
        raise PlanRejected(
            f"the plan was made on another cluster: kube-system has UID {live.kube_system_uid} at {cluster.server}, "
            f"the plan names {plan.cluster.kube_system_uid}; choose the right --context or plan again"
        )
    uids = {crd.name: crd.uid for crd in live.crds}
    for crd in plan.cluster.crds:
        if uids.get(crd.name) != crd.uid:
            raise PlanRejected(
                f"CustomResourceDefinition {crd.name} has UID {uids.get(crd.name, 'none')} at {cluster.server}, "
                f"the plan names {crd.uid}: "
                "it is another cluster, or the CRDs were reinstalled; choose the right --context or plan again"
            )
    return live


def require_no_dedicated(plan: Plan, cluster: Cluster) -> None:
    """Reject automatic units that are Dedicated, judged by live state and not by the plan's flag (R, "Cache behavior").

    Raises:
        PlanRejected: a unit's live service or template cache is Dedicated.
        RequestError: they can't be read.
    """
    automatic = [unit for unit in plan.units if unit.disposition == "automatic"]
    for namespace in sorted({unit.id.split("/")[1] for unit in automatic}):
        modes = _live_modes(cluster, namespace)
        for unit in automatic:
            dedicated = next((item for item in _caching_objects(unit) if modes.get(item) in _DEDICATED_MODES), None)
            if dedicated:
                raise PlanRejected(
                    f"{unit.id} is automatic in the plan, but {dedicated} is Dedicated, which is always manual; "
                    "plan again"
                )


def _live_modes(cluster: Cluster, namespace: str) -> dict[str, str]:
    def service_mode(obj: JsonObject) -> tuple[str, str]:
        return f"{AIM_SERVICE.name}/{namespace}/{get_str(obj, 'metadata', 'name')}", get_str(
            obj, "spec", "caching", "mode"
        ) or ""

    def cache_mode(obj: JsonObject) -> tuple[str, str]:
        return f"{AIM_TEMPLATE_CACHE.name}/{namespace}/{get_str(obj, 'metadata', 'name')}", get_str(
            obj, "spec", "mode"
        ) or ""

    return dict(
        [
            *cluster.list_reduced(AIM_SERVICE, namespace, service_mode),
            *cluster.list_reduced(AIM_TEMPLATE_CACHE, namespace, cache_mode),
        ]
    )


def _caching_objects(unit: Unit) -> list[str]:
    return [unit.id, *(pin.reference.id for pin in unit.pins if pin.role == "templateCache" and not pin.absent)]


def _require_evidence(directory: Path, unit: Unit) -> None:
    if unit.evidence is None:
        return
    path = directory / unit.evidence.file
    try:
        found = digest_bytes(read(path))
    except PrivateFileError as error:
        raise PlanRejected(
            f"the evidence file of {unit.id} can't be read: {error}; restore it or plan again"
        ) from error
    if found != unit.evidence.sha256:
        raise PlanRejected(f"{path} was changed: evidence is never edited; restore it or plan again")


def _run_id(result: Path) -> str:
    try:
        return decode_result(read(result)).run_id
    except (PrivateFileError, ResultError):
        return "unknown-run"


def _some(findings: list[str] | tuple[str, ...], most: int = 5) -> str:
    more = f" (and {len(findings) - most} more)" if len(findings) > most else ""
    return "; ".join(findings[:most]) + more
