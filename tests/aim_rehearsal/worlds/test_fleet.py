"""Generated fleets: repeatable, mixed, and with the codes that they claim."""

from datetime import UTC, datetime

import pytest

from aim_api.kinds import AIM_SERVICE, INFERENCE_SERVICE
from aim_api.tree import get_int, get_str
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import WorldError, fleet
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import make_plan
from aim_template_migration.planning.settings import Settings


def test_the_same_seed_gives_the_same_fleet_and_another_gives_another():
    assert fleet(2, 5, seed=7) == fleet(2, 5, seed=7)
    assert fleet(2, 5, seed=7).objects != fleet(2, 5, seed=8).objects


def test_every_object_has_an_identity_of_its_own():
    objects = fleet(3, 12).objects
    assert len({get_str(item, "metadata", "uid") for item in objects}) == len(objects)
    places = {
        (item["kind"], get_str(item, "metadata", "namespace"), get_str(item, "metadata", "name")) for item in objects
    }
    assert len(places) == len(objects)
    assert sum(item["kind"] == "AIMService" for item in objects) == 36


def test_schema_defaults_are_filled_in_so_that_a_later_write_changes_nothing_else():
    service = next(item for item in fleet(1, 1).objects if item["kind"] == "AIMService")
    assert (service["spec"]["adapterMode"], service["spec"]["replicas"]) == ("static", 1)


@pytest.mark.parametrize(("namespaces", "services"), [(0, 1), (1, 0), (1000, 1000)])
def test_a_fleet_has_a_size(namespaces, services):
    with pytest.raises(WorldError, match=f"not {namespaces}x{services}"):
        fleet(namespaces, services)


@pytest.mark.slow
def test_a_plan_of_a_fleet_shows_its_codes_and_the_operator_leaves_it_alone(tmp_path):
    world = fleet(4, 12)
    with RehearsalSession(world, work_dir=tmp_path) as session:
        cluster = connect(ConnectionOptions(kubeconfig=str(session.kubeconfig())))
        settings = Settings(namespaces=world.namespaces, runtime_projection_mode="Both")
        units = make_plan(cluster, settings, now=datetime.now(UTC), plan_id="test").plan.units
        cluster.close()
        assert len(units) == 48
        assert {unit.outcome for unit in units} | {reason.code for unit in units for reason in unit.reasons} == set(
            world.codes
        )
        for item in session.client.list_all(INFERENCE_SERVICE).items:
            assert get_int(item, "metadata", "generation") == 1
        observed = [
            get_int(item, "status", "observedGeneration") for item in session.client.list_all(AIM_SERVICE).items
        ]
        assert set(observed) == {1}
