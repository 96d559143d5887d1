"""All worlds at once on one local API: the operator leaves them alone, and a plan shows the codes that they claim."""

from datetime import UTC, datetime

import pytest

from aim_api.kinds import DEPLOYMENT, INFERENCE_SERVICE, PVC
from aim_api.tree import get_str
from aim_rehearsal.client import Client
from aim_rehearsal.operator import BridgeOperator, Settings
from aim_rehearsal.roles import MIGRATION, OPERATOR
from aim_rehearsal.worlds import apply_world, load_world, world_names
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import make_plan
from aim_template_migration.planning.settings import Settings as PlanSettings
from tests.support.worlds import renamed

pytestmark = pytest.mark.slow

# Worlds that need an operator of their own, whose cluster-scoped objects would disturb another world, or whose names
# hold for their own namespace alone.
ALONE = ("no-bridge", "bridge-warning", "cluster-target-missing", "target-cache-owned", "target-cache-conflict")
TOGETHER = [name for name in world_names() if name not in ALONE]
MODE = "Both"
WORKLOAD = {kind.name: kind for kind in (INFERENCE_SERVICE, DEPLOYMENT, PVC)}


@pytest.fixture(scope="module")
def clients(local_server):
    return {
        identity: Client(local_server.url, token=local_server.token(identity), ca_pem=local_server.ca_pem)
        for identity in ("admin", OPERATOR)
    }


@pytest.fixture(scope="module")
def loaded(clients):
    """Every world in namespaces of its own, with one operator for all of them."""
    worlds = {name: renamed(name, f"w{number}") for number, name in enumerate(TOGETHER)}
    objects = {name: apply_world(world, clients["admin"]) for name, world in worlds.items()}
    with BridgeOperator(clients[OPERATOR], Settings()) as operator:
        operator.settle()
        yield worlds, objects


def codes(server, world, folder):
    """Return all outcomes and reasons of a plan, made with the rights of a migration."""
    kubeconfig = server.write_kubeconfig(folder / "kubeconfig", MIGRATION)
    cluster = connect(ConnectionOptions(kubeconfig=str(kubeconfig)))
    try:
        settings = PlanSettings(namespaces=world.namespaces, runtime_projection_mode=MODE)
        plan = make_plan(cluster, settings, now=datetime.now(UTC), plan_id="test").plan
    finally:
        cluster.close()
    return {unit.outcome for unit in plan.units} | {reason.code for unit in plan.units for reason in unit.reasons}


@pytest.mark.parametrize("name", TOGETHER)
def test_a_plan_of_a_world_shows_its_codes(loaded, local_server, tmp_path, name):
    world = loaded[0][name]
    assert codes(local_server, world, tmp_path) == set(world.codes)


@pytest.mark.parametrize("name", TOGETHER)
def test_the_operator_writes_nothing_to_a_loaded_workload(loaded, clients, name):
    for reference, obj in loaded[1][name].items():
        kind = next(
            (item for item in (INFERENCE_SERVICE, DEPLOYMENT, PVC) if reference.startswith(f"{item.name}/")), None
        )
        if kind is None:
            continue
        live = clients["admin"].get(kind, obj["metadata"]["namespace"], obj["metadata"]["name"])
        assert get_str(live, "metadata", "resourceVersion") == get_str(obj, "metadata", "resourceVersion")


@pytest.mark.parametrize("name", ALONE)
def test_a_world_with_an_operator_of_its_own_shows_its_codes(name, tmp_path):
    from aim_rehearsal.session import RehearsalSession

    with RehearsalSession(load_world(name), work_dir=tmp_path) as session:
        assert codes(session.server, session.world, tmp_path) == set(session.world.codes)


def test_a_real_server_takes_every_world_and_the_operator_settles(aim_plane):
    admin = Client(aim_plane.url, token=aim_plane.token("admin"), ca_pem=aim_plane.ca_file.read_text())
    for number, name in enumerate(TOGETHER):
        apply_world(renamed(name, f"r{number}"), admin)
    with BridgeOperator(admin, Settings()) as operator:
        operator.settle()
