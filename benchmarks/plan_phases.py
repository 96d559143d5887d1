"""Reads and classifies what a plan would, and stops there; ``python -m benchmarks.plan_phases KUBECONFIG NAMESPACE…``.

Up to here a fleet is read, reduced, sanitised and classified: every service has its closure, its findings, its outcome,
its pins and its steps. What is left to the whole command is text and disk: the plan, the backup, and the summary.
"""

import sys

from aim_template_migration.cycle_collection import without_cycle_collection
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.assess import assess
from aim_template_migration.planning.inventory import read_cluster_scope, read_namespaces
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import Snapshot


def main() -> None:
    """Classify the namespaces of the command line."""
    kubeconfig, *namespaces = sys.argv[1:]
    settings = Settings(namespaces=tuple(namespaces), runtime_projection_mode="Both")
    cluster = connect(ConnectionOptions(kubeconfig=kubeconfig), environ={})
    with without_cycle_collection():
        scope = read_cluster_scope(cluster)
        units = 0
        for namespace in read_namespaces(cluster, sorted(namespaces)):
            units += len(assess(Snapshot(scope, (namespace,)), settings).units)
    print(units)


if __name__ == "__main__":
    main()
