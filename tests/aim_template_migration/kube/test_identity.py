import base64
import json
import sys

import pytest

from aim_template_migration.kube.errors import ConnectError
from aim_template_migration.kube.identity import Impersonation, identity_of, impersonation_of

NOW = 1_800_000_000.0
CERTIFICATE = {"client-certificate-data": base64.b64encode(b"CERT").decode()}
CREDENTIAL = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
KEY = {"client-key-data": base64.b64encode(b"KEY").decode()}


@pytest.fixture
def file(tmp_path):
    return str(tmp_path / "kube" / "config")


@pytest.fixture
def identify(file):
    def identify(user, cluster=None):
        return identity_of(user, name="alice", file=file, cluster=cluster or {}, now=NOW)

    return identify


@pytest.fixture
def plugin(tmp_path):
    """Write an executable that prints an ExecCredential, or runs the given lines, and return its path."""

    def write(status=None, *, lines=(), name="plugin", version="client.authentication.k8s.io/v1"):
        credential = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["#!/bin/sh", *(lines or [f"cat <<'END'\n{credential}\nEND"]), ""]))
        path.chmod(0o700)
        return {"apiVersion": version, "command": str(path), "interactiveMode": "Never"}

    return write


def refused(call, *arguments):
    with pytest.raises(ConnectError) as caught:
        call(*arguments)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_the_order_of_precedence_is_kubectls(identify, tmp_path, plugin):
    (tmp_path / "kube").mkdir()
    (tmp_path / "kube" / "token").write_text("from-file\n")
    user = {
        "exec": plugin({"token": "from-plugin"}),
        "username": "alice",
        "password": "pass:word",
        "token": "from-config",
        "tokenFile": "token",
    }
    expected = ["Bearer from-file", "Bearer from-config", None, "Bearer from-plugin"]
    for key, value in zip(("tokenFile", "token", "username", "exec"), expected, strict=True):
        (header,) = identify(user).headers
        assert header[0] == "Authorization"
        if value is None:
            assert base64.b64decode(header[1].removeprefix("Basic ")) == b"alice:pass:word"
        else:
            assert header[1] == value
        del user[key]
    assert identify(user).headers == ()


def test_a_client_certificate_goes_with_any_of_them(identify, plugin):
    for user in ({"token": "t"}, {"exec": plugin({"token": "t"})}, {}):
        identity = identify(user | CERTIFICATE | KEY)
        assert (identity.client_certificate.certificate, identity.client_certificate.key) == (b"CERT", b"KEY")


def test_files_of_a_user_lie_beside_the_kubeconfig(identify, tmp_path):
    folder = tmp_path / "kube" / "pki"
    folder.mkdir(parents=True)
    (folder / "c.pem").write_bytes(b"CERT")
    (tmp_path / "key.pem").write_bytes(b"KEY")
    user = {"client-certificate": "pki/c.pem", "client-key": str(tmp_path / "key.pem")}
    assert identify(user).client_certificate.key == b"KEY"


def test_data_come_before_files(identify):
    user = {"client-certificate": "gone", "client-key": "gone"} | CERTIFICATE | KEY
    assert identify(user).client_certificate.certificate == b"CERT"


@pytest.mark.parametrize(
    ("user", "words"),
    [
        (CERTIFICATE, "lacks client-key"),
        (KEY, "lacks client-certificate"),
        ({"client-certificate": "gone.pem"} | KEY, "gone.pem cannot be read: No such file or directory"),
        ({"client-key-data": "!"}, "client-key-data in {file} is not base64"),
        ({"tokenFile": "gone"}, "the token file {folder}/gone cannot be read"),
        ({"token": "a\nb"}, "line break"),
        ({"token": "  "}, "is empty"),
        ({"auth-provider": {"name": "gcp"}}, 'auth-provider "gcp" is not supported'),
        ({"auth-provider": {"name": "oidc", "config": {}}}, "has no id-token"),
    ],
)
def test_credentials_that_cannot_be_used_are_explained(identify, file, user, words):
    text = refused(identify, user)
    assert words.format(file=file, folder=file.removesuffix("/config")) in text


def test_an_oidc_token_is_used_and_left_to_kubectl_to_renew(identify):
    identity = identify({"auth-provider": {"name": "oidc", "config": {"id-token": "jwt", "refresh-token": "r"}}})
    assert identity.headers == (("Authorization", "Bearer jwt"),)
    assert "kubectl" in identity.next_step


def test_nothing_shows_the_secrets(identify):
    text = repr(identify({"token": "hunter2"} | CERTIFICATE | KEY)) + repr(identify({"username": "a", "password": "b"}))
    assert "hunter2" not in text
    assert "KEY" not in text


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_an_exec_plugin_gives_a_token_and_says_when_it_expires(identify, plugin, version):
    status = {"token": "from-plugin", "expirationTimestamp": "2027-01-15T08:01:00Z"}
    identity = identify({"exec": plugin(status, version=f"client.authentication.k8s.io/{version}")})
    assert identity.headers == (("Authorization", "Bearer from-plugin"),)
    assert NOW + 50 <= identity.expires_at < NOW + 60


def test_a_token_of_a_few_seconds_is_not_asked_for_with_every_request(identify, plugin):
    status = {"token": "t", "expirationTimestamp": "2027-01-15T08:00:05.123456789Z"}
    assert identify({"exec": plugin(status)}).expires_at >= NOW + 4


