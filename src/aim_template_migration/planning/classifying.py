"""Which process classifies a namespace: this one for small fleets, several for large ones (shell)."""

from collections.abc import Generator, Iterator, Sequence

from aim_template_migration.kube import Cluster
from aim_template_migration.planning.inventory import read_namespaces
from aim_template_migration.planning.namespace_text import NamespaceText, namespace_text
from aim_template_migration.planning.processors import fitting_workers
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import ClusterScope

WORTH_WORKERS = 10_000
"""Objects left to read from which on workers are quicker, the second that it takes to start them included."""
_FIRST_LOOK = 2


def namespace_texts(
    cluster: Cluster, scope: ClusterScope, settings: Settings, names: Sequence[str], *, workers: int | None
) -> Iterator[NamespaceText]:
    """Read and classify namespaces, and yield what they give to the plan, in the order of ``names``.

    Args:
        cluster: the connection.
        scope: what was read outside namespaces.
        settings: the settings of the plan.
        names: the namespaces.
        workers: how many processes classify; 1 is this process alone, None as many as the fleet is worth.

    Raises:
        PlanningError: a namespace does not exist, or a worker was ended.
        ClusterError: a namespace or a list in it can't be read whole.
    """
    count = fitting_workers() if workers is None else workers
    done = 0
    if count == 1:
        yield from _alone(cluster, scope, settings, names)
        return
    if workers is None:
        done = yield from _while_it_is_small(cluster, scope, settings, names)
    if done < len(names):
        from aim_template_migration.planning.worker import Beginning  # noqa: PLC0415 - small fleets need none of it
        from aim_template_migration.planning.workers import Workers  # noqa: PLC0415

        with Workers(min(count, len(names) - done), Beginning(scope, settings)) as started:
            yield from started.texts(cluster, names[done:])


def _alone(cluster: Cluster, scope: ClusterScope, settings: Settings, names: Sequence[str]) -> Iterator[NamespaceText]:
    for namespace in read_namespaces(cluster, names):
        yield namespace_text(scope, namespace, settings)


def _while_it_is_small(
    cluster: Cluster, scope: ClusterScope, settings: Settings, names: Sequence[str]
) -> Generator[NamespaceText, None, int]:
    """Classify in this process until it shows that workers are worth it; return how many namespaces that were."""
    done = objects = 0
    while done < len(names) and (not done or objects / done * (len(names) - done) < WORTH_WORKERS):
        few = names[done : done + max(_FIRST_LOOK, done)]
        for text in _alone(cluster, scope, settings, few):
            objects += text.objects
            yield text
        done += len(few)
    return done
