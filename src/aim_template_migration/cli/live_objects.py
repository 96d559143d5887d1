"""Objects of a live cluster for ``convert --from-cluster``, which looks up what manifests lack."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import cache

from aim_api.kinds import Kind
from aim_api.tree import JsonObject, get_str
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.failures import CommandStopped, wrong_usage
from aim_template_migration.cli.options.shared import ConnectionArguments
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import NotFound, NotServed
from aim_template_migration.mapping.recipes.context import Live, LiveModels


@contextlib.contextmanager
def live_objects(
    connection: ConnectionArguments, namespace: str, console: Console
) -> Iterator[tuple[Live, LiveModels]]:
    """Connect, and give readers of single objects and of models.

    Args:
        connection: how to reach the cluster.
        namespace: the namespace of objects that state none.
        console: where warnings of the server are shown.

    Raises:
        CommandStopped: there is no usable connection, or a request failed.
    """
    with translated():
        cluster = open_cluster(connection, console)
        try:
            yield _single(cluster, namespace), _models(cluster)
        finally:
            cluster.close()


def _single(cluster: Cluster, namespace: str) -> Live:
    """Return a reader of single objects that asks for each at most once."""
    known: dict[tuple[Kind, str, str], JsonObject | None] = {}

    def look_up(kind: Kind, stated: str, name: str) -> JsonObject | None:
        where = stated or namespace
        if kind.namespaced and not where:
            raise _without_namespace(f"the {kind.name} {name}")
        key = (kind, where if kind.namespaced else "", name)
        if key not in known:
            try:
                known[key] = cluster.get(kind, name, where if kind.namespaced else None)
            except (NotFound, ValueError):
                known[key] = None
        return known[key]

    return look_up


def _models(cluster: Cluster) -> LiveModels:
    """Return a reader of models that lists those of a kind and namespace at most once."""

    @cache
    def look_up(kind: Kind, namespace: str) -> Sequence[JsonObject]:
        if kind.namespaced and not namespace:
            raise _without_namespace(f"an {kind.name} by its image")
        try:
            found = cluster.list(kind, namespace if kind.namespaced else None)
        except NotServed:
            return ()
        return sorted(found, key=lambda model: get_str(model, "metadata", "name") or "")

    return look_up


def _without_namespace(what: str) -> CommandStopped:
    return wrong_usage(
        f"{what} can't be looked up: its namespace is stated nowhere",
        hint="name the namespace of such objects with --namespace",
    )
