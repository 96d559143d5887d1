"""What is checked before a run starts: the plan's approval, edits, structure, evidence and cluster. No writes."""

import contextlib
import secrets
import shlex
from pathlib import Path

from aim_api.kinds import AIM_SERVICE, AIM_TEMPLATE_CACHE, Kind
from aim_api.tree import JsonObject, get_str
from aim_template_migration.applying.edits import find_edits
from aim_template_migration.applying.plan_files import (
    RESULT_NAME,
    PlanFiles,
    PlanRejected,
    journal_path,
    read_generated,
)
from aim_template_migration.applying.structure import structural_faults
from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.evidence import evidence_file_name
from aim_template_migration.documents.journal import read_journal
from aim_template_migration.documents.plan import ClusterIdentity, Plan, Unit
from aim_template_migration.documents.private_files import PrivateFileError, read
from aim_template_migration.documents.result import ResultError, decode_result
from aim_template_migration.kube import Cluster
from aim_template_migration.planning.inventory import read_identity
from aim_template_migration.version import __version__

DEDICATED_OUTCOME = "DedicatedHandoffRequiresQuiescence"
_DEDICATED_MODES = frozenset({"Dedicated", "Never"})
_SHOWN = 5


def require_no_result(result: Path) -> None:
    """Refuse a result or journal that exists, a dry run's included, and name the command that archives both.

    Raises:
        PlanRejected: one exists, or ``result`` is a file of another kind, such as the plan itself.
    """
    present = tuple(path for path in (result, journal_path(result)) if path.exists() or path.is_symlink())
    if present == (result,) and result.name != RESULT_NAME and not _is_result(result):
        raise PlanRejected(f"--result {result} exists already and is no result of apply; choose another --result")
    if present:
        raise PlanRejected(
            f"{present[0]} exists already and is never overwritten; archive it first: "
            f"{archive_command(present, _run_id(result))}"
        )


def archive_command(files: tuple[Path, ...], run_id: str) -> str:
    """Return the shell command that archives the files of a run, names unchanged.

    Args:
        files: the files.
        run_id: the run's id; where it is unknown or no id, the directory gets a name that was never given before.
    """
    name = run_id if run_id.isalnum() else f"unknown-run-{secrets.token_hex(4)}"
    folder = shlex.quote(str(files[0].parent / "archive" / name))
    return f"mkdir -p -m 700 -- {folder} && mv -n -- {shlex.join(map(str, files))} {folder}/"


def require_sound_plan(files: PlanFiles, approved_sha256: str) -> None:
    """Check all that can be checked without the cluster: approval, evidence, hand edits and structure.

    Raises:
        PlanRejected: one of them does not hold; the findings of the first kind that fails are named.
    """
    require_approved(files, approved_sha256)
    require_own_version(files)
    generated = read_generated(files)
    require_evidence(files, generated)
    require_safe(files, generated)


def require_approved(files: PlanFiles, approved_sha256: str) -> None:
    """Check that the plan is the one that was approved, where an approval was given.

    Raises:
        PlanRejected: it is another.
    """
    if approved_sha256 and approved_sha256.lower() != files.sha256:
        raise PlanRejected(
            f"{files.path} has SHA-256 {files.sha256}, not the approved {approved_sha256}; review it again"
        )


def require_own_version(files: PlanFiles) -> None:
    """Refuse a plan of another version of this tool: its rules and digests may differ from those that would judge it.

    Raises:
        PlanRejected: another version made it.
    """
    made_by = files.plan.tool_version
    if made_by != __version__:
        raise PlanRejected(
            f"{files.path} was made by version {made_by} of this tool, and this is version {__version__}; "
            "plan again, or apply with the version that planned"
        )


def require_evidence(files: PlanFiles, generated: Plan) -> None:
    """Check the evidence files, and reject automatic units that evidence calls Dedicated.

    Raises:
        PlanRejected: an evidence file is missing or was changed, or an automatic unit has one (R, "Cache behavior").
    """
    before = {unit.id: unit for unit in generated.units}
    for unit in files.plan.units:
        _require_evidence_unchanged(files.directory, unit)
        if unit.disposition != "automatic":
            continue
        planned = before.get(unit.id, unit)
        if DEDICATED_OUTCOME in (unit.outcome, planned.outcome) or unit.evidence or planned.evidence:
            raise PlanRejected(_dedicated(unit.id, "the plan was made with Dedicated evidence for it"))
        name = _evidence_name(unit)
        if name and (files.directory / name).exists():
            raise PlanRejected(_dedicated(unit.id, f"the plan directory holds Dedicated evidence for it ({name})"))


