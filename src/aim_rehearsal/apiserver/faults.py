"""The place where trouble is injected into the local API."""

from collections.abc import Callable

from aim_rehearsal.apiserver.messages import Request, Response

FaultHook = Callable[[Request, Response | None], Response | None]
"""Sees each request twice: before it is carried out (with None) and after (with the answer).

What it returns is sent instead: before, nothing is carried out then; after, the store has already changed. It may sleep
to delay, or raise `DropConnectionError` to end the connection without an answer at either point. An answer with a
``declared_length`` beyond its body is cut off; one with another body is malformed.
"""


class DropConnectionError(Exception):
    """Raised by a fault hook: the client's connection ends without an answer."""
