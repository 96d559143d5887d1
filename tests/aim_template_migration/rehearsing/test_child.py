"""The command line as a process of its own."""

import sys
import threading
from pathlib import Path

from aim_template_migration.rehearsing.child import ChildProcess

WAITS = """
import pathlib, signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
pathlib.Path(sys.argv[1]).touch()
signal.pause()
"""


def wait_for(path: Path):
    while not path.exists():
        threading.Event().wait(0.01)


def test_what_a_process_says_and_how_it_ends():
    child = ChildProcess((sys.executable, "-c"))
    ended = child.run(["import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"], threading.Event())
    assert (ended.code, ended.output, ended.errors) == (3, "out\n", "err\n")


def test_a_stop_is_passed_on(tmp_path):
    stop, here = threading.Event(), tmp_path / "here"

    def stop_it():
        wait_for(here)
        stop.set()

    thread = threading.Thread(target=stop_it)
    thread.start()
    ended = ChildProcess((sys.executable, "-c", WAITS)).run([str(here)], stop)
    thread.join()
    assert ended.code == 130


def test_a_killed_process_ends_with_its_signal(tmp_path):
    here = tmp_path / "here"
    child = ChildProcess((sys.executable, "-c", WAITS))

    def kill_it():
        wait_for(here)
        child.kill()

    thread = threading.Thread(target=kill_it)
    thread.start()
    assert child.run([str(here)], threading.Event()).code == -9
    thread.join()
    child.kill()  # nothing runs any more
