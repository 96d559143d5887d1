"""Processes that classify namespaces for this one, which reads them and writes the plan (shell).

A namespace shares nothing with others, so that its objects may be looked at anywhere. Workers are programs of their
own, not forks of this process, which has threads and connections: they get the pages as they come and give back text.
They end when their socket is closed, and so with this process, whatever ends it.
"""

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from itertools import accumulate
from multiprocessing.connection import Connection, Pipe
from types import TracebackType
from typing import Self

import msgspec

from aim_api.kinds import Kind
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import IncompleteList
from aim_template_migration.kube.requests import Action
from aim_template_migration.kube.side_by_side import ahead, awaited
from aim_template_migration.planning.inventory import READERS, NamespacePages, PlanningError, read_pages
from aim_template_migration.planning.namespace_text import NamespaceText
from aim_template_migration.planning.worker import Answer, Beginning, Failed, Message, PageAhead, Unusable

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from aim_template_migration.planning.worker import main; main(int(sys.argv[1]))"
)
_PIECE = 1 << 20
_ENDS_WITHIN_SECONDS = 2.0
_Waiting = queue.SimpleQueue[NamespaceText | Unusable | Failed | None]
_INHERITED = ("PYTHON", "LD_", "DYLD_")


class WorkerFailedError(Exception):
    """A rule failed in a worker: a fault of the tool, whose traceback is the text."""


class Workers:
    """Worker processes; use it as a context, which ends them."""

    def __init__(self, count: int, beginning: Beginning) -> None:
        """Start ``count`` processes.

        Raises:
            PlanningError: the system starts no further process.
        """
        first = _encoded(beginning)
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        try:
            self._workers += (_Worker(first) for _ in range(count))
        except OSError as error:
            self.end()
            message = f"no process to classify namespaces could be started: {error.strerror}; use --workers 1"
            raise PlanningError(message) from error
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """End the processes."""
        self.end()

    def texts(self, cluster: Cluster, names: Sequence[str]) -> Iterator[NamespaceText]:
        """Read namespaces, have them classified, and yield what they give in the order of ``names``.

        Raises:
            PlanningError: a namespace does not exist, or a worker was ended.
            ClusterError: a namespace or a list in it can't be read whole.
            WorkerFailedError: the tool has a fault.
        """
        for worker, answer in ahead(
            lambda name: self._ask_for(cluster, name), names, READERS, further=len(self._workers)
        ):
            yield worker.text_in(answer)
            with self._lock:
                worker.namespaces -= 1

    def end(self) -> None:
        """End the processes, whatever they do."""
        for worker in self._workers:
            worker.end()

    def _ask_for(self, cluster: Cluster, name: str) -> "tuple[_Worker, _Waiting]":
        """Read a namespace for the worker that has the fewest under way; return what its text comes from."""
        with self._lock:
            worker = min(self._workers, key=lambda worker: worker.namespaces)
            worker.namespaces += 1
        return worker, worker.ask_for(cluster, name)


class _Worker:
    """One process.

    Attributes:
        namespaces: how many it has under way.
    """

    def __init__(self, first: bytes) -> None:
        self.namespaces = 0
        self._first = first
        self._numbers = 0
        self._sending = threading.Lock()
        self._awaited: dict[str, _Waiting] = {}
        ours, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with a program of our own
                [sys.executable, "-P", "-c", _START, str(theirs.fileno()), json.dumps(sys.path)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={name: value for name, value in os.environ.items() if name.startswith(_INHERITED)},
                process_group=0,
            )
        self._connection: Connection[Message, Answer] = ours
        threading.Thread(target=self._receive, name="worker", daemon=True).start()

    def ask_for(self, cluster: Cluster, name: str) -> _Waiting:
        """Read a namespace and pass it on; return where its answer will be."""
        answer: _Waiting = queue.SimpleQueue()
        self._awaited[name] = answer
        read = read_pages(cluster, name, self._keep)
        pieces = tuple(number for numbers in read.pages for number in numbers)
        self._send(NamespacePages(name, pieces, terminating=read.terminating))
        return answer

    def text_in(self, waiting: _Waiting) -> NamespaceText:
        """Wait for an answer and return its text."""
        answer = awaited(waiting)
        match answer:
            case Unusable(action=action, text=text):
                raise IncompleteList(action, text)
            case Failed(traceback=traceback, short_of_memory=short):
                raise _short_of_memory("had not enough memory") if short else WorkerFailedError(traceback)
            case None:
                raise self._ended()
        return answer

    def end(self) -> None:
        """End the process at once; it has nothing that could be lost."""
        self._process.kill()
        self._process.wait()

    def _keep(self, kind: Kind, action: Action, items: list[msgspec.Raw]) -> list[int]:
        """Pass a page on in small pieces, so that it is not twice in memory as a whole; return their numbers."""
        return [self._pass_on(kind, action, piece) for piece in _pieces(items)]

    def _pass_on(self, kind: Kind, action: Action, items: list[msgspec.Raw]) -> int:
        ends = tuple(accumulate(len(memoryview(item)) for item in items))
        data = b"".join(items)
        with self._sending:
            self._numbers += 1
            number = self._numbers
            self._send_now(PageAhead(number, kind, action, ends), data)
        return number

    def _send(self, message: Message) -> None:
        with self._sending:
            self._send_now(message)

    def _send_now(self, message: Message, data: bytes | None = None) -> None:
        try:
            if self._first:
                self._connection.send_bytes(self._first)
                self._first = b""
            self._connection.send_bytes(_encoded(message))
            if data is not None:
                self._connection.send_bytes(data)
        except OSError:
            raise self._ended() from None

    def _receive(self) -> None:
        """Give each answer to whoever waits for it, and no answer once there are none."""
        try:
            with contextlib.suppress(Exception):  # whatever ends the answers, the process is of no use any more
                while True:
                    name, text = self._connection.recv()
                    self._awaited.pop(name).put(text)
        finally:
            self._wait_for_its_end()
            with self._sending:
                self._connection.close()
            for waiting in list(self._awaited.values()):
                waiting.put(None)

    def _wait_for_its_end(self) -> int:
        """Return the exit code of a process that is ending by itself, or is ended now."""
        try:
            return self._process.wait(_ENDS_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _ended(self) -> PlanningError | WorkerFailedError:
        code = self._wait_for_its_end()
        if code >= 0:
            return WorkerFailedError(f"a worker ended by itself, with exit code {code}")
        return _short_of_memory(f"was ended by {signal.Signals(-code).name}, as happens where memory is short")


def _encoded(message: Message) -> bytes:
    """Return what ``Connection.send`` would send.

    That keeps a view of a buffer in the traceback of its failure, about which Python 3.13 complains on stderr when both
    are collected.
    """
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def _short_of_memory(what: str) -> PlanningError:
    return PlanningError(
        f"a process that classified namespaces {what}, and nothing was written; give the command more memory, or use "
        "--workers 1, which needs the least"
    )


def _pieces(items: list[msgspec.Raw]) -> Iterator[list[msgspec.Raw]]:
    """Yield objects in order, as many at a time as make a piece."""
    piece: list[msgspec.Raw] = []
    size = 0
    for item in items:
        piece.append(item)
        size += len(memoryview(item))
        if size >= _PIECE:
            yield piece
            piece, size = [], 0
    yield piece
