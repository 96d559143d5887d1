"""What looking asks of the API server: nothing but the read role's own rows."""

from datetime import UTC, datetime

from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.inspecting.inspection import InspectOptions, inspect_plan
from aim_template_migration.inspecting.preflight import run_preflight
from aim_template_migration.inspecting.verification import VerifyOptions, verify_plan
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.kube.permissions import permissions_of
from tests.aim_template_migration.inspecting.rehearsals import Rehearsed
from tests.aim_template_migration.test_permissions import asked, table


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
