"""``handoff check`` from the command line: an administrator walks one service through the ten phases."""

import json

import jsonschema
import pytest

from aim_api.kinds import AIM_SERVICE
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.documents.handoff import decode_record
from aim_template_migration.documents.schemas import schema_files
from tests.aim_template_migration.cli.commands.test_inspect import assert_fits, flat
from tests.aim_template_migration.handoff.administrator import NAMESPACE, SERVICE, Handoff

PHASES = range(1, 11)


@pytest.fixture
def handoff(tmp_path):
    with RehearsalSession(load_world("dedicated-caching"), work_dir=tmp_path) as session:
        handoff = Handoff(session, tmp_path)
        yield handoff
        handoff.cluster.close()


@pytest.fixture
def checked(aim, handoff):
    """Return a function that runs ``handoff check`` on the handoff's evidence."""

    def run(*options):
        config = handoff.session.kubeconfig("viewer")
        return aim("handoff", "check", "--evidence", handoff.evidence_file, "--kubeconfig", config, *options)

    return run


def assert_valid(document):
    jsonschema.Draft202012Validator(json.loads(schema_files()["handoff-check-v1.json"])).validate(document)


def test_every_phase_is_checked_and_recorded(checked, handoff):
    record = handoff.folder / "kept" / "record.jsonl"
    record.parent.mkdir()
    for number in PHASES:
        handoff.work(number)
        ran = checked("--phase", number, "--record", record)
        assert (ran.code, ran.err) == (0, ""), ran.out
        assert f"phase {number}. " in flat(ran.out)
        assert "GO IF" in ran.out
        assert_fits(ran.out)
    assert [item.phase for item in decode_record(record.read_bytes())] == list(PHASES)
    ran = checked("--phase", 1, "--record", record)
    assert (ran.code, "has passed phase 10 already" in flat(ran.out)) == (3, True)
    assert handoff.session.audit("viewer").mutations == 0


def test_the_answer_as_a_document_is_the_line_of_the_record(checked, handoff):
    for number in (1, 2):
        ran = checked("--phase", number, "--record", handoff.record, "-o", "json")
        assert (ran.code, ran.err) == (0, "")
        assert_valid(ran.document)
        assert (ran.document["kind"], ran.document["phase"]) == ("HandoffCheck", number)
        assert json.loads(handoff.record.read_text().splitlines()[-1]) == ran.document
    ran = checked("--phase", 4, "-o", "json")
    assert (ran.code, ran.document["verdict"], ran.document["detected"]) == (3, "stop", False)


def test_without_a_phase_it_is_found_by_reading(checked):
    ran = checked()
    assert ran.code == 0
    assert "phase 1. Hold the source pipeline (found by reading); 2 can't be told apart" in flat(ran.out)


def test_quiescence_is_named_before_the_source_is_paused(checked, handoff):
    assert "so name that one with --phase 2" in flat(checked("--record", handoff.record).out)
    handoff.pause_source()
    ran = checked("--record", handoff.record)
    assert ran.code == 3
    assert "the record has no GO for phase 2, which comes before phase 3" in flat(ran.out)


def test_a_record_inside_a_work_tree_earns_a_warning(checked, tmp_path):
    (tmp_path / "repository/.git").mkdir(parents=True)
    inside = tmp_path / "repository/record.jsonl"
    ran = checked("--record", inside)
    assert ran.code == 0
    assert f"{inside} lies inside the Git work tree" in flat(ran.err)
    assert f"{inside} lies inside the Git work tree" in flat(checked("--record", inside, "-o", "json").err)


def test_a_difference_is_a_stop(checked, handoff):
    handoff.patch(AIM_SERVICE, SERVICE, {"metadata": {"labels": {"aim.eai.amd.com/team": "x"}}})
    ran = checked("--phase", "1")
    assert ran.code == 3
    assert "STOP" in ran.out
    assert f"AIMService/{NAMESPACE}/{SERVICE} its desired state differs from the evidence" in flat(ran.out)


def test_what_can_t_be_used_starts_nothing(aim, checked, handoff, tmp_path):
    handoff.record.write_text("{}")
    ran = checked("--phase", "1", "--record", handoff.record)
    assert (ran.code, ran.out) == (4, "")
    assert "unfinished" in ran.err
    none = ["--kubeconfig", tmp_path / "none", "--phase", "1"]
    assert aim("handoff", "check", "--evidence", handoff.evidence_file, *none).code == 4
    assert aim("handoff", "check", "--evidence", tmp_path / "no.json", *none).code == 4


@pytest.mark.parametrize("given", [["--phase", "0"], ["--phase", "11"], ["--phase", "1.0"], ["--phase", ""]])
def test_a_phase_that_is_none_is_wrong_usage(aim, given):
    assert aim("handoff", "check", "--evidence", "e.json", *given).code == 2
    assert aim("handoff", "chek", "--evidence", "e.json").code == 2
    assert aim("handoff", "check").code == 2
