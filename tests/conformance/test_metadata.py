"""Both servers say the same about metadata, be it sound or not."""

import pytest

from aim_api.kinds import AIM_SERVICE
from aim_api.tree import Json, JsonObject
from tests.aim_schema.random_metadata import RandomMetadata
from tests.conformance.comparing import differences
from tests.conformance.normalising import Normaliser
from tests.conformance.servers import LocalPlane
from tests.support.controlplane.client import Client
from tests.support.controlplane.server import ControlPlane

CORPUS = 3000
QUICK = 150


def said(client: Client, namespace: str, metadata: Json) -> JsonObject:
    value: JsonObject = {
        "apiVersion": AIM_SERVICE.api_version,
        "kind": AIM_SERVICE.name,
        "metadata": metadata,
        "spec": {"model": {"name": "bot"}},
    }
    query = {"fieldValidation": "Strict", "fieldManager": "tests", "dryRun": "All"}
    answer = client.post(AIM_SERVICE.path(namespace), value, query=query)
    body: Json = Normaliser().normalised(answer.body, "the request")
    return {"status": answer.status, "warning": answer.headers.get("Warning", ""), "body": body}


def generates(metadata: Json) -> bool:
    return isinstance(metadata, dict) and not metadata.get("name") and bool(metadata.get("generateName"))


def disagreements(real: Client, local: Client, namespace: str, size: int) -> list[str]:
    found = []
    for seed in range(size):
        metadata = RandomMetadata(seed).object()
        one, other = (said(client, namespace, metadata) for client in (real, local))
        if generates(metadata):  # what was generated stands in the answer, and is another each time
            one, other = {"status": one["status"]}, {"status": other["status"]}
        if list(differences(one, other)):
            found.append(
                f"{seed}: {str(metadata)[:500]}\nreal answer:  {str(one)[:900]}\nlocal answer: {str(other)[:900]}"
            )
    return found


@pytest.fixture
def shared(real_plane: ControlPlane, local_plane: LocalPlane, namespace: str) -> tuple[Client, Client, str]:
    made: JsonObject = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    local_plane.server.seed([made])
    return real_plane.client(), local_plane.client(), namespace


def test_metadata_is_answered_alike(shared: tuple[Client, Client, str]) -> None:
    found = disagreements(*shared, QUICK)
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_a_whole_corpus_of_metadata_is_answered_alike(shared: tuple[Client, Client, str]) -> None:
    found = disagreements(*shared, CORPUS)
    assert not found, "\n".join(found)
