"""Streams of several files, as kubectl reads them."""

import json

import pytest

from aim_api.tree import JsonObject, get_str
from aim_template_migration.manifests.joining import joined
from aim_template_migration.manifests.objects import objects_of
from aim_template_migration.manifests.reading import read_manifest
from tests.aim_template_migration.manifests.kubectl import read_by_kubectl


def config(name: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def as_json(*names: str) -> str:
    return "".join(json.dumps(config(name)) for name in names)


def as_yaml(name: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"


CASES: list[tuple[list[str], str]] = [
    ([as_yaml("a"), as_json("b"), as_yaml("c")], "abc"),
    ([as_json("a"), as_yaml("b")], "ab"),
    ([as_json("a", "b"), as_json("c")], "abc"),
    ([as_yaml("a"), as_json("b", "c"), f"---\n{as_yaml('d')}"], "abcd"),
    (["# only a comment\n", as_json("a"), "", as_yaml("b").rstrip("\n"), as_yaml("c")], "abc"),
    ([as_yaml("a"), as_yaml("b").replace("\n", "\r\n")], "ab"),
]


def names(objects: list[JsonObject]) -> str:
    return "".join(get_str(value, "metadata", "name") or "" for value in objects)


@pytest.mark.parametrize(("texts", "expected"), CASES)
def test_every_object_is_in_the_stream(texts: list[str], expected: str) -> None:
    manifest = read_manifest(joined(texts).encode())
    assert not manifest.unreadable
    assert names([place.value for place in objects_of(manifest)]) == expected


@pytest.mark.kubectl
@pytest.mark.kubectl
@pytest.mark.parametrize(("texts", "expected"), CASES)
def test_kubectl_reads_every_object(texts: list[str], expected: str) -> None:
    found = read_by_kubectl(joined(texts))
    assert not isinstance(found, str), found
    assert names(found) == expected


@pytest.mark.parametrize("text", ["", as_json("a", "b"), as_yaml("a"), "# nothing\n"])
def test_one_file_stays_as_it_is(text: str) -> None:
    assert joined(["", text, ""]) == text
