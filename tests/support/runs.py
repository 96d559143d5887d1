"""Plans with the files of a run beside them, as values and on disk, for tests of what reads them."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from aim_template_migration.applying.plan_files import PLAN_NAME, RESULT_NAME, journal_path
from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.journal import Entry, encode_line
from aim_template_migration.documents.plan import API_VERSION, STEP_NAMES, Plan, encode_plan
from aim_template_migration.documents.result import (
    KIND,
    SCHEMA_URI,
    ApplyResult,
    PodFacts,
    UnitResult,
    WorkloadFacts,
    count_units,
    encode_result,
)
from tests.aim_template_migration.cli.plans import automatic_unit, dedicated_unit, manual_unit, plan_of, write_plan

MARKUP = "</script><img src=x onerror=alert(1)><b>&amp;\u2028'\""
WORKLOAD = WorkloadFacts(
    "chat",
    "isvc-uid",
    2,
    "s" * 64,
    "m" * 64,
    ready=True,
    template_hash="hash",
    pods=(PodFacts("chat-pod", "pod-uid", 0, "hash"),),
)


def succeeded(unit_id: str, **changes: object) -> UnitResult:
    """Return the result of a unit that was migrated."""
    ended = UnitResult(
        id=unit_id,
        disposition="automatic",
        status="succeeded",
        attempted_steps=STEP_NAMES,
        completed_steps=STEP_NAMES,
        last_attempted_step=STEP_NAMES[-1],
        last_completed_step=STEP_NAMES[-1],
        resolved_profile="qwen-tp1",
        workload_before=WORKLOAD,
        workload_after=WORKLOAD,
    )
    return msgspec.structs.replace(ended, **changes)


def failed(unit_id: str, **changes: object) -> UnitResult:
    """Return the result of a unit whose second step was refused."""
    ended = UnitResult(
        id=unit_id,
        disposition="automatic",
        status="failed",
        code="CredentialsRejected",
        message="the API server refused the request",
        http_status=422,
        server_message="spec.image: Invalid value",
        next_step="read the server's message",
        attempted_steps=STEP_NAMES[:3],
        completed_steps=STEP_NAMES[:2],
        last_attempted_step=STEP_NAMES[2],
        last_completed_step=STEP_NAMES[1],
    )
    return msgspec.structs.replace(ended, **changes)


def result_of(plan: Plan, units: Sequence[UnitResult], **changes: object) -> ApplyResult:
    """Return the complete result of a commit."""
    result = ApplyResult(
        schema=SCHEMA_URI,
        api_version=API_VERSION,
        kind=KIND,
        tool_version="0.1.0",
        run_id="run-1",
        mode="commit",
        state="complete",
        plan_id=plan.plan_id,
        plan_sha256=digest_bytes(encode_plan(plan)),
        started_at="2026-06-02T10:00:00.000000Z",
        finished_at="2026-06-02T10:01:00.000000Z",
        journal=f"{RESULT_NAME}.journal.jsonl",
        counts=count_units(tuple(units)),
        units=tuple(units),
    )
    return msgspec.structs.replace(result, **changes)


def entries_of(plan: Plan, units: Sequence[UnitResult], message: str = "refused") -> list[Entry]:
    """Return the journal of a run, each step of which took one second, unit after unit."""
    events: list[tuple[str, str, str, dict[str, object]]] = []
    facts = {"runId": "run-1", "mode": "commit", "planSha256": digest_bytes(encode_plan(plan))}
    events.append(("runStarted", "", "", facts))
    for unit in units:
        events.append(("unitStarted", unit.id, "", {}))
        for step in unit.attempted_steps:
            events.append(("stepStarted", unit.id, step, {}))
            if step == "CreateProfile":
                events.append(("accepted", unit.id, step, {"object": "AIMProfile/team-a/qwen-tp1", "httpStatus": 201}))
            if step in unit.completed_steps:
                events.append(("stepCompleted", unit.id, step, {}))
            else:
                events.append(("failed", unit.id, step, {"code": unit.code, "message": message}))
        events.append(("unitFinished", unit.id, "", {"status": unit.status, "code": unit.code}))
    return [
        Entry(number, f"2026-06-02T{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000000Z", *event)
        for number, event in enumerate(events, start=1)
        for second in [number % 40_000]
    ]


def write_run(
    directory: Path, plan: Plan, result: ApplyResult | None, entries: Sequence[Entry] = (), backup: str = ""
) -> Path:
    """Write a plan directory with what a run leaves in it."""
    write_plan(directory, plan)
    path = directory / RESULT_NAME
    if result is not None:
        _write(path, encode_result(result))
    if entries:
        _write(journal_path(path), journal_bytes(entries))
    if backup:
        _write(directory / "backup.yaml", backup.encode())
    assert (directory / PLAN_NAME).exists()
    return directory


def journal_bytes(entries: Sequence[Entry]) -> bytes:
    """Return a whole journal."""
    previous, lines = "", []
    for entry in entries:
        line, previous = encode_line(entry, previous)
        lines.append(line)
    return b"".join(lines)


def mixed_plan() -> tuple[Plan, tuple[UnitResult, ...]]:
    """Return a plan with units of every disposition in two namespaces, and how a run of it ended."""
    other = "AIMService/team-b/llama"
    plan = plan_of(
        automatic_unit(),
        automatic_unit("summarise"),
        dedicated_unit("solo"),
        manual_unit("llama", "PipelineAnnotation", "Paused", namespace="team-b"),
    )
    ended = (
        succeeded("AIMService/team-a/chat"),
        failed("AIMService/team-a/summarise"),
        UnitResult("AIMService/team-a/solo", "manual", "manual"),
        UnitResult(other, "manual", "manual"),
    )
    return plan, ended


BACKUP = """\
# For reading only.
---
apiVersion: aim.eai.amd.com/v1alpha1
kind: AIMService
metadata:
  name: chat
  namespace: team-a
  annotations:
    team.example/contact: "4711"
spec:
  model:
    name: qwen
  template:
    name: qwen-tp1
"""


def write_mixed(directory: Path) -> Path:
    """Write the mixed plan with its run and its backup."""
    plan, ended = mixed_plan()
    return write_run(directory, plan, result_of(plan, ended), entries_of(plan, ended), BACKUP)


def _write(path: Path, data: bytes) -> None:
    path.touch(0o600)
    path.write_bytes(data)
