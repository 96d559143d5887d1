"""A dry run asks the same things and stores nothing."""

import pytest

from aim_template_migration.kube.errors import BadRequest, Forbidden, Invalid
from tests.aim_template_migration.applying.bench import Bench, unit_of
from tests.aim_template_migration.applying.test_commit import PROFILE, SERVICE


def test_it_sends_every_write_as_a_dry_run_and_stores_nothing(bench):
    before = dict(bench.fleet.objects)
    outcome = bench.apply(commit=False)
    unit = unit_of(outcome)
    assert (outcome.exit_code, outcome.result.mode, unit.status) == (0, "dry-run", "succeeded")
    assert bench.cluster.writes == []
    assert [str(item).split("/")[0] for item in bench.cluster.sent] == [
        "POST AIMProfile", "POST AIMProfileCache", "PATCH AIMArtifact", "PATCH AIMService"
    ]  # fmt: skip
    assert bench.fleet.objects == before
    assert bench.clock.slept == []


def test_it_says_what_it_cannot_check(bench):
    unit = unit_of(bench.apply(commit=False))
    assert [line.split(":")[0] for line in unit.not_checked] == [
        "AwaitProfile", "AwaitProfileCache", "ReverifyProfileCache", "ConfirmNoRollout"
    ]  # fmt: skip
    assert unit.attempted_steps == ("CreateProfile", "CreateProfileCache", "ProtectArtifact", "CutOver")
    assert unit.workload_before is None


def test_the_requests_are_those_of_the_commit_but_for_the_flag(bench, several):
    bench.apply(commit=False)
    dry = [(item.method, item.kind, item.name, item.body) for item in bench.cluster.sent]
    bench.archive()
    bench.cluster.sent.clear()
    bench.apply()
    real = [(item.method, item.kind, item.name, item.body) for item in bench.cluster.sent if not item.dry_run]
    assert real == dry


def test_the_journal_and_the_result_name_dry_runs(bench):
    bench.apply(commit=False)
    attempts = bench.events("attempt")
    assert [entry.facts["dryRun"] for entry in attempts] == [True] * 4
    assert [entry.event for entry in bench.events("verified")] == []
    assert bench.journal()[0].facts["mode"] == "dry-run"


REFUSALS = [
    (Invalid, 422, "Invalid", "spec.engineArgs: Invalid value", "RefusedByServer"),
    (Forbidden, 403, "Forbidden", 'User "x" cannot create resource "aimprofiles"', "Forbidden"),
    (BadRequest, 400, "BadRequest", 'admission webhook "w" does not support dry run', "WebhookCannotDryRun"),
]


@pytest.mark.parametrize(("kind", "status", "reason", "message", "code"), REFUSALS)
def test_each_refusal_has_its_reason_and_the_servers_words(bench, kind, status, reason, message, code):
    def trouble(request, stage):
        if stage == "before":
            raise kind(request.action, status=status, reason=reason, message=message)

    bench.cluster.trouble = trouble
    outcome = bench.apply(commit=False)
    unit = unit_of(outcome)
    assert (outcome.exit_code, unit.status, unit.code) == (3, "failed", code)
    assert (unit.http_status, unit.server_message) == (status, message)
    assert unit.next_step
    assert (unit.last_attempted_step, unit.last_completed_step) == ("CreateProfile", "")


@pytest.mark.parametrize("kind", ["AIMProfile", "AIMArtifact", "AIMService"])
def test_a_pruned_or_mutated_field_is_reported(bench, kind):
    def answer(request, body):
        if request.kind.name == kind:
            if kind == "AIMArtifact":
                del body["metadata"]["annotations"]
            else:
                body["spec"].pop("modelSources", None)
                body["spec"].pop("model", None)
        return body

    bench.cluster.answer_body = answer
    unit = unit_of(bench.apply(commit=False))
    expected = {
        "AIMProfile": ("AnswerDiffers", "spec.modelSources"),
        "AIMArtifact": ("AnswerDiffers", "metadata.annotations"),
        "AIMService": ("CutoverDiffers", "spec.model"),
    }[kind]
    assert (unit.status, unit.code) == ("failed", expected[0])
    assert expected[1] in unit.message


def test_a_cutover_that_would_change_more_is_seen_in_the_dry_run_and_never_sent(bench):
    def answer(request, body):
        if request.kind.name == "AIMService":
            body["metadata"]["labels"] = {"injected": "yes"}
        return body

    bench.cluster.answer_body = answer
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.code, "metadata.labels" in unit.message) == ("CutoverDiffers", True)
    assert f"PATCH {SERVICE}" not in bench.cluster.writes
    assert f"PATCH {SERVICE} (dry run)" in bench.cluster.all_writes


@pytest.mark.parametrize("wrong", [1, 3])
def test_a_cutover_must_lead_to_the_pinned_generation(bench, wrong):
    def answer(request, body):
        if request.kind.name == "AIMService":
            body["metadata"]["generation"] = wrong
        return body

    bench.cluster.answer_body = answer
    unit = unit_of(bench.apply())
    assert (unit.code, "metadata.generation" in unit.message) == ("CutoverDiffers", True)
    assert f"PATCH {SERVICE}" not in bench.cluster.writes


def test_it_revalidates_like_a_commit(bench):
    bench.fleet.only("InferenceService")["metadata"]["labels"]["aim.eai.amd.com/profile"] = "x"
    outcome = bench.apply(commit=False)
    assert (unit_of(outcome).code, bench.cluster.sent, outcome.exit_code) == ("PinEdited", [], 3)


def test_a_result_of_a_dry_run_blocks_a_commit_until_it_is_archived(bench):
    bench.apply(commit=False)
    from aim_template_migration.applying.plan_files import PlanRejected

    with pytest.raises(PlanRejected, match=r"apply-result\.json exists already"):
        bench.apply()
    bench.archive()
    assert bench.apply().exit_code == 0


def test_every_unit_is_asked_about_even_where_one_is_refused(several):
    bench: Bench = several(3)

    def trouble(request, stage):
        if request.name == "m01-latency":
            raise Invalid(request.action, status=422, reason="Invalid", message="no")

    bench.cluster.trouble = trouble
    outcome = bench.apply(commit=False, parallel=2)
    assert [unit.status for unit in outcome.result.units] == ["succeeded", "failed", "succeeded"]
    assert outcome.result.counts["failed"] == 1
    assert PROFILE.startswith("AIMProfile")
