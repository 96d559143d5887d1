import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from aim_template_migration.kube.credentials import Credentials
from aim_template_migration.kube.errors import ConnectError
from aim_template_migration.kube.identity import Identity


class Source:
    """Gives numbered identities and counts how it was asked."""

    def __init__(self, lifetime=None):
        self.now = 0.0
        self.lifetime = lifetime
        self.obtained = 0
        self.reread = 0
        self.fails = False

    def _identity(self):
        if self.fails:
            raise ConnectError("no")
        number = self.obtained + self.reread
        expires_at = None if self.lifetime is None else self.now + self.lifetime
        return Identity("a test", (("Authorization", f"Bearer token-{number}"),), expires_at=expires_at)

    def obtain(self):
        self.obtained += 1
        return self._identity()

    def read_again(self):
        self.reread += 1
        return self._identity()

    def credentials(self):
        return Credentials(self.obtain, self.read_again, wall_clock=lambda: self.now)


def test_credentials_are_obtained_once_and_again_when_they_expire():
    source = Source(lifetime=60)
    credentials = source.credentials()
    first = credentials.current()
    source.now = 59.9
    assert credentials.current() is first
    source.now = 60
    assert credentials.current() is not first
    assert (source.obtained, source.reread) == (2, 0)


def test_refused_credentials_are_read_again_once_however_many_threads_met_the_refusal():
    source = Source()
    credentials = source.credentials()
    refused = credentials.current()
    barrier = threading.Barrier(8)

    def meet(_):
        barrier.wait()
        credentials.refuse(refused)
        return credentials.current()

    with ThreadPoolExecutor(8) as pool:
        renewed = set(pool.map(meet, range(8)))
    assert len(renewed) == 1
    assert renewed != {refused}
    assert source.reread == 1


def test_an_old_refusal_does_not_count_against_new_credentials():
    source = Source()
    credentials = source.credentials()
    old = credentials.current()
    credentials.refuse(old)
    new = credentials.current()
    credentials.refuse(old)
    assert credentials.current() is new


def test_a_failure_to_renew_is_not_forgotten():
    source = Source()
    credentials = source.credentials()
    credentials.refuse(credentials.current())
    source.fails = True
    for _ in range(2):
        with pytest.raises(ConnectError):
            credentials.current()
    source.fails = False
    assert credentials.current().headers == (("Authorization", "Bearer token-4"),)


def test_texts_are_freed_of_the_credentials_in_use():
    credentials = Source().credentials()
    assert credentials.scrub("Bearer token-1 and token-1") == "Bearer <redacted> and <redacted>"
    short = Identity("a test", (("Authorization", "Bearer t"),))
    assert Credentials(lambda: short, lambda: short).scrub("a text") == "a text"
    assert Credentials(lambda: Identity("nobody"), lambda: Identity("nobody")).scrub("text") == "text"
