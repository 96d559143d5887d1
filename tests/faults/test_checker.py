"""Does the checker find what it is there for? Evidence is tampered with, and the tool itself is broken on purpose."""

import copy
import dataclasses
import functools
import json
from datetime import timedelta

import pytest

from aim_rehearsal.operator import Misbehaviour
from tests.faults.checking import expecting
from tests.faults.checking.evidence import Circumstances, File
from tests.faults.injecting.answers import LIES, LOSSES, REFUSALS, AtRequest
from tests.faults.injecting.ends import KillAtRequest
from tests.faults.injecting.races import RACES, OperatorThat, RaceAtRequest
from tests.faults.injecting.rivals import SecondApply
from tests.faults.injecting.scene import Fault
from tests.faults.running import apply
from tests.faults.trial import Point, did_not_happen

WORLD = "shared-happy-path"
UNIT = "AIMService/team-a/qwen-chat"


@pytest.fixture(scope="module")
def clean(player_of):
    """A commit without any fault: its evidence, the objects after it, and the checker."""
    player = player_of(WORLD)
    recording = player.record(commit=True)
    player._stage.reset()
    scene = player._scene()
    run = apply(scene, Fault(), commit=True, name="run")
    after = player._stage.observe()
    return run, after, player._checker(recording)


@pytest.fixture
def complaints(clean):
    """Return a function that checks the clean run's evidence with something changed in it."""
    run, after, checker = clean

    def check(run=run, after=after, **changes):
        run = dataclasses.replace(run, **changes)
        return [
            *checker.check_run(run, after, Circumstances()),
            *checker.check_once(run, Circumstances()),
            *checker.check_all_done(run, Circumstances()),
        ]

    check.run, check.after = run, after
    return check


def tampered_result(run, change):
    result = json.loads(run.result)
    change(result)
    return {**run.files, "apply-result.json": File(0o600, json.dumps(result).encode())}


def first_write(run):
    return next(arrival for arrival in run.arrivals if arrival.mutating)


def with_arrival(run, arrival):
    return tuple(arrival if item.number == arrival.number else item for item in run.arrivals)


def test_a_clean_run_has_no_violation(complaints):
    assert complaints() == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"journal": b""}, "without a durable attempt"),
        ({"synced": 0}, "without a durable attempt"),
        ({"body": b"{}"}, "without a durable attempt"),
        ({"target": "/apis/aim.eai.amd.com/v1alpha2/namespaces/team-a/aimmodels"}, "no request of the plan"),
        ({"method": "DELETE"}, "asked for a delete"),
        ({"target": "/api/v1/namespaces/team-a/secrets"}, "asked for Secrets"),
        ({"result": b"{"}, "the result can't be read"),
        ({"result": b'{"state": "complete", "mode": "dry-run"}'}, "the result says complete"),
    ],
)
def test_a_request_that_is_not_as_it_must_be_is_found(complaints, changes, words):
    arrival = dataclasses.replace(first_write(complaints.run), **changes)
    assert words in "\n".join(complaints(arrivals=with_arrival(complaints.run, arrival)))


def test_an_attempt_after_its_request_is_found(complaints):
    arrival = first_write(complaints.run)
    early = dataclasses.replace(arrival, received=arrival.received - timedelta(minutes=1))
    assert "is later than its arrival" in "\n".join(complaints(arrivals=with_arrival(complaints.run, early)))


@pytest.mark.parametrize("path", ["/metadata/uid", "/metadata/generation", "/spec", "/metadata/annotations"])
def test_a_cutover_without_one_of_its_guards_is_found(complaints, path):
    arrival = next(item for item in complaints.run.arrivals if item.mutating and "/aimservices/" in item.path)
    body = [item for item in json.loads(arrival.body) if item["op"] != "test" or item["path"] != path]
    bare = dataclasses.replace(arrival, body=json.dumps(body).encode())
    assert "lacks a guard" in "\n".join(complaints(arrivals=with_arrival(complaints.run, bare)))


def test_a_protection_without_its_guards_is_found(complaints):
    arrival = next(item for item in complaints.run.arrivals if item.mutating and "/aimartifacts/" in item.path)
    body = [item for item in json.loads(arrival.body) if item["op"] != "test"]
    bare = dataclasses.replace(arrival, body=json.dumps(body).encode())
    assert "lacks a guard" in "\n".join(complaints(arrivals=with_arrival(complaints.run, bare)))


def drop_unit(result):
    del result["units"][0]


def miscount(result):
    result["counts"]["succeeded"] = 1


def reopen(result):
    result["state"] = "incomplete"


