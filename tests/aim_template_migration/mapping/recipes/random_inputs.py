"""Random v1alpha1 inputs: what the served schemas allow, what they do not, and the shapes of G's examples."""

from random import Random

import msgspec

from aim_api.crds import load_crds
from aim_api.kinds import AIM_GROUP, Kind
from aim_api.tree import Json, JsonObject, get_map, get_objects, get_str
from aim_schema.nodes import Node, parse
from aim_template_migration.mapping.recipes.context import Values, value_fields
from aim_template_migration.mapping.recipes.draft import id_of
from tests.aim_schema.random_objects import RandomObjects

KINDS = (
    "AIMService",
    "AIMModel",
    "AIMClusterModel",
    "AIMServiceTemplate",
    "AIMClusterServiceTemplate",
    "AIMTemplateCache",
    "AIMRuntimeConfig",
    "AIMClusterRuntimeConfig",
    "AIMProfile",
    "AIMClusterProfile",
)
NAMES = ("one", "two", "three")
AT_BOTH = ("AIMService", "AIMModel", "AIMClusterModel")


def _schemas() -> dict[str, Node]:
    """Return the schema of each kind, at v1alpha1 where that is served."""
    found = {}
    for definition in load_crds():
        for version in get_objects(definition, "spec", "versions"):
            kind = get_str(definition, "spec", "names", "kind") or ""
            if get_str(definition, "spec", "group") == AIM_GROUP and (
                kind not in found or get_str(version, "name") == "v1alpha1"
            ):
                found[kind] = parse(get_map(version, "schema", "openAPIV3Schema"))
    return found


SCHEMAS = _schemas()


class RandomInputs:
    """Sets of objects that refer to one another by chance."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.wrong = self.random.choice((0.0, 0.0, 0.02, 0.1))
        self.objects = RandomObjects(seed, wrong=self.wrong, present=self.random.choice((0.15, 0.3, 0.6)))

    def several(self) -> list[JsonObject]:
        """Return a few objects; no two have the same kind and name."""
        chosen = self.random.sample([(kind, name) for kind in KINDS for name in NAMES], self.random.randint(1, 5))
        return [self.one(kind, name) for kind, name in chosen]

    def one(self, kind: str, name: str) -> JsonObject:
        """Return one object."""
        metadata: JsonObject = {"name": name}
        if not kind.startswith("AIMCluster"):
            metadata["namespace"] = "team"
        if self._perhaps(0.3):
            metadata["labels"] = {"app": "x"}
        if self._perhaps(0.2):
            metadata["annotations"] = {"aim.eai.amd.com/reconciler-pipeline": self._choice("template", "profile", "")}
        # Through JSON, since the values that are wrong are the same Python objects everywhere.
        content: JsonObject = msgspec.json.decode(msgspec.json.encode(self.objects.object(SCHEMAS[kind])))
        version = "v1alpha2" if kind.endswith("Profile") or (kind in AT_BOTH and self._perhaps(0.1)) else "v1alpha1"
        value: JsonObject = {"apiVersion": f"{AIM_GROUP}/{version}", "kind": kind, "metadata": metadata, **content}
        spec = value.get("spec")
        if isinstance(spec, dict):
            self._refer(kind, spec)
            if self._perhaps(0.5):
                self._guide_shapes(kind, spec)
        if not self._perhaps(0.2):
            value.pop("status", None)
        return value

    def values(self, objects: list[JsonObject]) -> Values:
        """Return values as if given by hand, for some of the objects."""
        found: dict[str, JsonObject] = {}
        for value in objects:
            fields = sorted(value_fields(get_str(value, "kind") or ""))
            if self._perhaps(0.3):
                chosen = self.random.sample(fields, self.random.randint(0, len(fields)))
                found[id_of(value)] = {name: self._value(name) for name in chosen}
        return Values(found)

    def live(self, kind: Kind, namespace: str, name: str) -> JsonObject | None:
        """Return an object of a cluster that has some of what is asked for, the same at every time."""
        random = Random(f"{self.seed} {kind.name} {namespace} {name}")
        return RandomInputs(random.getrandbits(32)).one(kind.name, name) if random.random() < 0.5 else None

    def live_models(self, kind: Kind, namespace: str) -> list[JsonObject]:
        """List models of a cluster, the same at every time."""
        random = Random(f"{self.seed} {kind.name} {namespace} models")
        return [RandomInputs(random.getrandbits(32)).one(kind.name, f"live-{number}") for number in range(2)]

    def _value(self, name: str) -> Json:
        if name == "modelSources":
            return [{"modelId": "org/model", "sourceUri": "hf://org/model"}]
        return self._choice("org/model", "r/i:1", "r/base:0.8.5", "fp8", *NAMES)

    def _refer(self, kind: str, spec: JsonObject) -> None:
        """Name other objects of the set."""
        references = {
            "AIMServiceTemplate": "modelName",
            "AIMClusterServiceTemplate": "modelName",
            "AIMTemplateCache": "templateName",
        }
        if kind in references and self._perhaps(0.9):
            spec[references[kind]] = self._choice(*NAMES)
        template = spec.get("template")
        if kind == "AIMService" and isinstance(template, dict) and "name" in template:
            template["name"] = self._choice(*NAMES, "")

    def _guide_shapes(self, kind: str, spec: JsonObject) -> None:
        if kind == "AIMService":
            template = spec.setdefault("template", {})
            if isinstance(template, dict) and self._perhaps(0.7):
                template["selectionCriteria"] = self._some(
                    precision="auto", metric="latency", acceleratorModel="MI300X", type="preview", other=1
                )
            overrides = spec.setdefault("overrides", {})
            if isinstance(overrides, dict):
                overrides |= self._some(
                    engineArgs={"max-model-len": "32768", "x": "0.9"},
                    env=[{"name": "A", "value": ""}],
                    modelSources=[{"modelId": "a/b", "sourceUri": "hf://a/b"}],
                )
        elif kind.endswith("ServiceTemplate"):
            spec |= self._some(
                acceleratorModel="MI300X", acceleratorCount=1, engine="vllm", engineArgs={"a": "1"}, image="r/i:1"
            )
            if self._perhaps(0.5):
                arguments = self._choice('{"b": 2}', "{", "[]")
                spec["env"] = [{"name": "A", "value": "1"}, {"name": "AIM_ENGINE_ARGS", "value": arguments}]
        elif kind.endswith("Model"):
            custom = spec.setdefault("custom", {})
            if isinstance(custom, dict) and self._perhaps(0.5):
                custom["image"] = "r/base:0.8.5"
            spec["customTemplates"] = [
                self._some(
                    name="t", acceleratorModel="MI300X", precision="fp16", engine="vllm", env=[{"name": "A"}], q=1
                )
            ]

    def _some(self, **fields: Json) -> JsonObject:
        return {key: value for key, value in fields.items() if self._perhaps(0.5)}

    def _choice(self, *values: str) -> str:
        return self.random.choice(values)

    def _perhaps(self, chance: float) -> bool:
        return self.random.random() < chance
