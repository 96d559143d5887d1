"""Progress of a run on stderr: drawn on a terminal, plain lines with ``-v`` elsewhere, otherwise nothing."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from aim_template_migration.applying.events import Event, Listener, RunStarted, StepProgress, UnitFinished, nobody
from aim_template_migration.cli.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_SHOWN_AT_ONCE = 8
_NOT_RUN = ("manual", "skipped")
_MINUTE = 60


@contextlib.contextmanager
def progress_of(console: Console) -> Iterator[Listener]:
    """Yield a listener that shows a run's progress as the console allows it."""
    if console.shows_progress and os.environ.get("TERM") != "dumb":
        with _drawn(console) as listener:
            yield listener
    elif console.format == "table" and (console.verbose or console.shows_progress):
        yield PlainProgress(console)
    else:
        yield nobody


class PlainProgress:
    """One line for each step that is complete or waits for something new, and for each unit's ending."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.Lock()
        self._waits: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        """Write the event's line, if it has one."""
        with self._lock:
            line = self._line(event)
            if line:
                self._console.note(line)

    def _line(self, event: Event) -> str:
        match event:
            case RunStarted(mode=mode, units=units):
                return f"{mode}: {units} units"
            case StepProgress(unit=unit, step=step, state="completed"):
                return f"{unit} {step} done"
            case StepProgress(unit=unit, step=step, state="waiting", detail=detail):
                news = "" if self._waits.get(unit) == detail else f"{unit} {step} waits: {detail}"
                self._waits[unit] = detail
                return news
            case UnitFinished(result=result) if result.status not in _NOT_RUN:
                return f"{result.id} {result.status}{f' ({result.code})' if result.code else ''}"
        return ""


def time_left(elapsed: float, ended: int, to_come: int) -> str:
    """Return in words how long the rest of a run takes at its pace so far, or nothing before a unit has ended.

    Args:
        elapsed: seconds since the run began.
        ended: units that ran and ended.
        to_come: units that run or wait.
    """
    if not ended or not to_come:
        return ""
    seconds = elapsed / ended * to_come
    if seconds < _MINUTE:
        return f", about {max(5, round(seconds / 5) * 5)} s left"
    minutes = round(seconds / _MINUTE)
    return f", about {minutes} min left" if minutes < _MINUTE else f", about {seconds / _MINUTE / _MINUTE:.1f} h left"


class DrawnProgress:
    """A line for the run and one for each unit under way, redrawn in place."""

    def __init__(self, progress: "Progress", clock: Callable[[], float] = time.monotonic) -> None:
        self._progress = progress
        self._clock = clock
        self._began = clock()
        self._ran = 0
        self._lock = threading.Lock()
        self._run = progress.add_task("", start=False)
        self._mode = ""
        self._all = 0
        self._done = 0
        self._units: dict[str, TaskID] = {}

    def __call__(self, event: Event) -> None:
        """Redraw."""
        with self._lock:
            match event:
                case RunStarted(mode=mode, units=units):
                    self._mode, self._all, self._done, self._ran = mode, units, 0, 0
                    self._began = self._clock()
                case StepProgress():
                    self._step(event)
                case UnitFinished(result=result):
                    self._ran += result.status not in _NOT_RUN
                    self._finished(result.id)
            left = time_left(self._clock() - self._began, self._ran, self._all - self._done)
            self._progress.update(self._run, description=f"{self._mode}: {self._done:,} of {self._all:,} units{left}")

    def _step(self, event: StepProgress) -> None:
        task = self._units.get(event.unit)
        if task is None:
            if len(self._units) >= _SHOWN_AT_ONCE:
                return
            task = self._units[event.unit] = self._progress.add_task("", start=False)
        name = event.unit.partition("/")[2]
        self._progress.update(task, description=f"  {name} {event.step}{f': {event.detail}' if event.detail else ''}")

    def _finished(self, unit: str) -> None:
        task = self._units.pop(unit, None)
        if task is not None:
            self._progress.remove_task(task)
        self._done += 1


@contextlib.contextmanager
def _drawn(console: Console) -> Iterator[Listener]:
    from rich.console import Console as RichConsole
    from rich.progress import Progress, SpinnerColumn, TextColumn
    from rich.table import Column

    stream = RichConsole(file=console.err, no_color=not console.paint_note.on, highlight=False)
    line = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False, table_column=line))
    with Progress(*columns, console=stream, transient=True, expand=True) as progress:
        yield DrawnProgress(progress)
