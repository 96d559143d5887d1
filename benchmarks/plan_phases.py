"""Reads and classifies what a plan would, and stops there; ``python -m benchmarks.plan_phases KUBECONFIG NAMESPACE…``.

Up to here a fleet is read, reduced, sanitised and classified, in as many processes as the command would take: every
service has its closure, its findings, its outcome, its pins, its steps, and its text. What is left to the whole command
is to write: the plan, the backup, and the summary.
"""

import sys

from aim_template_migration.cycle_collection import without_cycle_collection
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.classifying import namespace_texts
from aim_template_migration.planning.inventory import read_cluster_scope
from aim_template_migration.planning.settings import Settings


def main() -> None:
    """Classify the namespaces of the command line."""
    kubeconfig, *namespaces = sys.argv[1:]
    settings = Settings(namespaces=tuple(namespaces), runtime_projection_mode="Both")
    cluster = connect(ConnectionOptions(kubeconfig=kubeconfig), environ={})
    with without_cycle_collection():
        scope = read_cluster_scope(cluster)
        texts = namespace_texts(cluster, scope, settings, sorted(namespaces), workers=None)
        units = sum(len(text.outlines) for text in texts)
    print(units)


if __name__ == "__main__":
    main()
