import json

import pytest

from aim_api.kinds import AIM_SERVICE
from aim_template_migration.kube.answers import RawAnswer, interpret
from aim_template_migration.kube.errors import (
    AlreadyExists,
    ApiStatusError,
    BadRequest,
    Conflict,
    Forbidden,
    Gone,
    InternalError,
    Invalid,
    NotFound,
    NotServed,
    OutcomeUnknown,
    RequestError,
    ServerTimeout,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
    UnreadableAnswer,
)
from aim_template_migration.kube.requests import build_get, build_json_patch
from tests.aim_template_migration.kube.scripted_server import status

READ = build_get(AIM_SERVICE, "llama", "team-a")
WRITE = build_json_patch(AIM_SERVICE, "llama", "team-a", [{"op": "remove", "path": "/x"}], dry_run=False)
SERVICE = {
    "apiVersion": "aim.eai.amd.com/v1alpha2",
    "kind": "AIMService",
    "metadata": {"name": "llama", "namespace": "team-a", "generation": 2**63 + 1},
}
NAMED = {"name": "llama", "kind": "aimservices", "group": "aim.eai.amd.com"}
WEBHOOK = 'Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: Post ...'


def raw(code, body, **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value if isinstance(value, tuple) else (value,) for name, value in headers.items()}
    return RawAnswer(code, {"content-type": ("application/json",)} | named, content)


def failure(request, answer, redact=str):
    with pytest.raises(RequestError) as caught:
        interpret(request, answer, redact)
    return caught.value


KUBERNETES_ERRORS = [
    (400, "BadRequest", {}, BadRequest),
    (401, "Unauthorized", {}, Unauthorized),
    (403, "Forbidden", NAMED, Forbidden),
    (404, "NotFound", NAMED, NotFound),
    (404, "NotFound", {}, NotServed),
    (405, "MethodNotAllowed", {}, ApiStatusError),
    (409, "AlreadyExists", NAMED, AlreadyExists),
    (409, "Conflict", NAMED, Conflict),
    (410, "Expired", {}, Gone),
    (413, "RequestEntityTooLarge", {}, ApiStatusError),
    (415, "UnsupportedMediaType", {}, ApiStatusError),
    (422, "Invalid", NAMED, Invalid),
    (429, "TooManyRequests", {}, TooManyRequests),
]


@pytest.mark.parametrize("request_", [READ, WRITE], ids=["read", "write"])
@pytest.mark.parametrize(("code", "reason", "details", "expected"), KUBERNETES_ERRORS)
def test_a_status_below_500_is_a_refusal_of_its_class(request_, code, reason, details, expected):
    error = failure(request_, raw(code, status(code, reason, "no, because", **details)))
    assert type(error) is expected
    assert (error.status, error.reason, error.details) == (code, reason, details)
    assert "no, because" in str(error)
    assert str(request_.action) in str(error)


SERVER_ERRORS = [
    (500, "InternalError", InternalError),
    (500, "ServerTimeout", ServerTimeout),
    (503, "ServiceUnavailable", ServiceUnavailable),
    (504, "Timeout", ServerTimeout),
    (507, "", ApiStatusError),
]


@pytest.mark.parametrize(("code", "reason", "expected"), SERVER_ERRORS)
def test_a_status_from_500_on_names_the_failure_of_a_read_and_leaves_a_write_unknown(code, reason, expected):
    answer = raw(code, status(code, reason, "etcdserver: request timed out"))
    assert type(failure(READ, answer)) is expected
    unknown = failure(WRITE, answer)
    assert type(unknown) is OutcomeUnknown
    assert type(unknown.answer) is expected
    assert unknown.status == code
    assert "etcdserver: request timed out" in str(unknown)
    assert not unknown.transient


@pytest.mark.parametrize(
    "message", [WEBHOOK, 'admission webhook "v.example.com" denied the request: no'], ids=["unreachable", "denied"]
)
def test_an_admission_webhook_refuses_before_anything_is_stored(message):
    error = failure(WRITE, raw(500, status(500, "InternalError", message)))
    assert type(error) is InternalError


def test_a_conversion_webhook_can_fail_after_the_object_was_stored():
    message = "conversion webhook for aim.eai.amd.com/v1alpha2, Kind=AIMService failed: Post ..."
    assert type(failure(WRITE, raw(500, status(500, "InternalError", message)))) is OutcomeUnknown


GATEWAY = [
    (raw(403, b"<html>blocked</html>", content_type="text/html"), "HTML page"),
    (raw(404, b"<!DOCTYPE html>", content_type="text/html"), "HTML page"),
    (raw(409, {"error": "busy"}), "no Kubernetes object"),
    (raw(502, b"<html>Bad Gateway</html>", content_type="text/html"), "HTML page"),
    (raw(503, b"no healthy upstream", content_type="text/plain"), "no healthy upstream"),
    (raw(504, b"", content_type="text/plain"), "empty"),
    (raw(302, b"", location="https://login.example.com/?token=abc"), "redirect"),
    (raw(503, status(500, "InternalError", WEBHOOK)), "no Kubernetes object"),
]


