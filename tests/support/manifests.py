"""The manifests in deploy/, read as they stand."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from aim_api.tree import JsonObject

DEPLOY = Path(__file__).parents[2] / "deploy"
JOBS = ("plan-job.yaml", "dry-run-job.yaml", "commit-job.yaml")


def documents(name: str) -> list[JsonObject]:
    """Return every object of one file, in order."""
    return [item for item in yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8")) if item]


def installed() -> Iterator[JsonObject]:
    """Yield what ``kubectl apply -k deploy`` installs."""
    (kustomization,) = documents("kustomization.yaml")
    for name in kustomization["resources"]:
        yield from documents(name)


def job(name: str) -> JsonObject:
    """Return the Job of one file."""
    (found,) = documents(name)
    return found


def pod_of(found: JsonObject) -> JsonObject:
    """Return a pod as the Job controller would make it."""
    template = found["spec"]["template"]
    metadata = {**template["metadata"], "name": found["metadata"]["name"], "namespace": found["metadata"]["namespace"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
