"""A rerun never calls a unit succeeded whose weights were downloaded again after a former run created its cache."""

import shutil
import uuid

import pytest

from aim_template_migration.documents.plan import STEP_NAMES
from tests.aim_template_migration.applying.bench import unit_of
from tests.aim_template_migration.applying.test_commit import SERVICE
from tests.aim_template_migration.applying.test_steps import add_artifact
from tests.support.fleet import owner

BORN, OLDER, LATER = "2026-06-02T08:00:00Z", "2026-06-02T07:59:59Z", "2026-06-02T08:00:01Z"
AFTER_THE_CACHE = STEP_NAMES[STEP_NAMES.index("CreateProfileCache") + 1 : -1]


def cache_of(fleet):
    return fleet.only("AIMProfileCache")


def begin_job(fleet, begun, **metadata):
    reference = owner(fleet.only("AIMArtifact"))
    made = {"ownerReferences": [reference], "uid": str(uuid.uuid4()), "creationTimestamp": begun, **metadata}
    fleet.add("Job", "batch/v1", "download", "team-a", metadata=made)


def own_artifact(fleet):
    add_artifact(fleet, ownerReferences=[owner(cache_of(fleet))])


@pytest.fixture
def after_a_run(bench):
    """Return a function that lets a first run come so far, with the cache created at a known time."""

    def run(stop_before):
        options = {"stop_before": stop_before} if stop_before else {}
        assert unit_of(bench.apply(**options)).status == ("skipped" if stop_before else "succeeded")
        bench.archive()
        cache_of(bench.fleet)["metadata"]["creationTimestamp"] = BORN
        return bench

    return run


@pytest.mark.parametrize(
    ("download", "named"),
    [
        (lambda fleet: begin_job(fleet, BORN), "Job/team-a/download"),
        (lambda fleet: begin_job(fleet, LATER), "Job/team-a/download"),
        (own_artifact, "second"),
        (add_artifact, "second"),
    ],
)
@pytest.mark.parametrize("stop_before", [*AFTER_THE_CACHE, ""])
def test_a_download_since_the_cache_was_created_stops_the_rerun(after_a_run, stop_before, download, named):
    bench = after_a_run(stop_before)
    written = list(bench.cluster.writes)
    download(bench.fleet)
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.status, outcome.exit_code) == ("failed", 3)
    # A second ownerless artifact is seen by the fences already, before any step.
    assert unit.code in ("DownloadStarted", "NoLongerAutomatic", "PinAppeared")
    assert named in unit.message
    assert bench.cluster.writes == written
    assert any(SERVICE in write for write in written) == (not stop_before)


@pytest.mark.parametrize("stop_before", ["AwaitProfileCache", ""])
def test_a_job_that_is_older_than_the_cache_is_no_download_of_the_migration(after_a_run, stop_before):
    bench = after_a_run(stop_before)
    begin_job(bench.fleet, OLDER)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("succeeded", "" if stop_before else "AlreadyCutOver")


@pytest.mark.parametrize("stop_before", ["AwaitProfileCache", ""])
def test_a_job_of_other_weights_is_none_either(after_a_run, stop_before):
    bench = after_a_run(stop_before)
    begin_job(bench.fleet, LATER, ownerReferences=[{"kind": "AIMArtifact", "name": "other", "uid": "other"}])
    assert unit_of(bench.apply()).status == "succeeded"


def test_a_cache_that_was_there_before_the_plan_says_nothing_about_downloads(after_a_run):
    bench = after_a_run("AwaitProfileCache")
    begin_job(bench.fleet, LATER)
    shutil.rmtree(bench.plan_directory)
    bench.plan()
    assert unit_of(bench.apply()).status == "succeeded"
