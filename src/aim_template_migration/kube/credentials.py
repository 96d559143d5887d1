"""Credentials over time: obtained once, again before they expire, and again when the server refuses them."""

import threading
import time
from collections.abc import Callable

from aim_template_migration.kube.identity import Identity

_SHORTEST_SECRET = 6  # a shorter one occurs in plain words, and hiding it there would show what it is


class Credentials:
    """The identity that requests are sent with; safe for use by many threads, which never obtain it twice at once."""

    def __init__(
        self,
        obtain: Callable[[], Identity],
        reread: Callable[[], Identity],
        *,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """Obtain the first identity.

        Args:
            obtain: gets credentials from what is known of the user: runs the exec plugin, or reads the token file.
            reread: the same after reading the kubeconfig again, which others may have renewed.
            wall_clock: seconds since 1970.

        Raises:
            ConnectError: as ``obtain`` does.
        """
        self._obtain = obtain
        self._reread = reread
        self._wall_clock = wall_clock
        self._lock = threading.Lock()
        self._identity = obtain()
        self._refused = False

    def current(self) -> Identity:
        """Return credentials, obtained anew if those at hand have expired or were refused.

        Raises:
            ConnectError: they cannot be obtained.
        """
        with self._lock:
            expires_at = self._identity.expires_at
            if self._refused:
                self._identity = self._reread()
                self._refused = False
            elif expires_at is not None and self._wall_clock() >= expires_at:
                self._identity = self._obtain()
            return self._identity

    def refuse(self, identity: Identity) -> None:
        """Note that the server refused ``identity``, unless another thread has obtained another one meanwhile."""
        with self._lock:
            if self._identity is identity:
                self._refused = True

    def scrub(self, text: str) -> str:
        """Return ``text`` without the credentials in use, should a server or a proxy have echoed them."""
        for _, value in self._identity.headers:
            secret = value.partition(" ")[2]
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "<redacted>")
        return text
