"""What a service shows once the operator has observed its cutover (pure)."""

from dataclasses import dataclass

from aim_api.bridge import PRESERVED_CONDITION
from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_PROFILE
from aim_api.tree import JsonObject, get_int, get_map, get_objects, get_str
from aim_template_migration.applying.readiness import Missing, condition_status
from aim_template_migration.documents.plan import ConfirmNoRollout, Pin, Reference, Unit


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """The profile that a service must resolve to after its cutover.

    Attributes:
        profile: which one; its kind says whether the status must name the namespace's or the cluster's.
        uid: its UID where it is known, else an empty string.
    """

    profile: Reference
    uid: str

    def fault(self, service: JsonObject) -> str:
        """Return what the service resolves to instead, or an empty string; what its status leaves out is no fault."""
        resolved = get_map(service, "status", "resolvedProfile")
        name, scope, uid = (get_str(resolved, key) or "" for key in ("name", "scope", "uid"))
        if name != self.profile.name:
            return f"profile {name or 'none'}, not {self.profile.name}"
        wanted = "Cluster" if self.profile.kind == AIM_CLUSTER_PROFILE.name else "Namespace"
        if scope not in ("", wanted):
            return f"profile {name} of scope {scope}, not {self.profile.id}"
        return f"profile {name} with UID {uid}, not {self.uid}" if self.uid and uid not in ("", self.uid) else ""


def rival_profile(unit: Unit, profile: Reference) -> Pin | None:
    """Return the pin on the absence of the AIMProfile that would win over a cluster-scoped target, if there is one."""
    if profile.kind != AIM_CLUSTER_PROFILE.name:
        return None
    return next((pin for pin in unit.pins if pin.absent and pin.reference.kind == AIM_PROFILE.name), None)


def not_observed(service: JsonObject, step: ConfirmNoRollout, pinned: int, target: ResolvedTarget) -> Missing | None:
    """Return what is still missing before a cutover counts as observed (pure)."""
    generation = get_int(service, "metadata", "generation")
    observed = get_int(service, "status", "observedGeneration")
    name = step.service.id
    if generation != pinned or observed != pinned:
        return Missing(f"{name}: observedGeneration is {observed}, generation {generation}, pinned {pinned}")
    if condition_status(service, PRESERVED_CONDITION) == "False":
        return Missing(f"{name}: the bridge reports {PRESERVED_CONDITION}=False ({_preserved_reason(service)})")
    other = target.fault(service)
    if other:
        return Missing(f"{name} resolves to {other}")
    if condition_status(service, "Ready") != "True":
        return Missing(f"{name} is not Ready")
    return None


def _preserved_reason(service: JsonObject) -> str:
    conditions = get_objects(service, "status", "conditions")
    return next(
        (
            get_str(item, "reason") or "no reason given"
            for item in conditions
            if item.get("type") == PRESERVED_CONDITION
        ),
        "no reason given",
    )
