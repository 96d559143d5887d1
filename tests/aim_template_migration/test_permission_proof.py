"""On a real kube-apiserver each single permission that a command asks for is needed, and named where it lacks.

What a command asks for is read from the server's own audit log. Then each of these rows is taken out of the printed
roles alone, and the command has to say exactly which permission is missing.
"""

from datetime import UTC, datetime

import pytest

from aim_api.kinds import AIM_CLUSTER_MODEL, AIM_CLUSTER_PROFILE, AIM_MODEL, AIM_SERVICE, NAMESPACE
from aim_template_migration.applying.plan_files import PlanRejected, read_plan
from aim_template_migration.documents.preflight import Preflight
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.handoff.check import check_handoff, read_evidence
from aim_template_migration.inspecting.inspection import InspectOptions, inspect_plan
from aim_template_migration.inspecting.preflight import run_preflight
from aim_template_migration.inspecting.revalidation import revalidate_plan
from aim_template_migration.inspecting.verification import VerifyOptions, verify_plan
from aim_template_migration.kube.errors import ClusterError
from aim_template_migration.kube.permissions import PERMISSIONS, Permission, operator_permission, permissions_of
from tests.aim_template_migration.test_permissions import eventually, fleet, fleet_of, planned, roles, without

__all__ = ["fleet"]
pytestmark = pytest.mark.slow

SELECTED = Permission(NAMESPACE, "get", "read")
"""The selected namespaces, which rbac adds to the table's own row for kube-system."""


def closing(cluster, action):
    try:
        return action(cluster)
    finally:
        cluster.close()


def plan_it(fleet, user):
    return fleet.plan(user).plan.units


def dry_run_it(fleet, user):
    return applied(fleet, user, commit=False)


def commit_it(fleet, user):
    return applied(fleet, user, commit=True)


def applied(fleet, user, *, commit):
    """Return the outcome; raise what a failed unit was told by the server, as a command would print it."""
    outcome = fleet.apply(user, fleet.folder / "plan", commit=commit)
    failed = [unit for unit in outcome.result.units if unit.status == "failed"]
    if failed:
        raise PlanRejected(" | ".join(f"{unit.code}: {unit.server_message} {unit.message}" for unit in failed))
    return outcome


def revalidate_it(fleet, user):
    files = read_plan(fleet.folder / "plan")
    return closing(fleet.connect(user), lambda cluster: refusing(revalidate_plan(files, cluster, {}).findings))


def refusing(found):
    if any(item.code == "Forbidden" for item in found):
        raise PlanRejected(" | ".join(item.message for item in found))
    return found


def inspect_it(fleet, user):
    return inspect_plan(InspectOptions(fleet.folder / "plan"), lambda: fleet.connect(user), now=datetime.now(UTC))


def verify_it(fleet, user):
    return verify_plan(VerifyOptions(fleet.folder / "plan"), lambda: fleet.connect(user), now=datetime.now(UTC))


def handoff_it(fleet, user):
    (path,) = (fleet.folder / "plan").glob("dedicated-handoff-*.json")
    evidence = read_evidence(path)
    checked = closing(
        fleet.connect(user), lambda cluster: check_handoff(cluster, evidence, None, 1, at="2026-11-30T00:00:00Z")
    )
    assert checked.verdict == "go if", checked.differences
    return checked


def told(fleet, user, run):
    """Return what a command gives, or what it says was refused."""
    try:
        return run(fleet, user)
    except (ClusterError, PlanRejected) as error:
        return str(error)


def ready(fleet, *, commit=False):
    """Make the plan that a command needs, and commit it where it needs that, too."""
    applier = fleet.user_with(roles("apply", fleet.namespaces))
    eventually(lambda: planned(fleet, applier), lambda result: not isinstance(result, str))
    publish_directory(fleet.folder / "plan", fleet.plan(applier).files)
    if commit:
        assert fleet.apply(applier, fleet.folder / "plan", commit=True).exit_code == 0


def asked_rows(fleet, role, run):
    """Return the rows that a command asks for, by the server's own audit log, and whether it works with its role."""
    user = fleet.user_with(roles(role, fleet.namespaces))
    start = fleet.plane.audit_position()
    result = eventually(lambda: told(fleet, user, run), lambda result: not isinstance(result, str))
    assert not isinstance(result, str), result
    events = [event for event in fleet.plane.audit_trail(start).requests(user) if event.target and not event.is_review]
    asked = {(event.target.group, event.target.resource, event.verb) for event in events}
    rows = [row for row in permissions_of(role) if (row.kind.group, row.kind.plural, row.verb) in asked]
    assert asked == {(row.kind.group, row.kind.plural, row.verb) for row in rows}
    read = {event.target.name for event in events if event.target.resource == NAMESPACE.plural}
    return [*rows, *([SELECTED] if read & set(fleet.namespaces) else [])]