def require_safe(files: PlanFiles, generated: Plan) -> None:
    """Check the hand edits and the structure.

    Raises:
        PlanRejected: one of them does not hold; the findings of the first kind that fails are named.
    """
    refused = [edit.what for edit in find_edits(generated, files.plan) if not edit.allowed]
    if refused:
        raise PlanRejected(
            f"{files.path} has edits that are not allowed: {_some(refused)}; undo them (compare with "
            f"{files.directory}/plan.generated.json) or plan again"
        )
    faults = structural_faults(files.plan)
    if faults:
        raise PlanRejected(f"{files.path} is not safe to run: {_some(faults)}; plan again")


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


def version_changes(planned: ClusterIdentity, live: ClusterIdentity) -> tuple[str, ...]:
    """Return a sentence for each version that is another than when the plan was made: a warning, no more (pure)."""
    pairs = [("the API server has version", planned.server_version, live.server_version)]
    now = {crd.name: crd for crd in live.crds}
    for crd in planned.crds:
        found = now.get(crd.name)
        if found is not None:
            pairs.append((f"{crd.name} serves", ", ".join(crd.served_versions), ", ".join(found.served_versions)))
            pairs.append((f"{crd.name} stores", crd.storage_version, found.storage_version))
    return tuple(
        f"{what} {new}, and {old} when the plan was made" for what, old, new in pairs if old and new and old != new
    )


def require_no_dedicated(plan: Plan, cluster: Cluster) -> None:
    """Reject automatic units that are Dedicated, judged by live state and not by the plan's flag (R, "Cache behavior").

    Raises:
        PlanRejected: a unit's live service or template cache is Dedicated.
        RequestError: they can't be read.
    """
    by_namespace: dict[str, list[Unit]] = {}
    for unit in plan.units:
        parts = unit.id.split("/")
        if unit.disposition == "automatic" and len(parts) == 3:
            by_namespace.setdefault(parts[1], []).append(unit)
    for namespace, units in sorted(by_namespace.items()):
        dedicated = _dedicated_objects(cluster, namespace)
        for unit in units:
            found = next((item for item in _caching_objects(unit) if item in dedicated), None)
            if found:
                raise PlanRejected(_dedicated(unit.id, f"{found} is Dedicated"))


def _dedicated_objects(cluster: Cluster, namespace: str) -> frozenset[str]:
    """Return the ids of the services and template caches of a namespace that are Dedicated."""

    def dedicated(kind: Kind, *path: str) -> list[str | None]:
        def reduce(obj: JsonObject) -> str | None:
            name = f"{kind.name}/{namespace}/{get_str(obj, 'metadata', 'name')}"
            return name if get_str(obj, *path) in _DEDICATED_MODES else None

        return cluster.list_reduced(kind, namespace, reduce)

    found = (*dedicated(AIM_SERVICE, "spec", "caching", "mode"), *dedicated(AIM_TEMPLATE_CACHE, "spec", "mode"))
    return frozenset(item for item in found if item is not None)


def _caching_objects(unit: Unit) -> list[str]:
    return [unit.id, *(pin.reference.id for pin in unit.pins if pin.role == "templateCache" and not pin.absent)]


def _dedicated(unit_id: str, why: str) -> str:
    return f"{unit_id} is automatic in the plan, but {why}, and Dedicated caching is always manual; plan again"


def _evidence_name(unit: Unit) -> str:
    parts = unit.id.split("/")
    return evidence_file_name(parts[1], parts[2]) if len(parts) == 3 else ""


def _require_evidence_unchanged(directory: Path, unit: Unit) -> None:
    if unit.evidence is None:
        return
    if Path(unit.evidence.file).name != unit.evidence.file:
        raise PlanRejected(f"the evidence file of {unit.id} must lie in the plan directory, not {unit.evidence.file}")
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
    """Return the run id of a former run: from its result, else from its journal, else an empty one."""
    found = ""
    with contextlib.suppress(PrivateFileError, ResultError):
        found = decode_result(read(result)).run_id
    if not found:
        with contextlib.suppress(PrivateFileError):
            entries = read_journal(read(journal_path(result))).entries
            found = (get_str(entries[0].facts, "runId") or "") if entries else ""
    return found


def _is_result(path: Path) -> bool:
    try:
        decode_result(read(path))
    except (PrivateFileError, ResultError):
        return False
    return True


def _some(findings: list[str] | tuple[str, ...]) -> str:
    more = f" (and {len(findings) - _SHOWN} more)" if len(findings) > _SHOWN else ""
    return "; ".join(findings[:_SHOWN]) + more
