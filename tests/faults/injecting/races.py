"""What others do while a run goes on: edits, replacements, deletions, status writers, other builds of the operator."""

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID, RECONCILIATION_PAUSED
from aim_api.crds import load_crds
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    INFERENCE_SERVICE,
    LEGACY_VERSION,
    NAMESPACE,
    Kind,
)
from aim_rehearsal.apiserver import Request, Response
from aim_rehearsal.client import ApiError
from aim_rehearsal.operator import Misbehaviour
from tests.faults.checking.evidence import Arrival
from tests.faults.checking.journal import ended_units
from tests.faults.injecting.scene import Fault, Scene

_BY_PLURAL = {kind.plural: kind for kind in (AIM_SERVICE, AIM_ARTIFACT, AIM_PROFILE, AIM_PROFILE_CACHE)}
_SERVER_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
_ADMINISTRATOR = "kubectl-edit"
_PATIENCE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Target:
    """What a write is about."""

    kind: Kind
    namespace: str
    name: str

    @classmethod
    def of(cls, arrival: Arrival) -> "Target":
        """Return the target of a write."""
        parts = arrival.path.split("/")
        kind = _BY_PLURAL[parts[6]]
        name = parts[7] if len(parts) > 7 else msgspec.json.decode(arrival.body)["metadata"]["name"]
        return cls(kind, parts[5], name)

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, namespace and name."""
        return self.kind.name, self.namespace, self.name


Act = Callable[[Scene, Target, Arrival], None]


@dataclass(frozen=True, slots=True)
class Race:
    """Something that somebody does between a read and the write that rests on it.

    Attributes:
        name: what it is called.
        act: does it.
        kinds: plurals of the kinds whose writes it is a race for.
        tolerated: whether the write may succeed all the same.
        lasting: whether the plan no longer fits afterwards, so that only a new plan leads on.
        rolls: whether it may take pods away.
        spoils: whether it can't be undone on this stage.
        after: it happens after the write was carried out, and only after a real one.
    """

    name: str
    act: Act
    kinds: frozenset[str]
    tolerated: bool = False
    lasting: bool = True
    rolls: bool = False
    spoils: bool = False
    after: bool = False

    def fits(self, arrival: Arrival) -> bool:
        """Return whether it is a race for this write."""
        return Target.of(arrival).kind.plural in self.kinds and not (self.after and arrival.dry_run)


class RaceAtRequest(Fault):
    """One race, at one write."""

    def __init__(self, number: int, race: Race) -> None:
        self.name = race.name
        self.race = race
        self._number = number

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        if arrival.number == self._number and not self.race.after:
            self._act(scene, arrival)
        return None

    def after(self, scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
        if arrival.number == self._number and self.race.after:
            self._act(scene, arrival)
        return None

    def _act(self, scene: Scene, arrival: Arrival) -> None:
        target = Target.of(arrival)
        circumstances = scene.circumstances
        circumstances.rolls |= self.race.rolls
        circumstances.touched.add(target.key)
        circumstances.finished |= ended_units(arrival.journal)
        if not self.race.tolerated:
            circumstances.falsified.add(arrival.number)
        if self.race.spoils:
            scene.stage.spoil()
        self.race.act(scene, target, arrival)
        scene.stage.operator.work()


def _merge(patch: Mapping[str, Any]) -> Act:
    def act(scene: Scene, target: Target, arrival: Arrival) -> None:
        scene.admin.merge_patch(target.kind, target.namespace, target.name, {**patch}, manager=_ADMINISTRATOR)

    return act


def _adopt(scene: Scene, target: Target, arrival: Arrival) -> None:
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": target.namespace}
    owner["uid"] = scene.admin.get(NAMESPACE, None, target.namespace)["metadata"]["uid"]
    _merge({"metadata": {"ownerReferences": [owner]}})(scene, target, arrival)


def _pause(scene: Scene, target: Target, arrival: Arrival) -> None:
    _merge({"metadata": {"annotations": {RECONCILIATION_PAUSED: "true"}}})(scene, target, arrival)


def _churn_status(scene: Scene, target: Target, arrival: Arrival) -> None:
    beat(scene, target.kind, target.namespace, target.name, f"race-{arrival.number}")


def _replace(scene: Scene, target: Target, arrival: Arrival) -> None:
    """Delete the object and make one of the same name and content."""
    admin = scene.admin
    # A service that names a template can only be created at the version that has templates.
    kind = target.kind.at(LEGACY_VERSION) if target.kind is AIM_SERVICE else target.kind
    old = admin.get(kind, target.namespace, target.name)
    admin.merge_patch(kind, target.namespace, target.name, {"metadata": {"finalizers": None}}, manager=_ADMINISTRATOR)
    admin.delete(kind, target.namespace, target.name)
    fresh = copy.deepcopy(old)
    for name in _SERVER_FIELDS:
        fresh["metadata"].pop(name, None)
    status = fresh.pop("status", None)
    made = admin.create(kind, fresh, manager=_ADMINISTRATOR)
    if status:
        admin.replace(kind, {**made, "status": status}, manager=_ADMINISTRATOR, subresource="status")


def _delete(scene: Scene, target: Target, arrival: Arrival) -> None:
    scene.admin.delete(target.kind, target.namespace, target.name)


def _create_equal(scene: Scene, target: Target, arrival: Arrival) -> None:
    scene.admin.create(target.kind, msgspec.json.decode(arrival.body), manager=_ADMINISTRATOR)


def _create_other(scene: Scene, target: Target, arrival: Arrival) -> None:
    body = msgspec.json.decode(arrival.body)
    extra = {"storageClassName": "others"} if target.kind is AIM_PROFILE_CACHE else {"engineArgs": {"others": True}}
    scene.admin.create(target.kind, {**body, "spec": {**body["spec"], **extra}}, manager=_ADMINISTRATOR)


def _end_namespace(scene: Scene, target: Target, arrival: Arrival) -> None:
    """Delete the namespace, and let its objects go before anything else happens."""
    scene.circumstances.touched |= {key for key in scene.stage.observe() if key[1] == target.namespace}
    scene.admin.delete(NAMESPACE, None, target.namespace)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while any(key[1] == target.namespace for key in scene.stage.observe()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"the objects of namespace {target.namespace} do not go")
        scene.stage.operator.work()


def _narrow_definition(scene: Scene, target: Target, arrival: Arrival) -> None:
    """Install another build's definition of the kind, which lacks fields that are being written."""
    scene.circumstances.shared = True
    crds = [copy.deepcopy(crd) for crd in load_crds() if crd["metadata"]["name"] == target.kind.crd_name]
    for version in crds[0]["spec"]["versions"]:
        whole = version["schema"]["openAPIV3Schema"]
        spec = whole["properties"]["spec"]
        for name in ("profile", "metric", "profileScope"):
            spec["properties"].pop(name, None)
        for schema in (whole, spec):
            schema.pop("x-kubernetes-validations", None)
        spec.pop("required", None)
    scene.stage.server.install_crds(crds)


