"""The bytes of requests and answers: whatever is no complete answer by the standard is none at all."""

import contextlib
import gzip
import socket
import threading
from http.client import HTTPException, RemoteDisconnected

import pytest
from hypothesis import given
from hypothesis import strategies as st
from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead, ProtocolError

from aim_template_migration.kube.exchange import encode_request, exchange
from aim_template_migration.kube.tls import TlsSettings
from aim_template_migration.kube.transport import Endpoint, NothingSentError, Transport

REQUEST = encode_request("GET", "/apis", "server:6443", (("Accept", "application/json"),), None)
BODY = b'{"kind":"AIMService"}'
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Wire:
    """A connection on which ``data`` comes in pieces of some sizes, and then its end."""

    def __init__(self, data, sizes=(1 << 20,)):
        self.data, self.sizes, self.sent = data, list(sizes), b""

    def sendall(self, data):
        self.sent += data

    def recv(self, size):
        size = min(size, self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0])
        came, self.data = self.data[:size], self.data[size:]
        return came


def answer_to(data, sizes=(1 << 20,)):
    return exchange(Wire(data, sizes), REQUEST, lambda: None)


def answered(*headers, body=BODY, first="HTTP/1.1 200 OK"):
    return "\r\n".join([first, *headers, "", ""]).encode("latin-1") + body


def sized(body=BODY, *headers):
    return answered(f"Content-Length: {len(body)}", *headers, body=body)


def test_a_request_has_its_headers_in_order_and_its_body_behind_them():
    headers = (("Accept", "application/json"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b é"))
    assert encode_request("PATCH", "/x?dryRun=All", "[::1]:6443", headers, b"[]") == (
        b"PATCH /x?dryRun=All HTTP/1.1\r\nHost: [::1]:6443\r\nAccept: application/json\r\n"
        b"Impersonate-Group: a\r\nImpersonate-Group: b \xc3\xa9\r\nContent-Length: 2\r\n\r\n[]"
    )


@pytest.mark.parametrize(
    ("target", "header"),
    [("/a b", "x"), ("/a\r\nX: y", "x"), ("/é", "x"), ("a", "x"), ("/", "x\r\nX: y"), ("/", "x\ny"), ("/", "x\0")],
)
def test_nothing_can_be_slipped_into_a_request(target, header):
    with pytest.raises(ValueError, match="may not stand there"):
        encode_request("GET", target, "server", (("Accept", header),), None)


ANSWERS = [
    pytest.param(sized(), True, id="length"),
    pytest.param(answered("Content-Length: 21, 21", "Content-Length: 21"), True, id="length said twice"),
    pytest.param(CHUNKED + b"5;x=y\r\n" + BODY[:5] + b"\r\n10\r\n" + BODY[5:] + b"\r\n0\r\n\r\n", True, id="chunks"),
    pytest.param(CHUNKED + b"15\r\n" + BODY + b"\r\n0\r\nExpires: x\r\n\r\n", True, id="trailer"),
    pytest.param(sized(gzip.compress(BODY), "Content-Encoding: gzip"), True, id="gzip"),
    pytest.param(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + sized(), True, id="early hints"),
    pytest.param(sized(BODY, "Connection: close"), False, id="close"),
    pytest.param(answered("Content-Length: 21", first="HTTP/1.0 200 OK"), False, id="HTTP/1.0"),
    pytest.param(answered(), False, id="until the end"),
    pytest.param(sized() + b"HTTP/1.1 200 OK\r\n", False, id="more than the answer"),
]


@pytest.mark.parametrize(("data", "reusable"), ANSWERS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 20])
def test_an_answer_is_read_whole_however_it_comes_in(data, reusable, size):
    answer, again = answer_to(data, (size,))
    assert (answer.status, bytes(answer.body)) == (200, BODY)
    if size > 7:  # what comes later is seen before the connection is used again
        assert again == reusable


@given(st.binary(max_size=300), st.lists(st.integers(1, 50), max_size=20))
def test_any_body_comes_through_any_chunks(body, sizes):
    data, left = CHUNKED, body
    for size in sizes:
        part, left = left[:size], left[size:]
        data += b"%x\r\n%b\r\n" % (len(part), part) if part else b""
    data += (b"%x\r\n%b\r\n" % (len(left), left) if left else b"") + b"0\r\n\r\n"
    answer, reusable = answer_to(data, [*sizes, 5])
    assert bytes(answer.body) == body
    assert reusable


@pytest.mark.parametrize("data", [case.values[0] for case in ANSWERS if case.id != "until the end"])
def test_an_answer_that_is_cut_off_anywhere_is_none(data):
    whole = data.removesuffix(b"HTTP/1.1 200 OK\r\n")
    for end in range(len(whole)):
        with pytest.raises((IncompleteRead, RemoteDisconnected, DecodeError)):
            answer_to(whole[:end])


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", ProtocolError),
        (b"HTTP/2 200\r\n\r\n", ProtocolError),
        (answered(first="HTTP/1.1 200OK"), ProtocolError),
        (answered("Content-Length: -1"), ProtocolError),
        (answered("Content-Length: 1", "Content-Length: 2"), ProtocolError),
        (answered("Content-Length: ²"), ProtocolError),
        (answered("Content-Length : 21"), ProtocolError),
        (answered("Content-Length: 21", " folded"), ProtocolError),
        (answered("no header"), ProtocolError),
        (answered("Transfer-Encoding: gzip, chunked"), ProtocolError),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", ProtocolError),
        (CHUNKED + b"zz\r\n", ProtocolError),
        (CHUNKED + b"-1\r\n", ProtocolError),
        (CHUNKED + b"2\r\nabc\r\n", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * (1 << 19), ProtocolError),
        (sized(BODY, "Content-Encoding: gzip"), DecodeError),
        (sized(BODY, "Content-Encoding: br"), DecodeError),
        (sized(gzip.compress(BODY)[:-1], "Content-Encoding: gzip"), DecodeError),
    ],
)
def test_what_does_not_keep_to_the_standard_is_no_answer(data, error):
    with pytest.raises(error):
        answer_to(data)


