"""What a decision may look at: the objects, the settings, the time, and what was there before the operator started."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from aim_api import bridge, labels
from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_PROFILE, Kind
from aim_api.tree import JsonObject, get_str, get_strings
from aim_rehearsal.operator.settings import Settings
from aim_rehearsal.operator.store import Key, Store, generation, uid

# A change of one of these annotations changes what a controller does, like a change of the spec.
_STEERING = (labels.RECONCILER_PIPELINE, labels.FORCE_REBIND, bridge.PRESERVE_UID, bridge.PRESERVE_GENERATION)


@dataclass(frozen=True, slots=True)
class View:
    """The input of every decision.

    Attributes:
        store: the objects as last seen.
        settings: the operator's settings.
        now: the time, as Kubernetes writes it.
        loaded: fingerprint by UID of every object that was there when the operator first started.
        loaded_keys: the keys of those objects.
        loaded_templates: by UID of each loaded InferenceService, the hash of the pod template that it led to then.
    """

    store: Store
    settings: Settings
    now: str
    loaded: Mapping[str, str] = field(default_factory=dict)
    loaded_keys: AbstractSet[Key] = frozenset()
    loaded_templates: Mapping[str, str] = field(default_factory=dict)

    def untouched(self, *objects: JsonObject | None) -> bool:
        """Return whether all objects were loaded before the operator started and their specs have not changed since.

        None stands for an input that does not exist and counts as untouched.
        """
        return all(obj is None or self.loaded.get(uid(obj)) == fingerprint(obj) for obj in objects)

    def settled(self, obj: JsonObject, *inputs: JsonObject | None) -> bool:
        """Return whether a loaded object keeps the status that it came with, since neither it nor an input has changed.

        One that came without a status gets one, except in a copied cluster: nobody knows what the operator there would
        say of it.
        """
        reported = self.settings.keeps_loaded or bool(get_str(obj, "status", "status"))
        return reported and self.untouched(obj, *inputs)

    def vanished(self, kind: Kind, namespace: str, name: str) -> bool:
        """Return whether an object that was loaded is gone."""
        return Key(kind.name, namespace, name) in self.loaded_keys and self.store.find(kind, namespace, name) is None

    def profile(self, scope: str, namespace: str, name: str) -> JsonObject | None:
        """Return the AIMProfile or AIMClusterProfile of that name; ``scope`` is ``Namespace`` or ``Cluster``."""
        if scope == "Cluster":
            return self.store.find(AIM_CLUSTER_PROFILE, "", name)
        return self.store.find(AIM_PROFILE, namespace, name)


def fingerprint(obj: JsonObject) -> str:
    """Return what changes when an object's desired state changes: generation, deletion, the annotations that steer."""
    annotations = get_strings(obj, "metadata", "annotations")
    deleted = get_str(obj, "metadata", "deletionTimestamp") or ""
    return "|".join([str(generation(obj)), deleted, *(annotations.get(key, "") for key in _STEERING)])


def paused(obj: JsonObject) -> bool:
    """Return whether an object asks its controller to leave it alone; only the exact value ``true`` counts."""
    return get_strings(obj, "metadata", "annotations").get(bridge.RECONCILIATION_PAUSED) == "true"
