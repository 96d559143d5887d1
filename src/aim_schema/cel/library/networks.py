"""IP addresses, networks and URLs."""

import ipaddress
import urllib.parse
from collections.abc import Callable

from aim_schema import gotext
from aim_schema.cel.failures import CelError
from aim_schema.cel.functions import Functions, function, member
from aim_schema.cel.types import BOOL, INT, STRING, Type, list_of, map_of
from aim_schema.cel.values import Opaque
from aim_schema.formats import is_request_uri

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface


class IP(Opaque):
    """An IP address."""

    __slots__ = ("address",)
    cel_type = "net.IP"

    def __init__(self, address: _Address) -> None:
        self.address = address

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IP) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)


class CIDR(Opaque):
    """An address with the length of its network's prefix."""

    __slots__ = ("interface",)
    cel_type = "net.CIDR"

    def __init__(self, interface: _Interface) -> None:
        self.interface = interface

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CIDR) and self.interface == other.interface

    def __hash__(self) -> int:
        return hash(self.interface)

    @property
    def bits(self) -> int:
        """The length of the prefix."""
        return self.interface.network.prefixlen


class URL(Opaque):
    """An absolute URL, or a path."""

    __slots__ = ("parts", "text")
    cel_type = "kubernetes.URL"

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts = urllib.parse.urlsplit(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URL) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


_IP, _CIDR, _URL = Type(IP.cel_type), Type(CIDR.cel_type), Type(URL.cel_type)


def _parse_ip(text: str) -> IP:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise CelError(
            f"IP Address {gotext.quote(text)} parse error during conversion from string: "
            f"ParseAddr({gotext.quote(text)}): unable to parse IP"
        ) from None
    if "%" in text:
        raise CelError(f"IP address {gotext.quote(text)} with zone value is not allowed")
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise CelError(f"IPv4-mapped IPv6 address {gotext.quote(text)} is not allowed")
    return IP(address)


def _parse_cidr(text: str) -> CIDR:
    problem = "network address parse error during conversion from string"
    address, slash, bits = text.partition("/")
    try:
        if (
            not slash
            or not (bits.isascii() and bits.isdigit())
            or (len(bits) > 1 and bits.startswith("0"))
            or "%" in text
        ):
            raise ValueError
        interface = ipaddress.ip_interface(text)
    except ValueError:
        detail = "no '/'" if not slash else "bad bits after slash: " + gotext.quote(bits)
        raise CelError(f"{problem}: {problem}: netip.ParsePrefix({gotext.quote(text)}): {detail}") from None
    if isinstance(interface, ipaddress.IPv6Interface) and interface.ip.ipv4_mapped is not None:
        raise CelError(f"{problem}: IPv4-mapped IPv6 address {gotext.quote(address)} is not allowed")
    return CIDR(interface)


def _is(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except CelError:
            return False
        return True

    return check


def _contains_ip(network: CIDR, address: IP | str) -> bool:
    return (address if isinstance(address, IP) else _parse_ip(address)).address in network.interface.network


def _contains_cidr(network: CIDR, other: CIDR | str) -> bool:
    inner = other if isinstance(other, CIDR) else _parse_cidr(other)
    outer, wanted = network.interface.network, inner.interface.network
    return outer.version == wanted.version and outer.overlaps(wanted) and network.bits <= inner.bits


def _masked(network: CIDR) -> CIDR:
    return CIDR(ipaddress.ip_interface(str(network.interface.network)))


def _is_global_unicast(value: IP) -> bool:
    """Everything but the unspecified, loopback, multicast and link-local addresses and IPv4's broadcast."""
    address = value.address
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"


def _is_link_local_multicast(value: IP) -> bool:
    network = "224.0.0.0/24" if value.address.version == 4 else "ff02::/16"
    prefix = ipaddress.ip_network(network)
    if isinstance(value.address, ipaddress.IPv6Address):
        return value.address.packed[0] == 0xFF and value.address.packed[1] & 0x0F == 0x02
    return value.address in prefix


def _parse_url(text: str) -> URL:
    if not is_request_uri(text):
        problem = "empty url" if not text else "invalid URI for request"
        raise CelError(f"URL parse error during conversion from string: parse {gotext.quote(text)}: {problem}")
    return URL(text)


def _host(url: URL) -> str:
    return url.parts.netloc.rpartition("@")[2]


def _hostname(url: URL) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1 : host.index("]")]
    return host.partition(":")[0]


def _port(url: URL) -> str:
    return _host(url).rpartition("]")[2].partition(":")[2]


def _escaped_path(url: URL) -> str:
    return urllib.parse.quote(url.parts.path, safe="%/:@!$&'()*+,;=~-._")


def _query(url: URL) -> dict[str, list[str]]:
    return urllib.parse.parse_qs(url.parts.query, keep_blank_values=True)


FUNCTIONS: Functions = {
    "ip": (function((STRING,), _IP, _parse_ip), member((_CIDR,), _IP, lambda network: IP(network.interface.ip))),
    "isIP": (function((STRING,), BOOL, _is(_parse_ip)),),
    "ip.isCanonical": (function((STRING,), BOOL, lambda text: str(_parse_ip(text).address) == text),),
    "family": (member((_IP,), INT, lambda value: value.address.version),),
    "isUnspecified": (member((_IP,), BOOL, lambda value: value.address.is_unspecified),),
    "isLoopback": (member((_IP,), BOOL, lambda value: value.address.is_loopback),),
    "isLinkLocalMulticast": (member((_IP,), BOOL, _is_link_local_multicast),),
    "isLinkLocalUnicast": (member((_IP,), BOOL, lambda value: value.address.is_link_local),),
    "isGlobalUnicast": (member((_IP,), BOOL, _is_global_unicast),),
    "cidr": (function((STRING,), _CIDR, _parse_cidr),),
    "isCIDR": (function((STRING,), BOOL, _is(_parse_cidr)),),
    "containsIP": (member((_CIDR, STRING), BOOL, _contains_ip), member((_CIDR, _IP), BOOL, _contains_ip)),
    "containsCIDR": (member((_CIDR, STRING), BOOL, _contains_cidr), member((_CIDR, _CIDR), BOOL, _contains_cidr)),
    "prefixLength": (member((_CIDR,), INT, lambda network: network.bits),),
    "masked": (member((_CIDR,), _CIDR, _masked),),
    "string": (
        function((_IP,), STRING, lambda value: str(value.address)),
        function((_CIDR,), STRING, lambda network: str(network.interface)),
    ),
    "url": (function((STRING,), _URL, _parse_url),),
    "isURL": (function((STRING,), BOOL, is_request_uri),),
    "getScheme": (member((_URL,), STRING, lambda url: url.parts.scheme),),
    "getHost": (member((_URL,), STRING, _host),),
    "getHostname": (member((_URL,), STRING, _hostname),),
    "getPort": (member((_URL,), STRING, _port),),
    "getEscapedPath": (member((_URL,), STRING, _escaped_path),),
    "getQuery": (member((_URL,), map_of(STRING, list_of(STRING)), _query),),
}
