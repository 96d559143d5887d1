"""Fresh reads: take a unit's pins again, each by a GET, and classify it again with planning's own function.

The lists that say who else is in a namespace may be shared between units while they are young, because a list of a
large namespace per unit would cost more than it tells; every pinned object is read on its own all the same, and laid
over the lists, so that the classification sees it as it is now (R, "Dry-run and commit").
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from aim_api.kinds import CRD, Kind
from aim_api.tree import JsonObject, get_map, get_str
from aim_template_migration.applying.clock import Clock
from aim_template_migration.applying.failures import refusal, stop_unit
from aim_template_migration.applying.fences import Breach, Live, check_membership, check_pin
from aim_template_migration.applying.overlay import fresh_cluster, fresh_namespace
from aim_template_migration.applying.pinned_kinds import PINNED_KINDS
from aim_template_migration.applying.structure import AUTOMATIC_OUTCOME
from aim_template_migration.derived import derived
from aim_template_migration.documents.plan import Pin, Plan, Reference, Unit
from aim_template_migration.documents.result import Identity
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import NotFound, RequestError
from aim_template_migration.planning.assess import Judgement, judge_unit
from aim_template_migration.planning.content import pin_of
from aim_template_migration.planning.inventory import PlanningError, read_cluster_scope, read_namespace
from aim_template_migration.planning.reduction import reduce
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import ClusterScope, NamespaceScope, Observed, Snapshot

MEMBERSHIP_AGE_SECONDS = 30.0
_KEPT_NAMESPACES = 16
_DESIRED_METADATA = ("labels", "annotations", "ownerReferences", "finalizers", "deletionTimestamp")


@dataclass(frozen=True)
class PinReading:
    """One pinned object as it is now.

    Attributes:
        pin: the planned fact.
        raw: the object as the server sent it, None where it does not exist.
        observed: the same, reduced and sanitised.
    """

    pin: Pin
    raw: JsonObject | None = None
    observed: Observed | None = None

    @classmethod
    def of(cls, pin: Pin, obj: JsonObject) -> Self:
        """Return the reading of an object that the server sent."""
        return cls(pin, obj, reduce(PINNED_KINDS[pin.reference.kind], obj))

    @derived
    def breach(self) -> Breach | None:
        """How the planned fact fails to hold, or None."""
        return check_pin(self.pin, self._live)

    @derived
    def identity(self) -> Identity | None:
        """Who the object is now, or None where it does not exist."""
        if self.observed is None:
            return None
        return Identity(
            role=self.pin.role,
            reference=self.pin.reference,
            uid=self.observed.uid,
            generation=self.observed.generation,
            resource_version=self.observed.resource_version,
            owner_references=self.observed.owner_references,
            paused=self.observed.paused,
        )

    @property
    def _live(self) -> Live | None:
        if self.observed is None:
            return None
        return Live(pin_of(self.pin.role, self.observed), self.observed.terminating)


def _is_unchanged(known: Observed, obj: JsonObject) -> bool:
    """Return whether an object still is what was read before.

    Its version alone does not tell: a definition that gains a default changes what is read of a stored object. And the
    proof that nothing rolled rests on labels, annotations, owners and finalizers, which cost little to compare.
    """
    version = get_str(obj, "metadata", "resourceVersion")
    if not version or (known.uid, known.resource_version) != (get_str(obj, "metadata", "uid"), version):
        return False
    if known.obj.get("spec") != obj.get("spec"):
        return False
    before, now = get_map(known.obj, "metadata"), get_map(obj, "metadata")
    return all(before.get(key) == now.get(key) for key in _DESIRED_METADATA)


@dataclass(frozen=True, slots=True)
class _Aged:
    """Lists, with the monotonic time at which their reading began."""

    began: float
    scope: NamespaceScope


class Revalidator:
    """Reads and revalidates units of one plan; safe to use from several threads."""

    def __init__(
        self, cluster: Cluster, plan: Plan, settings: Settings, clock: Clock, edited: Mapping[str, JsonObject]
    ) -> None:
        """Take what does not change in a run.

        Args:
            cluster: the connection.
            plan: the plan.
            settings: the settings that the plan was made with.
            clock: tells how old lists are.
            edited: bodies of target profiles that an administrator edited, by id.
        """
        self._cluster = cluster
        self._plan = plan
        self._settings = settings
        self._clock = clock
        self._edited = edited
        self._own = frozenset(target.id for target in plan.targets)
        self._lock = threading.Lock()
        self._namespace_locks: dict[str, threading.Lock] = {}
        self._namespaces: OrderedDict[str, _Aged] = OrderedDict()
        self._cluster_lock = threading.Lock()
        self._cluster_scope: tuple[float, ClusterScope] | None = None

    @property
    def schemas(self) -> Mapping[str, JsonObject]:
        """Schemas of the targets' CRDs by kind name, for defaulting.

        Raises:
            RequestError: they can't be read.
        """
        return self._cluster_objects().schemas

    def read(self, pin: Pin, known: PinReading | None = None, *, within: float | None = None) -> PinReading:
        """Read one pinned object.

        Args:
            pin: which one.
            known: an earlier reading of it; it is returned where UID, resourceVersion, spec and desired metadata are
                still the same, as nothing changed then.
            within: limits the read, its repeats included, in seconds; None for no limit.

        Raises:
            RequestError: it can't be read.
        """
        kind = PINNED_KINDS[pin.reference.kind]
        try:
            obj = self._cluster.get(kind, pin.reference.name, pin.reference.namespace or None, within=within)
        except NotFound:
            return PinReading(pin)
        if known is not None and known.observed is not None and _is_unchanged(known.observed, obj):
            return known
        listed = self._listed(kind, pin.reference)
        same = listed is not None and listed.kind == kind and _is_unchanged(listed, obj)
        return PinReading(pin, obj, listed if same else reduce(kind, obj))

    def require_unchanged(self, unit: Unit, readings: Sequence[PinReading]) -> None:
        """Stop the unit unless every pin holds and it would be planned the same way now.

        Args:
            unit: the unit.
            readings: all its pinned objects, read just now.

        Raises:
            UnitStopped: a pin is breached, the unit is no longer automatic (its new outcome is named), or a read fails.
            RunStopped: the credentials are rejected.
        """
        try:
            breach = self._first_breach(readings) or self._replaced_definition()
            fresh = None if breach else self._classify(unit, readings)
        except RequestError as error:
            raise refusal(error, verb="reading", object_id=unit.id, dry_run=False) from error
        except PlanningError as error:
            raise stop_unit("PinGone", f"{error}") from error
        if fresh is not None:
            breach = check_membership(unit.pins, fresh.pins, self._own)
        if breach is not None:
            raise stop_unit(breach.code, f"{breach.message}{self._planned_anew(unit, readings)}")
        if fresh is not None and fresh.outcome != AUTOMATIC_OUTCOME:
            why = next((finding.message for finding in fresh.reasons if finding.code == fresh.outcome), "")
            raise stop_unit(
                "NoLongerAutomatic", f"{unit.id} would now be planned as {fresh.outcome}: {why}".rstrip(": ")
            )

    def _planned_anew(self, unit: Unit, readings: Sequence[PinReading]) -> str:
        """Return what a unit whose pins do not hold would be planned as now, where that is anything else."""
        if any(reading.pin.role == "service" and reading.observed is None for reading in readings):
            return ""  # it would not be planned at all
        try:
            fresh = self._classify(unit, readings)
        except (RequestError, PlanningError):
            return ""  # the breach is reason enough
        return "" if fresh.outcome == AUTOMATIC_OUTCOME else f"; it would now be planned as {fresh.outcome}"

    def _first_breach(self, readings: Iterable[PinReading]) -> Breach | None:
        for reading in readings:
            if reading.pin.absent and reading.pin.reference.id in self._own:
                continue  # the classification and the steps decide whether an existing target equals the plan's
            breach = reading.breach
            if breach is not None:
                return breach
        return None

    def _replaced_definition(self) -> Breach | None:
        live = {crd.name: crd.uid for crd in self._cluster_objects().identity.crds}
        for crd in self._plan.cluster.crds:
            if live.get(crd.name) != crd.uid:
                what = "is gone" if crd.name not in live else "was replaced"
                return Breach("PinReplaced", f"{CRD.name}/{crd.name} {what} since the plan was made")
        return None

    def _classify(self, unit: Unit, readings: Sequence[PinReading]) -> Judgement:
        below = self._namespace(unit.id.split("/")[1])
        parts: dict[bool, tuple[list[Observed], list[tuple[Kind, str]]]] = {True: ([], []), False: ([], [])}
        for reading in readings:
            kind = PINNED_KINDS[reading.pin.reference.kind]
            fresh, gone = parts[kind.namespaced]
            if reading.observed is None:
                gone.append((kind, reading.pin.reference.name))
            else:
                fresh.append(reading.observed)
        snapshot = Snapshot(
            fresh_cluster(self._cluster_objects(), *parts[False]), (fresh_namespace(below, *parts[True]),)
        )
        return judge_unit(snapshot, self._settings, unit.id, self._edited)

    def _namespace(self, name: str) -> NamespaceScope:
        with self._lock:
            lock = self._namespace_locks.setdefault(name, threading.Lock())
        with lock:  # one reader per namespace; the others take what it read
            now = self._clock.monotonic()
            with self._lock:
                known = self._namespaces.get(name)
            if known is not None and now - known.began < MEMBERSHIP_AGE_SECONDS:
                return known.scope
            scope = read_namespace(self._cluster, name)
            with self._lock:
                self._namespaces[name] = _Aged(now, scope)
                self._namespaces.move_to_end(name)
                while len(self._namespaces) > _KEPT_NAMESPACES:
                    self._namespaces.popitem(last=False)
            return scope

    def _listed(self, kind: Kind, reference: Reference) -> Observed | None:
        """Return an object as it stands in the lists at hand, however old; None where there is none of this name."""
        with self._lock:
            aged = self._namespaces.get(reference.namespace) if kind.namespaced else None
        if aged is not None:
            return aged.scope.get(kind, reference.name)
        with self._cluster_lock:
            scope = None if kind.namespaced or self._cluster_scope is None else self._cluster_scope[1]
        return scope.objects.get(kind.name, {}).get(reference.name) if scope is not None else None

    def _cluster_objects(self) -> ClusterScope:
        with self._cluster_lock:
            now = self._clock.monotonic()
            if self._cluster_scope is None or now - self._cluster_scope[0] >= MEMBERSHIP_AGE_SECONDS:
                self._cluster_scope = (now, read_cluster_scope(self._cluster))
            return self._cluster_scope[1]
