"""From kubeconfig files to where the API server is and who asks; kubectl's rules."""

import os
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aim_api.tree import JsonObject, get_bool, get_list, get_str
from aim_template_migration.kube.errors import ConnectError
from aim_template_migration.kube.identity import Identity, data_or_file, identity_of
from aim_template_migration.kube.kubeconfig_files import Entry, Kubeconfig, read_kubeconfig
from aim_template_migration.kube.proxies import parts_of, proxy_for
from aim_template_migration.kube.tls import TlsSettings
from aim_template_migration.kube.transport import Endpoint

DEFAULT_FILE = "~/.kube/config"
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class Selection:
    """The entries of one context. The context's namespace is left out on purpose: it is never used.

    Attributes:
        context: the context's name.
        cluster: the cluster's entry.
        user: the user's entry.
        user_name: the user's name, empty for a context without a user.
        files: the files that were read.
    """

    context: str
    cluster: Entry
    user: Entry
    user_name: str
    files: tuple[str, ...]

    @property
    def origin(self) -> str:
        """The context and the files, for messages."""
        return f'context "{self.context}" of {", ".join(self.files)}'


def kubeconfig_files(explicit: str | None, environ: Mapping[str, str]) -> list[str]:
    """Return the files to read: the one named, those of ``KUBECONFIG`` that exist, or the default; else none.

    Raises:
        ConnectError: the file named, or every file of ``KUBECONFIG``, does not exist.
    """
    if explicit:
        path = Path(explicit).expanduser()
        if not path.exists():
            raise ConnectError(f"the kubeconfig {path} does not exist; correct --kubeconfig")
        return [str(path)]
    named = [path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    existing = [str(path) for path in (Path(name).expanduser() for name in named) if path.exists()]
    if named and not existing:
        raise ConnectError(f"no file that KUBECONFIG names exists ({', '.join(named)}); correct the variable")
    default = Path(DEFAULT_FILE).expanduser()
    return existing or ([str(default)] if default.exists() else [])


def select(files: list[str], context: str | None) -> Selection:
    """Read the files and pick one context, the current one unless another is named.

    Raises:
        ConnectError: a file is no kubeconfig, or the context, its cluster or its user is missing.
    """
    config = read_kubeconfig(files)
    names = ", ".join(config.files)
    chosen = context or config.current_context
    if not chosen:
        raise ConnectError(f"the kubeconfig {names} has no current-context; name one with --context")
    entry = config.contexts.get(chosen)
    if entry is None:
        known = ", ".join(sorted(config.contexts)) or "none"
        raise ConnectError(f'context "{chosen}" is not in {names}; name one that is there with --context: {known}')
    cluster = _referenced(config, config.clusters, entry, "cluster", chosen)
    user_name = get_str(entry.content, "user") or ""
    user = _referenced(config, config.users, entry, "user", chosen) if user_name else Entry({}, entry.file)
    return Selection(chosen, cluster, user, user_name, config.files)


def endpoint_of(selection: Selection, environ: Mapping[str, str]) -> Endpoint:
    """Return where the API server is.

    Raises:
        ConnectError: no usable server URL, proxy or certificate authority.
    """
    content, file = selection.cluster.content, selection.cluster.file
    server = (get_str(content, "server") or "").rstrip("/")
    parts = parts_of(server)
    if parts is None or parts.scheme not in ("https", "http"):
        raise ConnectError(
            f"{selection.origin}: the cluster's server must be a URL that begins with https://, "
            "with a valid host and port"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConnectError(
            f"{selection.origin}: the cluster's server must hold no credentials, query or fragment; "
            "credentials belong to a user"
        )
    authorities = data_or_file(content, "certificate-authority", file)
    verify = not get_bool(content, "insecure-skip-tls-verify")
    if authorities is not None and not verify:
        raise ConnectError(
            f"{selection.origin}: certificate-authority and insecure-skip-tls-verify exclude each other; remove one"
        )
    tls = TlsSettings(authorities, verify, get_str(content, "tls-server-name") or None)
    return Endpoint(server, tls, proxy_for(server, get_str(content, "proxy-url"), environ))


def identity_in(selection: Selection, endpoint: Endpoint, now: float) -> Identity:
    """Return the credentials of the context's user; an exec plugin runs.

    Over plain HTTP there are none, as with kubectl: anybody on the way could read them.

    Raises:
        ConnectError: as ``identity_of`` says.
    """
    if endpoint.server.startswith("http://"):
        return Identity("no credentials, which are never sent over plain HTTP,")
    return identity_of(
        selection.user.content,
        name=selection.user_name,
        file=selection.user.file,
        cluster=_told_to_plugins(selection.cluster),
        now=now,
    )


def _referenced(config: Kubeconfig, entries: dict[str, Entry], context: Entry, key: str, chosen: str) -> Entry:
    name = get_str(context.content, key)
    entry = entries.get(name or "")
    if entry is None:
        raise ConnectError(
            f'context "{chosen}" of {", ".join(config.files)} needs {key} "{name or ""}", which is not there; '
            f"add the {key} or correct the context"
        )
    return entry


def _told_to_plugins(cluster: Entry) -> JsonObject:
    """Return the cluster as an ExecCredential describes it: the authority as data, and the plugin's own settings."""
    told = {key: value for key, value in cluster.content.items() if key not in ("certificate-authority", "extensions")}
    if get_str(cluster.content, "certificate-authority") and not get_str(told, "certificate-authority-data"):
        authorities = data_or_file(cluster.content, "certificate-authority", cluster.file) or b""
        told["certificate-authority-data"] = b64encode(authorities).decode()
    for extension in get_list(cluster.content, "extensions"):
        if get_str(extension, "name") == _EXEC_EXTENSION and isinstance(extension, dict):
            told["config"] = extension.get("extension")
    return told
