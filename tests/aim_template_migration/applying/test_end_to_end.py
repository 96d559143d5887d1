"""The whole way through a real HTTP server and a simulated operator, with the server's own audit log as the witness."""

import copy
import functools
import json
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_api.kinds import AIM_PROFILE, AIM_SERVICE, DEPLOYMENT, INFERENCE_SERVICE, POD, PVC
from aim_api.labels import FIELD_MANAGER
from aim_rehearsal.operator import Misbehaviour
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.applying import run as run_module
from aim_template_migration.applying.events import nobody
from aim_template_migration.applying.run import ApplyOptions, ApplyOutcome, apply_plan
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import Settings, make_plan
from tests.support.audit import AuditTrail

WORLD = "shared-happy-path"
TOOL = "migration"
WORKLOAD = (INFERENCE_SERVICE, DEPLOYMENT, POD, PVC)


@dataclass
class Story:
    """One rehearsal, with what the tool's identity did in each chapter."""

    session: RehearsalSession
    directory: Path
    seen: int = 0
    outcomes: dict[str, ApplyOutcome] = field(default_factory=dict)
    trails: dict[str, AuditTrail] = field(default_factory=dict)
    workloads: dict[str, object] = field(default_factory=dict)

    @property
    def plan_directory(self):
        return self.directory / "plan"

    @functools.cached_property
    def kubeconfig(self):
        return str(self.session.kubeconfig(TOOL))  # written once, since two runs may connect at the same moment

    def connect(self):
        return connect(ConnectionOptions(kubeconfig=self.kubeconfig))

    def plan(self):
        cluster = self.connect()
        settings = Settings(namespaces=self.session.namespaces, runtime_projection_mode="Both")
        made = make_plan(cluster, settings, now=datetime.now(UTC), plan_id="e2e")
        cluster.close()
        publish_directory(self.plan_directory, made.files)
        self.note("plan")
        return made.plan

    def apply(self, chapter, **options):
        options = {"soak_seconds": 0.1, "parallel": 2, "result": self.directory / f"{chapter}.json", **options}
        self.outcomes[chapter] = apply_plan(
            ApplyOptions(plan=self.plan_directory, **options), self.connect, listener=nobody, stop=threading.Event()
        )
        self.session.operator.settle()
        self.note(chapter)
        return self.outcomes[chapter]

    def note(self, chapter):
        """Keep what the audit log has since the last chapter, and the workload as it is."""
        events = self.session.server.audit_events()
        path = self.directory / f"{chapter}.audit"
        path.write_text("".join(json.dumps(event) + "\n" for event in events[self.seen :]))
        self.seen = len(events)
        self.trails[chapter] = AuditTrail.read(path)
        client, self.workloads[chapter] = self.session.client, {}
        for kind in WORKLOAD:
            for item in client.list_all(kind).items:
                metadata = item["metadata"]
                self.workloads[chapter][kind.name, metadata["namespace"], metadata["name"]] = (
                    metadata["uid"], metadata.get("generation"), item["spec"], metadata.get("labels"),
                    metadata.get("annotations"), metadata.get("ownerReferences"),
                )  # fmt: skip


def tell(tmp_path, **session):
    return RehearsalSession(load_world(WORLD), work_dir=tmp_path, **session)


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """Plan, dry run, commit and rerun, once for all tests that look at how they went."""
    directory = tmp_path_factory.mktemp("story")
    with tell(directory) as session:
        told = Story(session, directory)
        told.plan()
        told.apply("dry-run", commit=False)
        told.apply("commit", commit=True)
        told.apply("rerun", commit=True, baseline=directory / "commit.json")
        yield told


def test_planning_only_reads(story):
    story.trails["plan"].assert_no_mutations(TOOL)


def test_a_dry_run_sends_dry_runs_alone_and_changes_nothing(story):
    outcome, trail = story.outcomes["dry-run"], story.trails["dry-run"]
    assert (outcome.exit_code, outcome.result.counts["succeeded"]) == (0, 2)
    trail.assert_only_dry_runs(TOOL)
    assert len(trail.mutations(TOOL)) == 8
    assert all(event.is_accepted for event in trail.mutations(TOOL))
    assert story.workloads["dry-run"] == story.workloads["plan"]


