"""Many random inputs through the mapping and through text: each gives a result or a refusal that is named."""

import json

import pytest

from tests.aim_template_migration.manifests.fuzz import Counts, convert_chunk, main

THROUGH_THE_MAPPING = 20_000
THROUGH_TEXT = 3_000
PARTS = 4


def convert(part: int, whole: int, *, texts: bool) -> Counts:
    size = whole // PARTS
    counts = convert_chunk((part * size, (part + 1) * size, texts))
    assert counts.inputs == size
    assert counts.objects > size
    return counts


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
