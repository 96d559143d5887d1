"""Random metadata of objects that are created: mostly sound, with a fault of every kind here and there."""

from collections.abc import Sequence
from random import Random

from aim_api.tree import Json, JsonObject

NAMES: tuple[Json, ...] = (
    "a", "a.b-1", "n" * 253, "n" * 254, "A", "a_b", "a..b", "-a", "a\n", "", None, 5, True, ["a"]
)  # fmt: skip
PREFIXES: tuple[Json, ...] = (
    "a-", "a.", "a--", "a.-", "A-", "a_-", "-", "UPPER_", "p" * 57 + ".", "p" * 253, "p" * 254, "", None, 7, {}
)  # fmt: skip
KEYS = (
    "a", "a.b/c", "A/b", "a/b/c", "/b", "a/", "", "a b", "k" * 63, "k" * 64, "d" * 253 + "/k", "d" * 254 + "/k",
    "é", "é" * 40,
)  # fmt: skip
LABELS: tuple[Json, ...] = (
    "", "a", "A_b.c", "a b", "-a", "v" * 63, "v" * 64, "é", "1:20", "a\n", None, 1, True, 1.5, ["a"], {}
)  # fmt: skip
NOTES: tuple[Json, ...] = ("", "any text: é", None, 1, False, ["a"], {"a": 1})
FINALIZERS: tuple[Json, ...] = (
    "a.b/c", "a", "orphan", "foregroundDeletion", "a b", "", None, 1, ["a"], "a/b/c", "k" * 64
)  # fmt: skip
API_VERSIONS: tuple[Json, ...] = ("v1", "a.b/v1", "/v1", "a/", "/", "a/b/c", "", None, 1)
TIMES: tuple[Json, ...] = (
    "2026-11-30T12:00:00Z", "2026-11-30T1:00:00.25+01:00", "0000-02-29T00:00:00Z", "2026-11-30T12:00:00,5-24:60",
    "yesterday", "", "2026-11-30", "2026-11-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-30T24:00:00Z",
    "2026-11-30T12:60:00Z", "2026-11-30T12:00:60Z", "2026-11-30T12:00:00", "2026-11-30t12:00:00z",
    "2026-11-30T12:00:00+25:00", "2026-11-30T12:00:00+01:61", "2026-11-30T12:00:00Z ", "2026-11-30T12:00:00.Z",
    5, None, {},
)  # fmt: skip
WHOLE: tuple[Json, ...] = (0, 7, -7, 2**63 - 1, 2**63, -(2**63), 1.5, 1e300, "7", True, None, [])
TEXTS: tuple[Json, ...] = ("x", "", None, 5, False, [], {"a": "b"})
FLAGS: tuple[Json, ...] = (True, False, None, "true", 1)
WRONG: tuple[Json, ...] = (None, 5, "x", True, [], {}, ["a"], {"a": "b"}, [5], [None], [{}])
BIG = 262144


class RandomMetadata:
    """Metadata, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.wrong = self.random.choice((0.0, 0.0, 0.02, 0.1))

    def object(self) -> Json:
        """Return metadata; the name differs from one seed to the next only where it is sound."""
        if self._rarely():
            return self.random.choice(WRONG)
        found: JsonObject = {}
        for name in ("name", "generateName"):
            if self.random.random() < (0.9 if name == "name" else 0.2):
                found[name] = self._one(NAMES if name == "name" else PREFIXES)
        for name, make in self._parts().items():
            if self.random.random() < 0.3:
                found[name] = self.random.choice(WRONG) if self._rarely() else make
        if self._rarely():
            found[self.random.choice(("clusterName", "Labels", "label"))] = "x"
        return found

    def _parts(self) -> JsonObject:
        return {
            "labels": self._map(LABELS),
            "annotations": self._annotations(),
            "finalizers": [self._one(FINALIZERS) for _ in range(self.random.randint(0, 3))],
            "ownerReferences": [self._owner() for _ in range(self.random.randint(0, 3))],
            "managedFields": [self._managed() for _ in range(self.random.randint(0, 2))],
            "creationTimestamp": self._one(TIMES),
            "deletionTimestamp": self._one(TIMES),
            "generation": self._one(WHOLE),
            "deletionGracePeriodSeconds": self._one(WHOLE),
            "uid": self._one(TEXTS),
            "selfLink": self._one(TEXTS),
        }

    def _map(self, values: Sequence[Json]) -> JsonObject:
        return {str(self._one(KEYS)): self._one(values) for _ in range(self.random.randint(0, 3))}

    def _annotations(self) -> JsonObject:
        notes = self._map(NOTES)
        return {**notes, "big": "é" * self.random.choice((BIG // 2 - 8, BIG // 2))} if self._rarely() else notes

    def _owner(self) -> Json:
        if self._rarely():
            return self.random.choice(WRONG)
        owner: JsonObject = {
            "apiVersion": self._one(API_VERSIONS),
            "kind": "Event" if self._rarely() else self._one(("Pod", *TEXTS[1:])),
            "name": self._one(TEXTS),
            "uid": self._one(TEXTS),
        }
        if self.random.random() < 0.4:
            owner["controller"] = self._one(FLAGS)
        if self.random.random() < 0.2:
            owner["blockOwnerDeletion"] = self._one(FLAGS)
        if self._rarely():
            del owner[self.random.choice([*owner])]
        if self._rarely():
            owner["foo"] = "bar"
        return owner

    def _managed(self) -> Json:
        if self._rarely():
            return self.random.choice(WRONG)
        entry: JsonObject = {"manager": self._one(TEXTS), "operation": "Update", "time": self._one(TIMES)}
        if self._rarely():
            entry[self.random.choice(("foo", "subresource", "fieldsType"))] = self.random.choice(WRONG)
        return entry

    def _one(self, values: Sequence[Json]) -> Json:
        """Return the first, sound value or, where faults are wanted, now and then any other."""
        return self.random.choice(values) if self._rarely() else values[0]

    def _rarely(self) -> bool:
        return self.random.random() < self.wrong
