"""kubectl does and prints the same with a real API server and with the local API."""

import json
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_SERVICE, INFERENCE_SERVICE, LEGACY_VERSION, Kind
from aim_api.tree import JsonObject, get_map
from tests.conformance.comparing import Difference, differences
from tests.conformance.known_differences import Ledger, known_differences
from tests.conformance.samples import kinds, sample, sample_status
from tests.conformance.servers import LocalPlane
from tests.kubectl.running import Kubectl, Outcome
from tests.support.controlplane.server import ADMIN, ControlPlane

pytestmark = pytest.mark.kubectl

WHOLE_LIFE = """
get {resource} -l sample=yes
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


SHORT_LIFE = """
apply -f one.json
get {resource} {name}
get {resource} {name} -o wide
describe {resource} {name}
diff -f two.json
apply -f two.json
patch {resource} {name} --type merge -p '{{"metadata": {{"labels": {{"by": "merge"}}}}}}'
patch {resource} {name} --subresource status --type merge -p '{status}'
get {resource} {name} -o wide
apply --server-side -f one.json
apply --server-side --field-manager other -f three.json
wait {resource} {name} --for=jsonpath={{.metadata.labels.sample}}=yes --timeout=5s
get {resource} {name} -o yaml --show-managed-fields
delete {resource} {name}
"""

READING = """
get aimservices
get aimsvc
get aimservices,aimmodels,aimprofiles
get services.v1alpha2.aim.eai.amd.com
get things
get ns {namespace} -o wide
get namespace {namespace} -o json
get --raw /apis/aim.eai.amd.com
api-resources --api-group aim.eai.amd.com --sort-by name
api-resources --api-group serving.kserve.io --sort-by name -o wide
explain aimservices
explain aimservices.spec.model
explain aimservices.spec.nothing
explain aimprofiles.spec.modelSources --api-version aim.eai.amd.com/v1alpha2
explain inferenceservices.spec
auth can-i list aimservices
auth can-i list aimservices --as nobody
auth can-i get pods --subresource log
auth whoami -o jsonpath={{.status.userInfo.groups}}
get crd aimruntimeconfigs.aim.eai.amd.com
get aimservices --as nobody
get aimservices --chunk-size 1
get aimservices -A --field-selector metadata.name=none
get aimservices --server-print=false
"""

BUILT_IN = """
create configmap settings --from-literal a=b
apply -f config.json
get configmap settings -o yaml --show-managed-fields
get configmaps
describe configmap settings
patch configmap settings -p '{{"data": {{"c": "d"}}}}'
apply -f secret.json
get secrets
describe secret password
apply -f role.json
apply -f binding.json
get roles,rolebindings
describe role reader
describe rolebinding reads
get aimservices --as reader
apply -f deployment.json
get deployments -o wide
diff -f deployment.json
apply -f pod.json
get pods -o wide
describe pod solo
apply -f claim.json
get pvc
delete pod solo --now
delete deployment web
delete configmap,secret --all
get deployments,pods,configmaps
"""

_RBAC = "rbac.authorization.k8s.io"
_POD_SPEC: JsonObject = {"containers": [{"name": "web", "image": "registry.example.org/web:1"}]}
MANIFESTS: list[tuple[str, str, str, str, JsonObject]] = [
    ("config", "v1", "ConfigMap", "settings", {"data": {"a": "b"}}),
    ("secret", "v1", "Secret", "password", {"stringData": {"a": "b"}}),
    (
        "role",
        f"{_RBAC}/v1",
        "Role",
        "reader",
        {"rules": [{"apiGroups": ["aim.eai.amd.com"], "resources": ["aimservices"], "verbs": ["get", "list"]}]},
    ),
    (
        "binding",
        f"{_RBAC}/v1",
        "RoleBinding",
        "reads",
        {
            "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": "reader"},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": "reader"}],
        },
    ),
    (
        "deployment",
        "apps/v1",
        "Deployment",
        "web",
        {
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": _POD_SPEC},
            }
        },
    ),
    ("pod", "v1", "Pod", "solo", {"spec": _POD_SPEC}),
    (
        "claim",
        "v1",
        "PersistentVolumeClaim",
        "claim",
        {"spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}},
    ),
]

# These kinds go through the whole life, the others through the short one.
THOROUGH = [AIM_SERVICE, AIM_SERVICE.at(LEGACY_VERSION), AIM_CLUSTER_PROFILE, INFERENCE_SERVICE]


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


def compare(both: tuple[Kubectl, Kubectl], commands: Sequence[str], values: Mapping[str, str]) -> None:
    """Run the commands on both servers and fail if any outcome differs that is not known to differ."""
    filled = [command.format(**values) for command in commands]
    with ThreadPoolExecutor(2) as pool:
        real, local = pool.map(lambda kubectl: outcomes(kubectl, filled), both)
    ledger = Ledger(row for row in known_differences() if row.script == "kubectl" and row.step in commands)
    reports = []
    for command, one, other in zip(commands, real, local, strict=True):
        found = [Difference("kubectl", command, *found) for found in differences(one.shown, other.shown)]
        unknown = [str(item) for item in found if not ledger.is_known(item)]
        if unknown:
            reports.append("\n".join([f"--- kubectl {one.command}", *unknown]))
    ledger.check(reports)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: f"{kind.name}-{kind.version}")
def test_life(both: tuple[Kubectl, Kubectl], namespace: str, kind: Kind) -> None:
    name = f"{namespace}-one"
    write_manifests(both[0].folder, sample(kind, name))
    values = {
        "resource": f"{kind.plural}.{kind.version}.{kind.group}",
        "name": name,
        "status": json.dumps({"status": sample_status(kind)}),
    }
    life = WHOLE_LIFE if kind in THOROUGH else SHORT_LIFE
    compare(both, life.strip().splitlines(), values)


@pytest.mark.parametrize("commands", [READING, BUILT_IN], ids=["reading", "built-in"])
def test_everyday(both: tuple[Kubectl, Kubectl], namespace: str, commands: str) -> None:
    for file, api_version, kind, name, content in MANIFESTS:
        manifest: JsonObject = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **content}
        (both[0].folder / f"{file}.json").write_text(json.dumps(manifest))
    compare(both, commands.strip().splitlines(), {"namespace": namespace})
