"""Files that nobody else may read, at no moment, and that are whole or absent."""

import contextlib
import errno
import hashlib
import os
import stat
import threading

import pytest

from aim_template_migration.documents import private_files
from aim_template_migration.documents.private_files import (
    PrivateFileError,
    new_directory,
    publish_directory,
    read,
    replace,
    require_private_directory,
    write_new,
)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777], ids=oct)
def umask(request):
    former = os.umask(request.param)
    yield request.param
    os.umask(former)


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def leftovers(directory):
    return sorted(path.name for path in directory.iterdir())


def fail_with(monkeypatch, name, number, *, nth=1):
    """Let the nth call of an os function fail."""
    real, calls = getattr(os, name), []

    def failing(*args, **kwargs):
        calls.append(args)
        if len(calls) == nth:
            raise OSError(number, os.strerror(number))
        return real(*args, **kwargs)

    monkeypatch.setattr(private_files.os, name, failing)
    return calls


def test_files_and_directories_are_private_under_any_umask(tmp_path, umask):
    write_new(tmp_path / "new", b"1")
    replace(tmp_path / "new", b"2")
    replace(tmp_path / "made-by-replace", b"3", durable=False)
    publish_directory(tmp_path / "plan", {"plan.json": b"{}"})
    assert (mode(tmp_path / "new"), mode(tmp_path / "made-by-replace")) == (0o600, 0o600)
    assert (mode(tmp_path / "plan"), mode(tmp_path / "plan" / "plan.json")) == (0o700, 0o600)


def test_a_file_is_private_from_its_first_byte(tmp_path, monkeypatch):
    seen = []
    real = os.write

    def spying(descriptor, data):
        facts = os.fstat(descriptor)
        seen.append((stat.S_IMODE(facts.st_mode), facts.st_size))
        return real(descriptor, data)

    monkeypatch.setattr(private_files.os, "write", spying)
    former = os.umask(0)
    try:
        write_new(tmp_path / "file", b"secret")
    finally:
        os.umask(former)
    assert seen == [(0o600, 0)]


@pytest.mark.parametrize("make", [lambda path: path.write_text("old"), lambda path: path.symlink_to("nowhere")])
def test_an_existing_name_is_never_overwritten(tmp_path, make):
    path = tmp_path / "result"
    make(path)
    before = path.lstat()
    with pytest.raises(PrivateFileError, match="exists already and is never overwritten"):
        write_new(path, b"new")
    assert path.lstat() == before
    assert leftovers(tmp_path) == ["result"]


def test_no_symlink_is_followed(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"theirs")
    link = tmp_path / "link"
    link.symlink_to(target)
    with pytest.raises(PrivateFileError, match="symbolic link"):
        replace(link, b"ours")
    with pytest.raises(PrivateFileError, match="symbolic link"):
        read(link)
    assert target.read_bytes() == b"theirs"


