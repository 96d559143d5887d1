"""Writes arrive once whatever happens; reads are repeated within bounds; both over a real TLS connection."""

import gzip
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from aim_api.kinds import AIM_PROFILE, AIM_SERVICE
from aim_template_migration.kube import ConnectionOptions, Pacing
from aim_template_migration.kube.errors import (
    Conflict,
    InternalError,
    OutcomeUnknown,
    RequestError,
    RequestNotSent,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
    UnreadableAnswer,
)
from tests.aim_template_migration.kube.scripted_server import CLOSED, LOST, STALLED, Reply, ScriptedServer, refusal

SERVICE = {
    "apiVersion": "aim.eai.amd.com/v1alpha2",
    "kind": "AIMService",
    "metadata": {"name": "llama", "namespace": "team-a", "uid": "1"},
}
PROFILE = {
    "apiVersion": "aim.eai.amd.com/v1alpha2",
    "kind": "AIMProfile",
    "metadata": {"name": "llama", "namespace": "team-a"},
}
OPERATIONS = [{"op": "test", "path": "/metadata/uid", "value": "1"}]
BODY = json.dumps(SERVICE).encode()


def written(*lines, body=b""):
    return b"\r\n".join([*(line.encode() for line in lines), b"", b""]) + body


CUT_OFF = Reply(raw=written("HTTP/1.1 200 OK", f"Content-Length: {len(BODY)}", body=BODY[:-9]), end="close")
CUT_OFF_BY_RESET = Reply(raw=CUT_OFF.raw, end="reset")
CHUNKED_GARBAGE = Reply(raw=written("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", body=b"zz\r\n{}"), end="close")
CHUNKED_CUT_OFF = Reply(raw=written("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", body=b'5\r\n{"a":'), end="close")
NO_LENGTH_CUT_OFF = Reply(raw=written("HTTP/1.0 200 OK", body=BODY[:-9]), end="close")
TOO_SHORT_LENGTH = Reply(raw=written("HTTP/1.1 200 OK", f"Content-Length: {len(BODY) - 9}", body=BODY))
NOT_HTTP = Reply(raw=b"SSH-2.0-OpenSSH_9.6\r\n", end="close")
BAD_GZIP = Reply(200, BODY, headers=(("content-encoding", "gzip"),))
HALF_A_HEADER = Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Le", end="close")
PROXY_PAGE = Reply(200, b"<html>Sign in</html>", headers=(("content-type", "text/html"),))
MALFORMED = Reply(200, b'{"kind": ]')
GATEWAY_502 = Reply(502, b"<html>Bad gateway</html>", headers=(("content-type", "text/html"),))
GATEWAY_504 = Reply(504, b"upstream request timeout", headers=(("content-type", "text/plain"),))
KUBERNETES_504 = refusal(504, "Timeout", "request did not complete within requested timeout")
KUBERNETES_500 = refusal(500, "InternalError")
KUBERNETES_503 = refusal(503, "ServiceUnavailable")

LOST_ANSWERS = {
    "reset after reading": LOST,
    "closed after reading": CLOSED,
    "cut off": CUT_OFF,
    "cut off by a reset": CUT_OFF_BY_RESET,
    "garbage for a chunk": CHUNKED_GARBAGE,
    "chunks cut off": CHUNKED_CUT_OFF,
    "HTTP/1.0 cut off": NO_LENGTH_CUT_OFF,
    "length too short": TOO_SHORT_LENGTH,
    "not HTTP": NOT_HTTP,
    "wrong compression": BAD_GZIP,
    "half a header": HALF_A_HEADER,
    "a proxy's page": PROXY_PAGE,
    "malformed JSON": MALFORMED,
    "gateway 502": GATEWAY_502,
    "gateway 504": GATEWAY_504,
    "Kubernetes 504": KUBERNETES_504,
    "Kubernetes 500": KUBERNETES_500,
    "Kubernetes 503": KUBERNETES_503,
}
lost_answers = pytest.mark.parametrize("lost", LOST_ANSWERS.values(), ids=LOST_ANSWERS)