def test_a_commit_sends_exactly_the_expected_requests_in_order(story):
    outcome, trail = story.outcomes["commit"], story.trails["commit"]
    assert (outcome.exit_code, outcome.result.counts["succeeded"]) == (0, 2)
    for namespace, service in (("team-a", "qwen-chat"), ("team-b", "llama-assist")):
        mine = [event for event in trail.mutations(TOOL) if event.target.namespace == namespace]
        assert [(event.verb, event.target.resource, event.is_dry_run, event.code) for event in mine] == [
            ("create", "aimprofiles", False, 201),
            ("create", "aimprofilecaches", False, 201),
            ("patch", "aimartifacts", False, 200),
            ("patch", "aimservices", True, 200),
            ("patch", "aimservices", False, 200),
        ]
        assert {event.query["fieldManager"][0] for event in mine} == {FIELD_MANAGER}
        assert {event.query["fieldValidation"][0] for event in mine} == {"Strict"}
        assert [event.target.name for event in mine[3:]] == [service] * 2
        assert {event.target.version for event in mine[3:]} == {"v1alpha2"}
    cutovers = [event for event in trail.writes(TOOL) if event.target.resource == "aimservices"]
    assert [event.target.name for event in cutovers] == ["qwen-chat", "llama-assist"]
    # The second leaves only once the first was confirmed with its soak.
    assert (cutovers[1].received - cutovers[0].received).total_seconds() >= 0.1


@pytest.mark.parametrize("chapter", ["plan", "dry-run", "commit", "rerun"])
def test_nothing_is_deleted_and_no_secret_is_read(story, chapter):
    story.trails[chapter].assert_no_deletes(TOOL)
    story.trails[chapter].assert_no_secret_reads(TOOL)


def test_the_workload_is_the_same_after_the_commit(story):
    assert story.workloads["commit"] == story.workloads["plan"]
    for unit in story.outcomes["commit"].result.units:
        assert unit.workload_before == unit.workload_after
        assert len(unit.workload_after.pods) == 1


def test_the_services_are_on_the_profile_pipeline_and_pinned(story):
    for unit in story.outcomes["commit"].result.units:
        _, namespace, name = unit.id.split("/")
        service = story.session.client.get(AIM_SERVICE, namespace, name)
        assert "template" not in service["spec"]
        assert service["spec"]["profile"] == {"name": unit.resolved_profile}
        generation = service["metadata"]["generation"]
        assert service["status"]["observedGeneration"] == generation == 2
        annotations = service["metadata"]["annotations"]
        assert annotations[PRESERVE_GENERATION] == "2"
        assert annotations[PRESERVE_UID] == unit.workload_after.uid
        assert service["status"]["status"] == "Running"


def test_a_rerun_writes_nothing(story):
    outcome = story.outcomes["rerun"]
    assert [(unit.status, unit.code) for unit in outcome.result.units] == [("succeeded", "AlreadyCutOver")] * 2
    assert outcome.exit_code == 0
    story.trails["rerun"].assert_no_mutations(TOOL)


def test_every_write_was_attempted_in_the_journal_before_it_arrived(story):
    for chapter in ("dry-run", "commit"):
        journal = story.directory / f"{chapter}.json.journal.jsonl"
        attempts = [
            line["entry"]
            for line in map(json.loads, journal.read_text().splitlines())
            if line["entry"]["event"] == "attempt"
        ]
        mutations = story.trails[chapter].mutations(TOOL)
        assert len(attempts) == len(mutations)
        for attempt in attempts:
            facts = attempt["facts"]
            (event,) = [
                event
                for event in mutations
                if event.uri.split("?")[0] == facts["path"] and event.is_dry_run == facts["dryRun"]
            ]
            assert datetime.fromisoformat(attempt["time"]) <= event.received


def test_without_the_pin_the_workload_rolls_and_the_run_halts(tmp_path, monkeypatch):
    """A doctored plan: the structure check is out of the way, and the cutover leaves without its pin."""
    monkeypatch.setattr(run_module, "require_safe", lambda files, generated: None)
    with tell(tmp_path) as session:
        told = Story(session, tmp_path)
        told.plan()
        path = told.plan_directory / "plan.json"
        document = msgspec.json.decode(path.read_bytes())
        for unit in document["units"]:
            for step in unit["steps"]:
                if step["step"] == "CutOver":
                    step["operations"] = [item for item in step["operations"] if "annotations" not in item["path"]]
        path.write_bytes(msgspec.json.encode(document))
        outcome = told.apply("doctored", commit=True, parallel=1, cutover_deadline_seconds=20.0)
    first, second = outcome.result.units
    assert (first.status, first.code) == ("failed", "RolloutDetected")
    assert (second.status, second.code) == ("skipped", "HaltedAfterRollout")
    assert outcome.exit_code == 3