def test_only_regular_files_of_this_user_are_read(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PrivateFileError, match="no regular file"):
        read(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    with pytest.raises(PrivateFileError, match="no regular file"):
        read(tmp_path / "directory")
    with pytest.raises(PrivateFileError, match="no such file"):
        read(tmp_path / "absent")
    (tmp_path / "large").write_bytes(b"12345")
    with pytest.raises(PrivateFileError, match="has 5 bytes, more than the 4"):
        read(tmp_path / "large", limit=4)
    assert read(tmp_path / "large", limit=5) == b"12345"
    monkeypatch.setattr(private_files.os, "geteuid", lambda: 12345)
    monkeypatch.setattr(private_files.os, "fstat", lambda _: os.stat_result((0o100600, 1, 1, 1, 777, 0, 5, 0, 0, 0)))
    with pytest.raises(PrivateFileError, match="belongs to user id 777"):
        read(tmp_path / "large")


@pytest.mark.parametrize(("name", "number"), [("write", errno.ENOSPC), ("fsync", errno.EIO), ("link", errno.EDQUOT)])
def test_a_failed_write_names_the_reason_and_leaves_nothing(tmp_path, monkeypatch, name, number):
    fail_with(monkeypatch, name, number)
    with pytest.raises(PrivateFileError, match=os.strerror(number).lower()):
        write_new(tmp_path / "file", b"data")
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("name", ["write", "fsync"])
def test_a_failed_replacement_keeps_the_old_content(tmp_path, monkeypatch, name):
    path = tmp_path / "file"
    write_new(path, b"old")
    fail_with(monkeypatch, name, errno.ENOSPC)
    with pytest.raises(PrivateFileError):
        replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert leftovers(tmp_path) == ["file"]


def test_a_short_write_goes_on_where_it_stopped(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(private_files.os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:3]))
    write_new(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_a_file_system_without_hard_links_still_refuses_a_taken_name(tmp_path, monkeypatch):
    def unsupported(*_args, **_kwargs):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(private_files.os, "link", unsupported)
    write_new(tmp_path / "file", b"first")
    with pytest.raises(PrivateFileError, match="never overwritten"):
        write_new(tmp_path / "file", b"second")
    assert (tmp_path / "file").read_bytes() == b"first"
    assert (mode(tmp_path / "file"), leftovers(tmp_path)) == (0o600, ["file"])


def test_a_file_system_that_cannot_sync_directories_is_tolerated(tmp_path, monkeypatch):
    real = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(descriptor)

    monkeypatch.setattr(private_files.os, "fsync", fsync)
    write_new(tmp_path / "file", b"data")
    assert (tmp_path / "file").read_bytes() == b"data"


def test_only_one_of_many_writers_makes_a_file(tmp_path):
    outcomes = []
    barrier = threading.Barrier(8)

    def write(number):
        barrier.wait()
        try:
            write_new(tmp_path / "file", str(number).encode())
            outcomes.append(number)
        except PrivateFileError:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [str(number).encode() for number in outcomes] == [(tmp_path / "file").read_bytes()]
    assert leftovers(tmp_path) == ["file"]


@pytest.mark.parametrize("nth", range(1, 9))
@pytest.mark.parametrize("name", ["write", "fsync", "open"])
def test_a_failed_directory_leaves_nothing_under_its_name(tmp_path, monkeypatch, name, nth):
    calls = fail_with(monkeypatch, name, errno.ENOSPC, nth=nth)
    failure = ""
    with contextlib.suppress(PrivateFileError):
        try:
            publish_directory(tmp_path / "plan", {"a": b"1", "b": b"2"})
        except PrivateFileError as error:
            failure = str(error)
            raise
    assert bool(failure) == (len(calls) >= nth)
    assert leftovers(tmp_path) == ([] if failure else ["plan"])
    assert not failure or f"{tmp_path / 'plan'} can't be made: no space left on device" in failure


def test_a_failed_rename_leaves_nothing(tmp_path, monkeypatch):
    def failing(self, target):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(private_files.Path, "rename", failing)
    with pytest.raises(PrivateFileError, match="can't be made"):
        publish_directory(tmp_path / "plan", {"a": b"1"})
    assert leftovers(tmp_path) == []


def test_a_taken_directory_name_is_refused_before_any_work(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("link", "missing/plan"):
        with pytest.raises(PrivateFileError, match=r"exists already|is no directory"):
            publish_directory(tmp_path / name, {"a": b"1"})
    assert leftovers(tmp_path) == ["link"]


def test_a_directory_that_others_could_change_is_refused(tmp_path):
    directory = tmp_path / "plan"
    directory.mkdir(mode=0o700)
    require_private_directory(directory)
    directory.chmod(0o720)
    with pytest.raises(
        PrivateFileError, match=r"can be written by others \(mode 0720\); make it private with chmod 700"
    ):
        require_private_directory(directory)
    (tmp_path / "link").symlink_to(directory)
    with pytest.raises(PrivateFileError, match="symbolic link"):
        require_private_directory(tmp_path / "link")
    (tmp_path / "file").touch()
    with pytest.raises(PrivateFileError, match="is no directory"):
        require_private_directory(tmp_path / "file")
    with pytest.raises(PrivateFileError, match="no such file"):
        require_private_directory(tmp_path / "absent")


def test_a_directory_of_another_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(private_files.os, "geteuid", lambda: 4711)
    monkeypatch.setattr(private_files.Path, "lstat", lambda _: os.stat_result((0o040700, 1, 1, 1, 777, 0, 0, 0, 0, 0)))
    with pytest.raises(PrivateFileError, match="belongs to user id 777, not to you"):
        require_private_directory(tmp_path)


def test_scratch_files_have_no_name_and_no_readers_and_leave_nothing(tmp_path):
    with new_directory(tmp_path / "plan") as made:
        scratch = made.scratch()
        scratch.write(b"for later")
        assert [file for folder in tmp_path.iterdir() for file in folder.iterdir()] == []
        assert stat.S_IMODE(os.fstat(scratch.fileno()).st_mode) == 0o600
        scratch.seek(0)
        made.write("a", (scratch.read(), b", in pieces"))
        assert not (tmp_path / "plan").exists()
    assert leftovers(tmp_path) == ["plan"]
    assert leftovers(tmp_path / "plan") == ["a"]
    assert (tmp_path / "plan" / "a").read_bytes() == b"for later, in pieces"


def test_copies_are_private_files_of_their_own_with_the_same_bytes(tmp_path):
    with new_directory(tmp_path / "plan") as made:
        sha256 = made.write("a", (b"in ", b"pieces"), copies=("b", "c"))
    files = [tmp_path / "plan" / name for name in leftovers(tmp_path / "plan")]
    assert [file.name for file in files] == ["a", "b", "c"]
    assert {file.read_bytes() for file in files} == {b"in pieces"}
    assert sha256 == hashlib.sha256(b"in pieces").hexdigest()
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 3
    assert len({file.stat().st_ino for file in files}) == 3, "an edit of one changes no other"


def broken_off(directory):
    with new_directory(directory) as made:
        made.write("a", (b"1",))
        made.scratch().write(b"2")
        raise KeyboardInterrupt


def test_a_directory_whose_making_breaks_off_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        broken_off(tmp_path / "plan")
    assert leftovers(tmp_path) == []


def with_scratch(directory):
    with new_directory(directory) as made:
        made.scratch()


def test_a_full_disk_under_a_scratch_file_is_said_in_one_sentence(tmp_path, monkeypatch):
    fail_with(monkeypatch, "open", errno.ENOSPC, nth=1)
    with pytest.raises(PrivateFileError, match="can't be made: no space left on device"):
        with_scratch(tmp_path / "plan")
    assert leftovers(tmp_path) == []
