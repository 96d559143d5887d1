"""Random objects of a schema: mostly valid, with a wrong type, a null or an unknown field here and there."""

from random import Random

from aim_api.tree import Json, JsonObject
from aim_schema.nodes import META_FIELDS, Node

TEXTS: tuple[str, ...] = ("a", "b-1", "", "A.b/C", "Shared", "x" * 70, "1Gi", "1h", "2024-01-01T00:00:00Z", "org/model")
NUMBERS: tuple[Json, ...] = (0, 1, 2, 5, 8, 100, -1, 2**31, 1.5)
WRONG: tuple[Json, ...] = (None, 1, "x", True, [], {}, {"a": 1}, ["a"], 1.5)
MAX_DEPTH = 6


class RandomObjects:
    """Objects of one schema, the same for the same seed."""

    def __init__(self, seed: int, *, wrong: float, present: float) -> None:
        self.random = Random(seed)
        self.wrong = wrong
        self.present = present

    def object(self, root: Node) -> JsonObject:
        """Return everything but the metadata fields of an object."""
        return {
            key: self.value(below, 0)
            for key, below in root.properties.items()
            if key not in META_FIELDS and (key == "spec" or self.random.random() < self.present)
        }

    def value(self, node: Node, depth: int) -> Json:
        """Return a value of a schema."""
        random = self.random
        if random.random() < self.wrong:
            return random.choice(WRONG)
        if node.enum and random.random() < 0.9:
            return random.choice(node.enum)
        if node.int_or_string:
            return random.choice(("1", "10%", "1Gi", 5, 0, "x"))
        if node.type == "object":
            return self._map(node, depth) if node.additional_node else self._object(node, depth)
        if node.type == "array" and node.items is not None:
            return [self.value(node.items, depth + 1) for _ in range(random.choice((0, 1, 1, 2, 3)))]
        choices: dict[str, tuple[Json, ...]] = {"boolean": (True, False), "integer": NUMBERS[:-1], "number": NUMBERS}
        return random.choice(choices.get(node.type, TEXTS))

    def _object(self, node: Node, depth: int) -> JsonObject:
        found: JsonObject = {}
        for key, below in node.properties.items():
            wanted = 0.95 if key in node.required else self.present * (0.3 if depth > MAX_DEPTH else 1)
            if self.random.random() < wanted:
                found[key] = self.value(below, depth + 1)
        if self.random.random() < self.wrong:
            found["unknown"] = self.random.choice(WRONG)
        return found

    def _map(self, node: Node, depth: int) -> JsonObject:
        below = node.additional_node
        assert below is not None
        return {
            key: self.value(below, depth + 1)
            for key in self.random.sample(("a", "b", "c.d/e"), self.random.randint(0, 2))
        }

    def changed(self, node: Node, value: Json, depth: int = 0) -> Json:
        """Return a value that differs from the given one in a few places."""
        random = self.random
        if random.random() < 0.05:
            return self.value(node, depth)
        if isinstance(value, dict):
            kept = {key: item for key, item in value.items() if random.random() < 0.95}
            return {
                key: item if (below := node.below(key)) is None else self.changed(below, item, depth + 1)
                for key, item in kept.items()
            }
        if isinstance(value, list) and node.items is not None:
            return [self.changed(node.items, item, depth + 1) for item in value]
        return value
