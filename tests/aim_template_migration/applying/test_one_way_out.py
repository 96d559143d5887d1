"""Writes leave from one place, where each has an attempt on record before it."""

import ast
from pathlib import Path

import aim_template_migration
from aim_template_migration.kube import Cluster

PACKAGE = Path(aim_template_migration.__file__).parent
WRITER = "applying/writer.py"


def sends_through_a_cluster(path):
    """Return whether a module calls ``send`` of something that is named like a cluster."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr == "send" and "cluster" in ast.unparse(node.value).lower():
            return True
    return False


def test_only_the_writer_sends_writes():
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if sends_through_a_cluster(path)}
    assert found == {WRITER}


def test_a_cluster_has_no_other_way_to_write():
    public = {name for name in vars(Cluster) if not name.startswith("_")}
    assert public == {
        "requests_sent", "read_warnings", "server_version", "get", "list", "list_reduced", "list_pages",
        "access_review", "prepare_create", "prepare_json_patch", "send", "close",
    }  # fmt: skip
