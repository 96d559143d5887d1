"""Both servers say the same to every case about the rules and defaults of the project's kinds."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, get, get_map, get_str
from tests.aim_api.crd_cases import DefaultCase, Example, RuleCase, default_cases, examples
from tests.aim_api.rule_server import CASES, DRY_RUN, RuleServer, run_rule_server
from tests.conformance.comparing import differences
from tests.conformance.normalising import Normaliser
from tests.conformance.servers import LocalPlane
from tests.support.controlplane.client import Answer, Client
from tests.support.controlplane.server import ControlPlane


@dataclass(frozen=True, slots=True)
class Pair:
    """A client of each server, and the namespace of the objects that were stored before the rules."""

    real: Client
    local: Client
    namespace: str

    def same(self, kind: Kind, sent: JsonObject, *, update: bool) -> JsonObject:
        """Send an object to both servers as a dry run, fail unless both say the same, and return that."""
        real, local = (_said(client, kind, sent, self.namespace, update=update) for client in (self.real, self.local))
        found = list(differences(real, local))
        assert not found, f"{found}\nreal answer:  {real}\nlocal answer: {local}"
        return real


def _said(client: Client, kind: Kind, sent: JsonObject, namespace: str, *, update: bool) -> JsonObject:
    name = get_str(sent, "metadata", "name")
    if not update:
        answer = client.post(_path(kind, namespace), sent, query=DRY_RUN)
        return _normalised(answer)
    path = _path(kind, namespace, name)
    version = get(client.get(path).expect(200).body, "metadata", "resourceVersion")
    metadata = {**get_map(sent, "metadata"), "resourceVersion": version}
    return _normalised(client.put(path, {**sent, "metadata": metadata}, query=DRY_RUN))


def _path(kind: Kind, namespace: str, name: str | None = None) -> str:
    return kind.path(namespace if kind.namespaced else None, name)


def _normalised(answer: Answer) -> JsonObject:
    body: Json = Normaliser().normalised(answer.body, "the request")
    return {"status": answer.status, "warning": answer.headers.get("Warning", ""), "body": body}


@pytest.fixture(scope="module")
def pair(real_plane: ControlPlane, local_plane: LocalPlane) -> Iterator[Pair]:
    with run_rule_server(real_plane) as server:
        _store_old_objects(local_plane, server)
        yield Pair(real_plane.client(), local_plane.client(), server.namespace)
        for case in CASES:
            if case.old is not None:
                local_plane.client().delete(server.path(case.kind, case.name)).expect(200)


def _store_old_objects(local: LocalPlane, server: RuleServer) -> None:
    namespace: JsonObject = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": server.namespace}}
    local.server.seed([namespace, *server.stored.values()])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule(pair: Pair, case: RuleCase) -> None:
    said = pair.same(case.kind, case.object, update=case.old is not None)
    assert (said["status"] in (200, 201)) is (case.refused is None)


@pytest.mark.parametrize("case", default_cases(), ids=str)
def test_defaults(pair: Pair, case: DefaultCase) -> None:
    assert pair.same(case.kind, case.object, update=False)["status"] == 201


@pytest.mark.parametrize("example", examples(), ids=str)
def test_example(pair: Pair, example: Example) -> None:
    assert pair.same(example.kind, example.object, update=False)["status"] == 201
