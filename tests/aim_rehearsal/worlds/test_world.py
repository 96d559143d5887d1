"""Every world is readable, and is what the operator itself would have made."""

import pytest

from aim_api.kinds import INFERENCE_SERVICE
from aim_rehearsal.operator import Settings, template_pipeline
from aim_rehearsal.operator.store import SERVICE, Store
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.writes import Render, covers
from aim_rehearsal.worlds import DEFAULT_WORLD, WorldError, load_world, parse_world, world_names
from aim_rehearsal.worlds.applying import object_reference
from aim_rehearsal.worlds.references import resolved_object
from aim_template_migration.documents.codes import CODES


def offline(world):
    """Return a world's objects with made-up identities, as a server would hold them."""
    stored = [item for item in world.objects if "workload" not in item]
    identities = {}
    for item in stored:
        reference = object_reference(item)
        identities[reference] = {"metadata": item["metadata"] | {"uid": f"uid of {reference}", "generation": 1}}
    objects = []
    for item in stored:
        obj = resolved_object(item, identities)
        identity = identities[object_reference(item)]["metadata"]
        obj["metadata"] |= {"uid": identity["uid"], "generation": 1}
        objects.append(obj)
    return objects


def test_the_default_world_comes_first():
    assert world_names()[0] == DEFAULT_WORLD
    assert len(set(world_names())) == len(world_names())


@pytest.mark.parametrize("name", world_names())
def test_a_world_says_what_it_shows(name):
    world = load_world(name)
    assert world.summary.endswith(".")
    assert world.codes
    assert {code for code in world.codes if code not in CODES} == set()
    assert {item["metadata"]["name"] for item in world.objects if item.get("kind") == "Namespace"} == set(
        world.namespaces
    )


# What these worlds show is that the InferenceService is not what the operator would render.
DIFFERENT = {"labels-invalid", "two-inference-services", "model-ambiguous", "custom-model", "service-env"}


@pytest.mark.parametrize("name", [name for name in world_names() if name not in DIFFERENT])
def test_the_inference_services_of_a_world_are_what_the_template_pipeline_renders(name):
    store = Store(offline(load_world(name)))
    view = View(store, Settings(), "2026-06-03T00:00:00Z")
    for service in store.all(SERVICE):
        if "profile" in service["spec"]:
            continue
        renders = [
            write.manifest
            for write in template_pipeline.decide(service, view).writes
            if isinstance(write, Render) and write.kind.name == "InferenceService"
        ]
        (rendered,) = renders
        live = store.find(INFERENCE_SERVICE, rendered["metadata"]["namespace"], rendered["metadata"]["name"])
        for part in ("spec", "metadata"):
            assert covers(live[part], rendered[part]), part
        assert covers(rendered["spec"], live["spec"])


def test_mistakes_in_a_world_are_named():
    with pytest.raises(WorldError, match=r"there is no world moon; there are: shared-happy-path, "):
        load_world("moon")
    with pytest.raises(WorldError, match="unknown field colour"):
        parse_world("x", "summary: s\ncolour: red\n")
    with pytest.raises(WorldError, match="no object with a summary"):
        parse_world("x", "- a\n")
    with pytest.raises(WorldError, match="there is no block moon"):
        parse_world("x", "summary: s\nuse: [{block: moon}]\n")


def test_conditions_may_be_written_short():
    text = "summary: s\nobjects: [{kind: K, status: {conditions: {A: Fine, B: {status: 'False', reason: Bad}}}}]\n"
    (manifest,) = parse_world("x", text).objects
    assert [(item["type"], item["status"], item["reason"]) for item in manifest["status"]["conditions"]] == [
        ("A", "True", "Fine"),
        ("B", "False", "Bad"),
    ]
