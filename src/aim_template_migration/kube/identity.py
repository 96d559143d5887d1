"""Who the user of a kubeconfig is: the credentials that go with each request; read, never written.

The order of precedence is kubectl's: a token file, a token, user name and password, an exec plugin, an OIDC token; a
client certificate goes with any of them. Impersonation comes from the kubeconfig (``as``, ``as-groups``, ``as-uid``,
``as-user-extra``) and is replaced, field by field, by what the command line asks for.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from aim_api.tree import JsonObject, get_list, get_map, get_str
from aim_template_migration.kube import official
from aim_template_migration.kube.errors import ConnectError
from aim_template_migration.kube.tls import ClientCertificate

TOKEN_FILE_LIFETIME = 60.0
"""Seconds after which a token file is read again, as kubectl does."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """Credentials for requests.

    Attributes:
        source: where they come from, for messages.
        headers: the Authorization header, if any.
        client_certificate: presented in the TLS handshake, if any.
        expires_at: seconds since 1970 after which they must be obtained anew, None for never.
        next_step: what to do when the server does not accept them.
    """

    source: str
    headers: Headers = field(default=(), repr=False)
    client_certificate: ClientCertificate | None = None
    expires_at: float | None = None
    next_step: str = "log in again, or renew them in the kubeconfig"


@dataclass(frozen=True, slots=True)
class Impersonation:
    """As whom requests are made; empty for as oneself."""

    user: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def headers(self) -> Headers:
        """Return the Impersonate headers.

        Raises:
            ConnectError: groups, a UID or extras without a user, which the server would refuse, or a line break.
        """
        if not self.user:
            if self.groups or self.uid or self.extra:
                raise ConnectError("impersonating a group, uid or user extra needs a user; add `as`, or --as")
            return ()
        headers = [("Impersonate-User", self.user), *(("Impersonate-Group", group) for group in self.groups)]
        if self.uid:
            headers.append(("Impersonate-Uid", self.uid))
        for key, values in self.extra.items():
            name = "Impersonate-Extra-" + quote(key, safe="!#$&'*+-.^_`|~")
            headers.extend((name, value) for value in values)
        return checked_headers(headers, "the impersonation")


def impersonation_of(user: JsonObject, asked: Impersonation) -> Impersonation:
    """Return the impersonation of a kubeconfig user, with each field that ``asked`` fills taken from there."""
    extra = {
        key: tuple(str(value) for value in values)
        for key, values in get_map(user, "as-user-extra").items()
        if isinstance(values, list)
    }
    groups = tuple(str(group) for group in get_list(user, "as-groups"))
    return Impersonation(
        user=asked.user or get_str(user, "as") or "",
        groups=asked.groups or groups,
        uid=asked.uid or get_str(user, "as-uid") or "",
        extra=asked.extra or extra,
    )


def identity_of(user: JsonObject, *, name: str, file: str, cluster: JsonObject, now: float) -> Identity:
    """Return the credentials of a kubeconfig user; an exec plugin runs.

    Args:
        user: the user's content.
        name: the user's name.
        file: the kubeconfig it stands in.
        cluster: what an exec plugin may be told of the cluster.
        now: seconds since 1970.

    Raises:
        ConnectError: a file cannot be read, a value is malformed, the plugin fails, or the scheme is not supported.
    """
    where = f'user "{name}" in {file}'
    certificate = _certificate(user, file, where)
    token_file, token = get_str(user, "tokenFile"), get_str(user, "token")
    if token_file:
        return token_file_identity(beside(file, token_file), now=now, client_certificate=certificate)
    if token:
        return Identity(f"the token of {where}", _bearer(token, where), certificate)
    user_name, password = get_str(user, "username"), get_str(user, "password")
    if user_name:
        basic = base64.b64encode(f"{user_name}:{password or ''}".encode()).decode()
        return Identity(f"user name and password of {where}", (("Authorization", f"Basic {basic}"),), certificate)
    if get_map(user, "exec"):
        identity = _exec_identity(get_map(user, "exec"), where, file=file, cluster=cluster, now=now)
        return replace(identity, client_certificate=identity.client_certificate or certificate)
    if get_map(user, "auth-provider"):
        return _provider_identity(get_map(user, "auth-provider"), where)
    source = "the client certificate" if certificate else "no credentials"
    return Identity(f"{source} of {where}", (), certificate)


def token_file_identity(path: Path, *, now: float, client_certificate: ClientCertificate | None = None) -> Identity:
    """Return the credentials in a token file, which others renew.

    Raises:
        ConnectError: the file cannot be read, or is empty.
    """
    token = read_file(path, "the token file").decode("utf-8", "replace")
    return Identity(
        f"the token file {path}",
        _bearer(token, f"the file {path}"),
        client_certificate,
        expires_at=now + TOKEN_FILE_LIFETIME,
        next_step="renew the file",
    )


def beside(file: str, path: str) -> Path:
    """Return ``path``, relative ones counted from the folder of the kubeconfig that names them."""
    return Path(file).parent / path


def read_file(path: Path, role: str) -> bytes:
    """Return the bytes of a file that a kubeconfig names.

    Raises:
        ConnectError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConnectError(f"{role} {path} cannot be read: {error.strerror}") from error


