import pytest

from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_PROFILE, AIM_SERVICE
from aim_template_migration.kube.errors import AlreadyExists, NotFound
from aim_template_migration.kube.requests import build_get
from tests.aim_template_migration.kube.scripted_server import Reply, refusal

PROFILE = {
    "apiVersion": "aim.eai.amd.com/v1alpha2",
    "kind": "AIMProfile",
    "metadata": {"name": "llama", "namespace": "team-a"},
}
OPERATIONS = [{"op": "add", "path": "/metadata/annotations", "value": {}}]


def review(**status):
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": {}}
    return Reply(201, body | {"spec": {}, "status": status})


def test_the_version_is_what_the_server_says(server, connected):
    assert connected(server).server_version() == {"gitVersion": "v1.36.2"}


@pytest.mark.parametrize(
    ("status", "allowed"), [({"allowed": True}, True), ({"allowed": False, "denied": True}, False), ({}, False)]
)
def test_permissions_are_asked_for_and_reviews_are_repeated_as_reads_are(server, connected, status, allowed):
    cluster = connected(server)
    server.replies = [refusal(503, "ServiceUnavailable"), review(**status)]
    assert cluster.access_review("create", AIM_PROFILE, "team-a") is allowed
    first, second = server.requests("POST")
    assert first.body == second.body
    assert first.path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert first.query == {}
    assert first.json["spec"]["resourceAttributes"] == {
        "verb": "create",
        "group": "aim.eai.amd.com",
        "version": "v1alpha2",
        "resource": "aimprofiles",
        "namespace": "team-a",
    }
    assert cluster.requests_sent == {"get": 1, "review": 2}


def test_what_is_prepared_is_what_is_sent(server, connected):
    cluster = connected(server)
    server.replies = [Reply(201, PROFILE), Reply(200, PROFILE)]
    prepared = cluster.prepare_create(AIM_PROFILE, PROFILE, "team-a", dry_run=False)
    patch = cluster.prepare_json_patch(AIM_PROFILE, "llama", "team-a", OPERATIONS, dry_run=True)
    assert server.requests() == []
    assert cluster.send(prepared).status == 201
    assert cluster.send(patch).status == 200
    for request, received in zip((prepared, patch), server.requests(), strict=True):
        assert (received.method, received.path, received.body) == (request.method, request.path, request.body)
        assert received.query == dict(request.query)
        assert set(request.headers) <= {(name.title(), value) for name, value in received.headers}


def test_a_read_cannot_be_sent_as_a_write(server, connected):
    with pytest.raises(ValueError, match="get AIMService team-a/llama is no write"):
        connected(server).send(build_get(AIM_SERVICE, "llama", "team-a"))


def test_absent_and_present_are_told_by_name(server, connected):
    cluster = connected(server)
    server.replies = [
        refusal(404, "NotFound", 'aimprofiles "llama" not found', name="llama", kind="aimprofiles"),
        refusal(409, "AlreadyExists", 'aimprofiles "llama" already exists', name="llama", kind="aimprofiles"),
    ]
    with pytest.raises(NotFound) as absent:
        cluster.get(AIM_PROFILE, "llama", "team-a")
    with pytest.raises(AlreadyExists) as present:
        cluster.send(cluster.prepare_create(AIM_PROFILE, PROFILE, "team-a", dry_run=False))
    assert str(absent.value) == (
        'get AIMProfile team-a/llama: the server answered 404 NotFound: aimprofiles "llama" not found'
    )
    assert str(present.value).startswith("create AIMProfile team-a/llama: the server answered 409 AlreadyExists:")


def test_the_request_timeout_reaches_the_server_with_writes(server, connected, write_kubeconfig):
    from aim_template_migration.kube import ConnectionOptions

    for timeout, expected in ((None, "30s"), (0, "30s"), (7, "7s"), (0.5, "0.5s")):
        options = ConnectionOptions(kubeconfig=write_kubeconfig(server), request_timeout=timeout)
        cluster = connected(server, options=options)
        prepared = cluster.prepare_create(AIM_PROFILE, PROFILE, "team-a", dry_run=False)
        assert dict(prepared.query)["timeout"] == expected


def test_a_cluster_scoped_object_has_no_namespace(server, connected):
    body = {"apiVersion": "aim.eai.amd.com/v1alpha2", "kind": "AIMClusterProfile", "metadata": {"name": "llama"}}
    server.replies = [Reply(200, body)]
    assert connected(server).get(AIM_CLUSTER_PROFILE, "llama") == body
    assert server.requests()[0].path == "/apis/aim.eai.amd.com/v1alpha2/aimclusterprofiles/llama"