@pytest.mark.parametrize(("answer", "words"), GATEWAY)
def test_an_answer_without_a_status_of_its_own_decides_nothing(answer, words):
    for request, expected in ((READ, UnreadableAnswer), (WRITE, OutcomeUnknown)):
        error = failure(request, answer)
        assert type(error) is expected
        assert error.status == answer.status
        assert words in str(error)
        assert "token=abc" not in str(error)


def test_only_gateway_errors_that_can_pass_are_worth_repeating():
    assert {answer.status: failure(READ, answer).transient for answer, _ in GATEWAY} == {
        403: False,
        404: False,
        409: False,
        502: True,
        503: True,
        504: True,
        302: False,
    }


@pytest.mark.parametrize("request_", [READ, WRITE], ids=["read", "write"])
def test_kubernetes_own_limits_answer_429_in_plain_text_and_nothing_was_executed(request_):
    answer = raw(429, b"Too many requests, please try again later.\n", content_type="text/plain", retry_after="1")
    error = failure(request_, answer)
    assert type(error) is TooManyRequests
    assert error.retry_after == 1.0


@pytest.mark.parametrize("request_", [READ, WRITE], ids=["read", "write"])
def test_a_gateway_that_refuses_credentials_lets_nothing_pass(request_):
    assert type(failure(request_, raw(401, b"{}"))) is Unauthorized


@pytest.mark.parametrize("request_", [READ, WRITE], ids=["read", "write"])
def test_an_unknown_path_means_that_the_kind_is_not_served_and_not_that_the_object_is_absent(request_):
    error = failure(request_, raw(404, b"404 page not found\n", content_type="text/plain; charset=utf-8"))
    assert type(error) is NotServed
    assert not isinstance(error, NotFound)
    assert "aimservices of aim.eai.amd.com/v1alpha2" in str(error)


UNUSABLE = [
    b"",
    b'{"kind": "AIMServ',
    b"<html></html>",
    b"[]",
    b"null",
    b"\xff\xfe",
    b"[" * 100_000,
    json.dumps(SERVICE | {"kind": "Status"}).encode(),
    json.dumps(SERVICE | {"apiVersion": "aim.eai.amd.com/v1alpha1"}).encode(),
    json.dumps(SERVICE | {"metadata": {"name": "other", "namespace": "team-a"}}).encode(),
    json.dumps(SERVICE | {"metadata": {"name": "llama", "namespace": "team-b"}}).encode(),
    json.dumps(SERVICE).encode() + b"}",
]


@pytest.mark.parametrize("body", UNUSABLE, ids=range(len(UNUSABLE)))
def test_success_counts_only_with_the_object_that_was_asked_for(body):
    assert type(failure(READ, raw(200, body))) is UnreadableAnswer
    assert type(failure(WRITE, raw(200, body))) is OutcomeUnknown


def test_integers_stay_exact_and_warnings_arrive():
    warnings = ('299 - "first \\"quoted\\"", 299 kube "second"', '299 - "third"')
    answer = interpret(WRITE, raw(200, SERVICE, warning=warnings), str)
    assert answer.body["metadata"]["generation"] == 9223372036854775809
    assert answer.warnings == ('first "quoted"', "second", "third")


def test_what_the_server_quotes_passes_through_the_redaction():
    def redact(text):
        return text.replace("hunter2", "***")

    causes = [{"field": "spec.env[0]", "message": 'Invalid value: "hunter2"'}]
    body = status(422, "Invalid", 'Invalid value: "hunter2"\n  twice', **NAMED, causes=causes)
    error = failure(WRITE, raw(422, body), redact)
    assert "hunter2" not in str(error) + error.message + repr(error.details)
    assert error.message == 'Invalid value: "***" twice'
    assert error.details["causes"][0]["field"] == "spec.env[0]"
    answer = interpret(WRITE, raw(200, SERVICE, warning='299 - "hunter2"'), redact)
    assert answer.warnings == ("***",)


def test_an_absence_that_says_only_what_was_asked_for_costs_no_redaction():
    shown = []

    def redact(text):
        shown.append(text)
        return text

    said = 'aimservices.aim.eai.amd.com "llama" not found'
    error = failure(READ, raw(404, status(404, "NotFound", said, **NAMED)), redact)
    assert (error.message, error.details, shown) == (said, NAMED, [])
    for message, details in ((f"{said} by hunter2", NAMED), (said, NAMED | {"causes": [{"message": "hunter2"}]})):
        assert isinstance(failure(READ, raw(404, status(404, "NotFound", message, **details)), redact), NotFound)
        assert any("hunter2" in text for text in shown)
        shown.clear()


@pytest.mark.parametrize(
    ("header", "details", "expected"),
    [
        ("7", {"retryAfterSeconds": 3}, 7.0),
        (None, {"retryAfterSeconds": 3}, 3.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", {}, 0.0),
        ("soon", {}, None),
        (None, {}, None),
        (None, {"retryAfterSeconds": -1}, None),
    ],
)
def test_how_long_the_server_asks_to_wait(header, details, expected):
    headers = {"retry_after": header} if header else {}
    assert failure(READ, raw(429, status(429, "TooManyRequests", **details), **headers)).retry_after == expected


def test_no_message_quotes_a_long_or_structured_body():
    body = b'{"token": "hunter2"}'
    for answer in (raw(500, body), raw(200, body), raw(500, b"hunter2" * 100, content_type="text/plain")):
        assert "hunter2" not in str(failure(READ, answer))
