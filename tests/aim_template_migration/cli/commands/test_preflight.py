"""``preflight`` from the command line, on the shared rehearsal cluster."""

import json

import jsonschema
import pytest

from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.documents.schemas import schema_files
from aim_template_migration.inspecting.checklist import EXCLUSION
from tests.aim_template_migration.cli.commands.test_inspect import assert_fits, flat


def arguments(cluster, *namespaces, identity="migration"):
    selected = [word for name in namespaces for word in ("--namespace", name)]
    return ["preflight", *selected, "--kubeconfig", cluster.kubeconfig(identity)]


def test_a_healthy_cluster(aim, cluster):
    before = cluster.audit().mutations
    ran = aim(*arguments(cluster, "team-a", "team-b"))
    assert (ran.code, ran.err) == (0, "")
    assert "RECORD THESE UIDs" in ran.out
    assert EXCLUSION in flat(ran.out)
    assert "Go on only once you have looked at SameBuild, OperatorAtWork by yourself: 12 ok" in flat(ran.out)
    assert ran.out.splitlines()[-1] == (
        "  aim-template-migration plan --namespace team-a --namespace team-b --runtime-projection-mode MODE "
        f"--output-dir DIR --kubeconfig {cluster.kubeconfig('migration')}"
    )
    assert_fits(ran.out.partition("Next:")[0])  # a command to copy is one line
    assert cluster.audit().mutations == before
    assert cluster.audit().secret_reads == 0


def test_json_records_the_uids(aim, cluster):
    ran = aim(*arguments(cluster, "team-a"), "-o", "json")
    assert ran.code == 0
    jsonschema.Draft202012Validator(json.loads(schema_files()["preflight-v1.json"])).validate(ran.document)
    (service,) = ran.document["services"]
    assert {item["role"] for item in service["recorded"]} == {
        "service", "inferenceService", "templateCache", "artifact", "pvc",
    }  # fmt: skip
    assert all(len(item["uid"]) == 36 for item in service["recorded"])


def test_a_reader_may_plan_and_is_told_what_applying_needs(aim, cluster):
    ran = aim(*arguments(cluster, "team-a", identity="viewer"))
    assert ran.code == 0
    assert "attention  WritesPermitted" in ran.out
    assert "the identity may not patch aimservices.aim.eai.amd.com in namespace team-a" in flat(ran.out)


@pytest.mark.parametrize("namespaces", [["nowhere"], ["team-a", "nowhere"], ["kube-system"]])
def test_namespaces_that_stop(aim, cluster, namespaces):
    ran = aim(*arguments(cluster, *namespaces))
    assert ran.code == 4
    assert "stop       NamespacesReadable" in ran.out
    assert "STOP:" in ran.out
    assert ran.out.splitlines()[-1].startswith("  aim-template-migration preflight --namespace ")


def test_commands_that_come_next_repeat_operator_and_connection(aim, cluster):
    options = ["--operator", "platform/bridge", "--request-timeout", "90s"]
    ran = aim(*arguments(cluster, "nowhere", identity="viewer"), *options)
    read, apply, again = ran.out.splitlines()[-3:]
    assert read == "  aim-template-migration rbac read --namespace nowhere --operator platform/bridge"
    assert apply == read.replace("rbac read", "rbac apply")
    assert again.endswith("--request-timeout 90s")


@pytest.mark.parametrize("given", ["bridge", "a/b/c", "/b", "A/b"])
def test_an_operator_is_named_with_its_namespace(aim, cluster, given):
    assert aim(*arguments(cluster, "team-a"), "--operator", given).code == 2


@pytest.mark.parametrize("given", [[], ["-A"], ["-n", "*"], ["-n", ""]])
def test_only_explicit_namespaces_are_taken(aim, given):
    assert aim("preflight", *given).code == 2


@pytest.mark.parametrize(
    ("world", "line"),
    [
        ("bridge-warning", "BridgeProven"),
        ("predecessor-not-ready", "PredecessorsServing"),
        ("no-bridge", "BridgeProven"),
    ],
)
def test_worlds_in_which_the_runbook_says_stop(aim, world, line, tmp_path):
    with RehearsalSession(load_world(world), work_dir=tmp_path) as session:
        ran = aim(*arguments(session, *session.namespaces))
    assert ran.code == 4
    assert f"stop       {line}" in ran.out


def test_an_unreachable_server(aim, tmp_path):
    assert aim("preflight", "-n", "team-a", "--kubeconfig", tmp_path / "none").code == 4
