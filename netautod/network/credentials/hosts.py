"""`allowed_hosts`: what an entry may look like, and whether it covers a device.

An entry is an address, a network (CIDR), or a glob with `*` and `?`. Addresses, networks and globs of digits
alone (`10.1.*`) are held against the addresses that are connected to: `10.1.evil.example` is a name, which
anybody can register. Any other glob (`*.lab.example`) is held against the host as the device has it: the
zone behind it is the administrator's, so that only he decides where its names point. `*` covers all.
"""

import fnmatch
import ipaddress
import re
from collections.abc import Sequence

GLOB = re.compile(r"[A-Za-z0-9._*?:-]{1,253}")
# At least one digit of an address, and nothing but addresses can match it: `10.*`, `2001:db8:*`.
ADDRESS_GLOB = re.compile(r"(?=.*[0-9:])(?:[0-9.*?]+|[0-9A-Fa-f.:*?]*:[0-9A-Fa-f.:*?]*)")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_entry(text: str) -> bool:
    """Return whether the text is an address, a network or a glob."""
    return _network(text) is not None or GLOB.fullmatch(text) is not None


def allows(entries: Sequence[str], host: str, addresses: Sequence[str] = ()) -> bool:
    """Return whether the list is empty, one glob covers the host, or each of its addresses is in an entry.

    `addresses` are those that a name was resolved to and that are connected to; without them nothing but a
    glob covers a name. A host that is an address is its own.
    """
    if not entries or any(_covers_name(entry, host.rstrip(".").lower()) for entry in entries):
        return True
    own = _address(host)
    found = [_address(text.partition("%")[0]) for text in addresses] if own is None else [own]
    return bool(found) and all(
        address is not None and any(_covers_address(entry, address) for entry in entries) for address in found
    )


def needs_addresses(entries: Sequence[str], host: str) -> bool:
    """Return whether the addresses of the host can make a difference: it is a name that no glob covers."""
    return _address(host) is None and not allows(entries, host) and any(map(_is_about_addresses, entries))


def _is_about_addresses(entry: str) -> bool:
    return _network(entry) is not None or ADDRESS_GLOB.fullmatch(entry) is not None


def _covers_name(entry: str, host: str) -> bool:
    return not _is_about_addresses(entry) and fnmatch.fnmatchcase(host, entry.rstrip(".").lower())


def _covers_address(entry: str, address: Address) -> bool:
    network = _network(entry)
    if network is not None:
        return address in network
    return _is_about_addresses(entry) and fnmatch.fnmatchcase(str(address), entry.lower())


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
