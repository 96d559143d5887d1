"""Files as the subject of a rehearsal: dumps with identity, desired state without, and what is said of either."""

import os
import shlex
import subprocess
import threading
from pathlib import Path

import pytest

from aim_api.kinds import INFERENCE_SERVICE
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_rehearsal.worlds.storing import stored_objects
from aim_template_migration.applying.events import nobody
from aim_template_migration.manifests.dumps import read_dump
from aim_template_migration.rehearsing.dumped import Dumped, DumpError, dumped_subject
from aim_template_migration.rehearsing.rehearsal import Rehearsal, RehearsalOptions, RunTuning

MANAGED = [{"manager": "kubectl", "operation": "Update", "fieldsV1": {}}]


@pytest.fixture(scope="module")
def live():
    return stored_objects(load_world("shared-happy-path").objects)


def dumped(objects, name="dump.yaml"):
    return [Dumped(item, f"{name}, line {number}") for number, item in enumerate(objects, 1)]


def subject(objects, *files):
    return dumped_subject(dumped(objects), files or ["dump.yaml"])


def service(**metadata):
    return {
        "apiVersion": "aim.eai.amd.com/v1alpha2",
        "kind": "AIMService",
        "metadata": {"name": "s", "namespace": "n", **metadata},
        "spec": {"model": {"name": "m"}},
    }


def refused(objects):
    with pytest.raises(DumpError) as caught:
        subject(objects)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_dumps_are_loaded_as_they_are(live):
    found = subject([item | {"metadata": item["metadata"] | {"managedFields": MANAGED}} for item in live])
    assert found.world.stored
    assert found.world.desired == ()
    assert found.world.namespaces == ("team-a", "team-b")
    assert {item["metadata"]["uid"] for item in found.world.objects} == {item["metadata"]["uid"] for item in live}
    assert found.not_rehearsed == ()


def test_what_dumps_lack_is_said(live):
    kept = [item for item in live if item["kind"] not in ("Pod", "Deployment")]
    bare = [{key: value for key, value in item.items() if key != "status"} for item in kept]
    no_status, no_managers, no_kinds = subject(bare).not_rehearsed
    assert "have a UID but no status (AIM" in no_status
    assert "--show-managed-fields" in no_managers
    assert no_kinds.startswith("The files hold no Deployment, Pod, which a plan looks at")
    assert "kubectl get deployments,pods -n NAMESPACE -o yaml --show-managed-fields" in no_kinds


def test_secrets_and_foreign_objects_are_left_out_and_counted(live):
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "x", "namespace": "team-a"},
        "data": {"k": "dg=="},
    }
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine", "namespace": "team-a"}}
    found = subject([*live, secret, secret, role, config])
    assert "Left out, since a rehearsal needs none of them: 1 Role, 2 Secret." in found.not_rehearsed
    assert {item["kind"] for item in found.world.objects} == {item["kind"] for item in live}


def test_one_object_in_both_versions_is_one_object(live):
    services = [item for item in live if item["kind"] == "AIMService"]
    both = [
        [item | {"apiVersion": f"aim.eai.amd.com/{version}"} for item in services]
        for version in ("v1alpha1", "v1alpha2")
    ]
    for order in ([*both[0], *both[1]], [*both[1], *both[0]]):
        loaded = subject(order).world.objects
        found = [item["apiVersion"] for item in loaded if item["kind"] == "AIMService"]
        assert found == ["aim.eai.amd.com/v1alpha2"] * 2


def test_two_states_of_one_object_are_refused():
    one, other = service(uid="u", resourceVersion="1"), service(uid="u", resourceVersion="2")
    said = refused([one, other])
    assert said.startswith("AIMService/n/s stands in two states, at dump.yaml, line 1 and at dump.yaml, line 2")


def test_what_cannot_be_loaded_is_named_with_its_place():
    assert "line 1 holds AIMService/s without metadata.namespace" in refused([service(namespace="")])
    newer = service() | {"apiVersion": "aim.eai.amd.com/v1beta7"}
    assert "line 1 holds AIMService/n/s at version v1beta7; the rehearsal knows v1alpha1 and v1alpha2" in refused(
        [newer]
    )
    assert refused([]) == "no AIMService stands in dump.yaml, so there is nothing to rehearse"


def test_desired_state_says_what_is_not_rehearsed():
    cache = {
        "apiVersion": "aim.eai.amd.com/v1alpha1",
        "kind": "AIMTemplateCache",
        "metadata": {"name": "c", "namespace": "n"},
        "spec": {"templateName": "t", "templateScope": "Namespace"},
    }
    made = cache | {
        "metadata": {**cache["metadata"], "labels": {"app.kubernetes.io/managed-by": "aim-service-controller"}}
    }
    found = subject([service(), made])
    assert [item["kind"] for item in found.world.desired] == ["AIMService"]
    first, second = found.not_rehearsed
    assert "1 object stands in the files without UID and status (AIMService/n/s)" in first
    assert "it is not rehearsed whether your services are Ready" in first
    assert second == "Left out, since controllers make them: 1 AIMTemplateCache."
    assert found.places == {"AIMService/n/s": "dump.yaml, line 1"}
    assert [item["kind"] for item in subject([service(), cache]).world.desired] == ["AIMService", "AIMTemplateCache"]


def test_a_plan_s_backup_is_brought_up_and_rehearsed_to_the_end(recorded, tmp_path):
    backup = recorded.directory / "backup.yaml"
    objects = [Dumped(item.value, item.place) for item in read_dump(backup.read_bytes(), "backup.yaml")]
    found = dumped_subject(objects, ["backup.yaml"])
    options = RehearsalOptions(
        subject=found, mode="Both", directory=tmp_path / "plan", work_dir=tmp_path, tuning=RunTuning(soak_seconds=0)
    )
    with Rehearsal(options) as rehearsal:
        report = rehearsal.run(lambda chapter: None, nobody, threading.Event()).report
    assert report.counts["succeeded"] == 2
    assert report.world == "objects of backup.yaml"
    assert report.not_rehearsed == found.not_rehearsed


@pytest.mark.slow
@pytest.mark.kubectl
def test_what_kubectl_dumps_is_rehearsed_as_the_tutorial_says(tmp_path):
    """Take the tutorial's own command, and rehearse what it wrote."""
    page = (Path(__file__).parents[3] / "docs" / "tutorial" / "first-rehearsal.md").read_text(encoding="utf-8")
    (command,) = [
        line for line in page.replace("\\\n", " ").splitlines() if line.startswith("kubectl get aimservices,")
    ]
    words = shlex.split(command.partition(">")[0])
    world = load_world("shared-happy-path")
    with RehearsalSession(world, work_dir=tmp_path) as session:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "KUBECONFIG": str(session.kubeconfig("admin")),
        }
        dump = subprocess.run(words, env=environment, capture_output=True, check=True).stdout
        (original,) = session.client.list_all(INFERENCE_SERVICE, "team-a").items
    found = dumped_subject([Dumped(item.value, item.place) for item in read_dump(dump, "dump")], ["dump"])
    assert (found.supplied, found.not_rehearsed) == ((), ())
    options = RehearsalOptions(
        subject=found, mode="Both", directory=tmp_path / "plan", work_dir=tmp_path, tuning=RunTuning(soak_seconds=0)
    )
    with Rehearsal(options) as rehearsal:
        report = rehearsal.run(lambda chapter: None, nobody, threading.Event()).report
    (unit,) = report.units
    assert unit.status == "succeeded"
    assert unit.inference_service.before == unit.inference_service.after
    assert unit.inference_service.after.uid == original["metadata"]["uid"]
