"""Options of ``rehearse``."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.failures import wrong_usage
from aim_template_migration.cli.options.plan import Mode, read_mode
from aim_template_migration.cli.options.shared import (
    ConnectionArguments,
    RunArguments,
    declare_connection,
    declare_output,
    declare_run,
    read_connection,
    read_run,
)
from aim_template_migration.cli.options.values import explicit_namespaces, fleet_size, whole

DEFAULT_WORLD = "shared-happy-path"


@dataclass(frozen=True, slots=True)
class RehearseArguments:
    """What ``rehearse`` was asked.

    Attributes:
        world: the sample fleet, where nothing else is named.
        fleet: namespaces and services in each of the fleet to generate, None for none.
        seed: what the generated fleet depends on.
        namespaces: the namespaces of the caller's cluster to copy, empty for none.
        files: the files whose objects to load, empty for none; ``-`` is standard input.
        connection: how to reach the caller's cluster.
        list_worlds: list the sample fleets instead.
        mode: the simulated operator's runtime projection mode.
        output_dir: the plan directory to make and keep, None for a temporary one.
        serve: stay up after the run.
        by_hand: stay up instead of the run.
        fault: the fault that comes up in the commit, as ``NAME`` or ``NAME@STEP``, or empty.
        list_faults: list the faults instead.
        run: how dry run and commit go.
    """

    world: str
    fleet: tuple[int, int] | None
    seed: int
    namespaces: tuple[str, ...]
    files: tuple[Path, ...]
    connection: ConnectionArguments
    list_worlds: bool
    mode: Mode
    output_dir: Path | None
    serve: bool
    by_hand: bool
    fault: str
    list_faults: bool
    run: RunArguments


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s [--world NAME | --fleet NxM |\n         --namespace NS ... | --from FILE ...] [options]"
    _declare_subject(parser.add_argument_group("what to rehearse"))
    group = parser.add_argument_group("the rehearsal")
    group.add_argument(
        "--runtime-projection-mode",
        default="Both",
        metavar="MODE",
        help="the simulated operator's mode: Exhaustive, Reduced or Both, case-sensitive (default: Both)",
    )
    group.add_argument(
        "--output-dir",
        type=Path,
        metavar="DIR",
        help="plan directory to make and keep (default: a temporary one, removed)",
    )
    group.add_argument(
        "--serve",
        action="store_true",
        help="after plan, dry run and commit keep the local API and its operator up for kubectl, until Ctrl-C",
    )
    group.add_argument(
        "--by-hand",
        action="store_true",
        help="with --serve: skip the run, so that you make it yourself from a second terminal",
    )
    group.add_argument(
        "--fault",
        default="",
        metavar="NAME[@STEP]",
        help="let a fault come up in the commit, show what the tool answers, then run again; one unit after the other",
    )
    group.add_argument("--list-faults", action="store_true", help="list the faults and what the tool answers to each")
    declare_run(parser, parallel=8, soak="2s")
    declare_connection(parser)
    declare_output(parser)


def _declare_subject(group: "argparse._ArgumentGroup") -> None:
    group.add_argument("--world", metavar="NAME", help=f"sample fleet (default: {DEFAULT_WORLD})")
    group.add_argument("--list-worlds", action="store_true", help="list the sample fleets and what each shows")
    group.add_argument(
        "--fleet", type=fleet_size, metavar="NxM", help="generated fleet of N namespaces with M services each"
    )
    group.add_argument(
        "--seed", type=whole, metavar="N", help="with --fleet: another number gives another fleet (default: 1)"
    )
    group.add_argument(
        "-n",
        "--namespace",
        action="append",
        metavar="NS",
        help="your own cluster's namespace, copied into memory; the cluster is only read; repeatable",
    )
    group.add_argument("-A", "--all-namespaces", action="store_true", help=argparse.SUPPRESS)
    group.add_argument(
        "--from",
        dest="files",
        action="extend",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="objects from files: kubectl get -o yaml or json, or a plan's backup.yaml; - is standard input",
    )


def read(parsed: argparse.Namespace) -> RehearseArguments:
    """Return the options.

    Raises:
        CommandStopped: the mode is unknown, or options do not go together.
    """
    if parsed.by_hand and not parsed.serve:
        raise wrong_usage("--by-hand needs --serve: without the run there is nothing else to do")
    if parsed.by_hand and parsed.output == "json":
        raise wrong_usage("--by-hand has no report to print, so it takes no -o json")
    _require_one_subject(parsed)
    wants_namespaces = parsed.namespace is not None or parsed.all_namespaces
    return RehearseArguments(
        world=DEFAULT_WORLD if parsed.world is None else parsed.world,
        fleet=parsed.fleet,
        seed=1 if parsed.seed is None else parsed.seed,
        namespaces=explicit_namespaces(parsed.namespace, every=parsed.all_namespaces) if wants_namespaces else (),
        files=tuple(parsed.files or ()),
        connection=read_connection(parsed),
        list_worlds=parsed.list_worlds,
        mode=read_mode(parsed.runtime_projection_mode),
        output_dir=parsed.output_dir,
        serve=parsed.serve,
        by_hand=parsed.by_hand,
        fault=parsed.fault,
        list_faults=parsed.list_faults,
        run=read_run(parsed),
    )


def _require_one_subject(parsed: argparse.Namespace) -> None:
    """Refuse options that name two things to rehearse, and those that have nothing to apply to."""
    given = [
        option
        for option, is_given in (
            ("--world", parsed.world is not None),
            ("--fleet", parsed.fleet is not None),
            ("--namespace", parsed.namespace is not None or parsed.all_namespaces),
            ("--from", parsed.files is not None),
        )
        if is_given
    ]
    if len(given) > 1:
        raise wrong_usage(f"{given[0]} and {given[1]} exclude each other: one thing is rehearsed at a time")
    if parsed.seed is not None and parsed.fleet is None:
        raise wrong_usage("--seed needs --fleet: only a generated fleet depends on it")
    if "--namespace" not in given:
        for option in ("kubeconfig", "context", "impersonate", "request_timeout"):
            if getattr(parsed, option) is not None:
                name = "as" if option == "impersonate" else option.replace("_", "-")
                raise wrong_usage(f"--{name} needs --namespace: no other rehearsal reads a cluster")
