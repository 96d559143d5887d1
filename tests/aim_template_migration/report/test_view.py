"""The page's values: what a report says of plans and runs."""

from datetime import datetime

import msgspec
import pytest

from aim_template_migration.applying.plan_files import PlanRejected
from aim_template_migration.documents.limits import LIMITS
from aim_template_migration.documents.plan import STEP_NAMES
from aim_template_migration.report.sources import read_sources
from aim_template_migration.report.view import report_of
from tests.aim_template_migration.cli.plans import automatic_unit, manual_unit, plan_of
from tests.support.runs import entries_of, failed, mixed_plan, result_of, succeeded, write_mixed, write_run

MADE = {"made_at": "2026-06-02T12:00:00Z", "tool_version": "0.1.0"}


def report(*plans, results=()):
    return report_of(read_sources(plans, results), **MADE)


@pytest.fixture
def mixed(tmp_path):
    return report(write_mixed(tmp_path / "plan"))


def rows(made):
    return {row.id.removeprefix("AIMService/"): row for row in made.rows}


def detail(made, unit_id):
    return next(detail for row, detail in zip(made.rows, made.details, strict=True) if row.id.endswith(unit_id))


def test_each_unit_has_its_state(mixed):
    found = {name: row.state for name, row in rows(mixed).items()}
    assert found == {
        "team-a/chat": "succeeded",
        "team-a/summarise": "failed",
        "team-a/solo": "manual",
        "team-b/llama": "manual",
    }
    assert mixed.plans[0].states == (("failed", 1), ("manual", 2), ("succeeded", 1))


def test_without_a_run_a_unit_stands_where_the_plan_puts_it(tmp_path):
    plan, _ = mixed_plan()
    made = report(write_run(tmp_path / "plan", plan, None))
    assert {row.state for row in made.rows} == {"automatic", "manual"}
    assert dict(made.plans[0].facts)["run"] == "not run"
    assert made.plans[0].timeline is None
    assert {step.state for step in detail(made, "chat").steps} == {"planned"}


def test_a_run_that_broke_off_is_read_from_its_journal(tmp_path):
    plan, ended = mixed_plan()
    entries = [entry for entry in entries_of(plan, ended[:1]) if entry.event != "unitFinished"][:-1]
    made = report(write_run(tmp_path / "plan", plan, None, entries))
    assert rows(made)["team-a/chat"].state == "unfinished"
    assert [step.state for step in detail(made, "chat").steps] == ["completed"] * 7 + ["begun"]
    assert "broke off" in dict(made.plans[0].facts)["run"]


def test_steps_have_their_times_and_requests(mixed):
    first, *others = detail(mixed, "team-a/chat").steps
    assert (first.name, first.state, first.seconds) == ("CreateProfile", "completed", 2.0)
    assert datetime.fromisoformat(first.started).year == 2026
    assert first.requests == ("AIMProfile/team-a/qwen-tp1: accepted, HTTP 201",)
    assert [step.name for step in others] == list(STEP_NAMES[1:])
    states = [step.state for step in detail(mixed, "summarise").steps]
    assert states == ["completed", "completed", "begun", *["planned"] * 5]


def test_a_failure_is_told_with_the_servers_words(mixed):
    facts = dict(detail(mixed, "summarise").facts)
    assert facts["code"] == "CredentialsRejected"
    assert facts["HTTP status"] == "422"
    assert facts["server's message"] == "spec.image: Invalid value"
    assert facts["next step"] == "read the server's message"


def test_the_service_is_shown_before_and_after(mixed):
    change = next(item for item in detail(mixed, "team-a/chat").changes if item.object == "AIMService/team-a/chat")
    lines = change.lines
    assert (" ", "spec:") in lines
    assert (" ", '    team.example/contact: "4711"') in lines
    assert ("-", "  template:") in lines
    assert ("-", "    name: qwen-tp1") in lines or (" ", "    name: qwen-tp1") in lines
    assert ("+", "  profile:") in lines
    assert any(mark == "+" and "preserve-generation" in text for mark, text in lines)


def test_without_a_backup_the_patch_stands_alone(mixed):
    change = next(item for item in detail(mixed, "summarise").changes if item.object == "AIMService/team-a/summarise")
    assert ("-", "/spec/template") in change.lines
    assert all(mark in "+-" for mark, _ in change.lines)


def test_created_objects_are_all_new(mixed):
    created = [item for item in detail(mixed, "team-a/chat").changes if item.how == "created only if absent"]
    assert [item.object.split("/")[0] for item in created] == ["AIMProfile", "AIMProfileCache"]
    assert all(mark == "+" for item in created for mark, _ in item.lines)


def test_the_workload_is_compared(tmp_path):
    plan = plan_of(automatic_unit())
    ended = succeeded("AIMService/team-a/chat")
    moved = msgspec.structs.replace(ended.workload_after, generation=3, pods=())
    result = result_of(plan, [msgspec.structs.replace(ended, workload_after=moved)])
    made = report(write_run(tmp_path / "plan", plan, result))
    verdicts = {item.label: (item.verdict, item.after) for item in detail(made, "chat").comparisons}
    assert verdicts["UID"][0] == "same"
    assert verdicts["generation"] == ("differs", "3")
    assert verdicts["pod chat-pod"] == ("differs", "absent")


