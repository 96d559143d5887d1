"""A world on a local API that can be put back to its beginning, with the operator in lockstep and a plan."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aim_api.crds import load_crds
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    JOB,
    POD,
    PVC,
    REPLICA_SET,
)
from aim_rehearsal.apiserver import LocalApiServer
from aim_rehearsal.apiserver.store import CompactedError
from aim_rehearsal.operator import Misbehaviour, Settings
from aim_rehearsal.roles import IDENTITIES, MIGRATION, OPERATOR, role_objects
from aim_rehearsal.session import ADMIN
from aim_rehearsal.worlds import apply_world, load_world
from tests.faults.child.job import Job
from tests.faults.process import Launcher
from tests.faults.stage.lockstep import DirectClient, LockstepOperator
from tests.faults.stage.state import state_of
from tests.faults.stage.witness import Witness
from tests.support.audit import AuditTrail

OBSERVED = (
    AIM_SERVICE,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_ARTIFACT,
    INFERENCE_SERVICE,
    DEPLOYMENT,
    REPLICA_SET,
    POD,
    PVC,
    JOB,
)
RIVAL = "rival"
_PLAIN_READS = (b'"verb":"get"', b'"verb":"list"', b'"verb":"watch"')
Objects = dict[tuple[str, str, str], Any]


class Stage:
    """One world, up while entered.

    Args:
        world: its name.
        directory: where files go; it must exist.
        launcher: starts runs of the tool.
    """

    def __init__(self, world: str, directory: Path, launcher: Launcher) -> None:
        self.world = load_world(world)
        self.launcher = launcher
        self.witness = Witness()
        self._directory = directory
        self._stack = contextlib.ExitStack()
        self._launchers = contextlib.ExitStack()
        self._rival: Launcher | None = None
        self._built = 0
        self._base = 0
        self._made = 0
        self._spoiled = True

    def __enter__(self) -> Self:
        self.reset()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        self._launchers.close()

    def reset(self, misbehaviour: Misbehaviour = Misbehaviour.NONE) -> None:
        """Put everything back as it was, and let an operator of the given kind begin."""
        if not self._spoiled:
            try:
                self._undo()
            except CompactedError:
                self._spoiled = True
        if self._spoiled:
            self._build()
        self._forget_audit()
        self.let_operator_be(misbehaviour)

    def spoil(self) -> None:
        """Say that what happened can't be undone: the next reset begins anew."""
        self._spoiled = True

    def let_operator_be(self, misbehaviour: Misbehaviour) -> None:
        """Replace the operator's build by one that misbehaves, or by a sound one, without its noticing anything yet."""
        self.operator._settings = self._settings(misbehaviour)

    def restart_operator(self) -> None:
        """Let a sound operator look at everything anew."""
        self.let_operator_be(Misbehaviour.NONE)
        self.operator.start()

    def operator_works(self) -> None:
        """Let the operator see what has been written."""
        self.operator.work()

    @property
    def rival(self) -> Launcher:
        """Starts a second run beside another; made when it is first wanted."""
        if self._rival is None:
            self._rival = self._launchers.enter_context(Launcher())
        return self._rival

    @property
    def admin(self) -> DirectClient:
        """A client that may do everything."""
        return DirectClient(self.server, ADMIN)

    @property
    def token(self) -> str:
        """The token of the tool's identity."""
        return self.server.token(MIGRATION)

    def observe(self) -> Objects:
        """Return what a migration could change, as the API shows it."""
        admin = self.admin
        return {
            (kind.name, item["metadata"]["namespace"], item["metadata"]["name"]): item
            for kind in OBSERVED
            for item in admin.list_all(kind).items
        }

    def audit(self, position: int = 0) -> AuditTrail:
        """Return what the audit log has since the last reset, or since a position, but for reads of no Secrets."""
        lines = self._audit.read_bytes()[position:].splitlines(keepends=True)
        kept = self._audit.with_name("audit-of-one-run.jsonl")
        kept.write_bytes(b"".join(line for line in lines if not _is_plain_read(line)))
        return AuditTrail.read(kept)

    def audit_position(self) -> int:
        """Return the present end of the audit log."""
        return self._audit.stat().st_size

    @property
    def before(self) -> Objects:
        """The objects as they are after a reset."""
        return self._before

    def state(self) -> str:
        """Return a digest of what is different from the beginning, without UIDs, versions and times."""
        store = self.server.store
        changed = {(item.collection, item.key): item.after for item in store.changes_since(self._base)}
        return state_of(changed)

    def plan_directory(self) -> Path:
        """Return a fresh copy of the plan directory."""
        self._made += 1
        directory = self._directory / f"point-{self._made}"
        directory.mkdir(mode=0o700)
        copy = directory / "plan"
        copy.mkdir(mode=0o700)
        for file in self._plan.iterdir():
            shutil.copy(file, copy / file.name)
        return copy

    @property
    def plan_bytes(self) -> bytes:
        """The plan."""
        return (self._plan / "plan.json").read_bytes()

    def make_plan(self, directory: Path) -> None:
        """Plan the world as it is now, with the tool's own command."""
        namespaces = [word for name in self.world.namespaces for word in ("--namespace", name)]
        argv = ("plan", *namespaces, "--runtime-projection-mode", "Both", "--output-dir", str(directory))
        job = self.job(directory, argv)
        ending = self.launcher.run(job)
        if ending.code != 0:
            raise RuntimeError(f"planning ended with {ending.code}: {Path(job.err).read_text()}")

    def job(
        self, directory: Path, argv: tuple[str, ...], name: str = "run", *, kubeconfig: Path | None = None, **how: Any
    ) -> Job:
        """Return a run of the tool's command line, whose streams and reports lie beside the plan directory."""
        beside = directory.parent
        return Job(
            argv=(*argv, "--kubeconfig", str(kubeconfig or self.kubeconfig)),
            directory=str(directory),
            out=str(beside / f"{name}.out"),
            err=str(beside / f"{name}.err"),
            report=str(beside / f"{name}.disk"),
            synced=str(beside / f"{name}.synced"),
            **how,
        )

    def _settings(self, misbehaviour: Misbehaviour = Misbehaviour.NONE) -> Settings:
        return replace(Settings(), misbehaviour=misbehaviour)

    def _build(self) -> None:
        self._stack.close()
        self._built += 1
        directory = self._directory / f"stage-{self._built}"
        directory.mkdir(mode=0o700)
        self.witness = Witness()
        self.server = self._serve(directory)
        apply_world(self.world, self.admin)
        self.operator = LockstepOperator(self.server, DirectClient(self.server, OPERATOR), self._settings())
        self.operator.start()
        self.kubeconfig = self.server.write_kubeconfig(directory / "kubeconfig", MIGRATION)
        self.rival_kubeconfig = self.server.write_kubeconfig(directory / "rival.kubeconfig", RIVAL)
        self._plan = directory / "plan"
        self.make_plan(self._plan)
        self.witness.authorization = f"Bearer {self.token}"
        self.witness.other, self.witness.other_wrote = f"Bearer {self.server.token(RIVAL)}", self.operator_works
        self._base = self.server.store.revision
        self.operator.remember()
        self._before = self.observe()
        self._spoiled = False

    def _serve(self, directory: Path) -> LocalApiServer:
        """Start the server, with its definitions and rights, and the audit log."""
        self._audit = directory / "audit.jsonl"
        server = self._stack.enter_context(
            LocalApiServer(
                identities={**IDENTITIES, RIVAL: ()}, faults=self.witness, audit_path=self._audit, audit_limit=10
            )
        )
        server.install_crds(load_crds())
        server.seed([*role_objects(), _same_rights(RIVAL)])
        return server

    def _forget_audit(self) -> None:
        os.truncate(self._audit, 0)

    def _undo(self) -> None:
        store, began = self.server.store, self._base
        with store:
            first: dict[tuple[str, str], Any] = {}
            for change in store.changes_since(self._base):
                first.setdefault((change.collection, change.key), change.before)
            for (collection, key), value in first.items():
                namespace, _, name = key.partition("/")
                if value is not None:
                    if store.get(collection, namespace, name) is not value:
                        store.put(collection, namespace, name, value)
                elif store.get(collection, namespace, name) is not None:
                    store.remove(collection, namespace, name)
            self._base = store.revision
        self.let_operator_be(Misbehaviour.NONE)
        self.operator.rewind(began)


def _is_plain_read(line: bytes) -> bool:
    return b'"secrets"' not in line and any(verb in line for verb in _PLAIN_READS)


def _same_rights(identity: str) -> Any:
    """Return the binding that lets another identity do what the tool may."""
    (binding,) = [
        item
        for item in role_objects()
        if item["kind"] == "ClusterRoleBinding" and item["subjects"][0]["name"] == MIGRATION
    ]
    name = f"{binding['metadata']['name']}-{identity}"
    return {**binding, "metadata": {"name": name}, "subjects": [{**binding["subjects"][0], "name": identity}]}


@contextlib.contextmanager
def stage_up(world: str, directory: Path) -> Iterator[Stage]:
    """Run a stage with a launcher of its own."""
    with Launcher() as launcher, Stage(world, directory, launcher) as stage:
        yield stage
