"""What to do with a rehearsal that stays up: kubectl commands, and the real commands for a second terminal (pure)."""

import shlex
from pathlib import Path

from aim_template_migration.cli.console import Paint
from aim_template_migration.cli.parser import PROG
from aim_template_migration.cli.rendering.text import heading, wrapped
from aim_template_migration.rehearsing.events import FleetLoaded


def serving_lines(
    fleet: FleetLoaded,
    *,
    admin_kubeconfig: Path,
    tool_kubeconfig: Path,
    mode: str,
    by_hand: bool,
    paint: Paint,
    width: int,
) -> list[str]:
    """Return the kubeconfig, three kubectl commands to try, and the commands of a migration by hand."""
    lines = [
        *heading("THE LOCAL API STAYS UP (Ctrl-C stops it)", paint),
        "In a second terminal:",
        f"  export KUBECONFIG={shlex.quote(str(admin_kubeconfig))}",
        *(f"  {command}" for command in _kubectl(fleet)),
    ]
    if not by_hand:
        text = (
            "The last command changes a service's spec: its pin expires, normal profile rendering resumes, and the "
            "workload rolls, as it would on a real cluster."
        )
        return [*lines, *wrapped(text, width)]
    intro = "And the migration itself, with the rights of the tool only:"
    return [*lines, *wrapped(intro, width), *(f"  {line}" for line in _by_hand(fleet, tool_kubeconfig, mode))]


def _kubectl(fleet: FleetLoaded) -> list[str]:
    first = next(iter(fleet.services), "AIMService/namespace/service")
    _, namespace, service = first.split("/")
    change = shlex.quote('{"spec":{"replicas":2}}')
    return [
        "kubectl get aimservice -A -o wide",
        f"kubectl get inferenceservice,pods -n {namespace}",
        f"kubectl patch aimservice {service} -n {namespace} --type merge -p {change}",
    ]


def _by_hand(fleet: FleetLoaded, kubeconfig: Path, mode: str) -> list[str]:
    config = f"--kubeconfig {shlex.quote(str(kubeconfig))}"
    selected = " ".join(f"--namespace {namespace}" for namespace in fleet.namespaces)
    return [
        f"{PROG} plan {selected} \\",
        f"  --runtime-projection-mode {mode} --output-dir ./migration-plan \\",
        f"  {config}",
        f"{PROG} show --plan ./migration-plan",
        f"{PROG} apply --plan ./migration-plan --result ./dry-run-result.json \\",
        f"  {config}",
        f"{PROG} apply --plan ./migration-plan --commit --soak 2s \\",
        f"  {config}",
    ]
