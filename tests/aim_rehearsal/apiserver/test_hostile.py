"""What clients with bad manners, bad luck or bad intentions get: a Status, never a traceback, never a hang."""

import contextlib
import json
import re
import socket
import ssl
import threading

import pytest

from aim_rehearsal.apiserver import LocalApiServer
from tests.aim_rehearsal.apiserver.api import Api, widget, widget_crd

TIMEOUT_SECONDS = 20


@pytest.fixture(scope="module")
def server():
    server = LocalApiServer(controllers=False)
    server.install_crds([widget_crd()])
    with server:
        yield server


@pytest.fixture(scope="module")
def context(server):
    return ssl.create_default_context(cadata=server.ca_pem)


@pytest.fixture
def connect(server, context):
    """Return a function that opens a TLS connection."""
    port = int(server.url.rpartition(":")[2])
    with contextlib.ExitStack() as stack:

        def open_connection():
            plain = stack.enter_context(socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS))
            return stack.enter_context(context.wrap_socket(plain, server_hostname="127.0.0.1"))

        yield open_connection


def head(server, method="POST", path=Api.widgets, *extra):
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {server.token()}",
        "Content-Type: application/json",
        *extra,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_answer(connection):
    """Return status code, headers and body of one answer."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return (0, {}, data)
        data += part
    raw_head, _, body = data.partition(b"\r\n\r\n")
    lines = raw_head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    length = int(headers.get("content-length", 0))
    while len(body) < length:
        part = connection.recv(65536)
        if not part:
            break
        body += part
    return int(lines[0].split()[1]), headers, body[:length]


def assert_status_object(answer, code):
    status, _, body = answer
    assert status == code, body
    shown = json.loads(body)
    assert (shown["kind"], shown["status"], shown["code"]) == ("Status", "Failure", code)
    assert "Traceback" not in shown["message"]


def assert_alive(connect, server):
    connection = connect()
    connection.sendall(head(server, "GET", "/readyz"))
    assert read_answer(connection)[2] == b"ok"


@pytest.mark.parametrize(
    ("request_bytes", "code"),
    [
        (b"NONSENSE\r\n\r\n", 400),
        (b"GET / HTTP/9.9.9\r\n\r\n", 400),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(10_000)) + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", 431),
    ],
    ids=["no request", "no version", "long path", "ten thousand headers", "long header"],
)
def test_requests_that_are_no_http(connect, server, request_bytes, code):
    connection = connect()
    with contextlib.suppress(OSError):
        connection.sendall(request_bytes)
    assert_status_object(read_answer(connection), code)
    assert_alive(connect, server)


@pytest.mark.parametrize(
    ("headers", "body", "code"),
    [
        (["Content-Length: nonsense"], b"", 400),
        (["Content-Length: -5"], b"", 400),
        (["Content-Length: 2", "Content-Length: 3"], b"{}x", 400),
        (["Content-Length: 4000000"], b"x" * 4_000_000, 413),
        (["Transfer-Encoding: chunked"], b'5\r\n{"a":\r\n1\r\n1\r\n1\r\n}\r\n0\r\n\r\n', 400),
        (["Transfer-Encoding: chunked"], b"zz\r\n{}\r\n0\r\n\r\n", 400),
        (["Transfer-Encoding: chunked"], b"-5\r\n{}\r\n0\r\n\r\n", 400),
        (["Transfer-Encoding: chunked"], b"2\r\n{}nonsense0\r\n\r\n", 400),
        (["Transfer-Encoding: chunked"], b"300000\r\n" + b"x" * 0x300000 + b"\r\n9\r\n", 413),
        (["Transfer-Encoding: gzip"], b"", 400),
        (["Transfer-Encoding: chunked", "Content-Length: 2"], b"{}", 400),
        (["Content-Length: 1"], b"{", 400),
        (["Content-Length: 100000"], b"[" * 100_000, 400),
        (["Content-Length: 4"], b"\xff\xfe\x00\x01", 400),
        ([], b"", 400),
    ],
)
def test_bodies_that_are_refused(connect, server, headers, body, code):
    connection = connect()
    with contextlib.suppress(OSError):
        connection.sendall(head(server, "POST", Api.widgets, *headers) + body)
    assert_status_object(read_answer(connection), code)
    assert_alive(connect, server)


def test_a_body_that_never_comes_leaves_others_alone(connect, server):
    slow = connect()
    slow.sendall(head(server, "POST", Api.widgets, "Content-Length: 1000") + b"{")
    assert_alive(connect, server)
    slow.shutdown(socket.SHUT_WR)


def test_a_client_that_speaks_no_tls_leaves_others_alone(connect, server):
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS):
            assert_alive(connect, server)


def test_requests_may_be_pipelined(connect, server):
    connection = connect()
    connection.sendall(head(server, "GET", "/readyz") + head(server, "GET", "/version"))
    data = b""
    while data.count(b"HTTP/1.1 200") < 2 or b"gitVersion" not in data:
        data += connection.recv(65536)
    assert data.index(b"ok") < data.index(b"gitVersion")


def test_a_chunked_body_is_read(connect, server):
    body = json.dumps(widget("chunked")).encode()
    parts = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:10], body[10:])) + b"0\r\n\r\n"
    connection = connect()
    connection.sendall(head(server, "POST", Api.widgets, "Transfer-Encoding: chunked") + parts)
    assert read_answer(connection)[0] == 201


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/", 200),
        ("//", 404),
        ("/apis/../../etc/passwd", 404),
        ("/apis/example.com/v2/namespaces/default/widgets/%2e%2e%2fx", 404),
        ("/apis/example.com/v2/namespaces/default/widgets/%00", 404),
        ("/apis/example.com/v2/namespaces/default/widgets/%ff%fe", 404),
        ("/apis/example.com/v2/namespaces/default/widgets?limit=x", 400),
        ("/apis/example.com/v2/namespaces/default/widgets?labelSelector=%28%28%28", 400),
        ("/apis/example.com/v2/namespaces/default/widgets?continue=%F0%9F%98%80", 400),
        ("/api/v1/namespaces/default/pods/a/b/c/d/e", 404),
        ("/x" * 2000, 404),
    ],
)
def test_odd_paths(connect, server, path, code):
    connection = connect()
    connection.sendall(head(server, "GET", path))
    assert read_answer(connection)[0] == code


def test_head_has_no_body(connect, server):
    connection = connect()
    connection.sendall(head(server, "HEAD", Api.widgets) + head(server, "GET", "/readyz"))
    data = b""
    while not data.endswith(b"\r\n\r\nok"):
        data += connection.recv(65536)
    assert data.count(b"HTTP/1.1 200") == 2
    assert b"WidgetList" not in data


def test_an_unknown_method_is_refused_by_the_resource(connect, server):
    connection = connect()
    connection.sendall(head(server, "BREW", Api.widgets))
    assert_status_object(read_answer(connection), 405)


def test_large_answers_are_compressed_on_request(connect, server):
    Api(server).post(Api.widgets, widget("large", metadata={"annotations": {"a": "x" * 200_000}}))
    connection = connect()
    connection.sendall(head(server, "GET", f"{Api.widgets}/large", "Accept-Encoding: gzip"))
    status, headers, body = read_answer(connection)
    assert (status, headers["content-encoding"]) == (200, "gzip")
    assert len(body) < 20_000


def test_a_slow_watch_client_delays_nobody_and_misses_nothing(connect, server):
    api = Api(server)
    revision = api.get(Api.widgets).body["metadata"]["resourceVersion"]
    slow = connect()
    slow.sendall(head(server, "GET", f"{Api.widgets}?watch=1&resourceVersion={revision}&timeoutSeconds=60"))
    # More than the buffers of a connection hold, while nobody reads.
    for number in range(40):
        api.post(Api.widgets, widget(f"burst-{number:02}", metadata={"annotations": {"a": "x" * 100_000}}))
    assert_alive(connect, server)
    data = b""
    while b"burst-39" not in data:
        part = slow.recv(1 << 20)
        assert part
        data += part
    seen = re.findall(rb'"name":"(burst-\d\d)"', data)
    assert list(dict.fromkeys(seen)) == [b"burst-%02d" % number for number in range(40)]


def test_watches_whose_clients_have_gone_end(connect, server):
    before = set(threading.enumerate())
    for _ in range(5):
        connection = connect()
        connection.sendall(head(server, "GET", f"{Api.widgets}?watch=1&timeoutSeconds=600"))
        connection.recv(10)
        connection.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(TIMEOUT_SECONDS)
        assert not thread.is_alive()
