"""The official ``kubernetes`` package, as far as it is used: reading kubeconfig files, exec plugins, in-cluster.

It is imported when a function here is called and never before, because the import takes longer than most commands. What
it does differently from kubectl is corrected where its results are used: it takes the current context of the last file
instead of the first, resolves a client certificate beside the wrong file, writes keys into files, ignores
impersonation, logs a failed exec plugin and goes on without credentials, and treats a missing user as anonymous.
"""

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import yaml

from aim_api.tree import JsonObject, get_map, get_str
from aim_template_migration.kube.errors import ConnectError

_PACKAGES_WORDS = re.compile(
    r"exec: (process returned -?[0-9]+|failed to decode process output|malformed response\. missing key '[A-Za-z]+'"
    r"|plugin api version [\w./]+ does not match [\w./]+)"
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One named cluster, context or user, and the file it stands in, beside which relative paths begin."""

    content: JsonObject
    file: str


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The merged kubeconfig files; of entries with one name the first counts, as with kubectl.

    Attributes:
        files: the files that were read, in order.
        current_context: that of the first file that names one.
        contexts: by name.
        clusters: by name.
        users: by name.
    """

    files: tuple[str, ...]
    current_context: str | None
    contexts: dict[str, Entry]
    clusters: dict[str, Entry]
    users: dict[str, Entry]


@dataclass(frozen=True, slots=True)
class InCluster:
    """Where a pod finds the API server and its service account."""

    server: str
    authorities_file: str
    token_file: str


class _Node(Protocol):
    value: JsonObject


class _Item(Protocol):
    value: JsonObject
    path: str


class _Merger(Protocol):
    config: _Node | None
    config_files: dict[str, JsonObject]

    def load_config(self, path: str) -> None: ...


class _ExecProvider(Protocol):
    def run(self) -> JsonObject: ...


class _Configuration(Protocol):
    host: str
    ssl_ca_cert: str


def read_kubeconfig(files: Sequence[str]) -> Kubeconfig:
    """Read and merge kubeconfig files.

    Raises:
        ConnectError: a file cannot be read, is not YAML, is empty or is no kubeconfig; it names the file.
    """
    module = importlib.import_module("kubernetes.config.kube_config")
    merger = cast("_Merger", module.KubeConfigMerger(""))
    read: list[str] = []
    for file in files:
        try:
            merger.load_config(file)
        except OSError as error:
            raise ConnectError(f"the kubeconfig {file} cannot be read: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ConnectError(f"the kubeconfig {file} is not YAML{_position(error)}; correct the file") from error
        except module.ConfigException as error:
            if len(files) > 1:
                continue  # kubectl reads an empty file of several as one without entries
            raise ConnectError(
                f"the kubeconfig {file} is empty; name another with --kubeconfig, or write it anew"
            ) from error
        except (AttributeError, KeyError, TypeError) as error:
            raise _no_kubeconfig(file) from error
        read.append(file)
    if merger.config is None:
        raise ConnectError(f"the kubeconfig files {', '.join(files)} are empty; write one anew")
    named = (get_str(merger.config_files[file], "current-context") for file in read)
    return Kubeconfig(
        files=tuple(read),
        current_context=next((name for name in named if name), None),
        contexts=_entries(merger.config, "contexts", "context"),
        clusters=_entries(merger.config, "clusters", "cluster"),
        users=_entries(merger.config, "users", "user"),
    )


def run_exec_plugin(settings: JsonObject, cluster: JsonObject) -> JsonObject:
    """Run an exec plugin and return the status of the ExecCredential that it prints.

    Args:
        settings: the ``exec`` block of the user.
        cluster: what the plugin may be told of the cluster; it is told only with ``provideClusterInfo``.

    Raises:
        ConnectError: the plugin is missing, fails, or prints something else.
    """
    provider = importlib.import_module("kubernetes.config.exec_provider")
    config = importlib.import_module("kubernetes.config.kube_config")
    command = get_str(settings, "command") or ""
    try:
        plugin = cast(
            "_ExecProvider",
            provider.ExecProvider(config.ConfigNode("exec", settings), None, config.ConfigNode("cluster", cluster)),
        )
        return get_map({"status": plugin.run()}, "status")
    except FileNotFoundError as error:
        hint = " ".join((get_str(settings, "installHint") or "install it, or correct the kubeconfig").split())
        raise ConnectError(f"the exec plugin {command} is not found; {hint}") from error
    except (config.ConfigException, OSError, KeyError, TypeError, ValueError) as error:
        raise ConnectError(f"the exec plugin {command} failed: {_why(error)}; run it by hand to see why") from error


def in_cluster(environ: Mapping[str, str]) -> InCluster:
    """Return the settings of the pod that this process runs in, whose ``environ`` names the server.

    Raises:
        ConnectError: there is no service account, or the environment does not name the server.
    """
    module = importlib.import_module("kubernetes.config.incluster_config")
    configuration = cast("_Configuration", importlib.import_module("kubernetes.client").Configuration())
    token_file, authorities_file = module.SERVICE_TOKEN_FILENAME, module.SERVICE_CERT_FILENAME
    try:
        loader = module.InClusterConfigLoader(
            token_filename=token_file, cert_filename=authorities_file, environ=environ
        )
        loader.load_and_set(configuration)
    except (module.ConfigException, OSError) as error:
        raise ConnectError(
            f"this pod has no usable service account ({error}); mount its token, or name a kubeconfig"
        ) from error
    return InCluster(configuration.host, authorities_file, token_file)


def _why(error: Exception) -> str:
    """Say how an exec plugin failed. Its own words are not quoted: they may hold the credentials it was to return."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    said = _PACKAGES_WORDS.match(str(error))
    return said[1] if said else "its settings, or what it printed, are not as they must be"


def _entries(node: _Node, plural: str, singular: str) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for item in cast("list[_Item]", node.value.get(plural)):
        name = get_str(item.value, "name")
        if not name:
            raise _no_kubeconfig(item.path)
        entries.setdefault(name, Entry(get_map(item.value, singular), item.path))
    return entries


def _no_kubeconfig(file: str) -> ConnectError:
    return ConnectError(
        f"the kubeconfig {file} is no kubeconfig: it must be a map with lists of named clusters, contexts and users"
    )


def _position(error: Exception) -> str:
    """Say where a YAML error is; its own text can quote the file, which holds credentials."""
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
