"""kubectl as the judge of what a manifest means."""

import json
import subprocess
from pathlib import Path

from aim_api.tree import Json, JsonObject


def read_by_kubectl(text: str) -> list[JsonObject] | str:
    """Return the objects that kubectl reads from a manifest, or its complaint."""
    answer = subprocess.run(
        ["kubectl", "annotate", "--local", "-f", "-", "read-by=kubectl", "-o", "json", "--overwrite"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        return answer.stderr
    decoder, found, rest = json.JSONDecoder(), list[JsonObject](), answer.stdout.lstrip()
    while rest:
        value, end = decoder.raw_decode(rest)
        found += value["items"] if value.get("kind") == "List" else [value]
        rest = rest[end:].lstrip()
    return [_without_annotation(item) for item in found]


def built_by_kustomize(folder: Path) -> str:
    """Return what Kustomize builds from a directory, or its complaint."""
    answer = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=False)
    return answer.stdout or answer.stderr


def _without_annotation(value: JsonObject) -> JsonObject:
    metadata = value["metadata"]
    assert isinstance(metadata, dict)
    annotations = metadata.get("annotations")
    assert isinstance(annotations, dict)
    del annotations["read-by"]
    if not annotations:
        del metadata["annotations"]
    return value


def with_scalars(scalars: list[str]) -> str:
    """Return one manifest per scalar; kubectl is slow to start, so it reads all of them at once."""
    return "---\n".join(
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n{number}}}\ndata:\n  value: {scalar}\n"
        for number, scalar in enumerate(scalars)
    )


def data_of(value: JsonObject) -> Json:
    """Return what stands at ``data.value``."""
    data = value["data"]
    assert isinstance(data, dict)
    return data["value"]
