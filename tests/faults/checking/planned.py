"""What a plan allows and promises, read from its JSON."""

import copy
import json
from dataclasses import dataclass
from typing import Any

Key = tuple[str, str, str]

PROTECTION = "aim.eai.amd.com/eviction-protected"
_PLURALS = {
    "AIMProfile": "aimprofiles",
    "AIMProfileCache": "aimprofilecaches",
    "AIMArtifact": "aimartifacts",
    "AIMService": "aimservices",
}


@dataclass(frozen=True, slots=True)
class PlannedUnit:
    """One automatic unit.

    Attributes:
        id: its id.
        service: key of its service.
        cut_over: the step CutOver.
        confirm: the step ConfirmNoRollout.
        targets: bodies that it may create, by key; what was there when the plan was made is not among them.
        artifacts: UIDs of the artifacts that it protects, by key.
        pins: the planned objects that must stay, by key: their UID.
    """

    id: str
    service: Key
    cut_over: dict[str, Any]
    confirm: dict[str, Any]
    targets: dict[Key, dict[str, Any]]
    artifacts: dict[Key, str]
    pins: dict[Key, str]

    @property
    def inference_service(self) -> Key:
        """Key of its InferenceService."""
        return ("InferenceService", self.service[1], self.confirm["inferenceService"]["name"])

    @property
    def own(self) -> set[Key]:
        """Keys of everything that it may write."""
        return {*self.targets, *self.artifacts, self.service}

    @property
    def writes(self) -> set[tuple[str, str, str]]:
        """Resource, namespace and name of everything that it may write."""
        return {(_PLURALS[kind], namespace, name) for kind, namespace, name in self.own}


@dataclass(frozen=True, slots=True)
class Planned:
    """One plan.

    Attributes:
        sha256: of its bytes.
        ids: of all its units.
        automatic: the automatic ones, in plan order.
    """

    ids: tuple[str, ...]
    automatic: tuple[PlannedUnit, ...]

    @property
    def writes(self) -> set[tuple[str, str, str]]:
        """Resource, namespace and name of everything that may be written."""
        return {item for unit in self.automatic for item in unit.writes}

    def unit(self, unit_id: str) -> PlannedUnit | None:
        """Return an automatic unit."""
        return next((unit for unit in self.automatic if unit.id == unit_id), None)


def read_plan(data: bytes) -> Planned:
    """Read a plan."""
    plan = json.loads(data)
    bodies = {_key(target["id"]): target["body"] for target in plan.get("targets", [])}
    units = [_unit(unit, bodies) for unit in plan["units"] if unit["disposition"] == "automatic"]
    return Planned(tuple(unit["id"] for unit in plan["units"]), tuple(units))


def expected_service(before: dict[str, Any], unit: PlannedUnit) -> dict[str, Any]:
    """Return a service as the cutover must leave it, status and bookkeeping aside."""
    service = copy.deepcopy(before)
    operations = unit.cut_over["operations"]
    for operation in operations:
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        place = service
        for parent in parents:
            place = place.setdefault(parent, {})
        if operation["op"] == "remove":
            place.pop(last, None)
        elif isinstance(place.get(last), dict) and last == "annotations":
            place[last] |= operation["value"]
        else:
            place[last] = operation["value"]
    service["metadata"]["generation"] = unit.cut_over["pinnedGeneration"]
    return service


def _unit(unit: dict[str, Any], bodies: dict[Key, dict[str, Any]]) -> PlannedUnit:
    steps = unit["steps"]
    cut_over = next(step for step in steps if step["step"] == "CutOver")
    created = [_key(step["target"]) for step in steps if step["step"] in ("CreateProfile", "CreateProfileCache")]
    absent = {_reference(pin["reference"]) for pin in unit["pins"] if pin.get("absent")}
    protected = [step for step in steps if step["step"] == "ProtectArtifact"]
    return PlannedUnit(
        id=unit["id"],
        service=_key(unit["id"]),
        cut_over=cut_over,
        confirm=next(step for step in steps if step["step"] == "ConfirmNoRollout"),
        targets={key: bodies[key] for key in created if key in bodies and key in absent},
        artifacts={_reference(step["artifact"]): step["uid"] for step in protected},
        pins={_reference(pin["reference"]): pin["uid"] for pin in unit["pins"] if not pin.get("absent")},
    )


def _key(object_id: str) -> Key:
    kind, *place, name = object_id.split("/")
    return kind, place[0] if place else "", name


def _reference(reference: dict[str, Any]) -> Key:
    return reference["kind"], reference.get("namespace", ""), reference["name"]
