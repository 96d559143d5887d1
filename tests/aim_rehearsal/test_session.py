"""A rehearsal as a whole: what is up, who may do what, what is counted."""

import threading

import pytest

from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE, AIM_SERVICE, CRD, POD, Kind
from aim_api.tree import get_int
from aim_rehearsal.client import ApiError, Client
from aim_rehearsal.operator import Misbehaviour, ProjectionMode
from aim_rehearsal.session import AuditSummary, RehearsalSession, summarize
from aim_rehearsal.worlds import load_world, parse_world

SECRET = Kind("Secret", "", "v1", "secrets")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with RehearsalSession(load_world("shared-happy-path"), work_dir=tmp_path_factory.mktemp("session")) as running:
        yield running


def refused(call, *arguments, **keywords):
    with pytest.raises(ApiError) as caught:
        call(*arguments, **keywords)
    return caught.value.status


def test_the_world_is_up_and_settled(session):
    assert session.namespaces == ("team-a", "team-b")
    for namespace in session.namespaces:
        (service,) = session.client.list_all(AIM_SERVICE, namespace).items
        assert get_int(service, "status", "observedGeneration") == 1
    assert "AIMService/team-a/qwen-chat" in session.objects


def test_each_identity_may_do_what_it_must_and_no_more(session):
    migration, viewer = (Client.from_kubeconfig(session.kubeconfig(identity)) for identity in ("migration", "viewer"))
    before = session.audit()
    profile = {
        "apiVersion": AIM_PROFILE.api_version,
        "kind": "AIMProfile",
        "metadata": {"name": "p", "namespace": "team-a"},
        "spec": {"image": "x:1"},
    }
    (artifact,) = migration.list_all(AIM_ARTIFACT, "team-a").items
    name = artifact["metadata"]["name"]
    assert migration.list_all(CRD).items
    migration.create(AIM_PROFILE, profile)
    protect = {"metadata": {"annotations": {"aim.eai.amd.com/eviction-protected": "true"}}}
    migration.merge_patch(AIM_ARTIFACT, "team-a", name, protect)
    operations = [{"op": "test", "path": "/metadata/name", "value": "qwen-chat"}]
    migration.json_patch(AIM_SERVICE, "team-a", "qwen-chat", operations, dry_run=True)
    assert refused(migration.delete, AIM_PROFILE, "team-a", "p") == 403
    assert refused(migration.list_all, SECRET, "team-a") == 403
    assert refused(migration.merge_patch, POD, "team-a", "x", {}) == 403
    assert refused(viewer.create, AIM_PROFILE, profile) == 403
    assert viewer.list_all(AIM_PROFILE, "team-a").items
    after = session.audit()
    assert (after.mutations - before.mutations, after.dry_runs - before.dry_runs) == (4, 1)
    assert (after.deletes - before.deletes, after.secret_reads - before.secret_reads) == (1, 1)
    session.client.delete(AIM_PROFILE, "team-a", "p")


def test_kubeconfigs_are_private(session):
    assert session.kubeconfig("viewer").stat().st_mode & 0o777 == 0o600


def test_writes_are_told_from_dry_runs_reviews_and_reads():
    def event(verb, resource, uri="/x", group=""):
        return {"verb": verb, "requestURI": uri, "objectRef": {"resource": resource, "apiGroup": group}}

    assert summarize(
        [
            event("get", "aimservices"),
            event("patch", "aimservices", "/x?dryRun=All"),
            event("patch", "aimservices"),
            event("create", "selfsubjectaccessreviews", group="authorization.k8s.io"),
            event("deletecollection", "pods"),
            event("watch", "secrets"),
        ]
    ) == AuditSummary(mutations=2, dry_runs=1, deletes=1, secret_reads=1)


def test_a_world_can_bring_its_operator_s_settings_and_the_caller_wins(tmp_path):
    world = load_world("no-bridge")
    assert RehearsalSession(world, work_dir=tmp_path).settings.misbehaviour is Misbehaviour.NO_BRIDGE
    given = RehearsalSession(world, misbehaviour=Misbehaviour.SLOW, projection_mode="Reduced", work_dir=tmp_path)
    assert given.settings.misbehaviour is Misbehaviour.SLOW
    assert given.settings.projection_mode is ProjectionMode.REDUCED


def test_an_unknown_mode_is_an_error_and_case_counts(tmp_path):
    with pytest.raises(ValueError, match="both"):
        RehearsalSession(load_world("shared-happy-path"), projection_mode="both", work_dir=tmp_path)


def test_nothing_runs_before_it_is_entered_or_after_it_failed_to_start(tmp_path):
    session = RehearsalSession(load_world("shared-happy-path"), work_dir=tmp_path)
    with pytest.raises(RuntimeError, match="not been entered"):
        session.kubeconfig()
    threads = set(threading.enumerate())
    manifest = "{kind: AIMService, apiVersion: aim.eai.amd.com/v1alpha2, metadata: {name: s, namespace: n}}"
    broken = parse_world("broken", f"summary: s\nnamespaces: [n]\nobjects: [{manifest}]\n")
    with pytest.raises(ApiError):
        RehearsalSession(broken, work_dir=tmp_path).__enter__()
    started = set(threading.enumerate()) - threads
    assert [thread.name for thread in started if thread.name.startswith("operator-")] == []
