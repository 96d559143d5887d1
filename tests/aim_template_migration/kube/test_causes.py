import errno
import socket
import ssl

import pytest
from urllib3.exceptions import (
    ConnectTimeoutError,
    DecodeError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from aim_template_migration.kube.causes import why_lost, why_not_sent

SERVER = "https://api.example.com:6443"


def caused(error, cause):
    error.__cause__ = cause
    return error


def verification(message):
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = message
    return error


NOT_SENT = [
    (caused(NewConnectionError(None, "x"), OSError(errno.EHOSTUNREACH, "No route to host")), "no route to host", True),
    (caused(NewConnectionError(None, "x"), ConnectionRefusedError(111, "Connection refused")), "refused", True),
    (caused(NewConnectionError(None, "x"), TimeoutError(110, "Connection timed out")), "in time", True),
    (ConnectTimeoutError(None, "x"), "in time", True),
    (ReadTimeoutError(None, None, "handshake"), "in time", True),
    (NameResolutionError("api.example.com", None, socket.gaierror(-2, "unknown")), "cannot be resolved", True),
    (SSLError(verification("certificate has expired")), "certificate has expired; check", False),
    (SSLError(ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] x")), "the TLS handshake with", False),
    (SSLError(ssl.SSLEOFError(8, "EOF occurred")), "eof occurred", True),
    (ProxyError("x", OSError("Tunnel connection failed: 407 Proxy Authentication Required")), "the proxy to", False),
    (ProxyError("x", ConnectionRefusedError(111, "Connection refused")), "refused; check proxy-url", True),
    (
        ProtocolError("Connection aborted.", ConnectionResetError(104, "Connection reset by peer")),
        "reset by peer",
        True,
    ),
    (ValueError("Invalid header value b'Bearer hunter2'"), "ValueError", True),
    (None, "no reason given", True),
]


@pytest.mark.parametrize(("error", "words", "transient"), NOT_SENT)
def test_why_nothing_was_sent(error, words, transient):
    cause = why_not_sent(error, SERVER)
    assert words in cause.text
    assert SERVER in cause.text
    assert "hunter2" not in cause.text
    assert cause.transient == transient


LOST = [
    (None, "no complete answer within 30 seconds", True),
    (ReadTimeoutError(None, None, "x"), "no complete answer within 30 seconds", True),
    (ProtocolError("broken", ConnectionResetError(104, "Connection reset by peer")), "connection reset by peer", True),
    (SSLError(ssl.SSLError(1, "[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert")), "client certificate", False),
    (SSLError(ssl.SSLError(1, "bad record mac")), "bad record mac", True),
    (DecodeError("not gzip: hunter2"), "compressed wrongly", True),
]


@pytest.mark.parametrize(("error", "words", "transient"), LOST)
def test_why_an_answer_is_lost(error, words, transient):
    cause = why_lost(error, 30.0)
    assert words in cause.text
    assert "hunter2" not in cause.text
    assert cause.transient == transient
