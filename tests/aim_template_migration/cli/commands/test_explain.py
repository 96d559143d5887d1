import pytest

from aim_template_migration.cli.exit_codes import EXIT_CODES
from aim_template_migration.documents.codes import CODES

FIELDS = ("code", "kind", "summary", "advice", "page", "command")


def test_every_code_is_explained(aim):
    ran = aim("explain", "--all", "-o", "json")
    assert ran.code == 0
    assert ran.document["apiVersion"] == "migration.aim.eai.amd.com/v1"
    assert ran.document["kind"] == "CodeList"
    codes = {code["code"]: code for code in ran.document["codes"]}
    assert set(codes) == {*CODES, *(str(code.number) for code in EXIT_CODES)}
    for code in codes.values():
        assert {"code", "kind", "summary", "advice"} <= set(code) <= {*FIELDS}
        assert all(code.values())


def test_a_failure_names_the_page_that_tells_what_to_do(aim):
    ran = aim("explain", "RolloutDetected")
    assert "docs/how-to/failures/rollout-detected.md" in ran.out


def test_where_convert_comes_next_its_command_is_printed_as_the_program_was_called(aim):
    assert "aim-template-migration convert MANIFESTS --from-cluster --diff" in aim("explain", "Unreferenced").out
    assert "convert MANIFESTS --in-place --plan PLAN" in aim("explain", "LastAppliedPresent").out
    assert "MANIFESTS" not in aim("explain", "Paused").out


def test_one_code_in_words(aim):
    ran = aim("explain", "targetwouldcapture")
    assert ran.code == 0
    assert ran.out.startswith("TargetWouldCapture\n")
    assert " ".join(CODES["TargetWouldCapture"].advice.split()) in " ".join(ran.out.split())


@pytest.mark.parametrize("code", EXIT_CODES, ids=lambda code: str(code.number))
def test_exit_codes_are_codes_too(aim, code):
    ran = aim("explain", code.number)
    assert ran.code == 0
    assert f"exit code {code.number}" in ran.out


def test_an_unknown_code_names_near_ones(aim):
    ran = aim("explain", "PinExpire")
    assert ran.code == 2
    assert "PinExpires" in ran.err
    assert "PinExpired" in ran.err


@pytest.mark.parametrize("arguments", [[], ["--all", "5"]])
def test_codes_or_all(aim, arguments):
    assert aim("explain", *arguments).code == 2
