"""Which proxy leads to the API server: the kubeconfig's ``proxy-url``, else the environment, as with kubectl."""

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote, urlsplit

from urllib3.util import make_headers, parse_url

from aim_template_migration.kube.errors import ConnectError

_SCHEMES = ("http", "https", "socks5", "socks5h")


def parts_of(url: str) -> SplitResult | None:
    """Return the parts of a URL; None where its host or port is none, so that no connection can be opened to it."""
    try:
        parse_url(url)
        parts = urlsplit(url)
        host = parts.hostname or ""
        host.encode("idna")  # as sockets do, which have no sentence for an empty label or one of more than 63 bytes
        return parts if host and parts.port != 0 else None
    except ValueError:
        return None


def proxy_for(server: str, configured: str | None, environ: Mapping[str, str]) -> str | None:
    """Return the URL of the proxy for ``server``, or None.

    ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` count in both cases, lower case last. A server on the loopback
    is reached directly whatever the environment says.

    Raises:
        ConnectError: the URL is no proxy URL.
    """
    target = urlsplit(server)
    proxy = configured
    if not proxy and not _bypassed(target.hostname or "", _port(server), _variable(environ, "NO_PROXY")):
        proxy = _variable(environ, f"{target.scheme.upper()}_PROXY")
        if proxy and "://" not in proxy:
            proxy = f"http://{proxy}"
    if not proxy:
        return None
    parts = parts_of(proxy)
    if parts is None or parts.scheme not in _SCHEMES:
        source = "proxy-url of the kubeconfig" if configured else f"{target.scheme.upper()}_PROXY"
        schemes = ", ".join(_SCHEMES)
        raise ConnectError(f"{source} must be a URL that begins with one of {schemes}, with a valid host and port")
    return proxy


def proxy_credentials(proxy: str) -> tuple[str, Mapping[str, str]]:
    """Split a proxy URL into the URL without credentials and the headers that carry them (HTTP proxies)."""
    parts = urlsplit(proxy)
    if parts.username is None or parts.scheme.startswith("socks"):
        return proxy, {}
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    bare = parts._replace(netloc=f"{host}:{parts.port}" if parts.port else f"{host}").geturl()
    return bare, make_headers(proxy_basic_auth=f"{unquote(parts.username)}:{unquote(parts.password or '')}")


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _port(server: str) -> int:
    parts = urlsplit(server)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _bypassed(host: str, port: int, no_proxy: str) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    entries = [entry.strip().lower() for entry in no_proxy.split(",")]
    return any(_covers(entry, host.lower(), port, address) for entry in entries if entry)


def _covers(entry: str, host: str, port: int, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> bool:
    """Return whether one entry of NO_PROXY names the host: ``*``, a network, a name or a domain, maybe with a port."""
    if entry == "*":
        return True
    if address is not None and "/" in entry:
        try:
            return address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    name, _, wanted_port = entry.rpartition(":")
    if name and wanted_port.isdecimal() and ":" not in name:
        if int(wanted_port) != port:
            return False
        entry = name
    domain = entry.removeprefix("*").removeprefix(".")
    return host == domain or host.endswith(f".{domain}")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
