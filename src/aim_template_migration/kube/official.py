"""The official ``kubernetes`` package, as far as it is used: exec plugins, and the service account of a pod.

It is imported when a function here is called and never before, because the import takes longer than most commands. Its
reader of kubeconfig files is not used for that reason (``kubeconfig_files``), and since it differs from kubectl: it
takes the current context of the last file instead of the first, resolves a client certificate beside the wrong file,
writes keys into files, ignores impersonation, logs a failed exec plugin and goes on without credentials, and treats a
missing user as anonymous.
"""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from aim_api.tree import JsonObject, get_map, get_str
from aim_template_migration.kube.errors import ConnectError

_PACKAGES_WORDS = re.compile(
    r"exec: (process returned -?[0-9]+|failed to decode process output|malformed response\. missing key '[A-Za-z]+'"
    r"|plugin api version [\w./]+ does not match [\w./]+)"
)


@dataclass(frozen=True, slots=True)
class InCluster:
    """Where a pod finds the API server and its service account."""

    server: str
    authorities_file: str
    token_file: str


class _ExecProvider(Protocol):
    def run(self) -> JsonObject: ...


class _Configuration(Protocol):
    host: str
    ssl_ca_cert: str


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
