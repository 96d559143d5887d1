"""Invariants over live objects: what succeeded is there, what was not written is as before, and nothing rolled."""

from collections.abc import Iterable, Iterator
from typing import Any

from tests.faults.checking.evidence import Circumstances, Objects, RunEvidence
from tests.faults.checking.files import units_of
from tests.faults.checking.planned import PROTECTION, Key, Planned, PlannedUnit, expected_service
from tests.faults.checking.requests import TOOL, count_writes

_WRITABLE = {
    "AIMService": "aimservices",
    "AIMProfile": "aimprofiles",
    "AIMProfileCache": "aimprofilecaches",
    "AIMArtifact": "aimartifacts",
}
_KSERVE_LABEL = "serving.kserve.io/inferenceservice"
_DESIRED_METADATA = ("uid", "generation", "labels", "annotations", "ownerReferences", "finalizers")


def check_cluster(
    run: RunEvidence, plan: Planned, before: Objects, after: Objects, clean: Objects, circumstances: Circumstances
) -> Iterator[str]:
    """Yield what is wrong in the cluster after a run.

    Args:
        run: the run.
        plan: its plan.
        before: the objects before the run.
        after: the objects after it.
        clean: the objects after a run without any fault.
        circumstances: what was done to the run.
    """
    yield from _written_is_recorded(run, before, after, circumstances)
    statuses = {unit_id: unit["status"] for unit_id, unit in units_of(run).items()}
    for unit in plan.automatic:
        changes = list(workload_changes(unit, before, after, circumstances.touched))
        if changes and not (circumstances.rolls or circumstances.touched or circumstances.stored_otherwise):
            yield f"the workload of {unit.id} changed: {'; '.join(changes)}"
        if statuses.get(unit.id) == "succeeded" and unit.id not in circumstances.finished:
            if run.commit:
                yield from (f"{unit.id} succeeded, but {what}" for what in changes)
                yield from _is_done(unit, before, after, clean, circumstances)
            else:
                yield from _was_validated(unit, run, before, after)


def workload_changes(unit: PlannedUnit, before: Objects, after: Objects, touched: Iterable[Key] = ()) -> Iterator[str]:
    """Yield how the workload and the weights of a unit changed, but for objects that somebody else touched."""
    keys = [key for key in (unit.inference_service, *unit.pins) if key not in set(touched)]
    for key in dict.fromkeys(keys):
        old, new = before.get(key), after.get(key)
        if old is None or key[0] == "AIMService":
            continue
        if new is None:
            yield f"{'/'.join(key)} is gone"
        elif _desired(new) != _desired(old):
            fields = [name for name in _desired(old) if _desired(old)[name] != _desired(new)[name]]
            yield f"{'/'.join(key)} changed in {', '.join(fields)}"
    old_pods, new_pods = (_pods(unit, objects) for objects in (before, after))
    if old_pods != new_pods:
        yield f"its pods were {old_pods} and are {new_pods}"
    jobs = {key for key in after if key[0] == "Job" and key[1] == unit.service[1] and key not in before}
    if jobs:
        yield f"there are new Jobs: {sorted(jobs)}"