MISBEHAVIOURS = [
    (Misbehaviour.PROFILE_STUCK, "ProfileNotReady", 0),
    (Misbehaviour.CACHE_STUCK, "ProfileCacheNotReady", 0),
    (Misbehaviour.ADOPTS_WRONG_ARTIFACT, "ProfileCacheNotReady", 0),
    (Misbehaviour.DOWNLOADS_AGAIN, "DownloadStarted", 0),
    (Misbehaviour.SERVICE_NOT_OBSERVED, "CutoverNotObserved", 1),
    (Misbehaviour.ROLLS_DESPITE_PIN, "RolloutDetected", 1),
]


@pytest.mark.parametrize(("misbehaviour", "code", "cutovers"), MISBEHAVIOURS, ids=str)
def test_an_operator_that_misbehaves_is_found_out(tmp_path, misbehaviour, code, cutovers):
    with tell(tmp_path, misbehaviour=misbehaviour) as session:
        told = Story(session, tmp_path)
        told.plan()
        path = told.plan_directory / "plan.json"
        document = msgspec.json.decode(path.read_bytes())
        for unit in document["units"]:
            for step in unit["steps"]:
                if "deadlineSeconds" in step:
                    step["deadlineSeconds"] = 1
        for name in ("plan.json", "plan.generated.json"):
            (told.plan_directory / name).write_bytes(msgspec.json.encode(document))
        outcome = told.apply("commit", commit=True, parallel=1)
        trail = told.trails["commit"]
    first = outcome.result.units[0]
    assert (first.status, first.code, outcome.exit_code) == ("failed", code, 3)
    assert len([event for event in trail.writes(TOOL) if event.target.resource == "aimservices"]) == cutovers
    trail.assert_no_deletes(TOOL)


def test_strings_that_go_escapes_pass_the_guard_of_the_patch(tmp_path):
    """A JSON Patch's test compares strings as they are written, and the server writes ``&`` and ``<`` as Go does."""
    with tell(tmp_path) as session:
        service = session.client.get(AIM_SERVICE, "team-a", "qwen-chat")
        changed = copy.deepcopy(service)
        changed["metadata"]["annotations"] = {"note": "a < b && c > d \u2028"}
        session.client.replace(AIM_SERVICE, changed, manager="kubectl-replace")
        session.operator.settle()
        told = Story(session, tmp_path)
        told.plan()
        outcome = told.apply("commit", commit=True, only=("AIMService/team-a/qwen-chat",))
        assert outcome.result.units[0].status == "succeeded", outcome.result.units[0].message
        live = session.client.get(AIM_SERVICE, "team-a", "qwen-chat")
        assert live["metadata"]["annotations"]["note"] == "a < b && c > d \u2028"


def test_two_runs_of_one_plan_from_two_hosts_write_nothing_twice(tmp_path):
    """Two copies of the plan directory have two locks; the fences of the cluster stop the second."""
    with tell(tmp_path) as session:
        told = Story(session, tmp_path)
        told.plan()
        copies = []
        for name in ("one", "two"):
            directory = tmp_path / name
            publish_directory(directory, {item.name: item.read_bytes() for item in told.plan_directory.iterdir()})
            copies.append(directory)
        outcomes = {}

        def run(directory):
            options = ApplyOptions(plan=directory, commit=True, soak_seconds=0.1)
            outcomes[directory] = apply_plan(options, told.connect, listener=nobody, stop=threading.Event())

        threads = [threading.Thread(target=run, args=(directory,)) for directory in copies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        session.operator.settle()
        told.note("race")
        writes = [str(event.target) for event in told.trails["race"].writes(TOOL)]
        profiles = session.client.list_all(AIM_PROFILE).items
    assert len(set(writes)) == len(writes) == 8
    assert len(profiles) == 2
    assert told.workloads["race"] == told.workloads["plan"]
    for number in range(2):
        assert "succeeded" in {outcomes[directory].result.units[number].status for directory in copies}
