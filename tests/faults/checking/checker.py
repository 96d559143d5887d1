"""All invariants over one point: a run with a fault, and what an administrator does after it.

The checker knows the plan, the files, the server's audit log and what the server saw; it shares no code with the tool.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.faults.checking.cluster import check_cluster
from tests.faults.checking.evidence import Circumstances, Objects, RunEvidence
from tests.faults.checking.files import check_files, units_of
from tests.faults.checking.planned import Planned
from tests.faults.checking.requests import check_requests, count_writes

Target = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks runs of one plan.

    Attributes:
        plan: the plan.
        before: the objects before anything was done.
        clean: the objects after a commit without any fault.
        writes: how often that commit wrote each object.
        secrets: what must be in no file and no stream.
    """

    plan: Planned
    before: Objects
    clean: Objects
    writes: Counter[Target]
    secrets: tuple[bytes, ...] = ()

    def check_run(self, run: RunEvidence, after: Objects, circumstances: Circumstances) -> Iterator[str]:
        """Yield every violation of one run; its audit trail is that of everything since ``before``."""
        for found in (
            check_requests(run, self.plan, self.before, circumstances),
            check_files(run, self.plan, circumstances, self.secrets),
            check_cluster(run, self.plan, self.before, after, self.clean, circumstances),
        ):
            yield from (f"{run.name}: {what}" for what in found)

    def check_once(self, run: RunEvidence, circumstances: Circumstances) -> Iterator[str]:
        """Yield what was written more than once by all runs up to this one."""
        for target, count in sorted(self._own(count_writes(run.audit), circumstances).items()):
            if count > 1:
                yield f"{run.name}: {'/'.join(target)} was written {count} times"

    def check_all_done(self, run: RunEvidence, circumstances: Circumstances) -> Iterator[str]:
        """Yield what is undone, or was done twice, after the fault was gone and the tool was run again."""
        endings = units_of(run)
        for unit in self.plan.automatic:
            ending = endings.get(unit.id, {})
            if ending.get("status") != "succeeded" or ending.get("code", "") not in ("", "AlreadyCutOver"):
                said = f"{ending.get('code', '')}: {ending.get('message', '')}"
                yield f"{run.name}: {unit.id} is {ending.get('status', 'absent')} ({said})"
        if run.code != 0:
            yield f"{run.name}: the exit code is {run.code}: {run.err[-600:]}"
        yield from self.check_writes(run.name, count_writes(run.audit), circumstances)

    def check_writes(self, name: str, writes: Counter[Target], circumstances: Circumstances) -> Iterator[str]:
        """Yield which of the writes that the plan takes are missing, and which were made too often."""
        written, wanted = (self._own(found, circumstances) for found in (writes, self.writes))
        if written != wanted:
            lost, excess = wanted - written, written - wanted
            yield f"{name}: writes lost {sorted(lost)}, writes too many {sorted(excess)}"

    @staticmethod
    def _own(writes: Counter[Target], circumstances: Circumstances) -> Counter[Target]:
        """Leave out what somebody else changed, or what was stored otherwise than asked."""
        others = {key[1:] for key in circumstances.touched | circumstances.stored_otherwise}
        return Counter({target: count for target, count in writes.items() if target[1:] not in others})
