"""What a server says to conversions of what a server has taken: it takes what is whole, and refuses what is open."""

from collections.abc import Iterator

from aim_api.tree import JsonObject, get_str
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.conversion import ObjectConversion
from aim_template_migration.mapping.recipes.draft import Draft
from aim_template_migration.mapping.recipes.ledger import LeafFate, Path
from tests.aim_template_migration.mapping.recipes.sound_inputs import SoundInputs, refusals

TAKEN_ALL_THE_SAME = {
    "AIMService": (("spec", "env"), ("metadata", "annotations")),
    "AIMModel": (("spec", "defaultServiceTemplate"), ("spec", "env")),
    "AIMServiceTemplate": (("spec", "env"),),
    "AIMTemplateCache": ((),),
}
"""What has to be decided although a server takes it as it is: the fields are in its schema, or the object is an old one
that both versions of the operator know."""


def written_by(draft: Draft) -> Iterator[JsonObject]:
    yield from (made.value for made in draft.beside)
    if not draft.removed:
        yield draft.value


def undecided(draft: Draft, fates: list[LeafFate]) -> list[Path]:
    """Return the fields that have to be decided about and that a server has to refuse until then."""
    kind = (get_str(draft.source, "kind") or "").replace("AIMCluster", "AIM")
    excused = TAKEN_ALL_THE_SAME.get(kind, ())
    lost = [fate.path for fate in fates if fate.lost and fate.fate is Fate.NEEDS_DECISION]
    needed = [gap.path for gap in draft.gaps if gap.path != ("metadata", "name")]
    return [
        *needed,
        *(path for path in lost if not any(path[: len(place)] == place for place in excused) and "env" not in path),
    ]


def check(seed: int) -> list[tuple[Draft, list[LeafFate]]]:
    """Convert valid objects; return the conversions, each with the fates of its leaves."""
    drafts = [
        draft
        for draft in ObjectConversion(SoundInputs(seed).several(), inline=seed % 2 == 0).drafts
        if draft is not None
    ]
    found = [(draft, list(draft.fates())) for draft in drafts]
    for draft, fates in found:
        refused = [field for value in written_by(draft) for field in refusals(value)]
        assert not (is_whole(draft, fates) and refused), f"{draft.id} was converted whole, and refused is {refused}"
        open_questions = undecided(draft, fates)
        assert refused or not open_questions, f"a server takes {draft.id} although {open_questions} is open"
    return found


def is_whole(draft: Draft, fates: list[LeafFate]) -> bool:
    return not draft.gaps and not any(fate.lost for fate in fates)


def test_what_is_converted_whole_is_taken_and_what_is_undecided_is_refused() -> None:
    for seed in range(300):
        try:
            check(seed)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


def test_adapters_get_a_profile_even_beside_the_annotation_of_the_profile_pipeline() -> None:
    service: JsonObject = {
        "apiVersion": "aim.eai.amd.com/v1alpha1",
        "kind": "AIMService",
        "metadata": {"name": "chat", "annotations": {"aim.eai.amd.com/reconciler-pipeline": "profile"}},
        "spec": {"model": {"name": "qwen"}, "adapters": [{"name": "tuned", "kind": "AIMArtifact"}]},
    }
    assert refusals(service) == []
    (draft,) = ObjectConversion([service]).drafts
    assert draft is not None
    assert draft.get("spec", "profile") == {"selector": {"modelRef": {"name": "qwen"}}}
    assert refusals(draft.value) == []


def test_the_inputs_are_of_every_kind_and_both_outcomes_are_frequent() -> None:
    found = [pair for seed in range(300) for pair in check(seed)]
    assert len({get_str(draft.source, "kind") for draft, _ in found}) == 10
    assert len(found) / 4 < sum(is_whole(*pair) for pair in found) < len(found) * 3 / 4
