"""Options of ``plan``."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aim_template_migration.cli.failures import wrong_usage
from aim_template_migration.cli.options.shared import (
    ConnectionArguments,
    declare_connection,
    declare_output,
    read_connection,
)
from aim_template_migration.cli.options.values import explicit_namespaces, positive

Mode = Literal["Exhaustive", "Reduced", "Both"]
_MODES: dict[str, Mode] = {"Exhaustive": "Exhaustive", "Reduced": "Reduced", "Both": "Both"}
_MOST_WORKERS = 16
_MODE_HELP = "the operator's exact runtime projection mode: Exhaustive, Reduced or Both (case-sensitive)"


@dataclass(frozen=True, slots=True)
class PlanArguments:
    """What ``plan`` was asked.

    Attributes:
        namespaces: the selected namespaces.
        mode: the operator's runtime projection mode.
        output_dir: the plan directory to make.
        accept_observed_generation: take status.observedGeneration for a proof of the bridge.
        require_automatic: let manual units change the exit code.
        workers: how many processes classify, None for as many as the fleet is worth.
        connection: how to reach the cluster.
    """

    namespaces: tuple[str, ...]
    mode: Mode
    output_dir: Path
    accept_observed_generation: bool
    require_automatic: bool
    workers: int | None
    connection: ConnectionArguments


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = (
        "%(prog)s --namespace NS [--namespace NS ...]\n"
        "         --runtime-projection-mode MODE --output-dir DIR [options]"
    )
    group = parser.add_argument_group("what to plan")
    declare_namespaces(group)
    group.add_argument("--runtime-projection-mode", metavar="MODE", help=f"{_MODE_HELP}; required")
    group.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="plan directory to make; it must not exist; required"
    )
    group.add_argument(
        "--accept-observed-generation",
        action="store_true",
        help="take status.observedGeneration for a proof of the bridge where it sets no condition BridgeCompatible",
    )
    group.add_argument("--require-automatic", action="store_true", help="exit 3 where a unit is manual")
    group.add_argument(
        "--workers",
        type=_workers,
        metavar="N",
        help="processes that classify namespaces; 1 needs the least memory (default: for a large fleet several, as "
        "processors and memory allow)",
    )
    declare_connection(parser)
    declare_output(parser)


def declare_namespaces(group: "argparse._ArgumentGroup") -> None:
    """Add the options that select namespaces, and the one that is refused with a reason."""
    group.add_argument(
        "-n", "--namespace", action="append", metavar="NS", help="namespace to read; repeatable; required"
    )
    group.add_argument("-A", "--all-namespaces", action="store_true", help=argparse.SUPPRESS)


def _workers(text: str) -> int:
    number = positive(text)
    if number > _MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {_MOST_WORKERS}, the most processes that are started")
    return number


def read_mode(text: str | None) -> Mode:
    """Return the runtime projection mode.

    Raises:
        CommandStopped: it is missing or unknown.
    """
    hint = "look at the operator's own argument --runtime-projection-mode; it can't be read through the Kubernetes API"
    if not text:
        raise wrong_usage("--runtime-projection-mode is missing: state Exhaustive, Reduced or Both", hint=hint)
    if text not in _MODES:
        raise wrong_usage(
            f"--runtime-projection-mode {text!r} is none of Exhaustive, Reduced and Both (case-sensitive)", hint=hint
        )
    return _MODES[text]


def read(parsed: argparse.Namespace) -> PlanArguments:
    """Return the options.

    Raises:
        CommandStopped: a namespace, the mode or the directory is missing or makes no sense.
    """
    namespaces = explicit_namespaces(parsed.namespace, every=parsed.all_namespaces)
    mode = read_mode(parsed.runtime_projection_mode)
    directory: Path | None = parsed.output_dir
    if directory is None:
        raise wrong_usage(
            "--output-dir is missing: name a directory that does not exist yet", hint="--output-dir ./migration-plan"
        )
    return PlanArguments(
        namespaces=namespaces,
        mode=mode,
        output_dir=directory,
        accept_observed_generation=parsed.accept_observed_generation,
        require_automatic=parsed.require_automatic,
        workers=parsed.workers,
        connection=read_connection(parsed),
    )
