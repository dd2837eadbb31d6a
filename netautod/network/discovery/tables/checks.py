"""The checks of what a collector gave, field by field: whatever plugin it is from, nothing else is stored.

A field that is wrong becomes None where the row means something without it; else the row is dropped, and
counted. So one bad row costs itself, and never the table.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from netautod.core.loop.pace import Pace
from netautod.core.net.device_addresses import ip_address, mac_address
from netautod.core.text.device_texts import device_text
from netautod.plugin_api.discovery.rows import (
    ArpEntry,
    DeviceFacts,
    Interface,
    InterfaceAddress,
    InterfaceCounters,
    MacEntry,
    Neighbor,
    Vlan,
)

INT64_MAX = 2**63 - 1
MOST_VLAN = 4094  # IEEE 802.1Q
MOST_ADDRESSES = 256  # of one interface
MOST_MEMBERS = 4096  # interfaces of one VLAN
MOST_CAPABILITIES = 16
NAME_CHARACTERS = 255
# Of one table, in entries of a MAC table; what comes behind is dropped and reported.
MOST_WEIGHT = 400_000
# A longer text is cut before its characters are checked one by one.
LONGEST = 4096
MAC = re.compile("[0-9a-f]{2}(:[0-9a-f]{2}){5}")

Fields = dict[str, Any]


class Unusable(Exception):
    """The row says nothing without the field."""


def text(value: object, most: int = 1024) -> str | None:
    """Return a text as `device_text` makes it."""
    shown = device_text(value[:LONGEST]) if isinstance(value, str | bytes) else None
    return None if shown is None else shown[:most].rstrip()


def name(value: object) -> str | None:
    """Return a text of one line that names something; a table names few things again and again."""
    return _name(value[:LONGEST]) if isinstance(value, str | bytes) else None


@lru_cache(maxsize=8192)
def _name(value: str | bytes) -> str | None:
    return text(value, NAME_CHARACTERS)


def number(value: object, low: int = 0, high: int = INT64_MAX) -> int | None:
    """Return a whole number of the range; True is none."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and low <= value <= high else None  # type: ignore[operator,return-value]


def percent(value: object) -> float | None:
    """Return a number from 0 to 100, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return round(float(value), 2)


def moment(value: object) -> datetime | None:
    """Return a moment with a time zone in UTC and to the millisecond, as the database keeps it."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        return None
    try:
        exact = value.astimezone(UTC)
    except (OverflowError, ValueError):
        return None
    return exact.replace(microsecond=exact.microsecond // 1000 * 1000)


def mac(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return str(value) if MAC.fullmatch(value) else mac_address(value[:LONGEST])


def address(value: object) -> str | None:
    return ip_address(value[:LONGEST]) if isinstance(value, str) else None


def _needed(value: Any) -> Any:
    if value is None:
        raise Unusable
    return value


def _each(values: object, checked: Callable[[Any], Any], most: int) -> list[Any]:
    if isinstance(values, frozenset | set):  # in an order that is the same again with the next poll
        values = sorted(values, key=repr)
    if not isinstance(values, list | tuple):
        return []
    found = dict.fromkeys(value for value in map(checked, values[: most * 2]) if value is not None)
    return list(found)[:most]


def interface(row: Interface) -> Fields:
    addresses = row.ip_addresses if isinstance(row.ip_addresses, list | tuple) else ()
    pairs = (_address_of(one) for one in addresses[: MOST_ADDRESSES * 2])
    found = dict.fromkeys(pair for pair in pairs if pair is not None)
    return {
        "name": _needed(name(row.name)),
        "description": text(row.description),
        "type": name(row.type),
        "admin_status": name(row.admin_status),
        "oper_status": name(row.oper_status),
        "speed_mbps": number(row.speed_mbps),
        "duplex": name(row.duplex),
        "mtu": number(row.mtu),
        "mac_address": mac(row.mac_address),
        "ip_addresses": [
            {"address": one, "prefix_length": length} for one, length in list(found)[:MOST_ADDRESSES]
        ],
        "vlan_id": number(row.vlan_id, 1, MOST_VLAN),
        "lag": name(row.lag),
        "if_index": number(row.if_index),
        "last_change_at": moment(row.last_change_at),
        "counters": _counters(row.counters),
    }


def _address_of(row: object) -> tuple[str, int] | None:
    if not isinstance(row, InterfaceAddress):
        return None
    found = address(row.address)
    length = number(row.prefix_length, 0, 128 if ":" in (found or "") else 32)
    return None if found is None or length is None else (found, length)


def _counters(row: object) -> Fields:
    counters = row if isinstance(row, InterfaceCounters) else InterfaceCounters()
    return {field: number(getattr(counters, field)) for field in InterfaceCounters.__slots__}


def neighbor(row: Neighbor) -> Fields:
    if row.protocol not in ("lldp", "cdp"):
        raise Unusable
    chassis = row.remote_chassis_id
    return {
        "local_interface": _needed(name(row.local_interface)),
        "protocol": row.protocol,
        "remote_system_name": name(row.remote_system_name),
        "remote_chassis_id": mac(chassis) or name(chassis),
        "remote_port": name(row.remote_port),
        "remote_port_description": text(row.remote_port_description),
        "remote_platform": text(row.remote_platform),
        "remote_mgmt_address": address(row.remote_mgmt_address),
        "remote_capabilities": _each(row.remote_capabilities, name, MOST_CAPABILITIES),
    }


def mac_entry(row: MacEntry) -> Fields:
    return {
        "mac_address": _needed(mac(row.mac_address)),
        "vlan_id": number(row.vlan_id, 1, MOST_VLAN),
        "interface": name(row.interface),
        "type": name(row.type),
    }


def arp_entry(row: ArpEntry) -> Fields:
    return {
        "ip_address": _needed(address(row.ip_address)),
        "mac_address": mac(row.mac_address),
        "interface": name(row.interface),
        "vrf": name(row.vrf),
        "type": name(row.type),
    }


def vlan(row: Vlan) -> Fields:
    return {
        "vlan_id": _needed(number(row.vlan_id, 1, MOST_VLAN)),
        "name": name(row.name),
        "status": name(row.status),
        "tagged_interfaces": _each(row.tagged_interfaces, name, MOST_MEMBERS),
        "untagged_interfaces": _each(row.untagged_interfaces, name, MOST_MEMBERS),
    }


def facts(row: DeviceFacts) -> Fields:
    return {
        **{
            field: text(getattr(row, field))
            for field in ("sys_name", "sys_descr", "vendor", "model", "os_version", "serial_number")
        },
        "uptime_seconds": number(row.uptime_seconds),
        "cpu_percent": percent(row.cpu_percent),
        "memory_percent": percent(row.memory_percent),
        "device_type": name(row.device_type),
        "chassis_ids": _each(row.chassis_ids, lambda one: mac(one) or name(one), 64),
    }


async def checked(
    rows: Sequence[object], kind: type, check: Callable[[Any], Fields], weight: Callable[[Fields], int]
) -> tuple[list[Fields], int]:
    """Return the rows that can be stored, and how many could not: those that say nothing, and those
    too many.
    """
    pace = Pace()
    kept: list[Fields] = []
    room, dropped = MOST_WEIGHT, 0
    for seen, row in enumerate(rows):
        if room <= 0:
            return kept, dropped + len(rows) - seen
        try:
            good = check(row) if isinstance(row, kind) else _needed(None)
            kept.append(good)
            room -= weight(good)
        except Unusable:
            dropped += 1
        await pace.breathe()
    return kept, dropped
