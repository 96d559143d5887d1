"""What happened to a plan before somebody looks into it: a commit that ended, or was killed at some point."""

import json
from dataclasses import dataclass
from datetime import timedelta

from aim_template_migration.applying import journal as journal_module
from aim_template_migration.applying.lock import LOCK_NAME, ApplyLock
from aim_template_migration.applying.plan_files import journal_path
from aim_template_migration.inspecting.inspection import InspectOptions, inspect_plan
from aim_template_migration.inspecting.verification import VerifyOptions, verify_plan
from tests.aim_template_migration.applying.bench import START, Bench

SERVICE = "AIMService/team-a/qwen-chat"
PROFILE = "AIMProfile/team-a/qwen3-32b-latency"
LATER = 3600.0


class KilledError(BaseException):
    """The process ends here, as if by SIGKILL: nothing is written any more."""


@dataclass
class Scene:
    """A bench, and what can happen on it."""

    bench: Bench

    @property
    def fleet(self):
        return self.bench.fleet

    def now(self, after: float = LATER):
        """Return the time, some seconds after the bench's clock stands."""
        return START + timedelta(seconds=self.bench.clock.monotonic() + after)

    def kill_at_write(self, number: int, stage: str, **options) -> None:
        """Commit, and kill the process at a write: ``before`` or ``after`` the server stored it."""
        seen = []

        def trouble(request, at):
            if at == "before":
                seen.append(request)
            if len(seen) == number and at == stage:
                raise KilledError

        self.bench.cluster.trouble = trouble
        self._killed(options)
        self.bench.cluster.trouble = lambda request, at: None

    def kill_at_line(self, monkeypatch, number: int) -> bool:
        """Commit, and kill the process right after a line of the journal; return whether there was such a line."""
        append, lines = journal_module.Journal.append, []

        def counted(journal, event, **more):
            append(journal, event, **more)
            lines.append(event)
            if len(lines) == number:
                raise KilledError

        with monkeypatch.context() as patch:
            patch.setattr(journal_module.Journal, "append", counted)
            self._killed({})
        return len(lines) >= number

    def _killed(self, options) -> None:
        try:
            self.bench.apply(**options)
        except KilledError:
            self.leave_lock()

    def leave_lock(self, **changes) -> None:
        """Leave the lock of a process that is gone, or of another one."""
        self.lock.unlink(missing_ok=True)
        with ApplyLock(self.bench.plan_directory, "r1", "apply --commit"):
            holder = json.loads(self.lock.read_bytes())
        self.lock.touch(0o600)
        self.lock.write_text(json.dumps(holder | ({"processStart": "1"} | changes)))

    @property
    def lock(self):
        return self.bench.plan_directory / LOCK_NAME

    @property
    def journal(self):
        return journal_path(self.bench.result_path)

    def inspect(self, after: float = LATER, **options):
        return inspect_plan(
            InspectOptions(self.bench.plan_directory, **options), self.bench.connect, now=self.now(after)
        )

    def unit(self, after: float = LATER, **options):
        """Return the one unit of an inspection with the exit code."""
        outcome = self.inspect(after, **options)
        (unit,) = outcome.inspection.units
        return unit, outcome.exit_code

    def verify(self, **options):
        return verify_plan(VerifyOptions(self.bench.plan_directory, **options), self.bench.connect, now=self.now())
