"""The result while a run lasts: true at any moment, small, and private."""

import errno
import os
import stat
import threading

import pytest

from aim_template_migration.applying import running_result as module
from aim_template_migration.applying.failures import RunStopped
from aim_template_migration.applying.running_result import SHOWN_WHILE_RUNNING, RunningResult
from aim_template_migration.documents.private_files import PrivateFileError
from aim_template_migration.documents.result import OpenAttempt, UnitResult, decode_result
from tests.aim_template_migration.documents.test_result import result

ATTEMPT = OpenAttempt("u0", "CutOver", "AIMService/a/u0", "2026-06-02T09:00:00Z")
ORDER = tuple(f"u{number}" for number in range(200))


def running(path, *, durable=True):
    return RunningResult(path, result(), ORDER, durable=durable)


def on_disk(path):
    return decode_result(path.read_bytes())


def ended(name, status="failed", code="PinEdited"):
    return UnitResult(name, "automatic", status, code=code)


@pytest.mark.parametrize("durable", [True, False])
def test_an_attempt_is_in_the_file_before_it_returns(tmp_path, durable):
    path = tmp_path / "r"
    book = running(path, durable=durable)
    assert on_disk(path).in_flight == ()
    book.attempt(ATTEMPT)
    assert on_disk(path).in_flight == (ATTEMPT,)
    assert on_disk(path).state == "incomplete"
    assert book.in_flight("u0")
    assert not book.in_flight("u1")
    book.close_attempt(ATTEMPT)
    book.attempt(OpenAttempt("u1", "CreateProfile", "x", "t", dry_run=True))
    assert [item.unit for item in on_disk(path).in_flight] == ["u1"]
    assert not book.in_flight("u1")  # nothing of a dry run can be stored


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_file_is_private_from_first_to_last(tmp_path, umask):
    path = tmp_path / "r"
    former = os.umask(umask)
    try:
        book = running(path)
        modes = [stat.S_IMODE(path.stat().st_mode)]
        book.attempt(ATTEMPT)
        modes.append(stat.S_IMODE(path.stat().st_mode))
        book.complete("t", "")
        modes.append(stat.S_IMODE(path.stat().st_mode))
    finally:
        os.umask(former)
    assert modes == [0o600] * 3


def test_an_existing_file_is_refused(tmp_path):
    (tmp_path / "r").write_text("prior")
    with pytest.raises(RunStopped) as stopped:
        running(tmp_path / "r")
    assert stopped.value.fault.code == "ResultNotWritable"
    assert (tmp_path / "r").read_text() == "prior"


def test_failures_show_at_once_and_successes_only_count(tmp_path):
    path = tmp_path / "r"
    book = running(path)
    book.finish_unit(ended("u1", "succeeded", ""))
    assert on_disk(path).counts["succeeded"] == 0
    book.finish_unit(ended("u0"))
    shown = on_disk(path)
    assert [unit.id for unit in shown.units] == ["u0"]
    assert (shown.counts["failed"], shown.counts["succeeded"]) == (1, 1)


def test_the_file_stays_small_however_many_units_fail(tmp_path):
    path = tmp_path / "r"
    book = running(path, durable=False)
    for name in ORDER:
        book.finish_unit(ended(name))
    shown = on_disk(path)
    assert (len(shown.units), shown.counts["failed"]) == (SHOWN_WHILE_RUNNING, len(ORDER))
    whole = book.complete("t", "")
    assert [unit.id for unit in whole.units] == list(ORDER)
    assert on_disk(path) == whole


def test_units_that_are_not_run_are_counted_and_not_shown(tmp_path):
    path = tmp_path / "r"
    book = running(path)
    book.record([ended("u1", "manual", "CustomModel"), ended("u2", "skipped", "NotSelected")])
    book.attempt(ATTEMPT)
    shown = on_disk(path)
    assert (shown.units, shown.counts["manual"], shown.counts["skipped"]) == ((), 1, 1)


def test_no_unit_ends_twice(tmp_path):
    book = running(tmp_path / "r")
    book.finish_unit(ended("u1"))
    with pytest.raises(ValueError, match="u1 has a final status already"):
        book.finish_unit(ended("u1", "succeeded", ""))


def test_an_attempt_that_cannot_be_shown_is_none(tmp_path, monkeypatch):
    path = tmp_path / "r"
    book = running(path)

    def full(*_args, **_kwargs):
        raise PrivateFileError(f"{path} can't be written: no space left on device")

    monkeypatch.setattr(module, "replace", full)
    with pytest.raises(RunStopped) as stopped:
        book.attempt(ATTEMPT)
    assert stopped.value.fault.code == "ResultNotWritable"
    assert not book.in_flight("u0")
    with pytest.raises(RunStopped):
        book.complete("t", "")
    assert on_disk(path).state == "incomplete"
    assert book.snapshot("t", "why").state == "complete"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_disk_errors_stop_the_run(tmp_path, monkeypatch, number):
    book = running(tmp_path / "r")

    def failing(descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("aim_template_migration.documents.private_files.os.fsync", failing)
    with pytest.raises(RunStopped, match=os.strerror(number).lower()):
        book.attempt(ATTEMPT)


def test_an_open_attempt_stays_in_the_complete_result(tmp_path):
    path = tmp_path / "r"
    book = running(path)
    book.attempt(ATTEMPT)
    book.finish_unit(ended("u0", "unknown", "OutcomeUnknown"))
    assert book.complete("t", "interrupted").in_flight == (ATTEMPT,)
    assert on_disk(path).stopped == "interrupted"


def test_threads_share_rewritings_and_each_finds_its_own_attempt(tmp_path, monkeypatch):
    path = tmp_path / "r"
    book = running(path)
    written = []
    real = module.replace

    def counting(*args, **kwargs):
        written.append(1)
        real(*args, **kwargs)

    monkeypatch.setattr(module, "replace", counting)
    missing = []
    barrier = threading.Barrier(8)

    def attempt(number):
        barrier.wait()
        mine = OpenAttempt(f"u{number}", "CutOver", "x", "t")
        book.attempt(mine)
        if mine not in on_disk(path).in_flight:
            missing.append(number)

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missing == []
    assert 1 <= len(written) <= 8
    assert len(on_disk(path).in_flight) == 8
