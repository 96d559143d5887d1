"""Journal lines: readable after a cut at any byte, and no edit goes unseen."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aim_template_migration.documents.journal import Entry, encode_line, open_attempts, read_journal

EVENTS = ("runStarted", "attempt", "accepted", "rejected", "unknown", "settled", "stepStarted", "facts", "runFinished")


def written(entries):
    data, previous = b"", ""
    for entry in entries:
        line, previous = encode_line(entry, previous)
        data += line
    return data


def entry(seq, event="facts", **more):
    return Entry(seq=seq, time=f"2026-06-02T09:00:{seq % 60:02}.000000Z", event=event, **more)


def attempt(seq, unit="u", step="CutOver", obj="AIMService/a/b", event="attempt"):
    return entry(seq, event, unit=unit, step=step, facts={"object": obj})


JSON_VALUES = st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists, max_leaves=5)
FACTS = st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=4)


@st.composite
def journals(draw):
    count = draw(st.integers(0, 6))
    return [
        Entry(
            seq=number,
            time="2026-06-02T09:00:00.000000Z",
            event=draw(st.sampled_from(EVENTS)),
            unit=draw(st.text(max_size=6)),
            facts=draw(FACTS),
        )
        for number in range(1, count + 1)
    ]


@given(journals())
def test_what_was_written_reads_back(entries):
    reading = read_journal(written(entries))
    assert (reading.entries, reading.torn_bytes, reading.damage) == (tuple(entries), 0, "")


@given(journals(), st.data())
def test_a_cut_at_any_byte_leaves_the_whole_lines_before_it(entries, data):
    whole = written(entries)
    cut = data.draw(st.integers(0, len(whole)))
    reading = read_journal(whole[:cut])
    lines = whole[:cut].count(b"\n")
    assert reading.entries == tuple(entries[:lines])
    assert reading.torn_bytes == len(whole[:cut].rpartition(b"\n")[2])
    assert reading.damage == ""


def test_every_cut_of_one_journal():
    entries = [entry(1, "runStarted"), attempt(2), attempt(3, event="accepted"), entry(4, "runFinished")]
    whole = written(entries)
    for cut in range(len(whole) + 1):
        reading = read_journal(whole[:cut])
        assert len(reading.entries) == whole[:cut].count(b"\n")
        assert bool(reading.torn_bytes) == (cut > 0 and whole[cut - 1] != 10)


@settings(max_examples=60)
@given(journals().filter(lambda entries: len(entries) > 0), st.data())
def test_a_changed_byte_is_seen(entries, data):
    whole = bytearray(written(entries))
    position = data.draw(st.integers(0, len(whole) - 1))
    changed = data.draw(st.integers(0, 255).filter(lambda value: value != whole[position]))
    whole[position] = changed
    reading = read_journal(bytes(whole))
    assert reading.damage or reading.torn_bytes
    assert reading.entries == tuple(entries[: len(reading.entries)])


@pytest.mark.parametrize("drop", [0, 1, 2])
def test_a_missing_or_repeated_line_is_seen(drop):
    lines = written([entry(number) for number in range(1, 5)]).splitlines(keepends=True)
    without = read_journal(b"".join(lines[:drop] + lines[drop + 1 :]))
    assert without.damage == f"line {drop + 1} does not fit its checksum or the line before it"
    twice = read_journal(b"".join([*lines[: drop + 1], *lines[drop:]]))
    assert f"line {drop + 2}" in twice.damage


def test_an_edit_with_a_new_checksum_breaks_the_chain():
    first, second = entry(1), entry(2)
    line_1, sum_1 = encode_line(first, "")
    line_2, _ = encode_line(second, sum_1)
    forged, _ = encode_line(entry(1, unit="another"), "")
    assert read_journal(forged + line_2).damage == "line 2 does not fit its checksum or the line before it"
    assert read_journal(line_1 + line_2).damage == ""


def test_zeros_after_a_power_failure_are_torn_bytes():
    whole = written([entry(1), attempt(2)])
    reading = read_journal(whole + b"\x00" * 100)
    assert (len(reading.entries), reading.torn_bytes, reading.damage) == (2, 100, "")


@pytest.mark.parametrize(
    "line",
    [b"", b"{}", b"nonsense", b'{"entry":{},"prev":"","sum":""}', b"\xff\xfe", b'{"entry":1,"prev":"","sum":""}'],
)
def test_a_foreign_line_is_damage(line):
    reading = read_journal(written([entry(1)]) + line + b"\n")
    assert len(reading.entries) == 1
    assert reading.damage.startswith("line 2 ")


def test_lines_are_json_objects_with_their_chain():
    first, second = (json.loads(line) for line in written([entry(1), attempt(2)]).splitlines())
    assert (first["prev"], second["prev"]) == ("", first["sum"])
    assert second["entry"] == {
        "seq": 2,
        "time": "2026-06-02T09:00:02.000000Z",
        "event": "attempt",
        "unit": "u",
        "step": "CutOver",
        "facts": {"object": "AIMService/a/b"},
    }


@pytest.mark.parametrize(("ending", "left"), [("accepted", 0), ("rejected", 0), ("settled", 0), ("unknown", 1)])
def test_an_attempt_is_open_until_an_outcome_is_stated(ending, left):
    assert len(open_attempts([attempt(1), attempt(2, event=ending)])) == left


def test_open_attempts_are_told_apart_by_unit_step_and_object():
    entries = [
        attempt(1),
        attempt(2, unit="v"),
        attempt(3, step="ProtectArtifact", obj="x"),
        attempt(4, event="accepted"),
    ]
    assert [item.seq for item in open_attempts(entries)] == [2, 3]
    again = [attempt(1), attempt(2, event="accepted"), attempt(3)]
    assert [item.seq for item in open_attempts(again)] == [3]