@lost_answers
@pytest.mark.parametrize("verb", ["create", "patch"])
def test_a_write_whose_answer_is_lost_is_unknown_and_arrived_once(server, connected, waits, lost, verb):
    cluster = connected(server)
    prepared = {
        "create": cluster.prepare_create(AIM_PROFILE, PROFILE, "team-a", dry_run=False),
        "patch": cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False),
    }
    server.replies = [lost, Reply(201, PROFILE)]
    with pytest.raises(OutcomeUnknown) as caught:
        cluster.send(prepared[verb])
    assert len(server.requests()) == 1
    assert waits == []
    assert cluster.requests_sent == {"get": 1, verb: 1}
    assert verb in str(caught.value)
    assert "team-a/llama" in str(caught.value)
    assert "unknown" in str(caught.value)


@lost_answers
def test_a_read_whose_answer_is_lost_is_sent_again(server, connected, waits, lost):
    cluster = connected(server)
    server.replies = [lost, lost, Reply(200, SERVICE)]
    assert cluster.get(AIM_SERVICE, "llama", "team-a") == SERVICE
    assert len(server.requests()) == 3
    assert len(waits) == 2


@lost_answers
def test_reads_give_up_after_a_bounded_number_of_attempts(server, connected, waits, lost):
    cluster = connected(server)
    server.answer = lambda received: lost
    with pytest.raises(RequestError) as caught:
        cluster.get(AIM_SERVICE, "llama", "team-a")
    assert caught.value.transient
    assert not isinstance(caught.value, OutcomeUnknown)
    assert len(server.requests()) == 5
    assert len(waits) == 4
    assert "get AIMService team-a/llama" in str(caught.value)


def test_the_waits_between_attempts_double_and_are_jittered(server, connected):
    waits = []
    cluster = connected(server, pacing=Pacing(sleep=waits.append, jitter=lambda: 0.5, longest_wait=1.0))
    server.answer = lambda received: LOST
    with pytest.raises(UnreadableAnswer):
        cluster.get(AIM_SERVICE, "llama", "team-a")
    assert waits == [pytest.approx(0.75 * wait) for wait in (0.2, 0.4, 0.8, 1.0)]


@pytest.mark.parametrize(
    ("asked", "least", "most"), [("0", 0, 0.2), ("3", 3, 3.2), ("100000", 60, 60.2)], ids=["none", "obeyed", "capped"]
)
@pytest.mark.parametrize("code", [429, 503])
def test_retry_after_is_obeyed_up_to_a_cap(server, connected, waits, code, asked, least, most):
    cluster = connected(server)
    reason = {429: "TooManyRequests", 503: "ServiceUnavailable"}[code]
    server.replies = [refusal(code, reason, headers=[("Retry-After", asked)]), Reply(200, SERVICE)]
    assert cluster.get(AIM_SERVICE, "llama", "team-a") == SERVICE
    assert least <= waits[0] <= most


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(429, b"Too many requests", headers=(("content-type", "text/plain"),)), TooManyRequests),
        (refusal(409, "Conflict"), Conflict),
        (refusal(401, "Unauthorized"), Unauthorized),
        (refusal(500, "InternalError", 'failed calling webhook "x": down'), InternalError),
    ],
)
def test_a_write_that_was_refused_is_not_sent_again(server, connected, waits, reply, expected):
    cluster = connected(server)
    server.replies = [reply]
    with pytest.raises(expected):
        cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False))
    assert len(server.requests()) == 1
    assert waits == []


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_redirects_are_never_followed_and_credentials_never_leave_for_elsewhere(authority, server, connected, code):
    with ScriptedServer(authority) as elsewhere:
        cluster = connected(server)
        server.answer = lambda received: Reply(code, b"", headers=(("location", elsewhere.url + "/steal"),))
        with pytest.raises(UnreadableAnswer, match="redirect"):
            cluster.get(AIM_SERVICE, "llama", "team-a")
        with pytest.raises(OutcomeUnknown, match="redirect"):
            cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False))
        assert len(server.requests("GET")) == len(server.requests("PATCH")) == 1
        assert elsewhere.received == []


def test_an_answer_that_does_not_come_in_time_is_lost(server, write_kubeconfig, connected):
    options = ConnectionOptions(kubeconfig=write_kubeconfig(server), request_timeout=0.2)
    cluster = connected(server, options=options, pacing=Pacing(attempts=2, sleep=lambda seconds: None))
    server.answer = lambda received: STALLED
    with pytest.raises(OutcomeUnknown, match=r"no complete answer within 0\.4 seconds"):
        cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False))
    with pytest.raises(UnreadableAnswer, match=r"no complete answer within 0\.2 seconds"):
        cluster.get(AIM_SERVICE, "llama", "team-a")
    assert [len(server.requests(method)) for method in ("PATCH", "GET")] == [1, 2]


