"""Many random inputs through the mapping and through text: each gives a result or a refusal that is named."""

import json
from pathlib import Path

import pytest

from tests.aim_template_migration.manifests.fuzz import Counts, convert_chunk, convert_one, main

THROUGH_THE_MAPPING = 20_000
THROUGH_TEXT = 3_000
PARTS = 4
BROKEN_ONCE = (
    *(2055269, 2069034, 2093131, 2117358, 2155966, 2236579, 2272059, 2279843, 2288358),
    *(2061004, 2062846, 2093763, 2115318, 2154125, 2160846),
    *(2008120, 2134400, 2294010, 2155820, 2208890),
    *(2000647, 2005629, 2439330, 2647110, 2774578),
)
"""Seeds that broke a property in the long run; each of their causes has a test of its own (test_found_at_random)."""


def convert(part: int, whole: int, *, texts: bool) -> Counts:
    size = whole // PARTS
    counts = convert_chunk((part * size, (part + 1) * size, texts))
    assert counts.inputs == size
    assert counts.objects > size
    return counts


@pytest.mark.parametrize("seed", BROKEN_ONCE)
def test_what_broke_a_property_once_holds(seed: int) -> None:
    counts = Counts()
    convert_one(seed, texts=False, counts=counts)
    assert counts.inputs == 1


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_many_inputs_through_the_mapping(part: int) -> None:
    counts = convert(part, THROUGH_THE_MAPPING, texts=False)
    assert counts.failures == 0, counts.first
    outcomes = {outcome.partition(" ")[2] for outcome in counts.outcomes}
    assert outcomes == {"converted", "unchanged", "needsDecision", "refused", "valueNeeded"}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_many_inputs_through_text(part: int) -> None:
    counts = convert(part, THROUGH_TEXT, texts=True)
    assert counts.failures == 0, counts.first
    assert all(counts.outcomes[outcome] > THROUGH_TEXT / PARTS / 10 for outcome in ("text converted", "text refused"))


def test_a_failure_is_counted_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(seed: int) -> None:
        assert seed != 7, "a sentence\nand more"

    monkeypatch.setattr("tests.aim_template_migration.mapping.recipes.test_properties.check", fail)
    monkeypatch.setattr("tests.aim_template_migration.mapping.recipes.test_soundness.check", lambda _: [])
    counts = convert_chunk((7, 8, False))
    assert (counts.inputs, counts.failures) == (1, 1)
    assert counts.first == ["seed 7: AssertionError in fail: a sentence"]


def test_a_run_answers_with_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "12", "--seed", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["through"], found["seed"], found["inputs"], found["failures"]) == ("mapping", 3, 12, 0)
    assert sum(found["outcomes"].values()) >= found["objects"] > 12


def test_the_table_of_a_page_is_made_from_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = tmp_path / "counts.json"
    counts.write_text(json.dumps({"outcomes": {"AIMService converted": 1234, "AIMModel refused": 2}}))
    assert main(["--table", str(counts)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "| kind | converted | stays | to be decided | no counterpart | value needed |",
        "|---|---:|---:|---:|---:|---:|",
        "| AIMModel | 0 | 0 | 0 | 2 | 0 |",
        "| AIMService | 1,234 | 0 | 0 | 0 | 0 |",
    ]
