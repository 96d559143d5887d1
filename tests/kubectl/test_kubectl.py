"""kubectl does and prints the same with a real API server and with the local API."""

import json
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aim_api.kinds import Kind
from aim_api.tree import JsonObject, get_map
from tests.conformance.comparing import differences
from tests.conformance.samples import kinds, sample, sample_status
from tests.conformance.servers import LocalPlane
from tests.kubectl.running import Kubectl, Outcome
from tests.support.controlplane.server import ADMIN, ControlPlane

pytestmark = pytest.mark.kubectl

LIFE = """
get {resource}
apply -f one.json
apply -f one.json
get {resource} {name}
get {resource} {name} -o wide
get {resource} {name} -o yaml --show-managed-fields
get {resource} {name} -o json
get {resource} {name} -o name
get {resource} -l sample=yes --show-labels
get {resource} --field-selector metadata.name={name} -o custom-columns=N:.metadata.name,G:.metadata.generation
describe {resource} {name}
diff -f one.json
diff -f two.json
apply -f two.json
apply -f two.json --dry-run=server
patch {resource} {name} --type merge -p '{{"metadata": {{"labels": {{"by": "merge"}}}}}}'
patch {resource} {name} --type json -p '[{{"op": "add", "path": "/metadata/labels/by", "value": "json"}}]'
patch {resource} {name} --type json -p '[{{"op": "test", "path": "/metadata/labels/by", "value": "nobody"}}]'
patch {resource} {name} -p '{{"metadata": {{"labels": {{"by": "strategic"}}}}}}'
patch {resource} {name} --subresource status --type merge -p '{status}'
get {resource} {name} -o wide
describe {resource} {name}
apply --server-side -f one.json
apply --server-side --field-manager other -f three.json
apply --server-side --field-manager other --force-conflicts -f three.json
diff --server-side --field-manager other -f one.json
get {resource} {name} -o yaml --show-managed-fields
label {resource} {name} by-
annotate {resource} {name} note=yes
wait {resource} {name} --for=jsonpath={{.metadata.annotations.note}}=yes --timeout=5s
wait {resource} {name} --for=jsonpath={{.metadata.annotations.note}}=no --timeout=1s
replace -f one.json
get {resource} {name} missing
delete {resource} {name} --dry-run=server
delete {resource} {name}
wait {resource} {name} --for=delete --timeout=5s
get {resource} {name}
delete {resource} {name} --ignore-not-found
create -f one.json
create -f one.json
delete -f one.json --wait=false
"""


def write_manifests(folder: Path, manifest: JsonObject) -> None:
    """Write a manifest, the manifest with more labels, and the manifest with another value of its label."""
    for name, labels in (
        ("one", {"sample": "yes"}),
        ("two", {"sample": "yes", "two": "yes"}),
        ("three", {"sample": "no"}),
    ):
        metadata = {**get_map(manifest, "metadata"), "labels": {**labels}}
        (folder / f"{name}.json").write_text(json.dumps({**manifest, "metadata": metadata}))


def outcomes(kubectl: Kubectl, commands: Sequence[str]) -> list[Outcome]:
    return [kubectl.run(command) for command in commands]


@pytest.fixture
def namespace(real_plane: ControlPlane, local_plane: LocalPlane) -> str:
    """A namespace of the same name on both servers."""
    name = f"kubectl-{secrets.token_hex(4)}"
    for plane in (real_plane, local_plane):
        plane.client().post("/api/v1/namespaces", {"metadata": {"name": name}}).expect(201)
    return name


@pytest.fixture
def both(real_plane: ControlPlane, local_plane: LocalPlane, namespace: str, tmp_path: Path) -> tuple[Kubectl, Kubectl]:
    """kubectl for the real server and for the local API."""
    real, local = (plane.kubectl_environment(ADMIN) for plane in (real_plane, local_plane))
    return Kubectl(real, namespace, tmp_path), Kubectl(local, namespace, tmp_path)


def compare(both: tuple[Kubectl, Kubectl], commands: Sequence[str]) -> list[Outcome]:
    """Run the commands on both servers, fail if any outcome differs, and return the real server's."""
    with ThreadPoolExecutor(2) as pool:
        real, local = pool.map(lambda kubectl: outcomes(kubectl, commands), both)
    reports = []
    for one, other in zip(real, local, strict=True):
        found = [
            *differences(one.output, other.output, "/output"),
            *differences([one.code, one.errors], [other.code, other.errors], "/end"),
        ]
        if found:
            details = "\n".join(f"  {pointer}\n    real:  {a!r}\n    local: {b!r}" for pointer, a, b in found)
            reports.append(f"--- kubectl {one.command}\n{details}")
    assert not reports, "\n".join(reports)
    return real


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: f"{kind.name}-{kind.version}")
def test_life(both: tuple[Kubectl, Kubectl], namespace: str, kind: Kind) -> None:
    name = f"{namespace}-one"
    write_manifests(both[0].folder, sample(kind, name))
    values = {
        "resource": f"{kind.plural}.{kind.version}.{kind.group}",
        "name": name,
        "status": json.dumps({"status": sample_status(kind)}),
    }
    compare(both, [line.format(**values) for line in LIFE.strip().splitlines()])
