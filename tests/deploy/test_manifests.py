"""What is deployed is what the tool says: its commands, its roles, and no automatic rerun."""

import copy
import subprocess

import pytest

from aim_template_migration.cli.main import main
from aim_template_migration.cli.parser import build_parser
from tests.support.manifests import DEPLOY, JOBS, documents, installed, job

NAMESPACES = ("--namespace", "team-a", "--namespace", "team-b")


@pytest.mark.parametrize("role", ["read", "apply"])
def test_the_roles_are_those_that_rbac_prints(role, capsys):
    assert main(["rbac", role, *NAMESPACES]) == 0
    assert (DEPLOY / f"rbac-{role}.yaml").read_text() == capsys.readouterr().out


@pytest.mark.parametrize("role", ["read", "apply"])
def test_every_role_is_bound_to_its_own_identity_and_nothing_else_is(role):
    name = f"aim-template-migration-{role}"
    granted = {(item["kind"], item["metadata"].get("namespace")) for item in documents(f"rbac-{role}.yaml")}
    bound = [item for item in documents("bindings.yaml") if item["metadata"]["name"] == name]
    assert {(item["roleRef"]["kind"], item["metadata"].get("namespace")) for item in bound} == granted
    for item in bound:
        assert item["roleRef"]["name"] == name
        assert item["subjects"] == [{"kind": "ServiceAccount", "name": name, "namespace": "aim-template-migration"}]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_is_never_run_again_by_itself(name):
    spec = job(name)["spec"]
    assert spec["backoffLimit"] == 0
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert spec.get("completions", 1) == spec.get("parallelism", 1) == 1


@pytest.mark.parametrize("name", JOBS)
def test_a_job_runs_a_command_of_the_tool(name):
    (container,) = job(name)["spec"]["template"]["spec"]["containers"]
    parsed = build_parser().parse_args(container["args"])
    assert parsed.command == ("plan" if name == "plan-job.yaml" else "apply")
    assert getattr(parsed, "commit", False) == (name == "commit-job.yaml")


def test_only_what_writes_has_the_rights_to_write():
    accounts = {name: job(name)["spec"]["template"]["spec"]["serviceAccountName"] for name in JOBS}
    assert accounts == {
        "plan-job.yaml": "aim-template-migration-read",
        "dry-run-job.yaml": "aim-template-migration-apply",
        "commit-job.yaml": "aim-template-migration-apply",
    }


def test_the_plan_stays_where_the_next_job_looks_for_it():
    first, *others = (job(name)["spec"]["template"]["spec"]["containers"][0]["args"] for name in JOBS)
    directory = next(word.partition("=")[2] for word in first if word.startswith("--output-dir="))
    assert all(f"--plan={directory}" in words for words in others)
    (claim,) = (item for item in installed() if item["kind"] == "PersistentVolumeClaim")
    for name in JOBS:
        volumes = job(name)["spec"]["template"]["spec"]["volumes"]
        assert volumes[0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]


def test_the_jobs_differ_in_name_identity_and_command_only():
    shapes = []
    for name in JOBS:
        shape = copy.deepcopy(job(name))
        shape["metadata"].pop("name")
        pod = shape["spec"]["template"]["spec"]
        pod.pop("serviceAccountName")
        pod["containers"][0].pop("args")
        shapes.append(shape)
    assert shapes[0] == shapes[1] == shapes[2]
    (reader,) = documents("reader.yaml")
    pod = shapes[0]["spec"]["template"]["spec"]
    for key in ("securityContext", "volumes", "restartPolicy"):
        assert reader["spec"][key] == pod[key]
    reading, writing = reader["spec"]["containers"][0], pod["containers"][0]
    assert {**reading, "command": None} == {**writing, "command": None}


def test_a_mount_leaves_private_files_private():
    for name in JOBS:
        context = job(name)["spec"]["template"]["spec"]["securityContext"]
        assert context["fsGroupChangePolicy"] == "OnRootMismatch"


def test_the_image_runs_as_the_user_of_the_manifests():
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    assert "USER 65532:65532" in lines
    assert 'ENTRYPOINT ["aim-template-migration"]' in lines
    assert 'CMD ["--help"]' in lines


@pytest.mark.kubectl
def test_kustomize_builds_it():
    built = subprocess.run(["kubectl", "kustomize", str(DEPLOY)], capture_output=True, text=True, check=True)
    assert built.stdout.count("\nkind: ") + built.stdout.startswith("kind: ") >= len(list(installed()))
