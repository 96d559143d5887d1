"""Options that several commands share; names and meanings are kubectl's."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.options.values import (
    cutover_deadline,
    deployment_place,
    duration,
    duration_text,
    positive,
)

STEP_NAMES = (
    "CreateProfile",
    "AwaitProfile",
    "CreateProfileCache",
    "AwaitProfileCache",
    "ProtectArtifact",
    "ReverifyProfileCache",
    "CutOver",
    "ConfirmNoRollout",
)
"""The steps by name; stated here again, since the plan's own module takes long to import. A test compares both."""

STOP_POINTS = STEP_NAMES[:-1]
"""Where a run may stop: before the proof of a cutover it may not, or services would be moved without one."""


@dataclass(frozen=True, slots=True)
class ConnectionArguments:
    """How to reach the cluster.

    Attributes:
        kubeconfig: a file, None for kubectl's defaults.
        context: a context of it, None for the current one.
        impersonate: the user to act as, None for oneself.
        request_timeout: seconds for one request, None for the default.
    """

    kubeconfig: str | None
    context: str | None
    impersonate: str | None
    request_timeout: float | None

    def words(self) -> list[str]:
        """Return the options that say how the cluster is reached, as they would be typed again."""
        given = (
            ("--kubeconfig", self.kubeconfig),
            ("--context", self.context),
            ("--as", self.impersonate),
            ("--request-timeout", None if self.request_timeout is None else duration_text(self.request_timeout)),
        )
        return [word for option, value in given if value is not None for word in (option, value)]


@dataclass(frozen=True, slots=True)
class RunArguments:
    """How a run of apply goes; rehearse takes the same.

    Attributes:
        only: ids of the units to run, empty for all.
        limit: at most so many automatic units, None for all.
        fail_fast: begin no unit after one has failed.
        stop_before: the step before which units stop, or empty.
        parallel: units side by side.
        soak_seconds: how long after a cutover its pods are looked at again.
        cutover_deadline_seconds: how long the operator may take to observe a cutover; None for what the plan says.
    """

    only: tuple[str, ...]
    limit: int | None
    fail_fast: bool
    stop_before: str
    parallel: int
    soak_seconds: float
    cutover_deadline_seconds: float | None


def declare_connection(parser: argparse.ArgumentParser) -> None:
    """Add kubectl's connection options."""
    group = parser.add_argument_group("connection (as in kubectl)")
    group.add_argument("--kubeconfig", metavar="FILE", help="kubeconfig file (default: KUBECONFIG, ~/.kube/config)")
    group.add_argument("--context", metavar="NAME", help="context of the kubeconfig (default: its current one)")
    group.add_argument("--as", dest="impersonate", metavar="USER", help="user to impersonate")
    group.add_argument(
        "--request-timeout",
        type=duration,
        metavar="DURATION",
        help="how long the server may take for one request, for example 10s or 2m (default: 30s, 60s for a page of a "
        "list); the answer to a write is awaited as long again, at most 5s longer",
    )


def read_connection(parsed: argparse.Namespace) -> ConnectionArguments:
    """Return the connection options."""
    return ConnectionArguments(parsed.kubeconfig, parsed.context, parsed.impersonate, parsed.request_timeout)


def declare_operator(group: "argparse._ArgumentGroup") -> None:
    """Add the option that says where the operator's Deployment is."""
    group.add_argument(
        "--operator",
        type=deployment_place,
        metavar="NAMESPACE/NAME",
        help="the operator's Deployment (default: that of its chart, aim-system/aim-engine-controller-manager)",
    )


def operator_words(operator: tuple[str, str] | None) -> list[str]:
    """Return the option that names the operator's Deployment, as it would be typed again."""
    return [] if operator is None else ["--operator", "/".join(operator)]


def declare_output(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a command writes."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o",
        "--output",
        choices=("table", "json", "yaml"),
        default="table",
        help="how the answer on stdout is written (default: table)",
    )
    group.add_argument("--no-color", action="store_true", help="no colour; the variable NO_COLOR does the same")
    group.add_argument(
        "-v", "--verbose", action="store_true", help="details on stderr, and tracebacks of unexpected errors"
    )


def declare_plan(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the plan."""
    parser.add_argument("--plan", required=True, type=Path, metavar="PLAN", help="plan directory, or its plan.json")


def declare_run(parser: argparse.ArgumentParser, *, parallel: int, soak: str) -> None:
    """Add the options of a run, with the command's own defaults."""
    group = parser.add_argument_group("the run")
    group.add_argument(
        "--only",
        action="append",
        metavar="UNIT",
        help="run this unit only, for example AIMService/team-a/chat; repeatable",
    )
    group.add_argument("--limit", type=positive, metavar="N", help="run at most the first N automatic units")
    group.add_argument("--fail-fast", action="store_true", help="begin no further unit after one has failed")
    group.add_argument(
        "--stop-before",
        choices=STOP_POINTS,
        default="",
        metavar="STEP",
        help=f"stop each unit before this step: {', '.join(STOP_POINTS)}",
    )
    group.add_argument(
        "--parallel", type=positive, default=parallel, metavar="N", help=f"units side by side (default: {parallel})"
    )
    group.add_argument(
        "--soak",
        type=duration,
        default=soak,
        metavar="DURATION",
        help=f"how long after its cutover a unit's pods are looked at again (default: {soak})",
    )
    group.add_argument(
        "--cutover-deadline",
        type=cutover_deadline,
        metavar="DURATION",
        help="how long the operator may take to observe a cutover, at most 10m (default: as planned, 60s)",
    )


def read_run(parsed: argparse.Namespace) -> RunArguments:
    """Return the options of a run."""
    return RunArguments(
        only=tuple(parsed.only or ()),
        limit=parsed.limit,
        fail_fast=parsed.fail_fast,
        stop_before=parsed.stop_before,
        parallel=parsed.parallel,
        soak_seconds=parsed.soak,
        cutover_deadline_seconds=parsed.cutover_deadline,
    )