def test_what_was_never_read_again_has_no_verdict(tmp_path):
    plan = plan_of(automatic_unit())
    result = result_of(plan, [succeeded("AIMService/team-a/chat", workload_after=None)])
    made = report(write_run(tmp_path / "plan", plan, result))
    assert {item.verdict for item in detail(made, "chat").comparisons} == {""}


def test_pins_imputations_secrets_and_evidence_are_there(mixed):
    chat = detail(mixed, "team-a/chat")
    assert any("UID s-uid" in pin.fact for pin in chat.pins)
    assert any(pin.fact == "targetProfile: must not exist" for pin in chat.pins)
    assert [item.rule for item in chat.imputations] == ["FromModelImage"]
    assert chat.secrets == ("team-a/hf-token (keys: token)",)
    assert chat.after_expiry == ("every pod is replaced",)
    assert "dedicated-handoff-team-a.solo.json" in dict(detail(mixed, "solo").facts)["Dedicated evidence"]


def test_bars_share_one_scale_and_lose_no_unit(mixed):
    bars = mixed.plans[0].namespaces
    assert [(bar.label, bar.total) for bar in bars] == [("team-a", 3), ("team-b", 1)]
    assert sum(part.width for part in bars[0].parts) == pytest.approx(100, abs=0.01)
    assert sum(part.width for part in bars[1].parts) == pytest.approx(100 / 3, abs=0.01)
    assert bars[0].text == "team-a: 1 failed, 1 manual, 1 succeeded"


def test_the_timeline_holds_every_unit_that_ran(mixed):
    time = mixed.plans[0].timeline
    assert [lane.label for lane in time.lanes] == ["team-a/summarise", "team-a/chat"]
    assert sum(bar.total for bar in time.finished) == 2
    for lane in time.lanes:
        assert all(0 <= span.x <= 100 and span.x + span.width <= 100.5 for span in lane.spans)
    assert [span.step for span in time.lanes[1].spans] == list(STEP_NAMES)


def test_the_closing_statement_is_the_runbooks(mixed):
    assert mixed.limits == LIMITS


def test_codes_that_occur_are_explained(mixed):
    assert {"SharedNoRollout", "PipelineAnnotation", "Paused", "CredentialsRejected", "FromModelImage"} <= set(
        mixed.codes
    )


def test_several_plans_make_one_report(tmp_path):
    plan = plan_of(automatic_unit(), plan_id="plan-2")
    named = write_run(tmp_path / "two", plan, None)
    path = tmp_path / "kept.json"
    write_run(tmp_path / "kept", plan, result_of(plan, [failed("AIMService/team-a/chat")]))
    (tmp_path / "kept" / "apply-result.json").rename(path)
    made = report(write_mixed(tmp_path / "one"), named, results=[path])
    assert [section.label for section in made.plans] == ["one", "two"]
    assert [row.plan for row in made.rows] == [0, 0, 0, 0, 1]
    assert made.rows[-1].state == "failed"


def test_a_result_of_another_plan_is_refused(tmp_path):
    stranger = plan_of(plan_id="plan-9")
    other = write_run(tmp_path / "other", stranger, result_of(stranger, []))
    plan = write_mixed(tmp_path / "one")
    with pytest.raises(PlanRejected, match="plan-9, which is not in this report"):
        read_sources([plan], [other / "apply-result.json"])


def test_two_results_of_one_plan_are_refused(tmp_path):
    plan, ended = mixed_plan()
    one = write_run(tmp_path / "one", plan, result_of(plan, ended))
    two = write_run(tmp_path / "two", plan, result_of(plan, ended))
    with pytest.raises(PlanRejected, match="results of one plan"):
        read_sources([one], [one / "apply-result.json", two / "apply-result.json"])


def test_plans_of_one_name_are_told_apart(tmp_path):
    (tmp_path / "east").mkdir()
    (tmp_path / "west").mkdir()
    made = report(write_mixed(tmp_path / "east" / "plan"), write_mixed(tmp_path / "west" / "plan"))
    labels = [section.label for section in made.plans]
    assert labels == [str(tmp_path / "east" / "plan" / "plan.json"), str(tmp_path / "west" / "plan" / "plan.json")]


@pytest.mark.parametrize(
    ("unit_id", "expected"),
    [("chat", ("", "", "chat")), ("AIMProfile/chat", ("AIMProfile", "", "chat")), ("", ("", "", ""))],
)
def test_an_edited_id_is_shown_as_it_is(tmp_path, unit_id, expected):
    made = report(
        write_run(tmp_path / "plan", plan_of(msgspec.structs.replace(manual_unit("x", "Paused"), id=unit_id)), None)
    )
    (row,) = made.rows
    assert (row.kind, row.namespace, row.name) == expected


def test_a_word_that_is_no_status_says_only_that_the_unit_was_begun(tmp_path):
    plan = plan_of(automatic_unit())
    strange = succeeded("AIMService/team-a/chat", status="<b>")
    made = report(write_run(tmp_path / "plan", plan, None, entries_of(plan, [strange])))
    assert made.rows[0].state == "unfinished"


def test_a_large_fleet_keeps_its_charts_small(tmp_path):
    units = [manual_unit("x", "Paused", namespace=f"team-{number}") for number in range(60)]
    section = report(write_run(tmp_path / "plan", plan_of(*units), None)).plans[0]
    assert (len(section.namespaces), section.more_namespaces, len(section.outcomes)) == (40, 20, 60)
