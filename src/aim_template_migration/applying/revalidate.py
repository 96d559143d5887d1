"""Fresh reads: classify a unit again with planning's own function, and take its pins again, each by a GET.

Membership lists of a namespace may be shared between units while they are young, because a list of a large namespace
per unit would cost more than it tells; every pinned object is read on its own all the same (R, "Dry-run and commit").
"""

import threading
from dataclasses import dataclass

from aim_api.kinds import AIM_KINDS, DEPLOYMENT, INFERENCE_SERVICE, KSERVE_KINDS, POD, PVC, Kind
from aim_template_migration.applying.clock import Clock
from aim_template_migration.applying.failures import refusal, stop_unit
from aim_template_migration.applying.fences import Breach, Live, check_membership, check_pin
from aim_template_migration.applying.structure import AUTOMATIC_OUTCOME
from aim_template_migration.documents.plan import Pin, Plan, Unit
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import NotFound, RequestError
from aim_template_migration.planning.assess import Settings, assess_unit
from aim_template_migration.planning.content import pin_of
from aim_template_migration.planning.inventory import read_cluster_scope, read_namespace
from aim_template_migration.planning.reduction import reduce
from aim_template_migration.planning.snapshot import ClusterScope, NamespaceScope, Snapshot

MEMBERSHIP_AGE_SECONDS = 30.0

_KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (*AIM_KINDS, *KSERVE_KINDS, PVC, POD, DEPLOYMENT, INFERENCE_SERVICE)
}


@dataclass(frozen=True, slots=True)
class _Reading:
    """One namespace and the cluster scope, with the monotonic time at which the reading began."""

    began: float
    cluster: ClusterScope
    namespace: NamespaceScope


class Revalidator:
    """Revalidates units of one plan; safe to use from several threads."""

    def __init__(self, cluster: Cluster, plan: Plan, settings: Settings, clock: Clock) -> None:
        self._cluster = cluster
        self._settings = settings
        self._clock = clock
        self._own = frozenset(target.id for target in plan.targets)
        self._lock = threading.Lock()
        self._namespace_locks: dict[str, threading.Lock] = {}
        self._readings: dict[str, _Reading] = {}

    def require_unchanged(self, unit: Unit) -> None:
        """Stop the unit unless it would be planned the same way now and every pin holds.

        Raises:
            UnitStopped: it is no longer automatic (its new outcome is named), a pin is breached, or a read fails.
            RunStopped: the credentials are rejected.
        """
        namespace = unit.id.split("/")[1]
        try:
            fresh = self._classify(unit.id, namespace)
            breach = self._first_breach(unit)
        except RequestError as error:
            raise refusal(error, verb="reading", object_id=unit.id, dry_run=False) from error
        if breach is None and fresh is not None:
            breach = check_membership(unit.pins, fresh.pins, self._own)
        if breach is not None:
            raise stop_unit(breach.code, breach.message)
        if fresh is None:
            raise stop_unit("PinGone", f"{unit.id} is gone")
        if fresh.outcome != AUTOMATIC_OUTCOME:
            why = next((finding.message for finding in fresh.reasons if finding.code == fresh.outcome), "")
            raise stop_unit(
                "NoLongerAutomatic", f"{unit.id} would now be planned as {fresh.outcome}: {why}".rstrip(": ")
            )

    def live(self, pin: Pin) -> Live | None:
        """Read one pinned object.

        Raises:
            RequestError: it can't be read.
        """
        kind = _KINDS[pin.reference.kind]
        try:
            obj = self._cluster.get(kind, pin.reference.name, pin.reference.namespace or None)
        except NotFound:
            return None
        observed = reduce(kind, obj)
        return Live(pin_of(pin.role, observed), observed.terminating)

    def forget(self, namespace: str) -> None:
        """Make the next classification in this namespace read its lists anew, since this run has written there."""
        with self._lock:
            self._readings.pop(namespace, None)

    def _first_breach(self, unit: Unit) -> Breach | None:
        for pin in unit.pins:
            if pin.absent and pin.reference.id in self._own:
                continue  # the steps themselves decide whether an existing target equals the plan's
            breach = check_pin(pin, self.live(pin))
            if breach is not None:
                return breach
        return None

    def _classify(self, unit_id: str, namespace: str) -> Unit | None:
        reading = self._reading(namespace)
        snapshot = Snapshot(reading.cluster, (reading.namespace,))
        try:
            return assess_unit(snapshot, self._settings, unit_id)
        except KeyError:
            return None

    def _reading(self, namespace: str) -> _Reading:
        with self._lock:
            lock = self._namespace_locks.setdefault(namespace, threading.Lock())
        with lock:  # one reader per namespace; the others take what it read
            with self._lock:
                known = self._readings.get(namespace)
            now = self._clock.monotonic()
            if known is not None and now - known.began < MEMBERSHIP_AGE_SECONDS:
                return known
            reading = _Reading(now, read_cluster_scope(self._cluster), read_namespace(self._cluster, namespace))
            with self._lock:
                self._readings[namespace] = reading
            return reading