def _remove_pin(scene: Scene, target: Target, arrival: Arrival) -> None:
    pins = dict.fromkeys((PRESERVE_UID, PRESERVE_GENERATION))
    _merge({"metadata": {"annotations": pins}})(scene, target, arrival)


_SERVICES, _ARTIFACTS = frozenset({"aimservices"}), frozenset({"aimartifacts"})
_PATCHED, _CREATED = _SERVICES | _ARTIFACTS, frozenset({"aimprofiles", "aimprofilecaches"})
_ANY = _PATCHED | _CREATED

RACES = (
    Race("spec-edited", _merge({"spec": {"replicas": 2}}), _SERVICES, rolls=True),
    Race("annotated", _merge({"metadata": {"annotations": {"example.org/note": "x"}}}), _SERVICES, lasting=False),
    Race(
        "artifact-annotated", _merge({"metadata": {"annotations": {"example.org/note": "x"}}}), _ARTIFACTS, True, False
    ),
    Race("labelled", _merge({"metadata": {"labels": {"example.org/note": "x"}}}), _PATCHED, True, False),
    Race("paused", _pause, _SERVICES),
    Race("adopted", _adopt, _ARTIFACTS),
    Race("status-written", _churn_status, _PATCHED, True, False),
    Race("replaced", _replace, _PATCHED, rolls=True, spoils=True),
    Race("deleted", _delete, _PATCHED, rolls=True, spoils=True),
    Race("created-equal", _create_equal, _CREATED, lasting=False),
    Race("created-other", _create_other, _CREATED),
    Race("namespace-ending", _end_namespace, _ANY, rolls=True, spoils=True),
    Race("definition-narrowed", _narrow_definition, _ANY - _ARTIFACTS, spoils=True),
    Race("pin-removed", _remove_pin, _SERVICES, rolls=True, after=True),
    Race("spec-edited-after", _merge({"spec": {"replicas": 2}}), _SERVICES, rolls=True, after=True),
)
"""Every race for a write."""


