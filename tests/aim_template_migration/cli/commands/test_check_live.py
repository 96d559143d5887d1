"""``check --live``: would apply still take every unit, as the cluster is now?"""

import pytest

from aim_api.kinds import AIM_SERVICE
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.kube import Cluster


@pytest.fixture
def session(tmp_path):
    with RehearsalSession(load_world("shared-happy-path"), work_dir=tmp_path) as session:
        yield session


def test_a_plan_holds_until_somebody_edits_a_service(aim, session, tmp_path):
    kubeconfig, plan = session.kubeconfig("viewer"), tmp_path / "plan"
    namespaces = ("--namespace", "team-a", "--namespace", "team-b")
    made = aim(
        "plan", *namespaces, "--runtime-projection-mode", "Both", "--output-dir", plan, "--kubeconfig", kubeconfig
    )
    assert made.code == 0, made.err
    live = ("check", "--plan", plan, "--live", "--kubeconfig", kubeconfig)
    sound = aim(*live)
    assert (sound.code, "every unit still holds on the cluster" in sound.out) == (0, True), sound.out + sound.err
    session.client.merge_patch(AIM_SERVICE, "team-a", "qwen-chat", {"spec": {"replicas": 3}}, manager="kubectl-patch")
    edited = aim(*live)
    assert edited.code == 3
    assert "PinEdited  AIMService/team-a/qwen-chat" in edited.out
    assert aim("check", "--plan", plan).code == 0
    document = aim(*live, "-o", "json").document
    assert document["accepted"] is True
    assert [(item["code"], item["object"]) for item in document["live"]] == [
        ("PinEdited", "AIMService/team-a/qwen-chat")
    ]
    made_elsewhere = plan / "plan.json"
    made_elsewhere.write_text(made_elsewhere.read_text().replace('"serverVersion": "v1.', '"serverVersion": "v0.'))
    (plan / "plan.generated.json").write_text(made_elsewhere.read_text())
    (notice,) = aim(*live, "-o", "json").document["notices"]
    assert notice.startswith("the API server has version v1.")
    assert "when the plan was made." in aim(*live).out
    assert session.audit("viewer").mutations == session.audit("viewer").dry_runs == 0


@pytest.mark.parametrize("ends", ["well", "early"])
def test_what_the_server_warns_of_while_reading_is_shown_once(aim, session, tmp_path, monkeypatch, ends):
    warning = "v1alpha1 AIMService is deprecated"
    monkeypatch.setattr(Cluster, "read_warnings", (warning,))
    namespace = "team-a" if ends == "well" else "none"
    arguments = ("--namespace", namespace, "--runtime-projection-mode", "Both", "--output-dir", tmp_path / "plan")
    planned = aim("plan", *arguments, "--kubeconfig", session.kubeconfig("viewer"))
    assert planned.code == (0 if ends == "well" else 4)
    assert planned.err.count(f"warning: the API server says: {warning}") == 1
    assert warning not in planned.out


def test_an_unreachable_cluster_starts_nothing(aim, session, tmp_path):
    kubeconfig, plan = session.kubeconfig("viewer"), tmp_path / "plan"
    arguments = ("--namespace", "team-a", "--runtime-projection-mode", "Both", "--output-dir", plan)
    assert aim("plan", *arguments, "--kubeconfig", kubeconfig).code == 0
    assert aim("check", "--plan", plan, "--live", "--kubeconfig", tmp_path / "none").code == 4
