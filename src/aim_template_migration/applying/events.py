"""What a run tells those who watch it: progress as values, never text for the terminal."""

from dataclasses import dataclass
from typing import Literal, Protocol

from aim_template_migration.documents.result import UnitResult

StepState = Literal["started", "completed", "waiting"]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run begins.

    Attributes:
        run_id: its id.
        mode: dry run or commit.
        plan_sha256: SHA-256 of the plan's bytes.
        units: how many units it will look at.
        notices: sentences on versions that are others than when the plan was made.
    """

    run_id: str
    mode: str
    plan_sha256: str
    units: int
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepProgress:
    """A unit's step begins, goes on waiting, or is complete; ``detail`` is one sentence or empty."""

    unit: str
    step: str
    state: StepState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class UnitFinished:
    """A unit has its final status."""

    result: UnitResult


Event = RunStarted | StepProgress | UnitFinished


class Listener(Protocol):
    """Whoever watches a run; called from several threads."""

    def __call__(self, event: Event) -> None:
        """Take one event."""


def nobody(event: Event) -> None:
    """Watch nothing."""
    del event


def undisturbed(listener: Listener) -> Listener:
    """Return a listener whose failures, as a closed terminal, do not reach the run; after one it hears no more."""
    heard = [True]

    def listen(event: Event) -> None:
        if not heard[0]:
            return
        try:
            listener(event)
        except Exception:  # noqa: BLE001 - whoever watches must not be able to leave a migration half-way
            heard[0] = False

    return listen
