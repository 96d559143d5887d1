"""What holds for every conversion, whatever the input."""

import copy
from collections import Counter

import pytest

from aim_api.tree import Json, JsonObject, get, get_map, get_str, has, leaves
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.conversion import convert_objects
from aim_template_migration.mapping.recipes.draft import Draft, id_of
from tests.aim_template_migration.mapping.recipes.random_inputs import RandomInputs

QUICK = 500
CARRIED = (Fate.MAPPED, Fate.RENAMED)


def outputs(objects: list[JsonObject], drafts: list[Draft | None]) -> list[JsonObject]:
    """Return every object of the output."""
    found: list[JsonObject] = []
    for value, draft in zip(objects, drafts, strict=True):
        if draft is None:
            found.append(value)
            continue
        found += [new.value for new in draft.beside]
        found += [] if draft.removed else [draft.value]
    return found


def check(objects: list[JsonObject], *, inline: bool) -> None:
    before = copy.deepcopy(objects)
    drafts = convert_objects(objects, inline=inline)
    assert objects == before, "the input was changed"
    written = outputs(objects, drafts)
    by_id: dict[str, list[JsonObject]] = {}
    for value in written:
        by_id.setdefault(id_of(value), []).append(value)
    assert all(len(found) == 1 for name, found in by_id.items() if name.count("/") == 2), "an object is written twice"
    for draft in drafts:
        assert draft is not None
        check_ledger(draft, by_id)
        check_identity(draft)
    again = convert_objects(written, inline=inline)
    assert outputs(written, again) == written, "converting twice changes something"


def check_ledger(draft: Draft, by_id: dict[str, list[JsonObject]]) -> None:
    fates = list(draft.fates())
    assert [fate.path for fate in fates] == [path for path, _ in leaves(draft.source)]
    assert max(Counter(fate.path for fate in fates).values(), default=1) == 1
    for fate in fates:
        assert fate.reason or fate.fate is Fate.MAPPED, fate
        assert fate.advice or not fate.lost, fate
        if draft.unchanged or fate.lost or fate.fate not in CARRIED or not fate.target:
            continue
        assert fate.object in by_id, fate
        target, *others = by_id[fate.object]
        if others:  # models of base images that have no name yet
            continue
        if fate.fate is Fate.MAPPED:
            assert same_value(draft.source, fate.path, target, fate.target), (fate, target)
        else:
            assert has(target, *fate.target) or get(target, *fate.target[:-1]) is not None or is_flag(fate.target), fate


def is_flag(target: tuple[str | int, ...]) -> bool:
    return target[:3] == ("spec", "caching", "enabled")


def same_value(
    source: JsonObject, path: tuple[str | int, ...], target: JsonObject, place: tuple[str | int, ...]
) -> bool:
    return bool(get(source, *path) == get(target, *place))


def check_identity(draft: Draft) -> None:
    if draft.removed:
        return
    for path in (("name",), ("namespace",), ("labels",)):
        assert get(draft.value, "metadata", *path) == get(draft.source, "metadata", *path)


def versions(value: JsonObject) -> Json:
    return get_str(value, "apiVersion")


@pytest.mark.parametrize("inline", [False, True])
def test_every_leaf_is_accounted_for_once_and_a_second_conversion_changes_nothing(inline: bool) -> None:
    for seed in range(QUICK):
        try:
            check(RandomInputs(seed).several(), inline=inline)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.slow
def test_the_same_for_many_more_inputs() -> None:
    for seed in range(QUICK, 20_000):
        check(RandomInputs(seed).several(), inline=seed % 2 == 0)


def test_nothing_is_left_at_v1alpha1_but_what_is_named() -> None:
    for seed in range(300):
        objects = RandomInputs(seed).several()
        for draft in convert_objects(objects):
            assert draft is not None
            if versions(draft.value) == "aim.eai.amd.com/v1alpha1" and not draft.removed:
                spec = get_map(draft.source, "spec")
                assert not spec or any(fate.lost for fate in draft.fates()), draft.source