def fail_without_advice(result):
    result["units"][0].update(status="failed", code="")
    result["counts"].update(succeeded=1, failed=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (drop_unit, "the result has the units"),
        (miscount, "the totals"),
        (reopen, "its result is incomplete"),
        (fail_without_advice, "without a code or a next step"),
    ],
)
def test_a_result_that_does_not_add_up_is_found(complaints, change, words):
    assert words in "\n".join(complaints(files=tampered_result(complaints.run, change)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"code": 3}, "the exit code is 3"),
        ({"code": None}, "did not end"),
        ({"code": -9}, "ended by signal 9"),
        ({"err": "Traceback (most recent call last):"}, "shows a fault of the tool"),
        ({"out": "succeeded 1\nfailed 0\ntotal 1\n"}, "stdout says"),
        ({"commit": False}, "a dry run asked for a write"),
    ],
)
def test_a_run_that_ends_otherwise_than_it_says_is_found(complaints, changes, words):
    assert words in "\n".join(complaints(**changes))


def test_files_that_others_can_read_damaged_journals_and_planted_secrets_are_found(complaints, clean):
    run, _, checker = clean
    journal = run.files["apply-result.json.journal.jsonl"]
    said = "\n".join(
        complaints(
            files={
                **run.files,
                "apply-result.json.journal.jsonl": File(0o644, journal.content.replace(b"accepted", b"rejected", 1)),
                "notes": File(0o600, checker.secrets[0]),
            }
        )
    )
    assert "has mode 0644" in said
    assert "the journal is damaged" in said
    assert "a planted secret is in notes" in said


def test_a_torn_line_is_recognised_and_only_excused_after_a_kill(complaints):
    files = dict(complaints.run.files)
    journal = files["apply-result.json.journal.jsonl"]
    files["apply-result.json.journal.jsonl"] = File(0o600, journal.content[:-5])
    assert "torn line" in "\n".join(complaints(files=files))


def changed(after, kind, change):
    objects = copy.deepcopy(dict(after))
    key = next(key for key in objects if key[0] == kind and key[1] == "team-a")
    objects[key] = change(objects[key])
    return {key: value for key, value in objects.items() if value is not None}


def update(*path, value):
    def change(obj):
        place = obj
        for part in path[:-1]:
            place = place.setdefault(part, {})
        place[path[-1]] = value
        return obj

    return change


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("Pod", update("metadata", "uid", value="another"), "its pods were"),
        ("Pod", update("status", "containerStatuses", value=[{"restartCount": 1}]), "its pods were"),
        ("Pod", lambda obj: None, "its pods were"),
        ("Deployment", update("spec", "template", value={}), "changed in spec"),
        ("InferenceService", update("metadata", "generation", value=2), "changed in generation"),
        ("InferenceService", update("metadata", "labels", value={}), "changed in labels"),
        ("PersistentVolumeClaim", lambda obj: None, "is gone"),
        ("PersistentVolumeClaim", update("metadata", "uid", value="another"), "changed in uid"),
        ("AIMArtifact", update("metadata", "uid", value="another"), "changed in uid"),
        ("AIMArtifact", update("metadata", "annotations", value={}), "is not protected"),
        ("AIMService", update("spec", "replicas", value=7), "the spec of its service"),
        ("AIMService", update("metadata", "annotations", value={}), "the annotations of its service"),
        ("AIMService", update("metadata", "generation", value=3), "the generation of its service"),
        ("AIMService", update("status", "resolvedProfile", value={}), "the profile of its service"),
        ("AIMService", update("status", "observedGeneration", value=1), "the observed generation"),
        ("AIMProfile", lambda obj: None, "is absent"),
        ("AIMProfile", update("spec", "metric", value="another"), "is not as planned"),
        ("AIMProfile", update("spec", "engineArgs", value={"a": 1}), "another spec than after a run without faults"),
        ("AIMProfileCache", update("metadata", "ownerReferences", value=[{"uid": "x"}]), "has an owner"),
    ],
)
def test_a_cluster_that_is_not_as_it_must_be_is_found(complaints, kind, change, words):
    assert words in "\n".join(complaints(after=changed(complaints.after, kind, change)))


def test_objects_that_appear_without_a_write_are_found(complaints):
    extra = copy.deepcopy(next(item for key, item in complaints.after.items() if key[0] == "AIMProfile"))
    extra["metadata"]["name"] = "extra"
    after = {**complaints.after, ("AIMProfile", "team-a", "extra"): extra}
    assert "changed, and nobody wrote it" in "\n".join(complaints(after=after))
    job = {("Job", "team-a", "download"): {"metadata": {"uid": "x", "name": "download"}}}
    assert "there are new Jobs" in "\n".join(complaints(after={**complaints.after, **job}))


