"""Carries out the writes that decisions ask for, and keeps what the server answered."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from aim_api.kinds import Kind
from aim_api.tree import JsonObject, get_objects, get_str
from aim_rehearsal.client import ApiError, Client, typed
from aim_rehearsal.operator.store import Key, Store, generation, name, namespace, uid
from aim_rehearsal.operator.writes import Patch, Remove, Render, SetStatus, Write, changes, in_place, key_of

_AIM_MANAGER = "aim-"


@dataclass(slots=True)
class Executor:
    """Sends writes as one identity.

    The operator's own controllers apply server-side, as the real ones do, so that fields which they no longer send go
    away. KServe and the workload controllers replace whole objects. So do the operator's controllers with an object
    that no controller of the operator ever applied (one that was copied without its managedFields), since an apply
    would leave old fields there.
    """

    client: Client
    store: Store
    before_sending: Callable[[], None] = lambda: None
    _applied: dict[Key, tuple[str, str, int]] = field(default_factory=dict)

    def perform(self, write: Write) -> Key | None:
        """Carry out one write; return the key of the object if it changed.

        Raises:
            ApiError: the server refused, for example because the object was changed meanwhile.
        """
        key = key_of(write)
        live = self.store.at(key)
        if isinstance(write, Render) and write.manager.startswith(_AIM_MANAGER):
            return self._apply(key, write, live)
        if not changes(write, live):
            return None
        self.before_sending()
        if isinstance(write, Remove):
            self._remove(write)
            return key
        answer = self._send(write, live)
        self._keep(write.kind, answer)
        return None if _version(answer) == _version(live) else key

    def _apply(self, key: Key, write: Render, live: JsonObject | None) -> Key | None:
        digest = hashlib.sha256(json.dumps(write.manifest, sort_keys=True).encode()).hexdigest()
        known = live is not None and self._applied.get(key) == (digest, uid(live), generation(live))
        if known and not changes(write, live):
            return None
        if live is None or _applied_before(live):
            self.before_sending()
            answer = self.client.apply(write.kind, write.manifest, manager=write.manager)
        elif changes(write, live):
            self.before_sending()
            answer = self.client.replace(write.kind, in_place(live, write.manifest), manager=write.manager)
        else:
            return None
        self._keep(write.kind, answer)
        self._applied[key] = (digest, uid(answer), generation(answer))
        return None if _version(answer) == _version(live) else key

    def _send(self, write: Render | Patch | SetStatus, live: JsonObject | None) -> JsonObject:
        if isinstance(write, Render):
            if live is None:
                return self.client.create(write.kind, write.manifest, manager=write.manager)
            return self.client.replace(write.kind, in_place(live, write.manifest), manager=write.manager)
        if isinstance(write, Patch):
            target = write.target
            return self.client.merge_patch(
                write.kind, namespace(target) or None, name(target), write.patch, manager=write.manager
            )
        assert live is not None  # a status write to an absent object changes nothing and was left out
        body = live | {"status": write.status}
        return self.client.replace(write.kind, body, manager=write.manager, subresource="status")

    def _remove(self, write: Remove) -> None:
        target = write.target
        try:
            self.client.delete(write.kind, namespace(target) or None, name(target), uid=uid(target))
        except ApiError as error:
            if error.status != 404:
                raise

    def _keep(self, kind: Kind, answer: JsonObject) -> None:
        self.store.put(typed(kind, answer))


def _applied_before(live: JsonObject) -> bool:
    return any(
        (get_str(entry, "manager") or "").startswith(_AIM_MANAGER) and entry.get("operation") == "Apply"
        for entry in get_objects(live, "metadata", "managedFields")
    )


def _version(obj: JsonObject | None) -> str | None:
    return get_str(obj, "metadata", "resourceVersion")
