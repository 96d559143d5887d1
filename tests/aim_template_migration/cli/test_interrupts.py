"""Signals while a run writes."""

import os
import signal
import threading
from pathlib import Path

from aim_template_migration.cli.console import standard_console
from aim_template_migration.cli.interrupts import stopping_on_signals


class Watched(threading.Event):
    """Remembers which threads touched it: its lock may be held by what a signal interrupts in the main thread."""

    def __init__(self):
        super().__init__()
        self.touched_by = set()

    def is_set(self):
        self.touched_by.add(threading.current_thread())
        return super().is_set()

    def set(self):
        self.touched_by.add(threading.current_thread())
        super().set()


def test_the_handler_takes_no_lock_that_it_may_have_interrupted():
    stop = Watched()
    with stopping_on_signals(stop, standard_console()):
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(5)
        os.kill(os.getpid(), signal.SIGTERM)
    assert stop.touched_by
    assert threading.main_thread() not in stop.touched_by


def test_a_signal_that_the_kernel_gives_to_another_thread_ends_a_wait_of_the_main_thread():
    stop, done = threading.Event(), threading.Event()
    other = threading.Thread(target=done.wait, daemon=True)
    other.start()

    with stopping_on_signals(stop, standard_console()):
        threading.Timer(0.05, signal.pthread_kill, (other.ident, signal.SIGTERM)).start()
        assert stop.wait(5)
    done.set()
    other.join()


def test_a_flood_of_signals_blocks_nothing_and_is_told(capfd):
    stop = threading.Event()
    with stopping_on_signals(stop, standard_console(), first="the first", again="another"):
        for _ in range(200):
            os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(5)
    said = capfd.readouterr().err.split("\n")
    assert [line for line in said if line][:2] == ["the first", "another"]


def test_handlers_threads_and_pipes_are_given_back():
    former = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    threads, files = threading.active_count(), len([*Path("/dev/fd").iterdir()])
    with stopping_on_signals(threading.Event(), standard_console()):
        pass
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == former
    assert (threading.active_count(), len([*Path("/dev/fd").iterdir()])) == (threads, files)
