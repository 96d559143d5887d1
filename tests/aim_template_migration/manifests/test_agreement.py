"""The offline verdict and that of a real API server and of kubectl, on generated corpora."""

import os
import subprocess
from collections.abc import Iterable, Iterator
from itertools import product

import pytest

from aim_api.crds import load_crds
from aim_api.kinds import AIM_CLUSTER_PROFILE_SET, AIM_GROUP, AIM_KINDS, AIM_SERVICE, Kind
from aim_api.tree import Json, JsonObject, get_map, get_objects, get_str
from aim_schema.nodes import Node, parse
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.manifests.located import ManifestFile
from aim_template_migration.manifests.reading import read_manifest
from aim_template_migration.manifests.validating import validate_files
from tests.aim_schema.random_metadata import RandomMetadata
from tests.aim_schema.random_objects import RandomObjects
from tests.aim_template_migration.manifests.file_cases import FILES, FileCase
from tests.support.controlplane.server import ControlPlane

CORPUS = 2400
STRICT = {"fieldValidation": "Strict", "fieldManager": "tests", "dryRun": "All"}


def versions() -> Iterator[tuple[Kind, Node]]:
    kinds = {kind.name: kind for kind in AIM_KINDS}
    for definition in load_crds():
        if get_str(definition, "spec", "group") != AIM_GROUP:
            continue
        kind = kinds[get_str(definition, "spec", "names", "kind") or ""]
        for version in get_objects(definition, "spec", "versions"):
            yield kind.at(get_str(version, "name") or ""), parse(get_map(version, "schema", "openAPIV3Schema"))


VERSIONS = list(versions())
MIXTURES = list(product((0.0, 0.0, 0.01, 0.05), (0.03, 0.08, 0.2, 0.5)))


def corpus(size: int) -> Iterator[tuple[Kind, JsonObject]]:
    for number in range(size):
        kind, schema = VERSIONS[number % len(VERSIONS)]
        wrong, present = MIXTURES[number // len(VERSIONS) % len(MIXTURES)]
        content = RandomObjects(number, wrong=wrong, present=present).object(schema)
        head: JsonObject = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": f"n{number}"}}
        yield kind, {**head, **content}


def metadata_corpus(size: int) -> Iterator[tuple[Kind, JsonObject]]:
    """Yield objects with nothing but metadata that could be wrong, a cluster's and a namespace's in turn."""
    sound: list[tuple[Kind, JsonObject]] = [
        (AIM_SERVICE, {"model": {"name": "bot"}}),
        (AIM_CLUSTER_PROFILE_SET, {}),
    ]
    for seed in range(size):
        kind, spec = sound[seed % 2]
        metadata: Json = RandomMetadata(seed // 2).object()
        yield kind, {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "spec": spec}


def is_valid(value: JsonObject) -> bool:
    return validate_files([ManifestFile("f.yaml", read_manifest(emit(value).encode()))]).valid


def is_taken(plane: ControlPlane, namespace: str, kind: Kind, value: JsonObject) -> bool:
    path = kind.path(namespace if kind.namespaced else None)
    return plane.client().post(path, value, query=STRICT).expect(201, 400, 422).status == 201


def disagreements(
    plane: ControlPlane, namespace: str, objects: Iterable[tuple[Kind, JsonObject]]
) -> tuple[list[JsonObject], int]:
    wrong, valid = [], 0
    for kind, value in objects:
        verdict = is_valid(value)
        valid += verdict
        if verdict != is_taken(plane, namespace, kind, value):
            wrong.append(value)
    return wrong, valid


def test_the_verdict_is_that_of_a_real_server(aim_plane: ControlPlane, namespace: str) -> None:
    assert disagreements(aim_plane, namespace, corpus(120))[0] == []


@pytest.mark.slow
def test_the_verdict_is_that_of_a_real_server_on_a_whole_corpus(aim_plane: ControlPlane, namespace: str) -> None:
    wrong, valid = disagreements(aim_plane, namespace, corpus(CORPUS))
    assert wrong == []
    assert CORPUS * 0.1 < valid < CORPUS * 0.9


def test_the_verdict_on_metadata_is_that_of_a_real_server(aim_plane: ControlPlane, namespace: str) -> None:
    wrong, valid = disagreements(aim_plane, namespace, metadata_corpus(200))
    assert wrong == []
    assert 20 < valid < 180


@pytest.mark.slow
def test_the_verdict_on_metadata_is_that_of_a_real_server_on_a_whole_corpus(
    aim_plane: ControlPlane, namespace: str
) -> None:
    wrong, valid = disagreements(aim_plane, namespace, metadata_corpus(2 * CORPUS))
    assert wrong == []
    assert CORPUS * 0.2 < valid < CORPUS * 1.8


@pytest.mark.parametrize("case", FILES, ids=str)
def test_the_verdict_on_a_file_is_that_of_kubectl(aim_plane: ControlPlane, namespace: str, case: FileCase) -> None:
    answer = subprocess.run(
        ["kubectl", "create", "--dry-run=server", "--validate=strict", "-n", namespace, "-f", "-"],
        input=case.text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KUBECONFIG": str(aim_plane.kubeconfig("admin"))},
    )
    assert case.taken is (answer.returncode == 0), answer.stderr
