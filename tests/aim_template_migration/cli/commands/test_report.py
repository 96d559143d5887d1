"""``report``: the page on disk, and what stands in its way."""

import stat

import pytest

from aim_template_migration.documents.limits import LIMITS
from tests.support.runs import write_mixed


@pytest.fixture
def plan(tmp_path):
    return write_mixed(tmp_path / "plan")


@pytest.fixture
def page(tmp_path):
    return tmp_path / "report.html"


def test_the_page_is_written_private_and_the_limits_are_told(aim, plan, page):
    ran = aim("report", "--plan", plan, "--file", page)
    assert ran.code == 0
    assert page.read_bytes().startswith(b"<!doctype html>")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "1 failed, 2 manual, 1 succeeded" in ran.out
    assert " ".join(LIMITS.split()) in " ".join(ran.out.split())


def test_the_answer_can_be_read_by_programs(aim, plan, page):
    document = aim("report", "--plan", plan, "--file", page, "-o", "json").document
    assert document["kind"] == "ReportWritten"
    assert document["counts"] == {"failed": 1, "manual": 2, "succeeded": 1}
    assert document["bytes"] == page.stat().st_size
    assert document["limits"] == LIMITS


def test_an_earlier_report_is_replaced(aim, plan, page):
    aim("report", "--plan", plan, "--file", page)
    page.chmod(0o644)
    assert aim("report", "--plan", plan, "--file", page).code == 0
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"my notes", b"<!doctype html><title>mine</title>"])
def test_another_file_is_never_overwritten(aim, plan, page, content):
    page.write_bytes(content)
    ran = aim("report", "--plan", plan, "--file", page)
    assert ran.code == 4
    assert "is no report" in ran.err
    assert page.read_bytes() == content


def test_no_link_is_followed(aim, plan, page, tmp_path):
    page.symlink_to(tmp_path / "elsewhere.html")
    assert aim("report", "--plan", plan, "--file", page).code == 4
    assert not (tmp_path / "elsewhere.html").exists()


def test_a_plan_that_is_missing_is_named(aim, page, tmp_path):
    ran = aim("report", "--plan", tmp_path / "none", "--file", page)
    assert ran.code == 4
    assert "Traceback" not in ran.err
    assert not page.exists()


def test_a_directory_without_a_parent_is_named(aim, plan, tmp_path):
    ran = aim("report", "--plan", plan, "--file", tmp_path / "none" / "report.html")
    assert ran.code == 4
    assert "can't be written" in ran.err


def test_a_damaged_journal_is_told(aim, plan, page):
    journal = plan / "apply-result.json.journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"CreateProfile", b"CreateProfilx", 1))
    ran = aim("report", "--plan", plan, "--file", page)
    assert ran.code == 0
    assert "is damaged" in ran.err
    assert b"is damaged" in page.read_bytes()


def test_both_options_take_several(aim, plan, page, tmp_path):
    other = write_mixed(tmp_path / "other")
    document = aim("report", "--plan", plan, other, "--file", page, "-o", "json").document
    assert len(document["plans"]) == 2
    again = aim("report", "--plan", plan, "--plan", other, "--file", page, "-o", "json").document
    assert again["plans"] == document["plans"]
