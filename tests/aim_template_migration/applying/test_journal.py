"""Writing the journal: on disk before the engine goes on, and a failure is final."""

import errno
import os
import stat
import threading

import pytest

from aim_template_migration.applying import journal as journal_module
from aim_template_migration.applying.failures import RunStopped
from aim_template_migration.applying.journal import SYNCED_EVENTS, Journal, JournalError
from aim_template_migration.documents.journal import read_journal
from tests.aim_template_migration.applying.bench import FakeClock


@pytest.fixture
def syncs(monkeypatch):
    """Record what was on disk at each sync."""
    seen = []
    real = os.fdatasync

    def fdatasync(descriptor):
        seen.append(os.fstat(descriptor).st_size)
        real(descriptor)

    monkeypatch.setattr(journal_module.os, "fdatasync", fdatasync)
    return seen


def opened(path, *, durable=True):
    return Journal(path, FakeClock(), durable=durable)


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_it_is_private_and_new(tmp_path, umask):
    former = os.umask(umask)
    try:
        journal = opened(tmp_path / "j")
    finally:
        os.umask(former)
    journal.close()
    assert stat.S_IMODE((tmp_path / "j").stat().st_mode) == 0o600
    with pytest.raises(JournalError, match="exists already and is never overwritten"):
        opened(tmp_path / "j")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(JournalError, match="exists already"):
        opened(tmp_path / "link")
    with pytest.raises(JournalError, match="can't be made: No such file"):
        opened(tmp_path / "missing" / "j")


@pytest.mark.parametrize("event", sorted(SYNCED_EVENTS))
def test_what_must_be_known_after_a_power_failure_is_synced(tmp_path, syncs, event):
    journal = opened(tmp_path / "j")
    journal.append("stepStarted")
    assert syncs == []
    journal.append(event)
    assert syncs == [(tmp_path / "j").stat().st_size]
    assert "attempt" in SYNCED_EVENTS


def test_a_dry_run_waits_for_no_disk(tmp_path, syncs):
    journal = opened(tmp_path / "j", durable=False)
    for event in SYNCED_EVENTS:
        journal.append(event)
    assert syncs == []
    assert len(read_journal((tmp_path / "j").read_bytes()).entries) == len(SYNCED_EVENTS)


def test_a_failed_write_is_final_and_leaves_a_torn_line_at_most(tmp_path, monkeypatch):
    journal = opened(tmp_path / "j")
    journal.append("attempt", unit="a")
    real, left = os.write, [5]

    def full(descriptor, data):
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, bytes(data)[: left.pop()])

    monkeypatch.setattr("aim_template_migration.documents.private_files.os.write", full)
    for _ in range(2):
        with pytest.raises(RunStopped) as stopped:
            journal.append("attempt", unit="b")
        assert stopped.value.fault.code == "JournalNotWritable"
        assert "No space left on device" in stopped.value.fault.message
        monkeypatch.undo()  # the disk is free again, but what was written is not known
    reading = read_journal((tmp_path / "j").read_bytes())
    assert ([entry.unit for entry in reading.entries], reading.torn_bytes, reading.damage) == (["a"], 5, "")


def test_a_failed_sync_is_never_retried_as_a_success(tmp_path, monkeypatch):
    journal = opened(tmp_path / "j")

    def broken(descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(journal_module.os, "fdatasync", broken)
    with pytest.raises(RunStopped, match="Input/output error"):
        journal.append("attempt")
    monkeypatch.undo()
    for event in ("attempt", "facts"):
        with pytest.raises(RunStopped, match="Input/output error"):
            journal.append(event)


def test_threads_that_wait_together_share_a_sync_and_none_goes_on_before_it(tmp_path, monkeypatch):
    journal = opened(tmp_path / "j")
    synced, first, release = [], threading.Event(), threading.Event()
    real = os.fdatasync

    def slow(descriptor):
        if not first.is_set():
            first.set()
            release.wait(5)
        real(descriptor)
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(journal_module.os, "fdatasync", slow)
    ended = []

    def write(number):
        journal.append("attempt", unit=str(number))
        ended.append((number, len(read_journal((tmp_path / "j").read_bytes()).entries), bool(synced)))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    threads[0].start()
    first.wait(5)
    for thread in threads[1:]:
        thread.start()
    for thread in threads[1:]:
        thread.join(0.05)
    assert ended == []  # nobody may go on while nothing is on disk
    release.set()
    for thread in threads:
        thread.join()
    assert len(ended) == 6
    assert all(was_synced for _, _, was_synced in ended)
    assert len(synced) <= 3
    reading = read_journal((tmp_path / "j").read_bytes())
    assert sorted(entry.unit for entry in reading.entries) == [str(number) for number in range(6)]
    assert reading.damage == ""


def test_many_threads_write_one_chain(tmp_path):
    journal = opened(tmp_path / "j", durable=False)

    def write(number):
        for count in range(50):
            journal.append("facts", unit=str(number), facts={"count": count})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reading = read_journal((tmp_path / "j").read_bytes())
    assert (len(reading.entries), reading.damage) == (200, "")


def test_a_journal_that_begins_nothing_is_discarded(tmp_path):
    journal = opened(tmp_path / "j")
    journal.discard()
    assert list(tmp_path.iterdir()) == []
