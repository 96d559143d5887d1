"""One apply at a time; a lock is never removed for the user, and its holder is named truthfully."""

import fcntl
import json
import os
import shlex
import socket
import stat
import subprocess
import sys
import textwrap

import pytest

from aim_template_migration.applying import lock as lock_module
from aim_template_migration.applying.lock import LOCK_NAME, ApplyLock, LockHeldError, describe_holder


def held(directory):
    with pytest.raises(LockHeldError) as caught, ApplyLock(directory, "r2", "apply"):
        pass
    return str(caught.value)


def forge(directory, **changes):
    """Leave the lock of a process that is gone."""
    with ApplyLock(directory, "r1", "apply --plan 'my plan' --commit"):
        holder = json.loads((directory / LOCK_NAME).read_bytes())
    (directory / LOCK_NAME).write_text(json.dumps(holder | changes))
    return holder


def test_it_is_private_and_names_its_holder(tmp_path):
    former = os.umask(0)
    try:
        with ApplyLock(tmp_path, "r1", "apply --plan x"):
            path = tmp_path / LOCK_NAME
            holder = json.loads(path.read_bytes())
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(former)
    assert (holder["host"], holder["pid"]) == (socket.gethostname(), os.getpid())
    assert (holder["runId"], holder["command"]) == ("r1", "apply --plan x")
    assert holder["processStart"].isdigit()
    assert len(holder["bootId"]) == 36
    assert not path.exists()


def test_a_second_run_is_refused_and_told_of_the_first(tmp_path):
    with ApplyLock(tmp_path, "r1", "apply --plan x") as lock:
        message = held(tmp_path)
        assert lock.is_ours()
    assert f"is held by run r1 (process {os.getpid()} on host {socket.gethostname()}: apply --plan x)" in message
    assert "that process, or a child of it, still lives on this host" in message
    assert message.endswith("; wait for it to end, and leave its lock alone")


def test_a_lock_whose_holder_is_gone_is_removed_by_people_only(tmp_path):
    forge(tmp_path, pid=2**22 + 1)
    message = held(tmp_path)
    assert f"only after proving that no apply runs, remove it: rm -- {tmp_path / LOCK_NAME}" in message


def test_a_directory_in_the_place_of_the_lock_is_moved_away_by_the_printed_command(tmp_path):
    (tmp_path / LOCK_NAME).mkdir()
    subprocess.run(["sh", "-c", held(tmp_path).rpartition("move it away: ")[2]], check=True)
    assert not (tmp_path / LOCK_NAME).exists()
    assert (tmp_path / f"{LOCK_NAME}.found").is_dir()


def test_the_printed_command_works_with_spaces(tmp_path):
    directory = tmp_path / "my plan; rm -rf $HOME"
    directory.mkdir()
    forge(directory)
    command = held(directory).rpartition("remove it: ")[2]
    assert shlex.split(command) == ["rm", "--", str(directory / LOCK_NAME)]
    subprocess.run(["sh", "-c", command], check=True)
    assert not (directory / LOCK_NAME).exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "that process still lives on this host, but holds the lock no more"),
        ({"pid": 2**22 + 1}, "that process no longer lives on this host"),
        ({"processStart": "1"}, "that process no longer lives on this host"),
        ({"bootId": "00000000-0000-0000-0000-000000000000"}, "this host has been restarted since"),
        ({"host": "elsewhere"}, "whether it still runs can be told on elsewhere only"),
        ({"processStart": ""}, "that process no longer lives on this host"),
    ],
)
def test_what_can_be_said_of_a_holder(tmp_path, changes, said):
    forge(tmp_path, **changes)
    assert said in held(tmp_path)
    assert (tmp_path / LOCK_NAME).exists()


def test_a_file_system_without_flock_is_said_to_be_one(tmp_path, monkeypatch):
    forge(tmp_path)

    def flock(descriptor, operation):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(lock_module.fcntl, "flock", flock)
    assert "whether it still runs can't be told on this file system" in held(tmp_path)


def test_a_dead_process_of_this_host_is_seen(tmp_path):
    script = textwrap.dedent(
        f"""
        import os
        from pathlib import Path
        from aim_template_migration.applying.lock import ApplyLock
        ApplyLock(Path({str(tmp_path)!r}), "r1", "apply").__enter__()
        print(os.getpid(), flush=True)
        os._exit(0)  # as a kill would end it
        """
    )
    ended = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    message = held(tmp_path)
    assert f"process {ended.stdout.strip()} on host" in message
    assert "that process no longer lives on this host" in message


def test_a_child_that_outlives_the_holder_still_counts(tmp_path):
    script = textwrap.dedent(
        f"""
        import os, sys
        from pathlib import Path
        from aim_template_migration.applying.lock import ApplyLock
        ApplyLock(Path({str(tmp_path)!r}), "r1", "apply").__enter__()
        if os.fork() == 0:
            os.close(1)
            sys.stdin.readline()
        os._exit(0)
        """
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, text=True)
    holder.wait()
    try:
        assert "or a child of it, still lives on this host" in held(tmp_path)
    finally:
        holder.stdin.close()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xff", b'{"host": "h"}'])
def test_a_lock_without_a_holder_is_no_licence(tmp_path, content):
    (tmp_path / LOCK_NAME).write_bytes(content)
    assert "exists but names no holder (an apply may be starting, or died at once)" in held(tmp_path)
    assert (tmp_path / LOCK_NAME).read_bytes() == content


def test_anything_under_the_name_counts_as_a_lock(tmp_path):
    path = tmp_path / LOCK_NAME
    path.symlink_to("nowhere")
    assert "can't be read" in held(tmp_path)
    path.unlink()
    os.mkfifo(path)
    assert "is no regular file" in held(tmp_path)
    path.unlink()
    path.mkdir()
    assert "is no regular file" in held(tmp_path)


def test_only_the_own_lock_is_removed(tmp_path):
    path = tmp_path / LOCK_NAME
    with ApplyLock(tmp_path, "r1", "apply") as lock:
        assert lock.is_ours()
        path.unlink()
        assert not lock.is_ours()
        path.write_text("another's")
        assert not lock.is_ours()
    assert path.read_text() == "another's"
    assert not lock.is_ours()


def test_a_lock_that_cannot_be_written_whole_is_taken_back(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lock_module.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"), ApplyLock(tmp_path, "r1", "apply"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_two_processes_at_once_never_both_hold_it(tmp_path):
    script = textwrap.dedent(
        f"""
        import sys
        from pathlib import Path
        from aim_template_migration.applying.lock import ApplyLock, LockHeldError
        sys.stdin.readline()
        try:
            with ApplyLock(Path({str(tmp_path)!r}), "r", "apply"):
                print("held", flush=True)
                sys.stdin.readline()
        except LockHeldError:
            print("refused", flush=True)
        """
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for run in runs:
        run.stdin.write("\n")
        run.stdin.flush()
    said = sorted(run.stdout.readline().strip() for run in runs)
    for run in runs:
        run.communicate("\n")
    assert said == ["held", "refused", "refused"]


def test_describing_does_not_disturb_the_holder(tmp_path):
    with ApplyLock(tmp_path, "r1", "apply"):
        for _ in range(3):
            describe_holder(tmp_path / LOCK_NAME)
        descriptor = os.open(tmp_path / LOCK_NAME, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        os.close(descriptor)
