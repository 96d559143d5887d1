"""A bench for the engine: a fleet in memory that can be written to, an operator that reacts at once, and a fake clock.

Everything between the plan's files and the requests is the real thing; only the server and the time are played.
"""

import copy
import threading
import uuid
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from aim_api.names import runtime_name
from aim_rehearsal.apiserver.json_patch import PatchError, apply_json_patch, read_operations
from aim_template_migration.applying.events import nobody
from aim_template_migration.applying.plan_files import journal_path
from aim_template_migration.applying.run import ApplyOptions, ApplyOutcome, apply_plan
from aim_template_migration.documents.journal import read_journal
from aim_template_migration.documents.plan import decode_plan, encode_plan
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.documents.result import decode_result
from aim_template_migration.kube.answers import Answer
from aim_template_migration.kube.errors import Action, AlreadyExists, Invalid, NotFound, OutcomeUnknown
from aim_template_migration.kube.requests import build_create, build_json_patch
from aim_template_migration.planning.make import make_plan
from tests.support.fleet import NOW, Fleet, FleetCluster, condition, happy_fleet, owner

START = datetime(2026, 6, 2, 9, 0, tzinfo=UTC)


class FakeClock:
    """Time that passes only by sleeping, and by what tests add; a sleep may carry out what is due."""

    def __init__(self, tick: float = 0.0) -> None:
        self._lock = threading.Lock()
        self._time = 0.0
        self._tick = tick
        self.slept: list[float] = []
        self.on_sleep = lambda: None

    def now(self) -> str:
        return (START + timedelta(seconds=self._time)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def monotonic(self) -> float:
        with self._lock:
            self._time += self._tick
            return self._time

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self._time += seconds
        self.on_sleep()


class Operator:
    """The parts of the bridge operator that a migration waits for; each may be switched off."""

    def __init__(self) -> None:
        self.profiles = self.caches = self.services = True
        self.resolved = None

    def react(self, fleet: Fleet) -> None:
        for obj in list(fleet.objects.values()):
            if obj["kind"] == "AIMProfile" and self.profiles:
                self._profile(fleet, obj)
            elif obj["kind"] == "AIMProfileCache" and self.caches:
                self._cache(fleet, obj)
            elif obj["kind"] == "AIMService" and self.services:
                self._service(obj)

    def _profile(self, fleet: Fleet, profile) -> None:
        name, namespace = profile["metadata"]["name"], profile["metadata"]["namespace"]
        runtime = runtime_name(name)
        if f"ServingRuntime/{namespace}/{runtime}" not in fleet.objects:
            reference = owner(profile)
            fleet.add(
                "ServingRuntime",
                "serving.kserve.io/v1alpha1",
                runtime,
                namespace,
                metadata={"ownerReferences": [reference]},
            )
        profile["status"] = {
            "status": "Ready",
            "observedGeneration": profile["metadata"]["generation"],
            "projectedRuntimeName": runtime,
            "conditions": [condition("Ready"), condition("RuntimeProjected")],
        }

    def _cache(self, fleet: Fleet, cache) -> None:
        profile = fleet.named("AIMProfile", cache["spec"]["profileName"])
        uris = [source["sourceUri"] for source in profile["spec"]["modelSources"]]
        artifacts = {}
        for artifact in fleet.of("AIMArtifact"):
            metadata = artifact["metadata"]
            if artifact["spec"]["sourceUri"] in uris and not metadata.get("ownerReferences"):
                artifacts[metadata["name"]] = {
                    "name": metadata["name"],
                    "uid": metadata["uid"],
                    "status": "Ready",
                    "persistentVolumeClaim": artifact["status"]["persistentVolumeClaim"],
                }
        generation = cache["metadata"]["generation"]
        cache["status"] = {
            "status": "Ready",
            "observedGeneration": generation,
            "artifacts": artifacts,
            "conditions": [condition("Ready")],
        }

    def _service(self, service) -> None:
        if "profile" in service["spec"]:
            service["status"]["observedGeneration"] = service["metadata"]["generation"]
            service["status"]["resolvedProfile"] = self.resolved or {"name": service["spec"]["profile"]["name"]}


@dataclass
class Sent:
    """One write as it left."""

    method: str
    kind: str
    name: str
    dry_run: bool
    body: object

    def __str__(self) -> str:
        return f"{self.method} {self.kind}/{self.name}{' (dry run)' if self.dry_run else ''}"


class BenchCluster(FleetCluster):
    """A connection that reads and writes a fleet as ``kube.Cluster`` does.

    ``trouble`` is called before and after each write is carried out and may raise; ``on_read`` before each read.
    """

    server = "https://bench.example"

    def __init__(self, fleet: Fleet, operator: Operator) -> None:
        super().__init__(fleet)
        self.operator = operator
        self.sent: list[Sent] = []
        self.withins: list[tuple[str, float | None]] = []
        self.closed = False
        self.trouble = lambda request, stage: None
        self.on_read = lambda kind, name: None
        self.answer_body = lambda request, body: body
        self.warnings: tuple[str, ...] = ()
        self.lock = threading.RLock()

    @property
    def writes(self) -> list[str]:
        return [str(item) for item in self.sent if not item.dry_run]

    @property
    def all_writes(self) -> list[str]:
        return [str(item) for item in self.sent]

    def close(self) -> None:
        self.closed = True

    def get(self, kind, name, namespace=None, *, within=None):
        with self.lock:
            self.withins.append((kind.name, within))
            self.on_read(kind.name, name)
            return versioned(super().get(kind, name, namespace))

    def _in(self, kind, namespace):
        return map(versioned, super()._in(kind, namespace))

    def list_reduced(self, kind, namespace, reduce, *, label_selector=None, within=None, **_):
        with self.lock:
            self.withins.append((kind.name, within))
            self.on_read(kind.name, "")
            found = super().list_reduced(kind, namespace, lambda obj: obj)
        key, _, value = (label_selector or "").partition("=")
        return [reduce(obj) for obj in found if not key or obj["metadata"].get("labels", {}).get(key) == value]

    def list_pages(self, kind, namespace, keep, *, within=None):
        found = self.list_reduced(kind, namespace, lambda obj: obj, within=within)
        texts = [msgspec.Raw(msgspec.json.encode(obj)) for obj in found]
        return [keep(Action("list", kind.name, namespace), texts)]

    def list(self, kind, namespace=None, *, label_selector=None, within=None, **_):
        return self.list_reduced(kind, namespace, lambda obj: obj, label_selector=label_selector, within=within)

    def prepare_create(self, kind, body, namespace, *, dry_run):
        return build_create(kind, body, namespace, dry_run=dry_run)

    def prepare_json_patch(self, kind, name, namespace, operations, *, dry_run):
        return build_json_patch(kind, name, namespace, operations, dry_run=dry_run)

    def send(self, prepared):
        with self.lock:
            body = msgspec.json.decode(prepared.body)
            self.sent.append(Sent(prepared.method, prepared.kind.name, prepared.name, prepared.dry_run, body))
            self.trouble(prepared, "before")
            stored = self._carry_out(prepared, body)
            if not prepared.dry_run:
                self.operator.react(self.fleet)
            self.trouble(prepared, "after")
            return Answer(200, self.answer_body(prepared, copy.deepcopy(stored)), self.warnings)

    def _carry_out(self, prepared, body):
        key = "/".join(part for part in (prepared.kind.name, prepared.namespace, prepared.name) if part)
        if prepared.verb == "create":
            if key in self.fleet.objects:
                raise AlreadyExists(prepared.action, status=409, reason="AlreadyExists", message="already exists")
            obj = copy.deepcopy(body)
            obj["metadata"] |= {"uid": str(uuid.uuid4()), "generation": 1, "resourceVersion": "9000"}
            obj["metadata"]["managedFields"] = [{"manager": "aim-template-migration", "operation": "Update"}]
        else:
            live = self.fleet.objects.get(key)
            if live is None:
                raise NotFound(prepared.action, status=404, reason="NotFound", message="not found")
            try:
                obj = apply_json_patch(live, read_operations(prepared.body, body))
            except PatchError as error:
                raise Invalid(prepared.action, status=422, reason="Invalid", message=str(error)) from error
            obj = copy.deepcopy(obj)
            if obj["spec"] != live["spec"]:
                obj["metadata"]["generation"] += 1
        if not prepared.dry_run:
            self.fleet.objects[key] = obj
        return obj


def versioned(obj):
    """Give an object a resourceVersion that changes whenever anything of it does, as tests change objects in place."""
    if "resourceVersion" in obj.get("metadata", {}):
        obj["metadata"]["resourceVersion"] += f"{zlib.crc32(msgspec.json.encode(obj)):010}"
    return obj


def lost(request, text="the connection was closed before an answer came"):
    return OutcomeUnknown(request.action, text)


def add_pods(fleet: Fleet) -> None:
    """Give every InferenceService of the fleet one pod."""
    for isvc in fleet.of("InferenceService"):
        name, namespace = isvc["metadata"]["name"], isvc["metadata"]["namespace"]
        if f"Pod/{namespace}/{name}-predictor-7f9c-x1" not in fleet.objects:
            fleet.add(
                "Pod",
                "v1",
                f"{name}-predictor-7f9c-x1",
                namespace,
                metadata={"labels": {"serving.kserve.io/inferenceservice": name, "pod-template-hash": "7f9c"}},
                status={"containerStatuses": [{"name": "kserve-container", "restartCount": 0}]},
            )


@dataclass
class Bench:
    """One plan directory and everything that an apply of it meets."""

    directory: Path
    fleet: Fleet = field(default_factory=happy_fleet)
    operator: Operator = field(default_factory=Operator)
    clock: FakeClock = field(default_factory=FakeClock)
    stop: threading.Event = field(default_factory=threading.Event)
    listener: object = staticmethod(nobody)

    def __post_init__(self) -> None:
        self.cluster = BenchCluster(self.fleet, self.operator)
        self.connections = 0

    @property
    def plan_directory(self) -> Path:
        return self.directory / "plan"

    def plan(self):
        add_pods(self.fleet)
        made = make_plan(self.cluster, self.fleet.settings(), now=NOW, plan_id="0000")
        publish_directory(self.plan_directory, made.files)
        return made.plan

    def edit(self, change, *, everywhere: bool = False):
        """Rewrite the plan; ``everywhere`` also the generated copy, so that the edit is not seen as one."""
        edited = change(self.read_plan())
        self.rewrite(encode_plan(edited), everywhere=everywhere)
        return edited

    def edit_json(self, change, *, everywhere: bool = False) -> None:
        """Rewrite the plan as JSON in place."""
        document = msgspec.json.decode((self.plan_directory / "plan.json").read_bytes())
        change(document)
        self.rewrite(msgspec.json.encode(document), everywhere=everywhere)

    def rewrite(self, data: bytes, *, everywhere: bool) -> None:
        for name in ("plan.json", "plan.generated.json") if everywhere else ("plan.json",):
            (self.plan_directory / name).write_bytes(data)

    def read_plan(self):
        return decode_plan((self.plan_directory / "plan.json").read_bytes())

    def connect(self):
        self.connections += 1
        return self.cluster

    def apply(self, **options) -> ApplyOutcome:
        chosen = {"commit": True, "soak_seconds": 5.0, "command": "apply --plan plan", **options}
        return apply_plan(
            ApplyOptions(plan=self.plan_directory, **chosen),
            self.connect,
            listener=self.listener,
            stop=self.stop,
            clock=self.clock,
        )

    def archive(self) -> None:
        """Move result and journal away, as an administrator does."""
        folder = self.plan_directory / "archive" / uuid.uuid4().hex
        folder.mkdir(parents=True)
        for path in (self.result_path, journal_path(self.result_path)):
            if path.exists():
                path.rename(folder / path.name)

    @property
    def result_path(self) -> Path:
        return self.plan_directory / "apply-result.json"

    def result(self):
        return decode_result(self.result_path.read_bytes())

    def journal(self):
        reading = read_journal(journal_path(self.result_path).read_bytes())
        assert (reading.torn_bytes, reading.damage) == (0, "")
        return reading.entries

    def events(self, *names: str):
        return [entry for entry in self.journal() if not names or entry.event in names]


def unit_of(outcome: ApplyOutcome, name: str = "qwen-chat"):
    (unit,) = [unit for unit in outcome.result.units if unit.id.endswith(f"/{name}")]
    return unit