def wait_until_known(fleet, user, lacking):
    """Wait until the server has learned of the roles that a user was just given, all but the one row."""
    probes = [("list", kind, name) for kind in (AIM_MODEL, AIM_SERVICE) for name in fleet.namespaces]
    probes += [("list", kind, None) for kind in (AIM_CLUSTER_MODEL, AIM_CLUSTER_PROFILE)]
    wanted = [probe for probe in probes if probe[1].plural != lacking.kind.plural]
    cluster = fleet.connect(user)
    assert eventually(lambda: all(cluster.access_review(*probe) for probe in wanted), bool)
    cluster.close()


def assert_each_is_needed(fleet, role, run, rows):
    """Take each row out alone: its absence is named, or the row may be missing."""
    whole = roles(role, fleet.namespaces)
    optional = {(row.kind.plural, row.verb) for row in PERMISSIONS if row.optional}
    for row in rows:
        scope = "Role" if row.kind.namespaced else "ClusterRole"
        words = f'cannot {row.verb} resource "{row.kind.plural}"'
        if row is not SELECTED and (row.kind.plural, row.verb) in optional:
            continue
        user = fleet.user_with(without(whole, scope, row.kind.plural, row.verb))
        wait_until_known(fleet, user, row)
        said = told(fleet, user, run)
        assert isinstance(said, str), f"{row.verb} {row.kind.plural} is asked for, and nothing is missed without it"
        assert words in said, said


READING = [(plan_it, False), (revalidate_it, False), (inspect_it, True), (verify_it, True)]


@pytest.mark.parametrize(("run", "committed"), READING, ids=lambda value: getattr(value, "__name__", ""))
def test_of_each_command_that_reads_every_permission_is_needed_and_named(fleet, run, committed):
    ready(fleet, commit=committed)
    rows = asked_rows(fleet, "read", run)
    assert len(rows) > 10
    assert_each_is_needed(fleet, "read", run, rows)


def test_of_a_dry_run_every_permission_is_needed_and_named(fleet):
    ready(fleet)
    rows = asked_rows(fleet, "apply", dry_run_it)
    assert {row.verb for row in rows if row.role == "apply"} >= {"create", "patch"}
    assert_each_is_needed(fleet, "apply", dry_run_it, rows)


def test_of_a_commit_what_it_asks_beyond_a_dry_run_is_needed_and_named(aim_plane, tmp_path):
    with fleet_of(aim_plane, tmp_path / "first") as first:
        (tmp_path / "first").mkdir()
        ready(first)
        dry = {(row.kind.plural, row.verb) for row in asked_rows(first, "apply", dry_run_it)}
        rows = asked_rows(first, "apply", commit_it)
    beyond = [row for row in rows if (row.kind.plural, row.verb) not in dry]
    assert {row.kind.plural for row in beyond} >= {"servingruntimes"}
    for number, row in enumerate(beyond):
        folder = tmp_path / f"fleet-{number}"
        folder.mkdir()
        with fleet_of(aim_plane, folder) as fresh:
            ready(fresh)
            assert_each_is_needed(fresh, "apply", commit_it, [row])


def test_of_a_handoff_check_every_permission_is_needed_and_named(aim_plane, tmp_path):
    with fleet_of(aim_plane, tmp_path, "dedicated-caching") as dedicated:
        ready(dedicated)
        rows = asked_rows(dedicated, "read", handoff_it)
        assert_each_is_needed(dedicated, "read", handoff_it, rows)


def preflight_it(fleet, user) -> Preflight:
    return closing(fleet.connect(user), lambda cluster: run_preflight(cluster, fleet.namespaces, now=datetime.now(UTC)))


def test_preflight_names_each_missing_permission_of_reading_and_of_applying(fleet):
    whole = roles("apply", fleet.namespaces)
    for row in (*permissions_of("apply"), operator_permission(), SELECTED):
        scope = "Role" if row.kind.namespaced else "ClusterRole"
        resource = f"{row.kind.plural}.{row.kind.group}" if row.kind.group else row.kind.plural
        words = f"{row.verb} {resource}"
        user = fleet.user_with(without(whole, scope, row.kind.plural, row.verb))
        wait_until_known(fleet, user, row)
        lines = preflight_it(fleet, user).prerequisites
        lacks = [line for line in lines if line.code in ("ReadsPermitted", "WritesPermitted")]
        said = [text for line in lacks for text in (*line.evidence, *(item.message for item in line.findings))]
        assert said, words
        assert all(words in text for text in said), said
