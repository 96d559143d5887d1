"""Random v1alpha1 inputs that an API server takes: random objects, mended until the definitions have nothing to say."""

from random import Random

from aim_api.tree import Json, JsonObject, get_str
from aim_template_migration.manifests.validating import definition, resolve_field, server_errors
from tests.aim_schema.random_objects import RandomObjects
from tests.aim_template_migration.mapping.recipes.random_inputs import NAMES, RandomInputs

ROUNDS = 8
MODEL_IDS = ("org/model", "acme/tune")
TEXTS: dict[str, tuple[str, ...]] = {
    "modelId": MODEL_IDS,
    "aimId": MODEL_IDS,
    "sourceUri": ("hf://org/model", "s3://weights/model"),
    "image": ("registry.example/aim:0.8.5", "registry.example/aim:0.9.0"),
    "version": ("0.8.5", "0.9.0"),
    "templateName": NAMES,
    "modelName": NAMES,
}
"""What fields hold that take no text at random."""
NEWER = ("profiles", "modelId", "accelerator", "derivedFrom", "source", "profile", "profileOverrides")
"""Fields of v1alpha2 that the definitions refuse at v1alpha1, where each would cost the whole object."""


class SoundInputs(RandomInputs):
    """Sets of objects of the served v1alpha1 schemas, each valid, that refer to one another by chance."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.objects = RandomObjects(seed, wrong=0.0, present=self.random.choice((0.15, 0.3, 0.5)))

    def several(self) -> list[JsonObject]:
        """Return a few objects; no two have the same kind and name."""
        found = super().several()
        return [value for value in found if self._mended(value)]

    def _guide_shapes(self, kind: str, spec: JsonObject) -> None:
        """Add no shapes that only the guide has: a server does not know them."""

    def _mended(self, value: JsonObject) -> bool:
        """Take out what is wrong; return whether the object is valid at last."""
        spec = value.get("spec")
        if isinstance(spec, dict):
            for name in NEWER if value["kind"] in ("AIMService", "AIMModel", "AIMClusterModel") else ():
                spec.pop(name, None)
            self._keep_one_way(value, spec)
        with_sound_texts(value, self.random)
        for _ in range(ROUNDS):
            wrong = [resolve_field(value, field) for field in refusals(value) if field]
            if not wrong:
                return not refusals(value)
            for path in sorted(set(wrong), key=len, reverse=True):
                remove(value, path if len(path) > 1 else ("spec",))
        return False

    def _keep_one_way(self, value: JsonObject, spec: JsonObject) -> None:
        """Keep one of the ways to say what to serve, since any two of them exclude each other."""
        if value["kind"] == "AIMService":
            model: Json = self.random.choice(
                ({"name": self._choice(*NAMES)}, {"image": self._choice(*TEXTS["image"])}, spec.get("model"))
            )
            spec["model"] = model
            spec["template"] = {"name": self._choice(*NAMES)} if self._perhaps(0.5) else {}
        elif str(value["kind"]).endswith("Model") and self._perhaps(0.7):
            spec.pop("profileCopy", None)
            spec["image"] = self._choice(*TEXTS["image"])


def with_sound_texts(value: Json, random: Random) -> None:
    """Give fields that take no text at random one that they take."""
    if isinstance(value, list):
        for item in value:
            with_sound_texts(item, random)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key in TEXTS and isinstance(item, str):
            value[key] = random.choice(TEXTS[key])
        elif key != "metadata":
            with_sound_texts(item, random)


def refusals(value: JsonObject) -> list[str]:
    """Return the fields that a server would refuse in an object."""
    kind, version = get_str(value, "kind") or "", (get_str(value, "apiVersion") or "").partition("/")[2]
    found = definition(kind, version)
    if found is None:
        return ["kind"]
    unknown, errors = server_errors(value, found)
    return [*unknown, *(error.field for error in errors)]


def remove(value: Json, path: tuple[str | int, ...]) -> None:
    """Take a field out."""
    for key in path[:-1]:
        value = value[key] if isinstance(value, (dict, list)) else None  # type: ignore[call-overload,index]
    if isinstance(value, dict):
        value.pop(str(path[-1]), None)
    elif isinstance(value, list) and isinstance(path[-1], int) and path[-1] < len(value):
        value.pop(path[-1])