def data_or_file(content: JsonObject, key: str, file: str) -> bytes | None:
    """Return what ``<key>-data`` (base64) or the file ``<key>`` holds, None for neither.

    Raises:
        ConnectError: the data are not base64, or the file cannot be read.
    """
    data, path = get_str(content, f"{key}-data"), get_str(content, key)
    if data:
        try:
            return base64.b64decode("".join(data.split()), validate=True)
        except binascii.Error as error:
            raise ConnectError(f"{key}-data in {file} is not base64; correct the kubeconfig") from error
    return read_file(beside(file, path), f"{key} of {file},") if path else None


def checked_headers(headers: Sequence[tuple[str, str]], origin: str) -> Headers:
    """Return the headers, which must fit into a request.

    Raises:
        ConnectError: a value has a line break or another control character.
    """
    if any(ord(char) < 32 or ord(char) == 127 for _, value in headers for char in value):
        raise ConnectError(f"{origin} has a line break or control character inside; correct it")
    return tuple(headers)


def _bearer(token: str, where: str) -> Headers:
    stripped = token.strip()
    if not stripped:
        raise ConnectError(f"the token of {where} is empty; log in again")
    return checked_headers([("Authorization", f"Bearer {stripped}")], f"the token of {where}")


def _certificate(user: JsonObject, file: str, where: str) -> ClientCertificate | None:
    certificate = data_or_file(user, "client-certificate", file)
    key = data_or_file(user, "client-key", file)
    if (certificate is None) != (key is None):
        missing = "client-certificate" if certificate is None else "client-key"
        raise ConnectError(f"{where} lacks {missing}: a certificate and its key go together; correct the kubeconfig")
    return ClientCertificate(certificate, key) if certificate is not None and key is not None else None


def _exec_identity(settings: JsonObject, where: str, *, file: str, cluster: JsonObject, now: float) -> Identity:
    command = get_str(settings, "command") or ""
    if "/" in command:
        settings = {**settings, "command": str(beside(file, command))}
    try:
        status = official.run_exec_plugin(settings, cluster)
    except ConnectError as error:
        raise ConnectError(f"{where}: {error}") from error
    token = get_str(status, "token")
    certificate, key = get_str(status, "clientCertificateData"), get_str(status, "clientKeyData")
    if not token and not (certificate and key):
        raise ConnectError(
            f"{where}: the exec plugin {command} returned neither a token nor a client certificate with its key"
        )
    return Identity(
        f"the exec plugin {command} of {where}",
        _bearer(token, where) if token else (),
        ClientCertificate(certificate.encode(), key.encode()) if certificate and key else None,
        expires_at=_expiry(get_str(status, "expirationTimestamp"), command, where, now),
        next_step=f"log in again with the tool that {command} belongs to",
    )


def _expiry(timestamp: str | None, command: str, where: str, now: float) -> float | None:
    """Return when to ask the plugin again: a little early, so that no request leaves with a token that just expired."""
    if timestamp is None:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError as error:
        raise ConnectError(
            f"{where}: the exec plugin {command} returned an expirationTimestamp that is no time"
        ) from error
    expires = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return expires - min(10.0, max(0.0, expires - now) / 10)


def _provider_identity(provider: JsonObject, where: str) -> Identity:
    name = get_str(provider, "name") or ""
    token = get_str(provider, "config", "id-token")
    if name != "oidc" or not token:
        raise ConnectError(
            f'{where}: auth-provider "{name}" is not supported, as in kubectl since 1.26; use an exec plugin'
            if name != "oidc"
            else f"{where}: auth-provider oidc has no id-token; log in again"
        )
    # kubectl refreshes it and writes the kubeconfig; doing so twice would spend a refresh token that works once.
    return Identity(
        f"the OIDC token of {where}",
        _bearer(token, where),
        next_step="run any kubectl command with this context, which renews it, or log in again",
    )
