"""Models that a conversion writes, and trials of which nothing comes back."""

from aim_template_migration.mapping.recipes.written_models import WrittenModels

KEY = ("AIMModel", "team", "r/i:1")


def test_a_trial_finds_what_was_written_and_leaves_it_alone() -> None:
    written = WrittenModels()
    written.add(KEY, "c1", {"spec": {"image": "r/i:1"}})
    trial = WrittenModels(written)
    (model,) = trial.near(KEY, "c1")
    assert not trial.changed
    model["spec"] = {}
    assert trial.changed
    assert list(trial.near(KEY, "c1")) == [{"spec": {}}]
    assert list(written.near(KEY, "c1")) == [{"spec": {"image": "r/i:1"}}]
    assert list(trial.near(KEY, "c2")) == []


def test_a_model_that_a_trial_writes_comes_after_the_others_and_does_not_come_back() -> None:
    written = WrittenModels()
    written.add(KEY, "", {"spec": {}})
    trial = WrittenModels(written)
    trial.add(KEY, "", {"spec": {"image": "r/i:1"}})
    assert trial.changed
    assert list(trial.near(KEY, "")) == [{"spec": {}}, {"spec": {"image": "r/i:1"}}]
    assert list(written.near(KEY, "")) == [{"spec": {}}]
