"""Write the reference pages that are made from the code: ``python tools/reference_docs.py``."""

from collections.abc import Mapping
from pathlib import Path

from aim_rehearsal.faults import Trouble
from aim_rehearsal.worlds import load_world, world_names
from aim_template_migration.cli.commands.explain import all_codes
from aim_template_migration.cli.exit_codes import EXIT_CODES
from aim_template_migration.cli.parser import COMMANDS, PROG
from aim_template_migration.cli.parser_contents import Option, commands, description, groups, usage
from aim_template_migration.rehearsing.faults import DEADLINE_SECONDS, FAULTS, Fault

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
_MADE = "<!-- Made from the code by tools/reference_docs.py; edit it there. -->"
_KINDS = (
    (
        "outcome",
        "Outcomes",
        "What a unit is, beside the reasons below, the first of which is the outcome of a manual unit.",
    ),
    (
        "reason",
        "Reasons",
        "Why a unit is not automatic. The outcome is the first of them, in this order, that was found.",
    ),
    ("warning", "Warnings", "What never keeps a unit from being automatic, but should be read."),
    (
        "imputation",
        "Imputation rules",
        "Where a value of a target came from that the predecessor does not state in that form.",
    ),
    ("stepFailure", "Step failures", "Why apply stopped one unit; the others go on unless it says so."),
    ("runFailure", "Run failures", "Why apply stopped the whole run before its next request."),
    ("unitResult", "Unit results", "What else can stand in a unit's result."),
    (
        "inspection",
        "Inspection",
        "Where a unit stands, and what reading says of a write whose outcome is on no record.",
    ),
    ("verification", "Verification", "The facts that verify reads of a migrated unit, and what the migration leaves."),
    ("prerequisite", "Prerequisites", "The lines of preflight's checklist."),
    ("exitCode", "Exit codes", "See also exit-codes.md."),
)

_FAULTS_INTRO = f"""
`{PROG} rehearse --fault NAME[@STEP]` lets one of these come up in the commit of a rehearsal. It shows what the tool
answers, does what an administrator does, and runs again. One unit goes after the other, waits end after
{DEADLINE_SECONDS} s or a little more, and a request may take 5 s, so that a lost write is settled soon. With
`--serve --by-hand` a fault of a request comes up in the commit that you make from a second terminal.

Each entry names the steps at which the fault can come up, the default first, and the code with which the unit ends that
it befalls. Every row is tested.

The process of `kill` is a real one: the commit runs as a command of its own and gets a real SIGKILL. The others befall
a run in the rehearsal's own process, over real connections.
"""
_WORLDS_INTRO = f"""
Sample fleets for `{PROG} rehearse --world NAME`. Each shows one situation, and its codes are every
outcome and reason of a plan of it; the tests hold both to each other.

Instead of a world you can rehearse

- a generated fleet of any size, with mixed situations: `rehearse --fleet 50x20 --seed 7`;
- a copy of your own namespaces: `rehearse --namespace team-a --namespace team-b`. The cluster is only read, with the
  rights of `rbac read`; the copy stays in memory;
- objects from files: `rehearse --from FILE`, with what `kubectl get -o yaml --show-managed-fields` printed, Lists and
  several documents included, or with a plan's `backup.yaml`. What lacks status and UIDs is created anew, and the
  rehearsal says what that leaves out.

A copy keeps UIDs, generations, owner references, field managers and status. The simulated operator adds the bridge's
proofs to its services and says which of them your cluster lacks; see
[the simulated operator](operator-simulation.md).

A dry run and a commit of 1,000 services take some minutes on a small machine, since every request is a real one over
TLS; `--limit N` takes the first N automatic units.
"""


def reference_pages() -> Mapping[str, str]:
    """Return every page by file name."""
    return {
        "commands.md": _commands(),
        "codes.md": _codes(),
        "exit-codes.md": _exit_codes(),
        "faults.md": _faults(),
        "worlds.md": _worlds(),
    }


def _commands() -> str:
    lines = [_MADE, "", "# Commands", ""]
    lines += [f"- [`{command.name}`](#{command.name}): {command.summary}" for command in COMMANDS]
    for name, parser in commands().items():
        lines += ["", f"## {name}", "", description(parser), "", "```", usage(parser), "```"]
        for group in groups(parser):
            lines += ["", f"{group.title}:", "", *(_row(option) for option in group.options)]
    return "\n".join(lines) + "\n"


def _row(option: Option) -> str:
    called = f"{', '.join(option.names)} {option.value}".strip()
    return f"- `{called}`: {option.help}"


def _codes() -> str:
    lines = [_MADE, "", "# Codes", "", f"The closed set. `{PROG} explain CODE` prints the same."]
    for kind, title, intro in _KINDS:
        lines += ["", f"## {title}", "", intro, "", "| code | when | what to do |", "|---|---|---|"]
        lines += [
            f"| `{code.code}` | {code.summary} | {code.advice} |" for code in all_codes().values() if code.kind == kind
        ]
    return "\n".join(lines) + "\n"


_ZERO = """
Manual units alone leave 0; `plan --require-automatic` makes them 3.

`convert` and `validate` leave 0, with a message of their own, where their input holds no object of the AIM API: such
input is right as it stands, and CI gives them whatever files have changed. Who expects objects asks for `objects` in
the answer of `validate -o json`. What is named and absent, and a directory without manifests, are 4.
"""


def _exit_codes() -> str:
    lines = [_MADE, "", "# Exit codes", "", "Of those that apply, the first in this table is returned.", ""]
    lines += ["| code | word | when |", "|---|---|---|"]
    lines += [f"| {code.number} | {code.word} | {code.meaning} |" for code in EXIT_CODES]
    return "\n".join([*lines, "", *_ZERO.strip().splitlines()]) + "\n"


def _faults() -> str:
    lines = [_MADE, "", "# Faults", *_FAULTS_INTRO.rstrip().splitlines()]
    for title, takes_step in (("Faults of a request", True), ("Faults of the operator", False)):
        lines += ["", f"## {title}"]
        for fault in FAULTS.values():
            if fault.takes_step is takes_step:
                lines += ["", f"### {fault.name}", "", fault.happens, "", *_fault_table(fault), ""]
                lines += [fault.answer, "", *([fault.mending, ""] if fault.mending else []), f"A rerun {fault.rerun}."]
    return "\n".join(lines) + "\n"


def _fault_table(fault: Fault) -> list[str]:
    """Return the steps with the codes, those with the same answer in one row."""
    by_code: dict[str, list[str]] = {}
    for step, code in fault.answers.items():
        by_code.setdefault(code, []).append(step)
    rows = ["| step | the unit ends with | what an administrator does |", "|---|---|---|"]
    for code, steps in by_code.items():
        ending = f"`{code}`" if code else "its process" if fault.trouble is Trouble.KILL else "success"
        rows.append(f"| {', '.join(steps)} | {ending} | {fault.next_step(steps[0])} |")
    return rows


def _worlds() -> str:
    head = ["| world | what it shows | codes |", "|---|---|---|"]
    lines = [_MADE, "", "# Worlds", *_WORLDS_INTRO.splitlines(), "", *head]
    for world in (load_world(name) for name in world_names()):
        codes = ", ".join(f"`{code}`" for code in world.codes)
        lines.append(f"| {world.name} | {world.summary} | {codes} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in reference_pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()
