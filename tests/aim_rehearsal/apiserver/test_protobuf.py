import pytest

from aim_rehearsal.apiserver.protobuf import ProtobufError, decode_protobuf
from tests.aim_rehearsal.apiserver.api import Api


def field(number, value):
    """Encode one field: a number, a text, or the bytes of a message."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    raw = value.encode() if isinstance(value, str) else value
    length = bytes([len(raw)]) if len(raw) < 128 else bytes([len(raw) & 0x7F | 0x80, len(raw) >> 7])
    return bytes([number << 3 | 2]) + length + raw


def envelope(api_version, kind, content):
    return b"k8s\x00" + field(1, field(1, api_version) + field(2, kind)) + field(2, content)


META = field(1, "c") + field(2, "") + field(3, "default") + field(11, field(1, "app") + field(2, "x"))


def test_a_config_map():
    content = field(1, META) + field(2, field(1, "a") + field(2, "b" * 200)) + field(4, 1)
    assert decode_protobuf(envelope("v1", "ConfigMap", content)) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "default", "labels": {"app": "x"}},
        "data": {"a": "b" * 200},
        "immutable": True,
    }


def test_bytes_become_base64_and_lists_stay_lists():
    secret = decode_protobuf(envelope("v1", "Secret", field(2, field(1, "k") + field(2, b"\x00\xff"))))
    assert secret["data"] == {"k": "AP8="}
    rule = field(1, "get") + field(1, "list") + field(2, "")
    role = decode_protobuf(envelope("rbac.authorization.k8s.io/v1", "Role", field(2, rule)))
    assert role["rules"] == [{"verbs": ["get", "list"], "apiGroups": [""]}]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"k8s\x00",
        b"k8s\x00\x0a\xff",
        b"k8s\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"k8s\x00\x0f",
        envelope("apps/v1", "Deployment", b""),
        envelope("v1", "ConfigMap", b"\x0a\x05ab"),
    ],
)
def test_bodies_that_cannot_be_read(body):
    with pytest.raises(ProtobufError):
        decode_protobuf(body)


def test_the_server_takes_it_for_the_kinds_it_reads(api):
    content_type = "application/vnd.kubernetes.protobuf"
    body = envelope("v1", "ConfigMap", field(1, META) + field(2, field(1, "a") + field(2, "b")))
    answer = api.send("POST", "/api/v1/namespaces/default/configmaps", body, content_type)
    assert (answer.status, answer.body["data"]) == (201, {"a": "b"})
    assert api.send("POST", "/api/v1/namespaces/default/configmaps", b"k8s\x00", content_type).status == 400
    assert api.send("POST", Api.widgets, body, content_type).status == 415
