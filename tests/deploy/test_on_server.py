"""A real kube-apiserver takes the manifests, and its restricted Pod Security level takes the pods."""

import copy

import pytest

from tests.support.controlplane.server import ControlPlane
from tests.support.manifests import JOBS, documents, installed, job, pod_of

STRICT = {"fieldValidation": "Strict"}
DRY_RUN = {**STRICT, "dryRun": "All"}
PLURALS = {
    "Namespace": ("/api/v1", "namespaces"),
    "ServiceAccount": ("/api/v1", "serviceaccounts"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "Pod": ("/api/v1", "pods"),
    "Job": ("/apis/batch/v1", "jobs"),
    "ClusterRole": ("/apis/rbac.authorization.k8s.io/v1", "clusterroles"),
    "ClusterRoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings"),
    "Role": ("/apis/rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "rolebindings"),
}


def path_of(item):
    root, plural = PLURALS[item["kind"]]
    namespace = item["metadata"].get("namespace")
    return f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"


@pytest.fixture(scope="module")
def deployed(control_plane: ControlPlane):
    """Return the control plane with everything installed that is installed once; it is removed afterwards."""
    admin = control_plane.client()
    for name in ("team-a", "team-b", "aim-system"):
        admin.post("/api/v1/namespaces", {"metadata": {"name": name}}).expect(201, 409)
    made = []
    for item in installed():
        admin.post(path_of(item), item, query=STRICT).expect(201)
        made.append(item)
    yield control_plane
    for item in reversed(made):
        admin.delete(f"{path_of(item)}/{item['metadata']['name']}")


@pytest.mark.parametrize("name", JOBS)
def test_a_job_is_taken_without_a_warning(deployed, name):
    answer = deployed.client().post(path_of(job(name)), job(name), query=DRY_RUN).expect(201)
    assert "warning" not in {key.lower() for key in answer.headers}


@pytest.mark.parametrize("name", JOBS)
def test_the_restricted_level_takes_the_pod(deployed, name):
    pod = pod_of(job(name))
    deployed.client().post(path_of(pod), pod, query=DRY_RUN).expect(201)


def test_the_restricted_level_takes_the_reader(deployed):
    (reader,) = documents("reader.yaml")
    deployed.client().post(path_of(reader), reader, query=DRY_RUN).expect(201)


def test_the_level_is_really_enforced(deployed):
    pod = copy.deepcopy(pod_of(job(JOBS[0])))
    del pod["spec"]["containers"][0]["securityContext"]["capabilities"]
    answer = deployed.client().post(path_of(pod), pod, query=DRY_RUN).expect(403)
    assert 'violates PodSecurity "restricted' in str(answer.object["message"])


@pytest.mark.parametrize(
    ("role", "verb", "allowed"), [("read", "get", True), ("read", "patch", False), ("apply", "patch", True)]
)
def test_the_identities_have_their_rights_and_no_more(deployed, role, verb, allowed):
    for namespace, expected in (("team-a", allowed), ("kube-public", False)):
        review = {
            "spec": {
                "user": f"system:serviceaccount:aim-template-migration:aim-template-migration-{role}",
                "resourceAttributes": {
                    "group": "aim.eai.amd.com",
                    "resource": "aimservices",
                    "verb": verb,
                    "namespace": namespace,
                },
            }
        }
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        answer = deployed.client().post(path, review).expect(201)
        assert answer.object["status"]["allowed"] is expected
