"""One rehearsal of the default world, run once, for every test that looks at how it went."""

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from aim_rehearsal.worlds import load_world
from aim_template_migration.rehearsing.events import Chapter
from aim_template_migration.rehearsing.rehearsal import Rehearsal, RehearsalOptions, RehearsalOutcome, RunTuning
from aim_template_migration.rehearsing.subject import Subject


@dataclass
class Recording:
    """A rehearsal as it happened.

    Attributes:
        directory: the plan directory, which outlives the rehearsal.
        chapters: the chapters, in order.
        events: the steps of dry run and commit.
        outcome: how it ended.
        audit: every request of the tool's identity.
    """

    directory: Path
    chapters: list[Chapter] = field(default_factory=list)
    events: list = field(default_factory=list)
    outcome: RehearsalOutcome | None = None
    audit: list = field(default_factory=list)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory) -> Recording:
    """Return a recorded rehearsal."""
    work_dir = tmp_path_factory.mktemp("rehearsal")
    recording = Recording(work_dir / "plan")
    options = RehearsalOptions(
        subject=Subject(load_world("shared-happy-path")),
        mode="Both",
        directory=recording.directory,
        work_dir=work_dir,
        tuning=RunTuning(soak_seconds=0.1),
    )
    with Rehearsal(options) as rehearsal:
        recording.outcome = rehearsal.run(recording.chapters.append, recording.events.append, threading.Event())
        recording.audit = [
            event for event in rehearsal.session.server.audit_events() if event["user"]["username"] == "migration"
        ]
    return recording
