"""After a commit on a real kube-apiserver: the manifests of ``convert --plan`` are what is there, to kubectl."""

import os
import subprocess
import threading
from datetime import UTC, datetime

import pytest

from aim_api.bridge import PRESERVE_GENERATION
from aim_api.kinds import AIM_PROFILE, AIM_SERVICE, AIM_SERVICE_TEMPLATE, INFERENCE_SERVICE
from aim_template_migration.applying.events import nobody
from aim_template_migration.applying.run import ApplyOptions, apply_plan
from aim_template_migration.cli.main import main
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import Settings, make_plan
from tests.aim_template_migration.applying.on_server import staged

pytestmark = pytest.mark.kubectl
WORLD = "shared-happy-path"


@pytest.fixture
def stage(aim_plane):
    with staged(WORLD, aim_plane) as made:
        yield made


def kubectl(plane, *arguments):
    command = ["kubectl", *(str(argument) for argument in arguments)]
    environment = {"PATH": os.environ["PATH"], **plane.kubectl_environment("admin")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def differences(plane, *arguments):
    """Return the lines that kubectl diff says differ, without kubectl's own record of what was applied last."""
    compared = kubectl(plane, "diff", *arguments)
    assert compared.returncode in (0, 1), compared.stderr
    lines = [line for line in compared.stdout.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return [line for line in lines if '{"apiVersion"' not in line]


def manifest_of(item):
    """Return the manifest that a live object was applied from, with comments and what the API server adds left out."""
    metadata = {key: item["metadata"][key] for key in ("name", "namespace", "labels") if key in item["metadata"]}
    value = {"apiVersion": "aim.eai.amd.com/v1alpha1", "kind": item["kind"], "metadata": metadata, "spec": item["spec"]}
    return emit(value).replace("spec:\n", "spec:  # as we want it\n")


def git_folder(stage, folder):
    """Write the manifests that a team would keep in Git: its services and templates."""
    folder.mkdir()
    for namespace in stage.world.namespaces:
        kinds = (AIM_SERVICE, AIM_SERVICE_TEMPLATE)
        items = [item for kind in kinds for item in stage.client.list_all(kind, namespace).items]
        (folder / f"{namespace}.yaml").write_text("---\n".join(manifest_of(item) for item in items))
    return folder


def listed(stage, kind):
    return [item for namespace in stage.world.namespaces for item in stage.client.list_all(kind, namespace).items]


def services(stage):
    return listed(stage, AIM_SERVICE)


def workloads(stage):
    return [
        (item["metadata"]["uid"], item["metadata"]["generation"], item["spec"])
        for item in listed(stage, INFERENCE_SERVICE)
    ]


def commit(stage, plane, folder):
    def connected():
        return connect(ConnectionOptions(kubeconfig=str(plane.kubeconfig("admin"))))

    settings = Settings(namespaces=stage.world.namespaces, runtime_projection_mode="Both")
    made = make_plan(connected(), settings, now=datetime.now(UTC), plan_id="real")
    publish_directory(folder / "plan", made.files)
    options = ApplyOptions(
        plan=folder / "plan", result=folder / "plan" / "apply-result.json", commit=True, soak_seconds=0.1
    )
    outcome = apply_plan(options, connected, listener=nobody, stop=threading.Event())
    assert [(unit.status, unit.message) for unit in outcome.result.units] == [("succeeded", "")] * 2


def test_git_follows_a_cutover_without_expiring_a_pin(stage, aim_plane, tmp_path, capsys):
    git = git_folder(stage, tmp_path / "git")
    applied = kubectl(aim_plane, "apply", "-f", git)
    assert applied.returncode == 0, applied.stderr
    stage.operator.settle()
    commit(stage, aim_plane, tmp_path)
    before = workloads(stage)
    generations = [item["metadata"]["generation"] for item in services(stage)]

    # The manifests as they were would be refused, so Git has to follow.
    assert "exclude each other" in kubectl(aim_plane, "diff", "-f", git).stderr
    code = main(["convert", str(git), "--in-place", "--plan", str(tmp_path / "plan")])
    assert code == 0, capsys.readouterr().err

    assert differences(aim_plane, "-f", git) == []
    assert differences(aim_plane, "--server-side", "--force-conflicts", "-f", git) == []
    for command in (("apply",), ("replace",)):
        done = kubectl(aim_plane, *command, "-f", git)
        assert done.returncode == 0, done.stderr
        stage.operator.settle()
        assert [item["metadata"]["generation"] for item in services(stage)] == generations
        assert all(PRESERVE_GENERATION in item["metadata"]["annotations"] for item in services(stage))
        assert workloads(stage) == before
        assert kubectl(aim_plane, "diff", "-f", git).returncode == 0
    text = "".join(path.read_text() for path in sorted(git.iterdir()))
    assert text.count("spec:  # as we want it") == 4
    assert text.count("kind: AIMProfile\n") == len(listed(stage, AIM_PROFILE)) == 2

    assert main(["convert", str(git), "--check", "--plan", str(tmp_path / "plan")]) == 0
