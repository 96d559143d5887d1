"""The comparison itself sees what it must see, and only that."""

import json
from pathlib import Path

import pytest

from aim_api.tree import Json
from tests.conformance import script as scripts
from tests.conformance.comparing import Difference, Lists, differences, resolve
from tests.conformance.known_differences import KnownDifference, Ledger, known_differences
from tests.conformance.normalising import Normaliser
from tests.conformance.playing import Player
from tests.conformance.script import load_script, script_names

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"


def as_json(value: object) -> Json:
    parsed: Json = json.loads(json.dumps(value))
    return parsed


def pointers(real: Json, local: Json, lists: Lists = Lists.ORDERED) -> list[str]:
    return [pointer for pointer, _, _ in differences(real, local, lists=lists)]


def test_one_object_stays_one_object_and_another_becomes_another() -> None:
    normaliser = Normaliser()
    first = normaliser.normalised({"uid": ONE, "resourceVersion": "7"}, "create")
    assert normaliser.normalised({"uid": ONE, "resourceVersion": "7"}, "read") == first
    assert normaliser.normalised({"uid": ONE, "resourceVersion": "8"}, "read") != first
    assert normaliser.normalised({"uid": TWO, "resourceVersion": "7"}, "read") != first
    # On another server the same steps look the same.
    assert Normaliser().normalised({"resourceVersion": "91", "uid": TWO}, "create") == first


def test_times_keep_their_precision() -> None:
    text = Normaliser().text
    assert text("2026-01-01T00:00:00Z") == text("2031-12-31T23:59:59Z")
    assert text("2026-01-01T00:00:00Z") != text("2026-01-01T00:00:00.000001Z")


def test_a_pointer_normalises_to_the_type() -> None:
    sent = {"a": [{"b": 1}, {"b": "x"}]}
    assert Normaliser().normalised(as_json(sent), "step", ("/a/*/b",)) == {"a": [{"b": "<int>"}, {"b": "<str>"}]}


def test_causes_are_compared_in_any_order_and_by_their_content() -> None:
    def status(*fields: str) -> Json:
        causes: list[Json] = [{"field": field, "message": "bad", "reason": "FieldValueInvalid"} for field in fields]
        listed = ", ".join(f"{field}: bad" for field in fields)
        return {"kind": "Status", "message": f"x is invalid: [{listed}]", "details": {"causes": causes}}

    first, same, other = (Normaliser().normalised(status(*fields), "step") for fields in ("ab", "ba", "bc"))
    assert first == same != other


@pytest.mark.parametrize(
    ("real", "local"),
    [
        ({}, {"a": None}),
        ({"a": True}, {"a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": []}, {"a": {}}),
        ({"a": [1]}, {"a": []}),
    ],
)
def test_differences_that_equality_may_miss(real: dict[str, object], local: dict[str, object]) -> None:
    assert [pointer for pointer, _, _ in differences(real, local)] == ["/a"]  # type: ignore[arg-type]


def test_lists_of_named_things() -> None:
    real, local = as_json([{"name": "a"}, {"name": "b", "x": 1}]), as_json([{"name": "b", "x": 2}])
    assert pointers(real, local, Lists.SUBSET) == ["/b/x"]
    assert pointers(real, local, Lists.UNORDERED) == ["/a", "/b/x"]
    assert pointers(real, local) == [""]


def test_pointers_are_json_pointers() -> None:
    assert resolve({"a/b": [{"c~d": 7}]}, "/a~1b/0/c~0d") == 7
    assert resolve({}, "/a", "absent") == "absent"


def test_a_known_difference_covers_only_its_own() -> None:
    row = KnownDifference("reading", "get *", "/body/message", "why")
    assert row.covers(Difference("reading", "get as html", "/body/message", 1, 2))
    assert not row.covers(Difference("reading", "get as html", "/status", 1, 2))
    assert not row.covers(Difference("watching", "get as html", "/body/message", 1, 2))


def test_a_ledger_fails_for_what_is_unknown_and_for_what_is_gone() -> None:
    row = KnownDifference("reading", "get", "/body/*", "why")
    known, unknown = Difference("reading", "get", "/body/x", 1, 2), Difference("reading", "get", "/status", 1, 2)
    ledger = Ledger([row])
    with pytest.raises(AssertionError, match="no longer different"):
        ledger.check([])
    assert ledger.is_known(known)
    assert not ledger.is_known(unknown)
    ledger.check([])
    with pytest.raises(AssertionError, match="the servers differ"):
        ledger.check([str(unknown)])


def test_every_known_difference_is_about_a_script_and_says_why() -> None:
    for row in known_differences():
        assert row.script in {*script_names(), "kubectl"}
        assert row.reason


def test_values_are_filled_in() -> None:
    player = Player(lambda _: pytest.fail("no request"), {"a": {"b": [1]}, "name": "x"}, forget=lambda: None)
    filled = player.filled({"${name}": "${a}", "text": "${name}/${repeat:z:3}", "none": "${unknown}"})
    assert filled == {"x": {"b": [1]}, "text": "x/zzz", "none": "<undefined>"}


@pytest.mark.parametrize(
    "text",
    ["steps: [{step: a, request: GET /, expct: 200}]", "steps: [{step: a, request: GET /}, {step: a, request: GET /}]"],
)
def test_a_script_with_a_mistake_is_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrong.yaml").write_text(text)
    monkeypatch.setattr(scripts, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"unknown keys expct|more than one step is named a"):
        load_script("wrong")
