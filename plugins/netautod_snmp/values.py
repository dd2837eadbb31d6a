"""The values of agents, converted; None for a value of another form."""

import re
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address

from netautod.plugin_api import device_text, ip_address, mac_address
from netautod_snmp.agent import Rows, Value

ZERO_MAC = "00:00:00:00:00:00"
# "0:e:c4:d0:48:c6", as some agents have it for the six bytes (TP-Link's in its ARP table).
_SHORTENED = re.compile(r"(?:[0-9a-fA-F]{1,2}[:-]){5}[0-9a-fA-F]{1,2}")


def number(value: Value) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def text(value: Value) -> str | None:
    return device_text(value) if isinstance(value, bytes | str) else None


def mac(value: Value) -> str | None:
    """Return the address of six bytes (PhysAddress), or of a text in one of the usual forms, leading zeros
    left out or not.
    """
    if not isinstance(value, bytes):
        return None
    if len(value) == 6:
        return value.hex(":")
    return _mac_in(value.strip(b"\0 ").decode("ascii", errors="replace"))


def _mac_in(shown: str) -> str | None:
    if _SHORTENED.fullmatch(shown):
        return ":".join(f"{int(part, 16):02x}" for part in re.split("[:-]", shown))
    return mac_address(shown) if 12 <= len(shown) <= 17 else None


def name_or_mac(value: Value) -> str | None:
    """Return a name, or an address in six bytes or as a text."""
    shown = text(value)
    if shown is None:
        return None
    if isinstance(value, bytes) and len(value) == 6 and "\ufffd" in shown:
        return value.hex(":")
    return _mac_in(shown) or shown


def address(value: Value) -> str | None:
    """Parse an InetAddress of four or sixteen bytes (and a zone behind it), or gufo's text of an
    IpAddress.
    """
    if isinstance(value, str):
        return ip_address(value)
    if not isinstance(value, bytes):
        return None
    if len(value) in (4, 8):
        return str(IPv4Address(value[:4]))
    return str(IPv6Address(value[:16])) if len(value) in (16, 20) else None


def numbers(index: str) -> list[int]:
    """Return the sub-identifiers of an index; none for one that is not of numbers."""
    parts = index.split(".")
    return [int(part) for part in parts] if all(part.isdecimal() for part in parts) else []


def octets(parts: Iterable[int]) -> bytes | None:
    found = list(parts)
    return bytes(found) if all(0 <= part <= 255 for part in found) else None


def bits(value: Value) -> Iterator[int]:
    """Yield the positions of the bits of an octet string that are set, from 1: ports of a PortList (RFC
    4363).
    """
    if isinstance(value, bytes):
        for place, octet in enumerate(value):
            for bit in range(8):
                if octet & 0x80 >> bit:
                    yield place * 8 + bit + 1


def by_number(rows: Rows) -> dict[int, Value]:
    """Return rows of a table with one number as its index."""
    return {int(index): value for index, value in rows.items() if index.isdecimal()}