@given(st.binary(max_size=200))
def test_rubbish_raises_nothing_but_what_counts_as_a_lost_answer(data):
    for prefix in (b"", b"HTTP/1.1 200 OK\r\n", CHUNKED):
        with contextlib.suppress(HTTPError, HTTPException, OSError):
            answer_to(prefix + data)


def test_an_early_answer_is_read_although_the_request_could_not_leave_whole():
    class Refusing(Wire):
        def sendall(self, data):
            raise BrokenPipeError

    answer, _ = exchange(Refusing(answered("Content-Length: 0", first="HTTP/1.1 413 Too Large")), REQUEST, lambda: None)
    assert answer.status == 413


@pytest.fixture
def heard():
    """A server without TLS, or a proxy that forwards: what it hears, and where it is."""
    listener = socket.create_server(("127.0.0.1", 0))
    requests: list[bytes] = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                while data := connection.recv(65536):
                    requests.append(data)
                    connection.sendall(sized())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield requests, f"127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


def send(endpoint, times=1):
    transport = Transport(endpoint, connections=1)
    try:
        for _ in range(times):
            answer = transport.send("GET", "/apis?limit=1", (("Accept", "a/b"),), None, client=None, timeout=5)
        return answer
    finally:
        transport.close()


def test_a_server_without_tls_and_below_a_path(heard):
    requests, address = heard
    assert send(Endpoint(f"http://{address}/k8s/clusters/c-1", TlsSettings()), times=2).body == BODY
    expected = f"GET /k8s/clusters/c-1/apis?limit=1 HTTP/1.1\r\nHost: {address}\r\nAccept: a/b\r\n\r\n".encode()
    assert requests == [expected, expected]


def test_a_proxy_that_forwards_is_told_the_whole_url_and_its_own_credentials(heard):
    requests, address = heard
    endpoint = Endpoint("http://api.invalid:8080", TlsSettings(), proxy=f"http://user:hunter2@{address}")
    assert send(endpoint).body == BODY
    (request,) = requests
    assert request.startswith(b"GET http://api.invalid:8080/apis?limit=1 HTTP/1.1\r\nHost: api.invalid:8080\r\n")
    assert b"proxy-authorization: basic " in request.lower()


def test_a_header_that_no_request_can_have_sends_nothing(heard):
    requests, address = heard
    transport = Transport(Endpoint(f"http://{address}", TlsSettings()), connections=1)
    with pytest.raises(NothingSentError):
        transport.send("GET", "/", (("Accept", "a\r\nb"),), None, client=None, timeout=5)
    assert requests == []


def test_after_close_connections_are_opened_anew(heard):
    requests, address = heard
    transport = Transport(Endpoint(f"http://{address}", TlsSettings()), connections=1)
    for _ in range(2):
        transport.send("GET", "/", (), None, client=None, timeout=5)
        transport.close()
    assert len(requests) == 2
