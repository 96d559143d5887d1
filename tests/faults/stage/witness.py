"""What the server sees of the tool: every request as it arrives, with the files as they are at that moment."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aim_rehearsal.apiserver import DropConnectionError, Request, Response
from tests.faults.checking.evidence import Arrival

Before = Callable[[Arrival, Request], Response | None]
After = Callable[[Arrival, Request, Response], Response | None]


@dataclass(slots=True)
class Witness:
    """The fault hook of a local API: notes the requests of one identity and asks whoever directs the run.

    Attributes:
        authorization: the header by which the identity is known.
        before: asked before a request is carried out.
        after: asked after it.
        other: the header of another run of the tool, which is not watched.
        other_wrote: told when that one has written something.
        look: adds to an arrival what the files are like.
        troubles: what went wrong in the suite itself while it looked or acted; a server would hide it in an answer.
    """

    authorization: str = ""
    other: str = ""
    other_wrote: Callable[[], None] = lambda: None
    before: Before = lambda arrival, request: None
    after: After = lambda arrival, request, response: None
    look: Callable[[Arrival], None] = lambda arrival: None
    arrivals: list[Arrival] = field(default_factory=list)
    troubles: list[BaseException] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _now: threading.local = field(default_factory=threading.local)

    def begin(self, look: Callable[[Arrival], None], before: Before, after: After) -> None:
        """Begin to watch a new run."""
        self.look, self.before, self.after = look, before, after
        self.arrivals, self.troubles = [], []

    def __call__(self, request: Request, response: Response | None) -> Response | None:
        try:
            return self._see(request, response)
        except DropConnectionError:
            raise
        except Exception as trouble:
            self.troubles.append(trouble)
            raise DropConnectionError from trouble

    def _see(self, request: Request, response: Response | None) -> Response | None:
        who = request.headers.get("authorization")
        if getattr(self._now, "aside", False) or who != self.authorization:
            if who == self.other and response is not None and request.method != "GET" and response.status < 300:
                self.other_wrote()
            return None
        if response is None:
            return self._arrive(request)
        return self._answer(request, response)

    def aside(self, action: Callable[[], Response]) -> Response:
        """Carry out what the director itself asks of the server, unseen."""
        self._now.aside = True
        try:
            return action()
        finally:
            self._now.aside = False

    def _arrive(self, request: Request) -> Response | None:
        with self._lock:
            arrival = Arrival(len(self.arrivals) + 1, datetime.now(UTC), request.method, request.target, request.body)
            self.arrivals.append(arrival)
        if arrival.mutating:
            self.look(arrival)
        self._now.arrival, self._now.replaced = arrival, False
        instead = self.before(arrival, request)
        self._now.replaced = instead is not None
        return instead

    def _answer(self, request: Request, response: Response) -> Response | None:
        if self._now.replaced:
            return None
        arrival: Arrival = self._now.arrival
        arrival.status = response.status
        return self.after(arrival, request, response)
