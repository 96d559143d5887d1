"""The machine's clock, as records show it."""

import threading
import time
from datetime import UTC, datetime

import pytest

from aim_template_migration.applying.clock import SystemClock


@pytest.mark.parametrize("nanoseconds", [0, 1, 999, 1_000, 1_780_394_400_000_000_000, 1_780_394_400_999_999_999])
def test_wall_time_is_utc_to_the_microsecond(monkeypatch, nanoseconds):
    monkeypatch.setattr(time, "time_ns", lambda: nanoseconds)
    said = SystemClock(threading.Event()).now()
    assert said.endswith("Z")
    assert len(said) == len("2026-06-02T10:00:00.000000Z")
    whole, rest = divmod(nanoseconds, 1_000_000_000)
    expected = datetime.fromtimestamp(whole, UTC).replace(microsecond=rest // 1000)
    assert datetime.fromisoformat(said) == expected


def test_a_sleep_ends_with_a_stop():
    stop = threading.Event()
    stop.set()
    began = time.monotonic()
    SystemClock(stop).sleep(60)
    assert time.monotonic() - began < 30
