"""The forms in which devices and their ports are named by others, brought to one. Pure."""

import re
from functools import lru_cache
from ipaddress import ip_address as parsed

from netautod.core.net.device_addresses import ip_address, mac_address
from netautod.core.net.interface_names import long_name

# `switch1(FOX1234ABCD)`: CDP of NX-OS puts the serial number behind the name.
_SERIAL = re.compile(r"\([^()]*\)$")
MOST_REMEMBERED = 50_000  # names; a topology asks for each again and again
_UNIT = re.compile(r"\.\d+$")
_NO_MAC = "00:00:00:00:00:00"


@lru_cache(maxsize=MOST_REMEMBERED)
def full_name(name: str | None) -> str | None:
    """Return the name in lower case, without a serial number in brackets."""
    if name is None:
        return None
    return _SERIAL.sub("", name.strip()).strip().rstrip(".").lower() or None


@lru_cache(maxsize=MOST_REMEMBERED)
def host_name(name: str | None) -> str | None:
    """Return `full_name` without the domain; an address stays whole."""
    whole = full_name(name)
    if whole is None or re.fullmatch(r"[\d.:]+", whole):
        return whole
    return whole.partition(".")[0] or None


@lru_cache(maxsize=MOST_REMEMBERED)
def chassis_key(chassis: str | None) -> str | None:
    """Return a chassis id for comparing: MAC addresses in one form, all else in lower case.

    None for one that belongs to no device: of zeros, as loopback interfaces have it, or of a group (IEEE 802,
    the lowest bit of the first octet), as broadcasts have it.
    """
    if chassis is None:
        return None
    mac = mac_address(chassis)
    if mac is None:
        return chassis.strip().lower() or None
    return None if mac == _NO_MAC or int(mac[:2], 16) & 1 else mac


@lru_cache(maxsize=MOST_REMEMBERED)
def address_key(address: str | None) -> str | None:
    """Return an IP address for comparing.

    None for what is none, and for one that each device has for itself: unspecified, loopback, link-local (RFC
    6890) or of a group.
    """
    found = None if address is None else ip_address(address)
    if found is None:
        return None
    one = parsed(found)
    return None if one.is_unspecified or one.is_loopback or one.is_link_local or one.is_multicast else found


@lru_cache(maxsize=MOST_REMEMBERED)
def port_keys(port: str) -> tuple[str, ...]:
    """Return the forms in which a port may be stored, the likeliest first.

    Those are the long form, the end of `bridge/ether1`, and the interface of a unit (`ge-0/0/0.0`).
    """
    bare = port.strip()
    whole = mac_address(bare) or long_name(bare).lower()
    found = [whole]
    if "/" in bare and not bare[0].isdigit() and not any(part.isdigit() for part in bare.split("/")):
        found.append(long_name(bare.rpartition("/")[2]).lower())
    if _UNIT.search(whole):
        found.append(_UNIT.sub("", whole))
    return tuple(dict.fromkeys(found))