def test_an_answer_that_drips_in_beyond_the_time_is_lost(server, connected):
    """Each part arrives in time, but the whole does not."""
    seconds = iter(range(0, 10_000, 20))
    cluster = connected(server, pacing=Pacing(attempts=1, monotonic=lambda: next(seconds)))
    long = json.dumps(SERVICE | {"padding": "x" * 60_000}).encode()  # more than TLS sends at once
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in long)
    server.replies = [Reply(raw=written("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", body=chunks + b"0\r\n\r\n"))]
    with pytest.raises(UnreadableAnswer, match="no complete answer within"):
        cluster.get(AIM_SERVICE, "llama", "team-a")


def test_a_limit_in_time_ends_the_repeats_of_a_read(server, connected):
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    cluster = connected(server, pacing=Pacing(attempts=1000, monotonic=lambda: now[0], sleep=sleep))
    server.answer = lambda received: KUBERNETES_503
    with pytest.raises(ServiceUnavailable):
        cluster.get(AIM_SERVICE, "llama", "team-a", within=3.0)
    assert now[0] < 3.0
    assert 2 < len(server.requests()) < 12


def test_a_connection_that_ends_in_the_handshake_sent_nothing(server, connected):
    """What urllib3 reports for this cannot be told from a lost answer by its exception alone."""
    cluster = connected(server)
    cluster.close()
    server.drop_connections = 1
    with pytest.raises(RequestNotSent, match="no connection to https://127"):
        cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False))
    assert server.requests() == []
    assert cluster.requests_sent == {"get": 1}
    server.replies = [Reply(200, SERVICE)]
    assert (
        cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False)).body
        == SERVICE
    )


def test_reads_survive_a_short_outage(server, connected, waits):
    cluster = connected(server)
    cluster.close()
    server.drop_connections = 2
    server.replies = [Reply(200, SERVICE)]
    assert cluster.get(AIM_SERVICE, "llama", "team-a") == SERVICE
    assert len(waits) == 2


def test_an_idle_connection_that_the_server_closed_is_replaced_and_the_write_arrives(server, connected):
    cluster = connected(server)
    server.replies = [Reply(200, SERVICE, headers=(("connection", "keep-alive"),), end="close")]
    cluster.get(AIM_SERVICE, "llama", "team-a")
    server.replies = [Reply(200, SERVICE)]
    deadline = time.monotonic() + 5
    while True:  # until the server's close has arrived, the connection looks alive
        try:
            cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False))
            break
        except OutcomeUnknown:
            assert time.monotonic() < deadline
    assert len({received.connection for received in server.received}) == 2


@pytest.mark.parametrize("padding", [0, 20_000], ids=["in one buffer", "beyond a buffer"])
def test_what_a_server_sends_beyond_an_answer_is_never_the_answer_to_the_next_request(server, connected, padding):
    stray = SERVICE | {"metadata": SERVICE["metadata"] | {"uid": "stray"}, "padding": "x" * padding}
    cluster = connected(server)
    server.replies = [Reply(raw=Reply(200, SERVICE).encoded() + Reply(200, stray).encoded()), Reply(200, SERVICE)]
    assert cluster.get(AIM_SERVICE, "llama", "team-a") == SERVICE
    assert (
        cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False)).body
        == SERVICE
    )
    assert len(server.requests("PATCH")) == 1


def test_connections_are_used_again(server, connected):
    cluster = connected(server)
    server.answer = lambda received: Reply(200, SERVICE)
    for _ in range(5):
        cluster.get(AIM_SERVICE, "llama", "team-a")
        cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=True))
    assert {received.connection for received in server.received} == {1}


def test_a_connection_that_was_idle_for_long_is_not_trusted(server, connected, monkeypatch):
    cluster = connected(server)
    server.answer = lambda received: Reply(200, SERVICE)
    cluster.get(AIM_SERVICE, "llama", "team-a")
    monkeypatch.setattr("aim_template_migration.kube.transport.LONGEST_IDLE", 0.0)
    cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False))
    assert [received.connection for received in server.received] == [1, 1, 2]


