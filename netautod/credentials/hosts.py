"""`allowed_hosts`: what an entry may look like, and whether it covers a host.

An entry is an address, a network (CIDR) or a name glob with `*` and `?`. Names are not resolved: a device
given by name is covered by globs alone, because the answer of a resolver can change before the connection.
"""

import fnmatch
import ipaddress
import re
from collections.abc import Sequence

GLOB = re.compile(r"[A-Za-z0-9._*?:-]{1,253}")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_entry(text: str) -> bool:
    """True for an address, a network or a name glob."""
    return _network(text) is not None or GLOB.fullmatch(text) is not None


def allows(entries: Sequence[str], host: str) -> bool:
    """True if the list is empty or one entry covers the host (a name or an address as text)."""
    return not entries or any(_covers(entry, host.rstrip(".").lower(), _address(host)) for entry in entries)


def _covers(entry: str, host: str, address: Address | None) -> bool:
    network = _network(entry)
    if network is None:
        return fnmatch.fnmatchcase(host, entry.rstrip(".").lower())
    return address is not None and address in network


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _address(host: str) -> Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    # ::ffff:10.0.0.1 reaches the IPv4 host 10.0.0.1 (RFC 4291 2.5.5.2).
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
