"""One run of the tool on a stage, with a fault, and everything that there is to see of it."""

import contextlib
import struct
from collections.abc import Sequence
from pathlib import Path

from aim_rehearsal.apiserver import Request, Response
from tests.faults.checking.evidence import Arrival, File, RunEvidence
from tests.faults.child.disk import MOMENT, SIZE, DiskFault
from tests.faults.injecting.scene import Fault, Scene

RESULT, JOURNAL = "apply-result.json", "apply-result.json.journal.jsonl"
_SYNCED = struct.Struct(SIZE.format + MOMENT.format)


def apply(scene: Scene, fault: Fault, *, commit: bool, name: str, options: Sequence[str] = ()) -> RunEvidence:
    """Run ``apply`` on the scene's plan to its end."""
    argv = ("apply", "--plan", str(scene.plan_directory), *(("--commit",) if commit else ()), *fault.options, *options)
    return run_command(scene, fault, argv, commit=commit, name=name)


def run_command(scene: Scene, fault: Fault, argv: Sequence[str], *, commit: bool, name: str) -> RunEvidence:
    """Run one command of the tool to its end, with a fault in it."""
    stage, directory = scene.stage, scene.plan_directory
    disk: DiskFault | None = getattr(fault, "fault", None)
    how = {"disk": disk, "jumps": getattr(fault, "jumps", {}), "sabotage": fault.sabotage}
    job = stage.job(directory, tuple(argv), name.replace(" ", "-"), **how)
    scene.err = Path(job.err)
    fault.begin(scene)

    def look(arrival: Arrival) -> None:
        arrival.journal = _bytes(directory / JOURNAL)
        arrival.result = _bytes(directory / RESULT)
        arrival.synced = _read_synced(Path(job.synced))[0]

    def before(arrival: Arrival, request: Request) -> Response | None:
        return fault.before(scene, arrival, request)

    def after(arrival: Arrival, request: Request, response: Response) -> Response | None:
        if arrival.mutating and not arrival.dry_run and arrival.accepted:
            stage.operator.work()
        return fault.after(scene, arrival, request, response)

    stage.witness.begin(look, before, after)
    running = stage.launcher.start(job, lambda seconds: fault.slept(scene, seconds))
    scene.started(running)
    ending = running.wait()
    if stage.witness.troubles:
        trouble = stage.witness.troubles[0]
        raise RuntimeError(f"{name}: the suite itself failed: {trouble!r}") from trouble
    scene.circumstances.disk_failed_at = _read_synced(Path(job.synced))[1]
    return RunEvidence(
        name=name,
        commit=commit,
        code=ending.code,
        out=_text(Path(job.out)),
        err=_text(Path(job.err)),
        arrivals=tuple(stage.witness.arrivals),
        files=_files(directory),
        audit=stage.audit(),
    )


def disk_calls(scene: Scene, name: str) -> Path:
    """Return the file in which a run that was not killed lists its disk calls."""
    return scene.plan_directory.parent / f"{name.replace(' ', '-')}.disk"


def _files(directory: Path) -> dict[str, File]:
    return {
        path.name: File(path.stat().st_mode & 0o7777, path.read_bytes())
        for path in sorted(directory.iterdir())
        if path.is_file()
    }


def _read_synced(path: Path) -> tuple[int, float]:
    size, moment = _SYNCED.unpack(_bytes(path).ljust(_SYNCED.size, b"\0")[: _SYNCED.size])
    return size, moment


def _bytes(path: Path) -> bytes:
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def _text(path: Path) -> str:
    return _bytes(path).decode(errors="replace")
