"""What ``rehearse`` can show, listed: the sample fleets and the faults."""

from aim_rehearsal.worlds import load_world, world_names
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.text import wrapped
from aim_template_migration.documents.plan import API_VERSION, Document
from aim_template_migration.rehearsing.faults import FAULTS, Fault


class WorldEntry(Document, frozen=True):
    """One sample fleet.

    Attributes:
        name: its name, for ``--world``.
        summary: what it shows.
        codes: every outcome and reason in its plan.
    """

    name: str
    summary: str
    codes: tuple[str, ...]


class WorldList(Document, frozen=True):
    """The answer of ``rehearse --list-worlds``.

    Attributes:
        worlds: every sample fleet.
    """

    api_version: str
    kind: str
    worlds: tuple[WorldEntry, ...]


class FaultStep(Document, frozen=True):
    """A step at which a fault can come up.

    Attributes:
        step: the step's name.
        code: the code with which its unit ends; empty for a success.
        next_step: what an administrator does.
    """

    step: str
    code: str
    next_step: str


class FaultEntry(Document, frozen=True):
    """One fault.

    Attributes:
        name: its name, for ``--fault``.
        summary: what happens.
        takes_step: whether ``--fault NAME@STEP`` can name where.
        steps: where it can come up, the default first.
        answer: what the tool does about it.
        rerun: what a rerun does.
    """

    name: str
    summary: str
    takes_step: bool
    steps: tuple[FaultStep, ...]
    answer: str
    rerun: str


class FaultList(Document, frozen=True):
    """The answer of ``rehearse --list-faults``.

    Attributes:
        faults: every fault.
    """

    api_version: str
    kind: str
    faults: tuple[FaultEntry, ...]


def list_worlds(console: Console) -> int:
    """Print the sample fleets; return 0."""
    worlds = tuple(
        WorldEntry(world.name, world.summary, world.codes) for world in (load_world(name) for name in world_names())
    )
    if console.format != "table":
        console.answer(encode(WorldList(API_VERSION, "WorldList", worlds), console.format))
        return DONE.number
    lines: list[str] = []
    for world in worlds:
        lines.append(console.paint(world.name, "bold"))
        lines += wrapped(world.summary, console.width, "  ")
        lines += wrapped(f"shows: {', '.join(world.codes)}", console.width, "  ", "         ")
    console.answer("\n".join(lines))
    return DONE.number


def list_faults(console: Console) -> int:
    """Print the faults; return 0."""
    if console.format != "table":
        entries = tuple(_entry(fault) for fault in FAULTS.values())
        console.answer(encode(FaultList(API_VERSION, "FaultList", entries), console.format))
        return DONE.number
    lines: list[str] = []
    for fault in FAULTS.values():
        lines.append(console.paint(fault.name, "bold"))
        lines += wrapped(fault.happens, console.width, "  ")
        steps = ", ".join(f"{step} {code}".strip() for step, code in fault.answers.items())
        lines += wrapped(f"{'at' if fault.takes_step else 'shows at'}: {steps}", console.width, "  ", "      ")
        lines += wrapped(f"answer: {fault.answer}", console.width, "  ", "          ")
    console.answer("\n".join(lines))
    return DONE.number


def _entry(fault: Fault) -> FaultEntry:
    steps = tuple(FaultStep(step, code, fault.next_step(step)) for step, code in fault.answers.items())
    return FaultEntry(fault.name, fault.happens, fault.takes_step, steps, fault.answer, f"A rerun {fault.rerun}.")
