"""What the parent asks of one run; it travels as JSON."""

import json
from dataclasses import asdict, dataclass, field

from tests.faults.child.disk import DiskFault


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the command line.

    Attributes:
        argv: the arguments.
        directory: the plan directory, in which disk calls count.
        out: file that takes stdout.
        err: file that takes stderr.
        report: file that takes the disk calls, unless the run is killed.
        synced: file that tells how many bytes of the journal were synced.
        disk: what the disk does, or None.
        jumps: after how many looks at the wall clock it jumps, and by how many seconds.
        sabotage: how the tool is broken on purpose, or an empty string.
    """

    argv: tuple[str, ...]
    directory: str
    out: str
    err: str
    report: str
    synced: str
    disk: DiskFault | None = None
    jumps: dict[int, float] = field(default_factory=dict)
    sabotage: str = ""

    def encode(self) -> bytes:
        """Return the job as JSON."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, data: bytes) -> "Job":
        """Read a job."""
        value = json.loads(data)
        value["argv"] = tuple(value["argv"])
        value["disk"] = DiskFault(**value["disk"]) if value["disk"] else None
        value["jumps"] = {int(key): seconds for key, seconds in value["jumps"].items()}
        return cls(**value)
