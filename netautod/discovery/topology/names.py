"""The forms in which devices and their ports are named by others, brought to one. Pure."""

import re
from functools import lru_cache

from netautod.core.device_addresses import mac_address
from netautod.core.interface_names import long_name

# `switch1(FOX1234ABCD)`: CDP of NX-OS puts the serial number behind the name.
_SERIAL = re.compile(r"\([^()]*\)$")
MOST_REMEMBERED = 50_000  # names; a topology asks for each again and again
_UNIT = re.compile(r"\.\d+$")


@lru_cache(maxsize=MOST_REMEMBERED)
def full_name(name: str | None) -> str | None:
    """In lower case, without a serial number in brackets."""
    if name is None:
        return None
    return _SERIAL.sub("", name.strip()).strip().rstrip(".").lower() or None


@lru_cache(maxsize=MOST_REMEMBERED)
def host_name(name: str | None) -> str | None:
    """`full_name` without the domain; an address stays whole."""
    whole = full_name(name)
    if whole is None or re.fullmatch(r"[\d.:]+", whole):
        return whole
    return whole.partition(".")[0] or None


@lru_cache(maxsize=MOST_REMEMBERED)
def chassis_key(chassis: str | None) -> str | None:
    """A chassis id for comparing: MAC addresses in one form, all else in lower case."""
    return None if chassis is None else mac_address(chassis) or chassis.strip().lower() or None


@lru_cache(maxsize=MOST_REMEMBERED)
def port_keys(port: str) -> tuple[str, ...]:
    """What a port may be stored under, the likeliest first: long form, the end of `bridge/ether1`, the
    interface of a unit (`ge-0/0/0.0`).
    """
    bare = port.strip()
    whole = mac_address(bare) or long_name(bare).lower()
    found = [whole]
    if "/" in bare and not bare[0].isdigit() and not any(part.isdigit() for part in bare.split("/")):
        found.append(long_name(bare.rpartition("/")[2]).lower())
    if _UNIT.search(whole):
        found.append(_UNIT.sub("", whole))
    return tuple(dict.fromkeys(found))