def test_an_exec_plugin_gives_a_client_certificate(identify, plugin):
    status = {"clientCertificateData": "CERT", "clientKeyData": "KEY"}
    identity = identify({"exec": plugin(status)} | CERTIFICATE | {"client-key-data": KEY["client-key-data"]})
    assert identity.headers == ()
    assert (identity.client_certificate.certificate, identity.client_certificate.key) == (b"CERT", b"KEY")


def test_a_plugin_gets_its_arguments_its_environment_and_the_cluster(identify, plugin, tmp_path, monkeypatch):
    monkeypatch.setenv("INHERITED", "yes")
    seen = tmp_path / "seen"
    lines = [
        f'printf "%s\\n" "$@" "$ADDED" "$INHERITED" "$KUBERNETES_EXEC_INFO" > {seen}',
        f"echo '{json.dumps(CREDENTIAL | {'status': {'token': 't'}})}'",
    ]
    settings = plugin(lines=lines) | {
        "args": ["get-token", "--cluster", "x y"],
        "env": [{"name": "ADDED", "value": "more"}],
        "provideClusterInfo": True,
    }
    cluster = {"server": "https://api.example.com", "config": {"region": "eu"}}
    identify({"exec": settings}, cluster)
    *words, info = seen.read_text().splitlines()
    assert words == ["get-token", "--cluster", "x y", "more", "yes"]
    assert json.loads(info)["spec"]["cluster"] == cluster
    identify({"exec": settings | {"provideClusterInfo": False}}, cluster)
    assert "cluster" not in json.loads(seen.read_text().splitlines()[-1])["spec"]


def test_a_relative_command_lies_beside_the_kubeconfig_and_a_bare_one_on_the_path(
    identify, plugin, tmp_path, monkeypatch
):
    settings = plugin({"token": "relative"}, name="kube/bin/plugin") | {"command": "./bin/plugin"}
    assert identify({"exec": settings}).headers[0][1] == "Bearer relative"
    monkeypatch.setenv("PATH", f"{tmp_path / 'kube' / 'bin'}:/usr/bin:/bin")
    assert identify({"exec": settings | {"command": "plugin"}}).headers[0][1] == "Bearer relative"


EXEC_FAILURES = {
    "fails": (["echo 'the token hunter2 has expired' >&2", "exit 3"], "process returned 3; run it by hand"),
    "prints no JSON": (["echo token hunter2"], "failed to decode process output"),
    "prints a list": (["echo '[\"hunter2\"]'"], "missing key 'apiVersion'"),
    "prints another version": (
        ['echo \'{"apiVersion": "v9", "kind": "ExecCredential", "status": {"token": "hunter2"}}\''],
        "plugin api version v9 does not match",
    ),
}


@pytest.mark.parametrize(("lines", "words"), EXEC_FAILURES.values(), ids=EXEC_FAILURES)
def test_a_plugin_that_fails_is_an_error_and_never_an_anonymous_request(identify, plugin, lines, words, capfd):
    settings = plugin(lines=lines)
    text = refused(identify, {"exec": settings})
    assert words in text
    assert 'user "alice"' in text
    assert settings["command"] in text
    output = "".join(capfd.readouterr())
    assert "hunter2" not in text + output


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({}, "neither a token nor a client certificate"),
        (None, "neither a token nor a client certificate"),
        ({"clientCertificateData": "CERT"}, "neither a token nor a client certificate"),
        ({"token": "t", "expirationTimestamp": "soon"}, "expirationTimestamp that is no time"),
        ({"token": "a\nb"}, "line break"),
    ],
)
def test_a_plugin_that_returns_something_else_is_refused(identify, plugin, status, words):
    assert words in refused(identify, {"exec": plugin(status)})


def test_a_missing_plugin_says_how_to_install_it(identify):
    settings = {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin"}
    assert "the exec plugin no-such-plugin is not found; install it" in refused(identify, {"exec": settings})
    hint = settings | {"installHint": "Get it from\nhttps://example.com"}
    assert "not found; Get it from https://example.com" in refused(identify, {"exec": hint})


@pytest.mark.parametrize(
    "settings", [{"command": "x"}, {"apiVersion": "v1"}, {"apiVersion": "v1", "command": sys.executable, "env": [3]}]
)
def test_a_malformed_plugin_is_refused(identify, settings):
    assert "failed" in refused(identify, {"exec": settings})


USER = {
    "as": "bob",
    "as-uid": "42",
    "as-groups": ["devs", "ops"],
    "as-user-extra": {"reason": ["drill", "test"], "acme.com/project": ["x"]},
}


def test_impersonation_of_the_kubeconfig_reaches_the_server_as_kubectl_sends_it():
    assert impersonation_of(USER, Impersonation()).headers() == (
        ("Impersonate-User", "bob"),
        ("Impersonate-Group", "devs"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Uid", "42"),
        ("Impersonate-Extra-reason", "drill"),
        ("Impersonate-Extra-reason", "test"),
        ("Impersonate-Extra-acme.com%2Fproject", "x"),
    )


def test_the_command_line_replaces_it_field_by_field():
    asked = Impersonation(user="carol", groups=("qa",))
    assert impersonation_of(USER | {"as-user-extra": {}}, asked).headers() == (
        ("Impersonate-User", "carol"),
        ("Impersonate-Group", "qa"),
        ("Impersonate-Uid", "42"),
    )
    assert impersonation_of({}, Impersonation()).headers() == ()


def test_a_group_without_a_user_is_refused():
    assert "needs a user" in refused(impersonation_of({"as-groups": ["ops"]}, Impersonation()).headers)


def test_a_line_break_cannot_smuggle_a_header():
    assert "line break" in refused(Impersonation(user="bob\r\nImpersonate-Group: system:masters").headers)
