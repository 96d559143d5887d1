"""What lies beside a unit is listed once for each namespace, and several namespaces side by side."""

import threading
from concurrent.futures import ThreadPoolExecutor

from aim_template_migration.inspecting.neighbours import Neighbours


class Listing:
    """A cluster that answers the first list of a namespace only once that of the other one is under way, too."""

    def __init__(self):
        self.both = threading.Barrier(2, timeout=30)
        self.listed = []

    def list_reduced(self, kind, namespace, reduce):
        self.listed.append((kind.name, namespace))
        if kind.name == "AIMArtifact":
            self.both.wait()
        return [reduce({"metadata": {"name": f"{kind.name}-of-{namespace}"}})]


def test_namespaces_are_listed_side_by_side_and_each_only_once():
    cluster = Listing()
    neighbours = Neighbours(cluster)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(neighbours.of, ["team-a", "team-b", "team-a", "team-b"]))
    assert [item.artifacts[0]["metadata"]["name"] for item in found] == [
        "AIMArtifact-of-team-a", "AIMArtifact-of-team-b", "AIMArtifact-of-team-a", "AIMArtifact-of-team-b",
    ]  # fmt: skip
    assert len(cluster.listed) == len(set(cluster.listed)) == 4
