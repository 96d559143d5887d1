"""A world on a real kube-apiserver that can be put back to its beginning through etcd."""

from pathlib import Path
from typing import Any

from aim_rehearsal.operator import Misbehaviour
from aim_rehearsal.operator.store import SELECTORS, WATCHED
from aim_rehearsal.roles import IDENTITIES, MIGRATION, role_objects
from tests.faults.process import Launcher
from tests.faults.stage.gateway import Backup, Gateway
from tests.faults.stage.lockstep import collection_of
from tests.faults.stage.stage import RIVAL, Stage
from tests.support.audit import AuditTrail
from tests.support.controlplane.server import ControlPlane

IDENTITIES_OF_PLANE = (*IDENTITIES, RIVAL)
"""Whom the control plane must know, beside its administrator."""


class RealStage(Stage):
    """One world on a control plane of its own, up while entered.

    Args:
        world: its name.
        directory: where files go; it must exist.
        launcher: starts runs of the tool.
        plane: the control plane, with the definitions, and with ``IDENTITIES_OF_PLANE``.
    """

    def __init__(self, world: str, directory: Path, launcher: Launcher, plane: ControlPlane) -> None:
        super().__init__(world, directory, launcher)
        self._plane = plane
        self._audit = plane.audit_log
        self._audit_from = 0
        self._kept = frozenset(collection_of(kind) for kind in WATCHED if kind.name not in SELECTORS)

    def spoil(self) -> None:
        """Nothing has to be begun anew: etcd is put back whatever happened."""

    def audit(self, position: int = 0) -> AuditTrail:
        """Return what the server's audit log has since the last reset, or since a position."""
        self._plane.audit_position()  # waits until everything is there
        return super().audit(max(position, self._audit_from))

    def audit_position(self) -> int:
        """Return the present end of the audit log."""
        return self._plane.audit_position()

    def _build(self) -> None:
        super()._build()
        self._backup = Backup(self._plane, self._kept)

    def _serve(self, directory: Path) -> Any:
        """Stand before the server, and give everybody their rights."""
        rules = {item["metadata"]["name"].rpartition("-")[2]: item.get("rules") for item in role_objects()[::2]}
        for identity in IDENTITIES_OF_PLANE:
            self._plane.grant(identity, rules[MIGRATION if identity == RIVAL else identity])
        return self._stack.enter_context(Gateway(self._plane, self.witness))

    def _forget_audit(self) -> None:
        self._audit_from = self._plane.audit_position()

    def _undo(self) -> None:
        log, began = self.server.store, self._base
        last = {(item.collection, item.key): item for item in log.changes_since(began)}
        for (collection, key), item in last.items():
            if collection not in self._kept:
                continue
            if self._backup.put_back(collection, key):
                log.add(collection, key, {"metadata": {"resourceVersion": ""}})
            elif item.after is not None:
                log.add(collection, key, None, item.after["metadata"]["uid"])
        self._base = log.revision
        self.let_operator_be(Misbehaviour.NONE)
        self.operator.rewind(began)
