from datetime import UTC, datetime

import pytest

from aim_rehearsal.apiserver.times import age, human_duration, parse_time, rfc3339

M, H, D = 60, 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (2 * M, "2m"),
        (9 * M + 30, "9m30s"),
        (10 * M + 30, "10m"),
        (2 * H, "120m"),
        (3 * H, "3h"),
        (7 * H + 5 * M, "7h5m"),
        (47 * H, "47h"),
        (2 * D, "2d"),
        (7 * D + 3 * H, "7d3h"),
        (30 * D, "30d"),
        (2 * 365 * D, "2y"),
        (3 * 365 * D + D, "3y1d"),
        (9 * 365 * D + D, "9y"),
    ],
)
def test_durations(seconds, text):
    assert human_duration(seconds) == text


def test_times_are_read_and_written_in_utc():
    assert rfc3339(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == "2026-01-02T03:04:05Z"
    assert parse_time("2026-01-02T03:04:05Z") == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert parse_time("yesterday") is None
    assert age("yesterday") == "<unknown>"
    assert age("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 25, tzinfo=UTC)) == "20s"