def test_a_second_write_of_one_object_is_found(complaints):
    trail = complaints.run.audit
    writes = [event for event in trail.events if event.verb == "create" and event.is_accepted]
    again = dataclasses.replace(writes[-1], audit_id="again")
    said = "\n".join(complaints(audit=dataclasses.replace(trail, events=(*trail.events, again))))
    assert "was written 2 times" in said
    assert "writes too many" in said


def test_a_run_that_goes_on_after_a_signal_is_found(clean):
    run, _, checker = clean
    first = first_write(run).number
    said = "\n".join(expecting.stopped_by_signal(run, checker.plan, Circumstances(asked_to_stop=first)))
    assert "further writes" in said


def test_a_fault_that_did_not_happen_is_found(clean):
    run, _, _ = clean
    first = first_write(run)
    place = f"request {first.number}, {first}"
    assert list(did_not_happen(place, run, Circumstances())) == []
    for other in (f"request {first.number + 1}, {first}", f"request 9999, {first}", "disk call 3, fsync x"):
        assert "did not happen" in "\n".join(did_not_happen(other, run, Circumstances()))
    assert list(did_not_happen("disk call 3, fsync x", run, Circumstances(disk_failed_at=1.0))) == []
    assert list(did_not_happen("every moment", run, Circumstances())) == []


class Sabotaged:
    """A point with a tool that is broken on purpose."""

    def __init__(self, player, sabotage):
        self.player = player
        self.sabotage = sabotage

    def play(self, fault, expects=expecting.nothing, *, commit=True, recovery="rerun"):
        def make():
            made = fault()
            made.sabotage = self.sabotage
            return made

        verdict = self.player.play(Point(WORLD, commit, "sabotage", make, expects, recovery))
        return "\n".join(verdict.violations)


def nth_write(player, number, *, commit=True):
    return [item.number for item in player.record(commit=commit).run.arrivals if item.mutating][number]


def answer(name):
    return next(item for item in (*REFUSALS, *LOSSES, *LIES) if item.name == name)


def race(name):
    return next(item for item in RACES if item.name == name)


@pytest.mark.parametrize(
    ("sabotage", "words"),
    [
        ("no-attempt", "without a durable attempt"),
        ("attempt-not-synced", "without a durable attempt"),
        ("never-syncs", "without a durable attempt"),
        ("no-result-before-request", "does not show the attempt"),
        ("no-guards", "lacks a guard"),
        ("no-guards-of-artifacts", "lacks a guard"),
        ("readable-files", "has mode 0644"),
        ("prints-a-traceback", "shows a fault of the tool"),
        ("forgets-a-unit", "the result has the units"),
        ("leaks-the-token", "a planted secret is in stdout"),
    ],
)
def test_a_tool_that_is_broken_is_found_out_without_any_fault(player_of, sabotage, words):
    assert words in Sabotaged(player_of(WORLD), sabotage).play(Fault, recovery="none")


def test_a_tool_that_writes_in_a_dry_run_is_found_out(player_of):
    said = Sabotaged(player_of(WORLD), "writes-in-a-dry-run").play(Fault, commit=False, recovery="none")
    assert "the audit log has a write of a dry run" in said


FAULTY = [
    ("repeats-lost-writes", lambda p: AtRequest(nth_write(p, 2), answer("stored-reset")), None, "was sent 2 times"),
    ("believes-lost-answers", lambda p: AtRequest(nth_write(p, 2), answer("reset")), None, "is not protected"),
    ("no-confirmation", lambda p: OperatorThat(Misbehaviour.ROLLS_DESPITE_PIN), None, "succeeded, but"),
    ("no-guards", lambda p: RaceAtRequest(nth_write(p, 4), race("annotated")), expecting.unit_fails, "not carried out"),
    ("ignores-the-lock", lambda p: SecondApply(nth_write(p, 1)), None, "does not say 'still lives"),
    ("no-attempt", lambda p: KillAtRequest(nth_write(p, 1), stored=True), expecting.killed, "attempts"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sabotage", "fault", "expects", "words"), FAULTY, ids=[item[0] for item in FAULTY])
def test_a_tool_that_is_broken_is_found_out_by_a_fault(player_of, sabotage, fault, expects, words):
    player = player_of(WORLD)
    made = functools.partial(fault, player)
    assert words in Sabotaged(player, sabotage).play(made, expects or expecting.nothing)


@pytest.mark.slow
def test_a_dry_run_need_not_ask_for_what_somebody_else_created_as_planned(player_of):
    world = "shared-template"  # its second service finds the target that came while the first was tried
    player = player_of(world)
    write = nth_write(player, 0, commit=False)
    made = functools.partial(RaceAtRequest, write, race("created-equal"))
    verdict = player.play(Point(world, False, "every moment", made, expecting.unit_fails, "none"))
    assert verdict.violations == ()
