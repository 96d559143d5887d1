"""Invariants over what the tool sent: attempts before requests, guards in requests, and nothing that is not planned."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from tests.faults.checking.evidence import Arrival, Circumstances, Objects, RunEvidence
from tests.faults.checking.journal import open_attempts, read_journal
from tests.faults.checking.planned import PROTECTION, Planned, PlannedUnit
from tests.support.audit import AuditTrail

TOOL, RIVAL = "migration", "rival"
TOOLS = (TOOL, RIVAL)
"""The identities that the tool has: of the run that is watched, and of another one beside it."""

_CLOCKS_DIFFER = timedelta(milliseconds=5)
_EVICTION = "/metadata/annotations/" + PROTECTION.replace("~", "~0").replace("/", "~1")


def check_requests(run: RunEvidence, plan: Planned, before: Objects, circumstances: Circumstances) -> Iterator[str]:
    """Yield what is wrong with the requests of one run."""
    for arrival in run.arrivals:
        if "/secrets" in arrival.path:
            yield f"asked for Secrets: {arrival}"
        if arrival.method == "DELETE":
            yield f"asked for a delete: {arrival}"
        if arrival.mutating:
            yield from _attempted(run, arrival, circumstances)
            yield from _planned(arrival, plan, before)
            if not run.commit and not arrival.dry_run:
                yield f"a dry run asked for a write: {arrival}"
    yield from _audited(run, plan)


def count_writes(trail: AuditTrail) -> Counter[tuple[str, str, str]]:
    """Return how often the tool wrote each object, by resource, namespace and name, as the audit log says."""
    written = [event.target for identity in TOOLS for event in trail.writes(identity)]
    return Counter((target.resource, target.namespace, target.name) for target in written if target is not None)


def _attempted(run: RunEvidence, arrival: Arrival, circumstances: Circumstances) -> Iterator[str]:
    """The attempt is on disk, and synced in a commit, when the request arrives; with this very content."""
    durable = arrival.journal[: arrival.synced] if run.commit else arrival.journal
    reading = read_journal(durable)
    if reading.damage:
        yield f"the journal is damaged when {arrival} arrives: {reading.damage}"
    wanted = {
        "method": arrival.method,
        "path": arrival.path,
        "dryRun": arrival.dry_run,
        "bodySha256": hashlib.sha256(arrival.body).hexdigest(),
    }
    open_now = open_attempts(reading.entries)
    fitting = [item for item in open_now if {key: item["facts"].get(key) for key in wanted} == wanted]
    if len(fitting) != 1:
        fit = f"{len(fitting)} of {len(open_now)} open ones fit"
        yield f"{arrival} arrived without a durable attempt of its own ({fit})"
        return
    attempt = fitting[0]
    attempts = sum(
        entry["event"] == "attempt" and {key: entry["facts"].get(key) for key in wanted} == wanted
        for entry in reading.entries
    )
    alike = [item for item in run.arrivals if item.number <= arrival.number and _content(item) == _content(arrival)]
    if attempts < len(alike):
        yield f"{arrival} was sent {len(alike)} times, with {attempts} attempts"
    if not circumstances.jumps and datetime.fromisoformat(attempt["time"]) > arrival.received + _CLOCKS_DIFFER:
        yield f"the attempt of {arrival} is later than its arrival"
    yield from _shown_in_result(run, arrival, attempt)


def _content(arrival: Arrival) -> tuple[str, str, bytes]:
    return arrival.method, arrival.target, arrival.body


def _shown_in_result(run: RunEvidence, arrival: Arrival, attempt: dict[str, Any]) -> Iterator[str]:
    try:
        result = json.loads(arrival.result)
    except ValueError:
        yield f"the result can't be read when {arrival} arrives"
        return
    if result["state"] != "incomplete":
        yield f"the result says {result['state']} when {arrival} arrives"
    if result["mode"] != ("commit" if run.commit else "dry-run"):
        yield f"the result says {result['mode']}"
    shown = [(item["unit"], item["step"]) for item in result.get("inFlight", [])]
    if (attempt["unit"], attempt["step"]) not in shown:
        yield f"the result does not show the attempt of {arrival}"


def _planned(arrival: Arrival, plan: Planned, before: Objects) -> Iterator[str]:
    """The request is one that the plan has, guarded as it must be."""
    body = json.loads(arrival.body)
    parts = arrival.path.split("/")
    namespace = parts[parts.index("namespaces") + 1] if "namespaces" in parts else ""
    for unit in plan.automatic:
        if arrival.method == "POST":
            name = body.get("metadata", {}).get("name")
            if any(
                key[1:] == (namespace, name) and target == body and arrival.path.endswith(_plural(key[0]))
                for key, target in unit.targets.items()
            ):
                return
        elif arrival.method == "PATCH" and (
            _is_protection(arrival, body, unit, namespace) or _is_cutover(arrival, body, unit, before)
        ):
            return
    yield f"{arrival} is no request of the plan, or lacks a guard: {arrival.body.decode()[:500]}"


def _is_protection(arrival: Arrival, body: Any, unit: PlannedUnit, namespace: str) -> bool:
    for (_, place, name), uid in unit.artifacts.items():
        if place == namespace and arrival.path.endswith(f"/aimartifacts/{name}"):
            tests = {item["path"]: item.get("value") for item in body if item["op"] == "test"}
            changes = [item for item in body if item["op"] != "test"]
            guarded = tests.get("/metadata/uid") == uid and tests.get("/metadata/ownerReferences", "") is None
            return guarded and changes in (
                [{"op": "add", "path": _EVICTION, "value": "true"}],
                [{"op": "add", "path": "/metadata/annotations", "value": {PROTECTION: "true"}}],
            )
    return False


def _is_cutover(arrival: Arrival, body: Any, unit: PlannedUnit, before: Objects) -> bool:
    """A cutover tests UID, generation, the whole spec and the whole annotations, and changes what the plan says."""
    if not arrival.path.endswith(f"/namespaces/{unit.service[1]}/aimservices/{unit.service[2]}"):
        return False
    tests = {item["path"]: item.get("value") for item in body if item["op"] == "test"}
    guarded = {"/metadata/uid", "/metadata/generation", "/spec", "/metadata/annotations"} <= tests.keys()
    if not guarded or "/v1alpha2/" not in arrival.path:
        return False
    service = before[unit.service]
    if tests["/metadata/uid"] != unit.cut_over["uid"] or tests["/metadata/generation"] != unit.cut_over["generation"]:
        return False
    if tests["/spec"] != service["spec"]:
        return False
    changed = {item["path"] for item in body if item["op"] != "test"}
    return changed <= {"/spec/template", "/spec/profile", "/metadata/annotations"} | {
        path for path in changed if path.startswith("/metadata/annotations/migration.aim.eai.amd.com~1preserve-")
    }


def _audited(run: RunEvidence, plan: Planned) -> Iterator[str]:
    """The same from the server's own log, which sees what was carried out, whoever made it up."""
    for event in run.audit.requests(TOOL):
        target = event.target
        if event.touches_secrets:
            yield f"the audit log has a request about Secrets: {event}"
        if event.is_delete:
            yield f"the audit log has a delete: {event}"
        if not event.is_mutation:
            continue
        if target is None or (target.resource, target.namespace, target.name) not in plan.writes:
            yield f"the audit log has a write outside the plan's objects: {event}"
        if not run.commit and not event.is_dry_run:
            yield f"the audit log has a write of a dry run: {event}"


def _plural(kind: str) -> str:
    return {"AIMProfile": "/aimprofiles", "AIMProfileCache": "/aimprofilecaches"}[kind]
