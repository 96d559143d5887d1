"""What holds for every conversion, whatever the input."""

import msgspec

from aim_api.kinds import AIM_CLUSTER_MODEL, AIM_MODEL
from aim_api.tree import Json, JsonObject, get, get_map, get_str, leaves
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.context import no_models_live, nothing_live
from aim_template_migration.mapping.recipes.conversion import ObjectConversion
from aim_template_migration.mapping.recipes.draft import Draft, id_of
from aim_template_migration.mapping.recipes.ledger import LeafFate
from tests.aim_template_migration.mapping.recipes.random_inputs import RandomInputs

QUICK = 500
CARRIED = (Fate.MAPPED, Fate.RENAMED)
MEANINGS: tuple[tuple[str | int, ...], ...] = (
    ("metadata", "name"),  # begins with the model's name as well
    ("spec", "primary"),  # marks the profile that a model names as its default
    ("spec", "profiles", "derivedFrom"),  # takes every definition, a custom template's among them
)
"""Where a value has its effect in other words."""


def outputs(objects: list[JsonObject], drafts: list[Draft | None]) -> list[JsonObject]:
    """Return every object of the output."""
    found: list[JsonObject] = []
    for value, draft in zip(objects, drafts, strict=True):
        if draft is None:
            found.append(value)
            continue
        found += [new.value for new in draft.beside if new.above]
        found += [] if draft.removed else [draft.value]
        found += [new.value for new in draft.beside if not new.above]
    return found


def check(seed: int) -> list[tuple[Draft, list[LeafFate]]]:
    """Convert the objects of a seed, every other time with given values and a live cluster.

    Returns:
        The conversions, each with the fates of its leaves.
    """
    inputs = RandomInputs(seed)
    objects = inputs.several()
    values = inputs.values(objects) if seed % 4 > 1 else None
    live, live_models = (inputs.live, inputs.live_models) if seed % 8 > 3 else (nothing_live, no_models_live)

    def convert(objects: list[JsonObject]) -> list[Draft | None]:
        return ObjectConversion(
            objects,
            values=values,
            live=live,
            live_models=live_models,
            inline=seed % 2 == 0,
            namespace="team" if seed % 16 > 7 else "",
        ).drafts

    before = msgspec.json.encode(objects)
    drafts = convert(objects)
    assert msgspec.json.encode(objects) == before, "the input was changed"
    written = outputs(objects, drafts)
    by_id: dict[str, list[JsonObject]] = {}
    for value in written:
        by_id.setdefault(id_of(value), []).append(value)
    named = {gap.object for draft in drafts if draft for gap in draft.gaps if gap.path == ("metadata", "name")}
    assert {name for name, found in by_id.items() if len(found) > 1} <= named, "an object is written twice"
    for kind, namespace in ((AIM_MODEL, "team"), (AIM_CLUSTER_MODEL, "")):
        for model in inputs.live_models(kind, namespace):
            by_id.setdefault(id_of(model), []).append(model)
    known = [draft for draft in drafts if draft is not None]
    assert len(known) == len(drafts)
    fates = [check_ledger(draft, by_id) for draft in known]
    for draft in known:
        check_identity(draft)
    again = convert(written)
    assert outputs(written, again) == written, "converting twice changes something"
    return list(zip(known, fates, strict=True))


def check_ledger(draft: Draft, by_id: dict[str, list[JsonObject]]) -> list[LeafFate]:
    fates = list(draft.fates())
    assert [fate.path for fate in fates] == [path for path, _ in leaves(draft.source)]
    for fate in fates:
        assert fate.reason or fate.fate is Fate.MAPPED, fate
        assert fate.advice or not fate.lost, fate
        if draft.unchanged or fate.lost or fate.fate not in CARRIED or not fate.target:
            continue
        assert fate.object in by_id, fate
        stands_for_it = fate.target in MEANINGS or fate.target[:3] == ("spec", "caching", "enabled")
        if fate.fate is Fate.MAPPED or not (stands_for_it or is_empty(get(draft.source, *fate.path))):
            # Objects that are written twice have one id.
            written = by_id[fate.object]
            assert any(same_value(draft.source, fate.path, value, fate.target) for value in written), (fate, written)
    return fates


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


def test_every_leaf_is_accounted_for_once_and_a_second_conversion_changes_nothing() -> None:
    for seed in range(QUICK):
        try:
            check(seed)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


def test_nothing_is_left_at_v1alpha1_but_what_is_named() -> None:
    for seed in range(300):
        objects = RandomInputs(seed).several()
        for draft in ObjectConversion(objects).drafts:
            assert draft is not None
            config = str(draft.source["kind"]).endswith("RuntimeConfig")  # which has no other version
            if versions(draft.value) == "aim.eai.amd.com/v1alpha1" and not draft.removed and not config:
                spec = get_map(draft.source, "spec")
                assert not spec or any(fate.lost for fate in draft.fates()), draft.source
