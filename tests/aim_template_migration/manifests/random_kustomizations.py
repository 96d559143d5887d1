"""Random services in a base and an overlay with patches of all sorts."""

import json
import random

from aim_api.tree import Json, JsonObject

_HEAD = "aim.eai.amd.com/v1alpha1"
_OPERATIONS: tuple[tuple[str, str, Json], ...] = (
    ("replace", "/spec/replicas", 5),
    ("add", "/spec/replicas", 6),
    ("add", "/spec/minReplicas", 7),
    ("remove", "/spec/replicas", None),
    ("add", "/spec/caching", {"mode": "Always"}),
    ("replace", "/spec/template/name", "v"),
    ("remove", "/spec/template", None),
    ("add", "/spec/overrides", {"engineArgs": {"a": "9"}}),
    ("replace", "/spec/model/name", "z"),
    ("remove", "/spec/env/0", None),
    ("add", "/spec/runtimeConfigName", "q"),
    ("add", "/metadata/labels", {"a": "b"}),
)


class RandomKustomization:
    """The files of one overlay with its base, from a seed.

    Attributes:
        files: the texts by path; ``overlay`` is what is built.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.files: dict[str, str] = {}
        self._names = ["s", "other"][: self._random.randint(1, 2)]
        for name in self._names:
            self._write(f"base/{name}.yaml", _service(name, self._spec(part=False)))
        resources: list[Json] = [f"{name}.yaml" for name in self._names]
        self._write("base/kustomization.yaml", {"resources": resources, "patches": self._patches("base", 0, 1)})
        overlay: JsonObject = {"resources": ["../base"], "patches": self._patches("overlay", 1, 3)}
        overlay |= {"namespace": "ns"} if self._maybe(0.3) else {}
        overlay |= {"namePrefix": "x-"} if self._maybe(0.15) else {}
        self._write("overlay/kustomization.yaml", overlay)

    def _write(self, path: str, value: Json) -> None:
        self.files[path] = json.dumps(value)

    def _maybe(self, share: float) -> bool:
        return self._random.random() < share

    def _patches(self, folder: str, least: int, most: int) -> list[Json]:
        entries: list[Json] = []
        for index in range(self._random.randint(least, most)):
            name = self._random.choice(self._names)
            target: JsonObject = {"kind": "AIMService"}
            target |= {"name": name} if self._maybe(0.5) else {}
            target |= {"version": "v1alpha1"} if self._maybe(0.1) else {}
            path = f"p{index}.yaml"
            form = self._random.random()
            if form < 0.65:
                self._write(f"{folder}/{path}", _service(name, self._spec(part=True)))
                entries.append({"path": path, **({"target": target} if self._maybe(0.2) else {})})
            elif form < 0.85:
                self._write(f"{folder}/{path}", self._operations())
                entries.append({"path": path, "target": target})
            else:
                entries.append({"patch": json.dumps(self._operations()), "target": target})
        return entries

    def _operations(self) -> list[Json]:
        chosen = self._random.sample(_OPERATIONS, self._random.randint(1, 2))
        return [{"op": op, "path": path, **({} if op == "remove" else {"value": value})} for op, path, value in chosen]

    def _spec(self, *, part: bool) -> JsonObject:
        choice, maybe = self._random.choice, self._maybe
        spec: JsonObject = {}
        if maybe(0.15 if part else 0.6):
            spec["model"] = {"name": choice(["m", "o"])} if maybe(0.9) else {"image": choice(["x/y:1", "x/y:2"])}
        if maybe(0.3 if part else 0.9):
            named = maybe(0.85)
            spec["template"] = {"name": choice(["t", "u"])} if named else {"selectionCriteria": {"metric": "latency"}}
        if maybe(0.4):
            spec["overrides"] = {"engineArgs": {key: choice(["1", "text", 2]) for key in "ab" if maybe(0.7)}}
        if maybe(0.5):
            spec["replicas"] = self._random.randint(1, 4)
        if maybe(0.3):
            spec["caching"] = {"mode": choice(["Always", "Never", "Shared"])}
        if maybe(0.25):
            spec["env"] = [{"name": "AIM_ENGINE_ARGS", "value": json.dumps({"c": self._random.randint(1, 3)})}]
        if maybe(0.2):
            spec["runtimeConfigName"] = choice(["r", "q"])
        if part:
            spec |= {key: None for key in ("template", "overrides", "env", "replicas", "caching") if maybe(0.08)}
            if isinstance(spec.get("template"), dict) and maybe(0.1):
                spec["template"] = {"$patch": "replace", "name": "w"}
        return spec


def _service(name: str, spec: JsonObject) -> JsonObject:
    return {"apiVersion": _HEAD, "kind": "AIMService", "metadata": {"name": name}, "spec": spec}