class StatusWriter(Fault):
    """A writer of status that is busier than the tool: everything in the closure changes before every request."""

    name = "status-writer"

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        for kind, namespace, name in sorted(scene.stage.observe()):
            found = next((item for item in (*_BY_PLURAL.values(), INFERENCE_SERVICE) if item.name == kind), None)
            if found is not None:
                beat(scene, found, namespace, name, f"beat-{arrival.number}")
        return None


class OperatorThat(Fault):
    """Another build of the operator, from the beginning of the run."""

    def __init__(self, misbehaviour: Misbehaviour) -> None:
        self.name = str(misbehaviour)
        self.misbehaviour = misbehaviour

    def begin(self, scene: Scene) -> None:
        scene.stage.let_operator_be(self.misbehaviour)
        scene.circumstances.rolls = self.misbehaviour in (
            Misbehaviour.ROLLS_DESPITE_PIN,
            Misbehaviour.NO_BRIDGE,
            Misbehaviour.DOWNLOADS_AGAIN,
        )

    def slept(self, scene: Scene, seconds: float) -> None:
        scene.stage.operator.pass_time(seconds)

    def gone(self, scene: Scene) -> None:
        scene.stage.restart_operator()


class PinRemovedInSoak(Fault):
    """Somebody takes the pin off a service that was cut over and confirmed, while its soak goes on."""

    name = "pin-removed-in-soak"

    def __init__(self) -> None:
        self._done = False

    def slept(self, scene: Scene, seconds: float) -> None:
        if self._done:
            return
        for (kind, namespace, name), item in scene.stage.observe().items():
            annotations = item["metadata"].get("annotations", {})
            observed = item.get("status", {}).get("observedGeneration")
            if kind == AIM_SERVICE.name and annotations.get(PRESERVE_GENERATION) == str(observed):
                self._done = True
                scene.circumstances.rolls = True
                scene.circumstances.touched.add((kind, namespace, name))
                pins = dict.fromkeys((PRESERVE_UID, PRESERVE_GENERATION))
                scene.admin.merge_patch(AIM_SERVICE, namespace, name, {"metadata": {"annotations": pins}})
                scene.stage.operator.work()
                return


def beat(scene: Scene, kind: Kind, namespace: str, name: str, message: str) -> None:
    """Write something unimportant into the status of an object, if it is there."""
    try:
        live = scene.admin.get(kind, namespace, name)
    except ApiError:
        return
    conditions = live.get("status", {}).get("conditions", [])
    if not conditions:
        return
    changed = [{**item, "message": message} if place == 0 else item for place, item in enumerate(conditions)]
    scene.admin.merge_patch(
        kind, namespace, name, {"status": {"conditions": changed}}, manager="status-writer", subresource="status"
    )
