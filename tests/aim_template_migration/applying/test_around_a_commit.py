"""What a commit leaves to others: their fields, their objects, names that exist twice, and the plan on disk."""

import hashlib
import json
import threading
from dataclasses import replace

import pytest

from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    POD,
    PVC,
    REPLICA_SET,
)
from aim_api.labels import FIELD_MANAGER
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from tests.aim_template_migration.applying.bench import unit_of
from tests.aim_template_migration.applying.test_end_to_end import TOOL, Story

WORLD = "shared-happy-path"
NAMESPACES = ("team-a", "team-z")
KEPT = (
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    AIM_ARTIFACT,
    INFERENCE_SERVICE,
    DEPLOYMENT,
    REPLICA_SET,
    POD,
    PVC,
)
WRITTEN = (AIM_SERVICE, AIM_ARTIFACT)
PLACES_OF_DISCOVERY = ("/api", "/apis", "/openapi")


def twice():
    """The first namespace of the world, and another with objects of the same names."""
    world = load_world(WORLD)
    first, second = NAMESPACES
    mine = [item for item in world.objects if first in json.dumps(item)]
    theirs = json.loads(json.dumps(mine).replace(first, second))
    cluster_wide = [item for item in world.objects if not any(name in json.dumps(item) for name in world.namespaces)]
    return replace(world, namespaces=NAMESPACES, objects=(*cluster_wide, *mine, *theirs))


def seen(session, kinds):
    """Return objects by kind, namespace and name."""
    return {
        (kind.name, item["metadata"].get("namespace", ""), item["metadata"]["name"]): item
        for kind in kinds
        for item in session.client.list_all(kind).items
    }


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A commit of services that have the same names in two namespaces, with what was there before."""
    directory = tmp_path_factory.mktemp("twice")
    with RehearsalSession(twice(), work_dir=directory) as session:
        story = Story(session, directory)
        story.plan()
        story.before = seen(session, KEPT)
        story.apply("commit", commit=True)
        story.after = seen(session, (*KEPT, AIM_PROFILE, AIM_PROFILE_CACHE))
        yield story


def test_services_of_one_name_in_two_namespaces_keep_what_is_theirs(told):
    assert told.outcomes["commit"].result.counts["succeeded"] == 2
    services = [key for key in told.after if key[0] == AIM_SERVICE.name]
    assert sorted(services) == [("AIMService", namespace, "qwen-chat") for namespace in NAMESPACES]
    uids = {item["metadata"]["uid"]: key for key, item in told.after.items()}
    owned = 0
    for key, item in told.after.items():
        for owner in item["metadata"].get("ownerReferences", ()):
            owned += 1
            place = uids.get(owner["uid"], (owner["kind"], key[1], owner["name"]))
            assert (place[0], place[1], place[2]) == (owner["kind"], key[1], owner["name"]), key
    assert owned >= 4 * len(NAMESPACES)


def test_nobody_deletes_anything_that_was_there(told):
    for key, item in told.before.items():
        assert told.after[key]["metadata"]["uid"] == item["metadata"]["uid"], key
    assert [event for identity in told.trails["commit"].identities
            for event in told.trails["commit"].deletes(identity)] == []  # fmt: skip


def test_fields_stay_with_those_who_manage_them(told):
    for key, item in told.before.items():
        before, after = managers(item), managers(told.after[key])
        if key[0] in {kind.name for kind in WRITTEN}:
            assert {name for name in after - before if name[0] == FIELD_MANAGER}, key
        assert before - after == set(), f"{key}: nobody's fields are forgotten"


def test_our_fields_are_known_at_the_version_that_stays(told):
    for key, item in told.after.items():
        kind = next(kind for kind in (*KEPT, AIM_PROFILE, AIM_PROFILE_CACHE) if kind.name == key[0])
        for entry in item["metadata"].get("managedFields", ()):
            if entry["manager"] == FIELD_MANAGER:
                assert entry["apiVersion"] == kind.api_version
                assert "subresource" not in entry


def managers(item):
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", ""))
        for entry in item["metadata"].get("managedFields", ())
    }


def test_nothing_is_discovered_that_the_kinds_in_question_do_not_need(told):
    for chapter in ("plan", "commit"):
        paths = {event.uri.partition("?")[0].rstrip("/") for event in told.trails[chapter].requests(TOOL)}
        assert paths
        for path in paths:
            assert path not in PLACES_OF_DISCOVERY
            assert not path.startswith("/openapi")
            assert path == "/version" or len(path.split("/")) > 4 or path.startswith("/api/v1/"), path


def test_a_plan_that_is_edited_while_it_is_applied_changes_nothing_of_the_run(bench):
    original = (bench.plan_directory / "plan.json").read_bytes()

    def edit(request, when):
        if when == "before" and request.kind.name == "AIMProfile":
            changed = original.replace(b"qwen3-32b-latency", b"another-target-xx")
            assert changed != original
            bench.rewrite(changed, everywhere=True)

    bench.cluster.trouble = edit
    outcome = bench.apply()
    assert unit_of(outcome).status == "succeeded"
    assert outcome.result.plan_sha256 == hashlib.sha256(original).hexdigest()
    assert not any("another-target" in json.dumps(sent.body) for sent in bench.cluster.sent)


@pytest.mark.parametrize("place", range(1, 60, 7))
def test_a_process_that_has_no_memory_left_ends_its_unit_and_lies_about_nothing(several, place):
    bench, count = several(2), [0]
    lock = threading.Lock()

    def starve(kind, name):
        if not bench.result_path.exists():
            return  # an error before anything is started is for the command line to tell
        with lock:
            count[0] += 1
            if count[0] == place:
                raise MemoryError

    bench.cluster.on_read = starve
    outcome = bench.apply()
    statuses = {unit.status for unit in outcome.result.units}
    assert count[0] >= place
    assert statuses <= {"succeeded", "failed", "unknown", "skipped"}
    assert outcome.exit_code == 1
    for unit in outcome.result.units:
        assert unit.status != "succeeded" or "ConfirmNoRollout" in unit.completed_steps
    assert "Traceback" not in bench.result_path.read_text()
    bench.journal()
