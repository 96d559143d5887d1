"""What looking asks of the API server: nothing but the read role's own rows."""

from datetime import UTC, datetime

import pytest

from aim_api.kinds import CRD, NAMESPACE
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.inspecting.inspection import InspectOptions, inspect_plan
from aim_template_migration.inspecting.preflight import run_preflight
from aim_template_migration.inspecting.verification import VerifyOptions, verify_plan
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.kube.errors import ClusterError
from aim_template_migration.kube.permissions import permissions_of
from tests.aim_template_migration.inspecting.rehearsals import Rehearsed
from tests.aim_template_migration.test_permissions import (
    asked,
    eventually,
    fleet,
    planned,
    roles,
    table,
    without,
)

__all__ = ["fleet"]


def look(plan, connected):
    """Run every command that only looks; return the exit code of inspect."""
    now = datetime.now(UTC)
    verify_plan(VerifyOptions(plan), connected, now=now)
    return inspect_plan(InspectOptions(plan), connected, now=now).exit_code


def test_looking_asks_for_reads_of_the_table_alone(tmp_path):
    with RehearsalSession(load_world("shared-happy-path"), work_dir=tmp_path) as session:
        rehearsed = Rehearsed(session, tmp_path / "plan")
        rehearsed.plan()
        rehearsed.apply()

        def viewer():
            return connect(ConnectionOptions(kubeconfig=str(session.kubeconfig("viewer"))), environ={})

        assert look(tmp_path / "plan", viewer) == 0
        cluster = viewer()
        run_preflight(cluster, session.namespaces, now=datetime.now(UTC))
        cluster.close()
        events = [event for event in session.server.audit_events() if event["user"]["username"] == "viewer"]
    assert asked(events) <= table(permissions_of("read"))
    assert {verb for _, _, verb in asked(events)} == {"get", "list"}
    copied = {("apps", "replicasets", "list"), ("batch", "jobs", "list")}  # rehearse alone asks for them
    unused = table(permissions_of("read")) - asked(events) - copied
    # A plan of these services has no cluster-scoped object of its own.
    assert {verb for _, _, verb in unused} <= {"get"}
    assert {resource for _, resource, _ in unused} <= {
        "aimclustermodels", "aimclusterprofiles", "aimclusterservicetemplates", "clusterservingruntimes",
    }  # fmt: skip


def looked(fleet, user):
    """Return the exit code of inspect, or what was refused."""
    try:
        return look(fleet.folder / "plan", lambda: fleet.connect(user))
    except ClusterError as error:
        return str(error)


def migrate(fleet) -> None:
    applier = fleet.user_with(roles("apply", fleet.namespaces))
    eventually(lambda: planned(fleet, applier), lambda result: not isinstance(result, str))
    publish_directory(fleet.folder / "plan", fleet.plan(applier).files)
    assert fleet.apply(applier, fleet.folder / "plan", commit=True).exit_code == 0


@pytest.mark.slow
def test_on_a_real_server_the_read_role_is_enough_and_each_of_its_gets_is_needed(fleet):
    migrate(fleet)
    whole = roles("read", fleet.namespaces)
    reader = fleet.user_with(whole)
    # The result lies elsewhere, so that a confirmation is not on record here.
    assert eventually(lambda: looked(fleet, reader), lambda result: result == 3) == 3
    for row in permissions_of("read"):
        if row.optional or row.verb != "get" or row.kind in (CRD, NAMESPACE) or not row.kind.namespaced:
            continue
        user = fleet.user_with(without(whole, "Role", row.kind.plural, "get"))
        said = eventually(
            lambda user=user: looked(fleet, user),
            lambda result, row=row: isinstance(result, str) and row.kind.plural in result,
        )
        assert f'cannot get resource "{row.kind.plural}"' in str(said)