def _desired(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = obj["metadata"]
    facts = {name: metadata.get(name) for name in _DESIRED_METADATA}
    if obj.get("kind") == "AIMArtifact":
        facts["annotations"] = {k: v for k, v in (facts["annotations"] or {}).items() if k != PROTECTION}
    return {**facts, "spec": obj.get("spec"), "phase": obj.get("status", {}).get("phase")}


def _pods(unit: PlannedUnit, objects: Objects) -> list[tuple[str, str | None, int]]:
    return sorted(
        (
            item["metadata"]["uid"],
            item["metadata"].get("labels", {}).get("pod-template-hash"),
            sum(status.get("restartCount", 0) for status in item.get("status", {}).get("containerStatuses", [])),
        )
        for (kind, namespace, _), item in objects.items()
        if (kind, namespace) == ("Pod", unit.service[1])
        and item["metadata"].get("labels", {}).get(_KSERVE_LABEL) == unit.inference_service[2]
    )


def _written_is_recorded(
    run: RunEvidence, before: Objects, after: Objects, circumstances: Circumstances
) -> Iterator[str]:
    """What the audit log has no write of is as before, status and bookkeeping aside."""
    written = count_writes(run.audit)
    for key in sorted({*before, *after}):
        plural = _WRITABLE.get(key[0])
        if plural is None or key in circumstances.touched or (plural, *key[1:]) in written:
            continue
        old, new = before.get(key), after.get(key)
        if new is None and old is not None:
            yield f"{'/'.join(key)} is gone, and nobody wrote it"
        elif old is None and new is not None and _is_of_the_operator(new):
            continue
        elif old is None or new is None or _bare(old) != _bare(new):
            yield f"{'/'.join(key)} changed, and nobody wrote it"


def _bare(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = obj["metadata"]
    return {"spec": obj.get("spec"), **{name: metadata.get(name) for name in _DESIRED_METADATA}}


def _is_of_the_operator(obj: dict[str, Any]) -> bool:
    managers = {entry.get("manager", "") for entry in obj["metadata"].get("managedFields", [])}
    return bool(managers) and all(name.startswith("aim-") and name.endswith("-controller") for name in managers)


def _is_done(
    unit: PlannedUnit, before: Objects, after: Objects, clean: Objects, circumstances: Circumstances
) -> Iterator[str]:
    """A unit that succeeded is, on reading, exactly what was planned."""
    done = f"{unit.id} succeeded, but"
    service, old = after.get(unit.service), before[unit.service]
    if service is None:
        yield f"{done} its service is gone"
        return
    expected = expected_service(old, unit) if "profile" not in old["spec"] else old
    for name, found, wanted in (
        ("spec", service["spec"], expected["spec"]),
        ("annotations", service["metadata"].get("annotations"), expected["metadata"].get("annotations")),
        ("uid", service["metadata"]["uid"], old["metadata"]["uid"]),
        ("generation", service["metadata"]["generation"], unit.cut_over["pinnedGeneration"]),
        ("observed generation", service.get("status", {}).get("observedGeneration"), unit.cut_over["pinnedGeneration"]),
        ("profile", _resolved(service), unit.confirm["profileName"]),
    ):
        if found != wanted and unit.service not in circumstances.touched:
            yield f"{done} the {name} of its service is {found}, not {wanted}"
    for key, body in unit.targets.items():
        yield from (f"{done} {what}" for what in _target_faults(key, body, after, clean))
    for key in unit.artifacts:
        annotations = after.get(key, {}).get("metadata", {}).get("annotations", {})
        if annotations.get(PROTECTION) != "true":
            yield f"{done} {'/'.join(key)} is not protected"


def _target_faults(key: Key, body: dict[str, Any], after: Objects, clean: Objects) -> Iterator[str]:
    found = after.get(key)
    if found is None:
        yield f"{'/'.join(key)} is absent"
        return
    if found["metadata"].get("ownerReferences"):
        yield f"{'/'.join(key)} has an owner"
    if not _holds(found, body):
        yield f"{'/'.join(key)} is not as planned"
    if found["spec"] != clean[key]["spec"]:
        yield f"{'/'.join(key)} has another spec than after a run without faults"


def _holds(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(_holds(found.get(key), value) for key, value in wanted.items())
    return found == wanted


def _resolved(service: dict[str, Any]) -> Any:
    return service.get("status", {}).get("resolvedProfile", {}).get("name")


def _was_validated(unit: PlannedUnit, run: RunEvidence, before: Objects, after: Objects) -> Iterator[str]:
    """A unit that succeeds in a dry run had each of its writes accepted, by a true answer.

    A target that somebody else has created, as planned, before the unit came to it is one that it need not write.
    """
    if "profile" in before[unit.service]["spec"]:
        return
    wanted = {("aimservices", unit.service[1], unit.service[2])}
    absent = {key: body for key, body in unit.targets.items() if key not in before}
    wanted |= {
        (_WRITABLE[key[0]], *key[1:]) for key, body in absent.items() if not (key in after and _holds(after[key], body))
    }
    wanted |= {
        (_WRITABLE[key[0]], *key[1:])
        for key in unit.artifacts
        if before[key]["metadata"].get("annotations", {}).get(PROTECTION) != "true"
    }
    accepted = {
        (event.target.resource, event.target.namespace, event.target.name)
        for event in run.audit.mutations(TOOL)
        if event.target is not None and event.is_accepted
    }
    for resource, namespace, name in sorted(wanted - accepted):
        yield f"{unit.id} succeeded in a dry run, but {resource} {namespace}/{name} was never accepted"
