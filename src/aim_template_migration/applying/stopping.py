"""Whether a run is to stop: because it was asked to, or because of a fault that all its units share."""

import threading

from aim_template_migration.applying.failures import Failure, RunFault, UnitStopped


class StopSignal:
    """What every unit of a run looks at before it goes on; safe to use from several threads.

    The event that asks for a stop belongs to the caller and is only read, so that what the caller asked for and what
    went wrong here stay apart.
    """

    def __init__(self, asked: threading.Event) -> None:
        """Take the event that asks the run to stop."""
        self._asked = asked
        self._lock = threading.Lock()
        self._fault: RunFault | None = None

    @property
    def asked(self) -> bool:
        """Whether the caller asked the run to stop."""
        return self._asked.is_set()

    @property
    def fault(self) -> RunFault | None:
        """The first fault that stops the run, if there is one."""
        with self._lock:
            return self._fault

    def is_set(self) -> bool:
        """Return whether no further step may begin."""
        return self.asked or self.fault is not None

    def stop_for(self, fault: RunFault) -> None:
        """Stop the run because of a fault; the first one is kept."""
        with self._lock:
            self._fault = self._fault or fault

    def require_running(self) -> None:
        """Stop the unit where the run is stopping.

        Raises:
            UnitStopped: the run was asked to stop, or a fault stops it.
        """
        fault = self.fault
        if fault is not None:
            raise UnitStopped(Failure(fault.code, f"the run stopped: {fault.message}", status="interrupted"))
        if self.asked:
            raise UnitStopped(
                Failure("Interrupted", "the run was asked to stop before the unit was done", status="interrupted")
            )
