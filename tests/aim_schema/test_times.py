"""Durations and times are read and written as Go does."""

import pytest

from aim_schema import gotext
from aim_schema.times import (
    Duration,
    Timestamp,
    parse_duration,
    parse_format_duration,
    parse_timestamp,
)

SECOND = 10**9


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1h30m", 5400 * SECOND),
        ("1.5h", 5400 * SECOND),
        (".5s", SECOND // 2),
        ("1.s", SECOND),
        ("-1m", -60 * SECOND),
        ("+1ms1us1ns", 1_001_001),
        ("0", 0),
        ("1", None),
        ("", None),
        ("-", None),
        ("1x", None),
        (".s", None),
        ("3000000h", None),
    ],
)
def test_go_durations(text: str, nanoseconds: int | None) -> None:
    assert parse_duration(text) == (None if nanoseconds is None else Duration(nanoseconds))


def test_durations_in_words_are_of_the_format_too() -> None:
    assert parse_format_duration("3 days") == Duration(3 * 86_400 * SECOND)
    assert parse_format_duration("1 hour 5 minutes") == Duration(3900 * SECOND)
    assert parse_format_duration("soon") is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("2024-02-29T23:59:58.123456789+05:30", "2024-02-29T23:59:58.123456789+05:30"),
        ("2024-02-29T23:59:58.500-01:00", "2024-02-29T23:59:58.5-01:00"),
        ("2023-02-29T00:00:00Z", None),
        ("2024-01-01t00:00:00z", None),
        ("2024-01-01T25:00:00Z", None),
        ("2024-01-01", None),
    ],
)
def test_times_keep_their_offset(text: str, shown: str | None) -> None:
    moment = parse_timestamp(text)
    assert (None if moment is None else str(moment)) == shown


def test_times_are_compared_as_points_in_time() -> None:
    assert parse_timestamp("2024-01-01T01:00:00+01:00") == parse_timestamp("2024-01-01T00:00:00Z")
    assert Timestamp(1) > Timestamp(0, offset=3600)


def test_durations_are_written_in_seconds() -> None:
    assert [str(Duration(value)) for value in (0, SECOND, -1_500_000_000, 1)] == ["0s", "1s", "-1.5s", "0.000000001s"]


def test_numbers_and_texts_are_written_as_go_writes_them() -> None:
    assert [gotext.number(value) for value in (1, 1.0, 1.5, 1e6, 0.0001, 0.00001, float("inf"))] == [
        *("1", "1", "1.5", "1e+06", "0.0001", "1e-05", "+Inf")
    ]
    assert gotext.quote('a"\\\n\u0001é\u200b\U0001f600') == '"a\\"\\\\\\n\\x01é\\u200b\U0001f600"'
    assert gotext.json_text({"b": [1.0, 1e21, 1e-7, None, True], "a": "<é>\u2028\t"}) == (
        '{"a":"\\u003cé\\u003e\\u2028\\t","b":[1,1e+21,1e-7,null,true]}'
    )
