"""The chapters of a rehearsal, as values for whoever tells the story."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from aim_template_migration.applying.plan_files import PlanFiles
from aim_template_migration.applying.run import ApplyOutcome
from aim_template_migration.documents.inspection import InspectedUnit
from aim_template_migration.documents.rehearsal import RehearsalReport, RehearsedFault
from aim_template_migration.rehearsing.faults import ChosenFault
from aim_template_migration.rehearsing.observation import ServiceFacts


@dataclass(frozen=True, slots=True)
class FleetLoaded:
    """The local API is up with the sample fleet in it, and the operator has settled.

    Attributes:
        world: the fleet's name.
        summary: what it shows, in one sentence.
        server: the local API's address.
        namespaces: the namespaces that the migration selects.
        services: the services as they are before anything is done, by id.
        not_rehearsed: what the rehearsal cannot show of what the fleet was made from.
    """

    world: str
    summary: str
    server: str
    namespaces: tuple[str, ...]
    services: Mapping[str, ServiceFacts]
    not_rehearsed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanMade:
    """The plan directory is written."""

    files: PlanFiles


@dataclass(frozen=True, slots=True)
class RunBegins:
    """A dry run or a commit begins.

    Attributes:
        commit: which of both.
        fault: the fault that is to come up in it, None for none.
        rerun: whether it follows a commit with a fault.
    """

    commit: bool
    fault: ChosenFault | None = None
    rerun: bool = False


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A dry run or the commit ended.

    Attributes:
        commit: which of both.
        outcome: how it ended.
        before: the services before planning, by id.
        after: the services now, by id.
    """

    commit: bool
    outcome: ApplyOutcome
    before: Mapping[str, ServiceFacts]
    after: Mapping[str, ServiceFacts]


@dataclass(frozen=True, slots=True)
class FaultAnswered:
    """The commit with the fault is over, and what an administrator does next has been done.

    Attributes:
        chosen: the fault.
        answered: whether it came up, and how the units ended.
        inspected: what inspect says of the units that did not succeed.
        refusal: what the next apply said while the lock of a killed one was there, or empty.
        archive: where result and journal went.
    """

    chosen: ChosenFault
    answered: RehearsedFault
    inspected: tuple[InspectedUnit, ...]
    refusal: str
    archive: Path


@dataclass(frozen=True, slots=True)
class RehearsalClosed:
    """Nothing further happens; the report says all of it.

    Attributes:
        report: the report.
        directory: the plan directory.
    """

    report: RehearsalReport
    directory: Path


Chapter = FleetLoaded | PlanMade | RunBegins | RunEnded | FaultAnswered | RehearsalClosed


class Audience(Protocol):
    """Whoever follows the story, from one thread."""

    def __call__(self, chapter: Chapter) -> None:
        """Take one chapter."""
