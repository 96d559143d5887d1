"""A real kube-apiserver with a generated fleet in it; the programs are those of ``tests/controlplane``.

The operator that is simulated for it, where one is wanted, runs in this process.
"""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import msgspec

from aim_api.crds import load_crds
from aim_api.kinds import AIM_SERVICE, LEGACY_VERSION, NAMESPACE, POD, REPLICA_SET, Kind
from aim_api.tree import JsonObject, get_map, get_str
from aim_rehearsal.client import Client
from aim_rehearsal.operator import BridgeOperator
from aim_rehearsal.operator import Settings as OperatorSettings
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import fleet
from aim_template_migration.kube.permissions import LISTED_KINDS
from benchmarks.servers import Served
from tests.controlplane.build import API_SERVER, ETCD, missing_programs, programs_folder
from tests.support.controlplane.crds import install_crds
from tests.support.controlplane.server import ADMIN, run_control_plane

_SERVERS_OWN = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "deletionTimestamp")
_MANAGER = "aim-service-controller"
_SETTLE_SECONDS = 600.0


def is_built() -> bool:
    """Return whether the programs are there; ``python tests/controlplane/build.py`` builds them."""
    return not missing_programs(programs_folder(), (ETCD, API_SERVER))


@contextmanager
def kube_apiserver(namespaces: int, services: int, *, operator: bool = False) -> Iterator[Served]:
    """Serve a fleet from a real kube-apiserver, with an operator at work on it or none.

    The objects get the UIDs that the server gives them.
    """
    with tempfile.TemporaryDirectory() as folder:
        plane_folder, work = Path(folder, "plane"), Path(folder, "work")
        plane_folder.mkdir()
        work.mkdir()
        with run_control_plane(programs_folder(), plane_folder) as plane:
            install_crds(plane, load_crds())
            client = Client(plane.url, token=plane.token(ADMIN), ca_pem=plane.ca_file.read_text())
            names = _load(client, namespaces, services, work)
            with _operator(client) if operator else nullcontext():
                yield Served(plane.kubeconfig(ADMIN), names, work)


@contextmanager
def _operator(client: Client) -> Iterator[None]:
    with BridgeOperator(client, OperatorSettings()) as operator:
        operator.settle(_SETTLE_SECONDS)
        yield


def _load(client: Client, namespaces: int, services: int, work: Path) -> tuple[str, ...]:
    """Copy a settled fleet of the local API to another server, several namespaces at once, and return their names."""
    world = fleet(namespaces, services)
    # A service with a template is refused at the newer version.
    kinds = [
        AIM_SERVICE.at(LEGACY_VERSION),
        *(kind for kind in LISTED_KINDS if kind.namespaced and kind != AIM_SERVICE),
        REPLICA_SET,
        POD,
    ]
    with RehearsalSession(world, work_dir=work) as session, ThreadPoolExecutor(16) as pool:

        def copy(name: str) -> None:
            objects = [(kind, item) for kind in kinds for item in session.client.list_all(kind, name).items]
            _copy(client, name, objects)

        list(pool.map(copy, world.namespaces))
    return world.namespaces


def _copy(client: Client, namespace: str, objects: list[tuple[Kind, JsonObject]]) -> None:
    client.create(NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    uids: dict[str, str] = {}
    waiting = objects
    while waiting:
        later = []
        for kind, item in waiting:
            owners = [get_str(owner, "uid") or "" for owner in _owners(item)]
            if any(owner not in uids for owner in owners):
                later.append((kind, item))
                continue
            created = client.create(kind, _desired(kind, item, uids), manager=_MANAGER)
            uids[get_str(item, "metadata", "uid") or ""] = get_str(created, "metadata", "uid") or ""
        waiting = later if len(later) < len(waiting) else []
    for kind, item in objects:
        if get_map(item, "status"):
            name = get_str(item, "metadata", "name") or ""
            status = _renamed({"status": item["status"]}, uids)
            client.merge_patch(kind, namespace, name, status, manager=_MANAGER, subresource="status")


def _owners(item: JsonObject) -> list[JsonObject]:
    owners = get_map(item, "metadata").get("ownerReferences")
    return [owner for owner in owners if isinstance(owner, dict)] if isinstance(owners, list) else []


def _desired(kind: Kind, item: JsonObject, uids: dict[str, str]) -> JsonObject:
    metadata = {key: value for key, value in get_map(item, "metadata").items() if key not in _SERVERS_OWN}
    stated = {key: value for key, value in item.items() if key not in ("status", "metadata")}
    return _renamed({**stated, "apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}, uids)


def _renamed(value: JsonObject, uids: dict[str, str]) -> JsonObject:
    text = msgspec.json.encode(value).decode()
    for old, new in uids.items():
        if old in text:
            text = text.replace(old, new)
    renamed: JsonObject = msgspec.json.decode(text)
    return renamed
