"""The models that a conversion has written so far, by what they are looked up by."""

from collections.abc import Iterator

from aim_api.tree import JsonObject
from aim_template_migration.mapping.recipes.draft import copied
from aim_template_migration.mapping.recipes.places import Placed

Key = tuple[str, str, str]
"""Kind, namespace and image."""


class WrittenModels:
    """Models that were written, or tried: what is changed in a trial does not come back.

    Args:
        tried: what was written before a trial, None where this is none.
    """

    def __init__(self, tried: "WrittenModels | None" = None) -> None:
        self._models: dict[Key, Placed[JsonObject]] = {}
        self._before = tried
        self._copies: dict[int, tuple[JsonObject, JsonObject]] = {}

    def add(self, key: Key, place: str, model: JsonObject) -> None:
        """Add a model that is written for an object in a place."""
        self._models.setdefault(key, Placed()).add(place, model)

    def near(self, key: Key, place: str) -> Iterator[JsonObject]:
        """Yield the models that are found from a place, in the order in which they were written."""
        for model in self._before.near(key, place) if self._before else ():
            yield self._copied(model)
        if key in self._models:
            yield from self._models[key].near(place)

    @property
    def changed(self) -> bool:
        """Whether a trial has written a model, or changed one that was there before."""
        return bool(self._models) or any(model != copy for model, copy in self._copies.values())

    def _copied(self, model: JsonObject) -> JsonObject:
        _, copy = self._copies.setdefault(id(model), (model, {key: copied(item) for key, item in model.items()}))
        return copy
