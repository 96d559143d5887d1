"""Reads what is there now of one unit (shell): its pinned objects, its pods, and what its cutover leads to."""

from collections.abc import Iterable
from dataclasses import dataclass

from aim_api.kinds import POD
from aim_api.tree import JsonObject
from aim_template_migration.applying.cutover import is_cut_over
from aim_template_migration.applying.revalidate import PinReading, Revalidator
from aim_template_migration.applying.serving import facts_of, pod_selector
from aim_template_migration.documents.plan import (
    AwaitProfile,
    AwaitProfileCache,
    ConfirmNoRollout,
    CutOver,
    Reference,
    Unit,
)
from aim_template_migration.documents.result import WorkloadFacts
from aim_template_migration.kube import Cluster


@dataclass(frozen=True, slots=True)
class Migration:
    """An automatic unit with the steps that the rest of it turns on.

    Attributes:
        unit: the unit; its plan has passed the structural checks, so that each of these steps stands in it.
    """

    unit: Unit

    @property
    def namespace(self) -> str:
        """The unit's namespace."""
        return self.unit.id.split("/")[1]

    @property
    def cut_over(self) -> CutOver:
        """The step that moves the service."""
        return next(step for step in self.unit.steps if isinstance(step, CutOver))

    @property
    def confirmation(self) -> ConfirmNoRollout:
        """The step that proves that nothing rolled."""
        return next(step for step in self.unit.steps if isinstance(step, ConfirmNoRollout))

    @property
    def profile(self) -> Reference:
        """The target profile."""
        return next(step.profile for step in self.unit.steps if isinstance(step, AwaitProfile))

    @property
    def cache(self) -> AwaitProfileCache:
        """The step that names the target cache and the predecessor's artifacts."""
        return next(step for step in self.unit.steps if isinstance(step, AwaitProfileCache))


@dataclass(frozen=True, slots=True)
class UnitLive:
    """What is there now of one unit.

    Attributes:
        pins: its pinned objects, in the order of the pins.
        cut_over: whether its service is what the cutover leaves.
        workload: the InferenceService with its Deployment and pods, None where the InferenceService is gone.
    """

    pins: tuple[PinReading, ...]
    cut_over: bool
    workload: WorkloadFacts | None

    def role(self, role: str) -> Iterable[PinReading]:
        """Return the readings of the pins of one role."""
        return (reading for reading in self.pins if reading.pin.role == role)

    def raw(self, object_id: str) -> JsonObject | None:
        """Return the pinned object with this id as the server sent it, or None where it does not exist."""
        return next((reading.raw for reading in self.pins if reading.pin.reference.id == object_id), None)


def read_unit(cluster: Cluster, revalidator: Revalidator, migration: Migration) -> UnitLive:
    """Read an automatic unit.

    Raises:
        RequestError: something of it can't be read.
    """
    confirmation = migration.confirmation
    pins = tuple(revalidator.read(pin) for pin in migration.unit.pins)
    service = next((reading.raw for reading in pins if reading.pin.role == "service"), None)
    isvc = next((reading.raw for reading in pins if reading.pin.role == "inferenceService"), None)
    workload = None
    if isvc is not None:
        selector = pod_selector(confirmation.inference_service.name)
        pods = cluster.list(POD, migration.namespace, label_selector=selector)
        workload = facts_of(isvc, (reading for reading in pins if reading.pin.role == "deployment"), pods)
    moved = service is not None and is_cut_over(service, migration.cut_over, confirmation.profile_name)
    return UnitLive(pins, moved, workload)