def test_an_answer_without_length_that_ends_with_the_connection_is_read(server, connected):
    cluster = connected(server)
    server.replies = [Reply(raw=written("HTTP/1.0 200 OK", "Content-Type: application/json", body=BODY), end="close")]
    assert cluster.get(AIM_SERVICE, "llama", "team-a") == SERVICE


def test_compressed_answers_are_asked_for_and_read(server, connected):
    cluster = connected(server)
    server.replies = [Reply(200, gzip.compress(BODY), headers=(("content-encoding", "gzip"),))]
    assert cluster.get(AIM_SERVICE, "llama", "team-a") == SERVICE
    assert server.requests()[0].values("accept-encoding") == ["gzip"]


def test_every_request_says_who_sends_it(server, connected):
    cluster = connected(server)
    server.replies = [Reply(201, PROFILE)]
    cluster.send(cluster.prepare_create(AIM_PROFILE, PROFILE, "team-a", dry_run=True))
    (received,) = server.requests()
    assert received.header("user-agent").startswith("aim-template-migration/")
    assert received.values("authorization") == ["Bearer t0ken"]
    assert received.query == {
        "fieldManager": "aim-template-migration",
        "fieldValidation": "Strict",
        "dryRun": "All",
        "timeout": "30s",
    }
    assert received.json == PROFILE
    assert cluster.requests_sent == {"get": 1, "create (dry run)": 1}


def test_at_most_so_many_requests_are_under_way(server, connected):
    lock, running, most = threading.Lock(), [0], [0]
    full = threading.Event()

    def answer(received):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] == 3:
                full.set()
        full.wait(10)
        with lock:
            running[0] -= 1
        return Reply(200, SERVICE)

    cluster = connected(server, in_flight=3)
    server.answer = answer
    with ThreadPoolExecutor(9) as pool:
        list(pool.map(lambda _: cluster.get(AIM_SERVICE, "llama", "team-a"), range(18)))
    assert most[0] == 3
    assert cluster.requests_sent == {"get": 19}


def test_a_write_whose_turn_does_not_come_in_time_is_not_sent(server, connected, monkeypatch):
    monkeypatch.setattr("aim_template_migration.kube.sending.SLOT_TIMEOUT", 0.05)
    reading, go_on = threading.Event(), threading.Event()

    def answer(received):
        reading.set()
        go_on.wait(10)
        return Reply(200, SERVICE)

    cluster = connected(server, in_flight=1)
    server.answer = answer
    prepared = cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(cluster.get, AIM_SERVICE, "llama", "team-a")
        reading.wait(10)
        with pytest.raises(RequestNotSent, match="its turn did not come in time"):
            cluster.send(prepared)
        go_on.set()
        assert read.result() == SERVICE
    cluster.send(prepared)  # the place of the one that gave up is not lost
    assert [received.method for received in server.requests()] == ["GET", "PATCH"]


def test_a_write_whose_credentials_come_too_late_is_not_sent(server, connected):
    step, now = [0.0], [0.0]

    def monotonic():
        now[0] += step[0]
        return now[0]

    cluster = connected(server, pacing=Pacing(monotonic=monotonic))
    step[0] = 10.5
    prepared = cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False)
    server.answer = lambda received: Reply(200, SERVICE)
    with pytest.raises(RequestNotSent, match="its credentials came too late"):
        cluster.send(prepared)
    assert server.requests() == []


def test_an_interrupt_during_a_wait_ends_the_read(server, connected):
    class InterruptedHereError(Exception):
        pass

    def sleep(seconds):
        raise InterruptedHereError

    cluster = connected(server, pacing=Pacing(sleep=sleep))
    server.answer = lambda received: KUBERNETES_503
    with pytest.raises(InterruptedHereError):
        cluster.get(AIM_SERVICE, "llama", "team-a")
    assert len(server.requests()) == 1


def test_credentials_that_a_server_echoes_are_not_shown(server, connected):
    cluster = connected(server, user={"token": "hunter2"})
    server.answer = lambda received: refusal(400, "BadRequest", f"bad header {received.header('authorization')}")
    with pytest.raises(RequestError) as caught:
        cluster.get(AIM_SERVICE, "llama", "team-a")
    assert "bad header Bearer <redacted>" in str(caught.value)
    assert "hunter2" not in repr(caught.value.__dict__)
