"""``check``: lint a plan as apply will, and show every edit since it was made."""

import argparse
from pathlib import Path

import msgspec

from aim_template_migration.applying.edits import Edit, edited_bodies, find_edits
from aim_template_migration.applying.plan_files import PlanFiles, PlanRejected, plan_path, read_generated
from aim_template_migration.applying.preflight import require_evidence, require_sound_plan
from aim_template_migration.applying.selection import ApplyOptions, select_units
from aim_template_migration.applying.structure import structural_faults
from aim_template_migration.cli.console import Console, Paint
from aim_template_migration.cli.exit_codes import DONE, FINDINGS
from aim_template_migration.cli.options.check import CheckArguments, read
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.text import count, heading, wrapped
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import API_VERSION, Document, Finding, PlanError, decode_plan
from aim_template_migration.documents.private_files import PrivateFileError, require_private_directory
from aim_template_migration.documents.private_files import read as read_private
from aim_template_migration.inspecting.revalidation import revalidate_plan

KIND = "PlanCheck"


class EditFinding(Document, frozen=True):
    """One edit since the plan was made, and whether apply accepts it.

    Attributes:
        where: the unit or target, and the field.
        what: what was done to it.
        allowed: whether apply accepts the edit.
    """

    where: str
    what: str
    allowed: bool


class PlanCheck(Document, frozen=True):
    """What ``check`` found.

    Attributes:
        path: the plan that was checked.
        plan_sha256: SHA-256 of its bytes.
        accepted: whether apply would accept the plan's file.
        edits: every edit since the plan was made.
        problems: every other thing that apply would refuse, each a sentence; that a unit is Dedicated comes first.
        revalidated: whether the units were revalidated on the cluster.
        live: what apply would stop units for, as the cluster is now.
        notices: versions that are others than when the plan was made; they stop nothing.
    """

    api_version: str
    kind: str
    path: str
    plan_sha256: str
    accepted: bool
    edits: tuple[EditFinding, ...]
    problems: tuple[str, ...]
    revalidated: bool = False
    live: tuple[Finding, ...] = ()
    notices: tuple[str, ...] = ()


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Check a plan; return 0 where apply would accept it, and 3 where it would not.

    Raises:
        CommandStopped: the file or, with ``--live``, the cluster can't be read.
    """
    arguments = read(parsed)
    path = plan_path(arguments.plan)
    with translated():
        data = read_private(path)
    checked = _checked(path, data)
    if arguments.live and checked.accepted:
        with translated():
            checked = _revalidated(checked, PlanFiles(path, decode_plan(data), checked.plan_sha256), arguments, console)
    if console.format == "table":
        console.answer("\n".join(_lines(checked, console.paint, console.width)))
    else:
        console.answer(encode(checked, console.format))
    return FINDINGS.number if not checked.accepted or _stopped(checked) else DONE.number


def _revalidated(checked: PlanCheck, files: PlanFiles, arguments: CheckArguments, console: Console) -> PlanCheck:
    cluster = open_cluster(arguments.connection, console)
    try:
        found = revalidate_plan(files, cluster, edited_bodies(read_generated(files), files.plan))
    finally:
        cluster.close()
    live = tuple(
        Finding(code=item.code, object=item.unit, message=item.message, advice=CODES[item.code].advice)
        for item in found.findings
    )
    return msgspec.structs.replace(checked, revalidated=True, live=live, notices=found.notices)


def _stopped(checked: PlanCheck) -> list[Finding]:
    """Return what apply would stop for; a unit that was cut over by this plan is none of it."""
    return [item for item in checked.live if item.code != "AlreadyCutOver"]


def _checked(path: Path, data: bytes) -> PlanCheck:
    sha256 = digest_bytes(data)
    try:
        files = PlanFiles(path, decode_plan(data), sha256)
    except PlanError as error:
        return _result(path, sha256, (), (str(error),))
    edits: tuple[Edit, ...] = ()
    problems: list[str] = []
    try:
        generated = read_generated(files)
        edits = find_edits(generated, files.plan)
        require_evidence(files, generated)  # as apply does, before all else: an edited Dedicated unit is called that
    except PlanRejected as error:
        problems.append(str(error))
    problems += (*_directory_faults(path.parent), *structural_faults(files.plan))
    if not problems and all(edit.allowed for edit in edits):
        problems += _last_word(files)
    return _result(path, sha256, edits, tuple(problems))


def _directory_faults(directory: Path) -> list[str]:
    try:
        require_private_directory(directory)
    except PrivateFileError as error:
        return [str(error)]
    return []


def _last_word(files: PlanFiles) -> list[str]:
    """Ask apply's own checks, so that both never disagree."""
    try:
        require_sound_plan(files, "")
        select_units(files.plan, ApplyOptions(files.path))
    except PlanRejected as error:
        return [str(error)]
    return []


def _result(path: Path, sha256: str, edits: tuple[Edit, ...], problems: tuple[str, ...]) -> PlanCheck:
    return PlanCheck(
        api_version=API_VERSION,
        kind=KIND,
        path=str(path),
        plan_sha256=sha256,
        accepted=not problems and all(edit.allowed for edit in edits),
        edits=tuple(EditFinding(edit.where, edit.what, edit.allowed) for edit in edits),
        problems=problems,
    )


def _lines(checked: PlanCheck, paint: Paint, width: int) -> list[str]:
    lines = [f"plan     {checked.path}", f"SHA-256  {checked.plan_sha256}"]
    if checked.problems:
        lines += heading(f"PROBLEMS ({len(checked.problems)})", paint)
        for problem in checked.problems:
            lines += wrapped(problem, width, "  - ", "    ")
    for title, allowed in (("EDITS that apply refuses", False), ("EDITS that apply accepts", True)):
        edits = [edit for edit in checked.edits if edit.allowed is allowed]
        lines += heading(f"{title} ({len(edits)})", paint) if edits else []
        for edit in edits:
            lines += [*wrapped(edit.where, width, "  "), *wrapped(edit.what, width, "      ")]
    if not checked.accepted:
        return [*lines, "", paint("apply would refuse this plan.", "red")]
    for notice in checked.notices:
        lines += ["", *wrapped(f"Note that {notice}.", width)]
    for item in checked.live:
        lines += [
            "",
            f"{item.code}  {item.object}",
            *wrapped(item.message, width, "  "),
            *wrapped(item.advice, width, "  "),
        ]
    if _stopped(checked):
        units = count(len(_stopped(checked)), "unit")
        return [*lines, "", paint(f"The plan is sound, but apply would stop {units} as the cluster is now.", "red")]
    edited = f"with {count(len(checked.edits), 'allowed edit')}" if checked.edits else "as it was made"
    return [*lines, "", paint(f"The plan is sound, {edited}; {_outlook(checked)}.", "green")]


def _outlook(checked: PlanCheck) -> str:
    return "every unit still holds on the cluster" if checked.revalidated else "apply still revalidates every unit"
