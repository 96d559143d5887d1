"""One rehearsal: a local API with the project's definitions, a world in it, and the simulated operator at work."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from aim_api.crds import load_crds
from aim_api.tree import Json, JsonObject, get_str
from aim_rehearsal.apiserver import FaultHook, LocalApiServer
from aim_rehearsal.client import Client
from aim_rehearsal.operator import BridgeOperator, Misbehaviour, NameFormulas, ProjectionMode, Settings
from aim_rehearsal.roles import IDENTITIES, MIGRATION, OPERATOR, role_objects
from aim_rehearsal.worlds import World, apply_world
from aim_rehearsal.worlds.applying import create_desired, object_reference

ADMIN = "admin"
Progress = Callable[[str], None]
_WRITING_VERBS = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_REVIEWS = "authorization.k8s.io"
_SETTLE_SECONDS = 60.0
_SETTLE_SECONDS_PER_OBJECT = 0.05


@dataclass(frozen=True, slots=True)
class AuditSummary:
    """What one identity did, counted from the audit log.

    Attributes:
        mutations: writes that the server was asked to keep, whether or not it accepted them.
        dry_runs: writes with ``dryRun=All``.
        deletes: deletes of any kind, dry runs included.
        secret_reads: requests for Secrets.
    """

    mutations: int
    dry_runs: int
    deletes: int
    secret_reads: int

    def __add__(self, other: "AuditSummary") -> "AuditSummary":
        """Return both counts together."""
        return AuditSummary(
            self.mutations + other.mutations,
            self.dry_runs + other.dry_runs,
            self.deletes + other.deletes,
            self.secret_reads + other.secret_reads,
        )


_NOTHING = AuditSummary(0, 0, 0, 0)


class RehearsalSession:
    """A whole rehearsal, up while it is entered; nothing of it outlives it but what lies in ``work_dir``.

    Args:
        world: the sample fleet to load.
        projection_mode: ``Exhaustive``, ``Reduced`` or ``Both``, case-sensitive.
        misbehaviour: what the operator does wrong; by default what the world says, which is mostly nothing.
        work_dir: where kubeconfig files go; it must exist.
        faults: injects trouble into the local API, or None.
        progress: told what is done next, where that can take a while.

    Raises:
        ValueError: an unknown projection mode, or unknown operator settings in the world.
    """

    def __init__(
        self,
        world: World,
        *,
        projection_mode: str = "Both",
        misbehaviour: Misbehaviour | None = None,
        work_dir: Path,
        faults: FaultHook | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.world = world
        self.namespaces = world.namespaces
        self.objects: Mapping[str, JsonObject] = {}
        self._settings = _settings(world, projection_mode, misbehaviour)
        self._work_dir = work_dir
        self._faults = faults
        self._counted: dict[str, AuditSummary] = {}
        self._progress = progress or _say_nothing
        self._up = contextlib.ExitStack()
        self._server: LocalApiServer | None = None
        self._operator: BridgeOperator | None = None

    def __enter__(self) -> Self:
        self._progress("starting a local Kubernetes API and a simulated operator")
        with contextlib.ExitStack() as stack:
            self._counted = {}
            self._server = stack.enter_context(
                LocalApiServer(identities=IDENTITIES, faults=self._faults, on_audit=self._count)
            )
            self._server.install_crds(load_crds())
            self._server.seed(role_objects())
            self._progress(f"loading {len(self.world.objects):,} objects into the local API")
            self.objects = self._load(self._server)
            self._operator = BridgeOperator(self._client(OPERATOR), self._settings)
            self._progress("the operator looks at everything")
            self._operator.start()
            stack.callback(self._operator.stop)
            create_desired(self.world, self.client)
            self.settle()
            self._up = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._up.close()

    @property
    def server(self) -> LocalApiServer:
        """The local API.

        Raises:
            RuntimeError: the session is not entered.
        """
        if self._server is None:
            raise RuntimeError("the rehearsal session has not been entered")
        return self._server

    @property
    def client(self) -> Client:
        """A client that may do everything."""
        return self._client(ADMIN)

    @property
    def operator(self) -> BridgeOperator:
        """The operator, which runs while the session is entered.

        Raises:
            RuntimeError: the session is not entered.
        """
        if self._operator is None:
            raise RuntimeError("the rehearsal session has not been entered")
        return self._operator

    def settle(self) -> None:
        """Wait until the operator has nothing left to do, as long as a world of this size may take.

        Raises:
            TimeoutError: it took longer.
        """
        size = len(self.world.objects) + len(self.world.desired)
        self.operator.settle(_SETTLE_SECONDS + _SETTLE_SECONDS_PER_OBJECT * size)

    def mend_operator(self) -> None:
        """Start the operator again as one that behaves, and let it come to rest."""
        self.operator.mend()
        self.settle()

    @property
    def settings(self) -> Settings:
        """The settings that the operator was first started with."""
        return self._settings

    def kubeconfig(self, identity: str = MIGRATION) -> Path:
        """Write the kubeconfig of ``migration``, ``viewer``, ``admin`` or ``operator`` and return its path."""
        return self.server.write_kubeconfig(self._work_dir / f"{identity}.kubeconfig", identity)

    def audit(self, identity: str = MIGRATION) -> AuditSummary:
        """Count what an identity did so far, however much of the audit log is still in memory."""
        return self._counted.get(identity, _NOTHING)

    def _count(self, event: JsonObject) -> None:
        name = _username(event)
        self._counted[name] = self._counted.get(name, _NOTHING) + summarize([event])

    def _load(self, server: LocalApiServer) -> Mapping[str, JsonObject]:
        if not self.world.stored:
            return apply_world(self.world, self.client)
        server.seed(self.world.objects)
        return {object_reference(item): item for item in self.world.objects}

    def _client(self, identity: str) -> Client:
        server = self.server
        return Client(server.url, token=server.token(identity), ca_pem=server.ca_pem, user_agent=f"aim-{identity}")


def summarize(events: Iterable[JsonObject]) -> AuditSummary:
    """Count writes, dry runs, deletes and Secret reads in audit events; access reviews are no writes."""
    mutations = dry_runs = deletes = secret_reads = 0
    for event in events:
        verb = get_str(event, "verb") or ""
        if get_str(event, "objectRef", "resource") == "secrets":
            secret_reads += verb not in _WRITING_VERBS
        if verb not in _WRITING_VERBS or get_str(event, "objectRef", "apiGroup") == _REVIEWS:
            continue
        deletes += verb.startswith("delete")
        if "dryRun=All" in (get_str(event, "requestURI") or ""):
            dry_runs += 1
        else:
            mutations += 1
    return AuditSummary(mutations, dry_runs, deletes, secret_reads)


def _say_nothing(doing: str) -> None:
    del doing


def _username(event: JsonObject) -> str:
    return get_str(event, "user", "username") or ""


def _named_in(world: World, setting: str) -> frozenset[str]:
    listed: Json = world.operator.get(setting, [])
    return frozenset(item for item in listed if isinstance(item, str)) if isinstance(listed, list) else frozenset()


def _settings(world: World, projection_mode: str, misbehaviour: Misbehaviour | None) -> Settings:
    return Settings(
        projection_mode=ProjectionMode(projection_mode),
        names=NameFormulas(str(world.operator.get("names", NameFormulas.NEWER))),
        misbehaviour=misbehaviour or Misbehaviour(str(world.operator.get("misbehaviour", Misbehaviour.NONE))),
        incompatible=_named_in(world, "incompatible"),
        hardware=_named_in(world, "hardware"),
        keeps_loaded=world.stored,
    )
