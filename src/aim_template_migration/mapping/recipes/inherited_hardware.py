"""Hardware that custom templates take from their model: ``custom.hardware`` below their own, field by field.

Of two values the one that is not zero wins, the template's first (v1alpha1 facts, AIMModel).
"""

from collections.abc import Sequence

from aim_api.tree import Json, JsonObject, get, has
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.draft import Beside, Draft
from aim_template_migration.mapping.recipes.ledger import Path

_OF_THE_MODEL: Path = ("spec", "custom")
_DEVICE: Path = ("hardware", "gpu", "resourceName")
_SELECTED: tuple[tuple[Path, str], ...] = (
    (("hardware", "gpu", "model"), "acceleratorModel"),
    (("hardware", "gpu", "requests"), "acceleratorCount"),
)
"""Hardware that v1alpha2 can state, and its flat field, which the guide's examples have on templates (G)."""


class InheritedHardware:
    """What one custom template takes from its model."""

    def __init__(self, draft: Draft, item: JsonObject) -> None:
        """Compare the custom template ``item`` with the model that is converted."""
        self._model = draft.source
        self._item = item

    def place(self, path: Path) -> Path:
        """Return where the model states a field of a template's hardware."""
        return (*_OF_THE_MODEL, *path)

    def inherited(self, path: Path) -> Json:
        """Return what the template takes from the model for one of its fields, None where that is nothing.

        A number of 0 is taken where neither says more, since it asks for no accelerator and can't be stated.
        """
        if path[0] != "hardware" or (path == _DEVICE and has(self._item, "hardware", "gpu")):
            return None  # the device has a default, which a template with any GPU of its own has got
        own, value = get(self._item, *path), get(self._model, *self.place(path))
        flat = dict(_SELECTED).get(path)
        if flat is not None and not is_empty(self._item.get(flat)):
            return None
        states_own = not is_empty(own) and own != 0
        return None if states_own or is_empty(value) or (value == 0 and own == 0) else value

    def lies_within_the_model(self) -> bool:
        """Return whether the template's hardware is among the hardware that the model's derivation selects."""
        for path, flat in _SELECTED:
            selected = get(self._model, *self.place(path))
            if is_empty(selected) or selected == 0:
                continue
            stated = [self._item.get(flat), get(self._item, *path)]
            if any(not is_empty(own) and own not in (0, selected) for own in stated):
                return False
        return True


def settle_hardware(draft: Draft, made: Sequence[Beside]) -> None:
    """Move the hardware of a model that derives nothing itself to the objects of its custom templates.

    Args:
        draft: the conversion of the model.
        made: the objects of its custom templates.
    """
    if not made:
        return
    for path, _ in _SELECTED:
        source: Path = (*_OF_THE_MODEL, *path)
        value = draft.given(*source)
        if is_empty(value) or value == 0:
            continue
        users = [(beside, target) for beside in made for target, place in beside.origins.items() if place == source]
        draft.drop(source, "every custom template states its own")
        for beside, target in users[:1]:
            reason = "the custom templates that state none inherit it"
            draft.account(source, beside.id, target, fate=Fate.RENAMED, reason=reason)
