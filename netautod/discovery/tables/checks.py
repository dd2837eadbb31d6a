"""What a collector gave, checked field by field: whatever plugin it is from, nothing else is stored.

A field that is wrong becomes None where the row means something without it; else the row is dropped, and
counted. So one bad row costs itself, and never the table.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from netautod.core.device_addresses import ip_address, mac_address
from netautod.core.device_texts import device_text
from netautod.plugin_api.discovered import (
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

Fields = dict[str, Any]


class Unusable(Exception):
    """The row says nothing without the field."""


def text(value: object, most: int = 1024) -> str | None:
    """A text as `device_text` makes it."""
    shown = device_text(value) if isinstance(value, str | bytes) else None
    return None if shown is None else shown[:most]


def number(value: object, low: int = 0, high: int = INT64_MAX) -> int | None:
    """A whole number of the range; True is none."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and low <= value <= high else None  # type: ignore[operator,return-value]


def percent(value: object) -> float | None:
    """0 to 100."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return round(float(value), 2)


def moment(value: object) -> datetime | None:
    """With a time zone, in UTC and to the millisecond, as the database keeps it."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        return None
    try:
        exact = value.astimezone(UTC)
    except (OverflowError, ValueError):
        return None
    return exact.replace(microsecond=exact.microsecond // 1000 * 1000)


def mac(value: object) -> str | None:
    return mac_address(value) if isinstance(value, str) else None


def address(value: object) -> str | None:
    return ip_address(value) if isinstance(value, str) else None


def _needed(value: Any) -> Any:
    if value is None:
        raise Unusable
    return value


def _each(values: object, checked: Callable[[Any], Any], most: int) -> list[Any]:
    if not isinstance(values, list | tuple | frozenset | set):
        return []
    found = dict.fromkeys(value for value in map(checked, values) if value is not None)
    return list(found)[:most]


def interface(row: Interface) -> Fields:
    addresses = row.ip_addresses if isinstance(row.ip_addresses, list | tuple) else ()
    pairs = [_address_of(one) for one in addresses if isinstance(one, InterfaceAddress)]
    return {
        "name": _needed(text(row.name, NAME_CHARACTERS)),
        "description": text(row.description),
        "type": text(row.type, NAME_CHARACTERS),
        "admin_status": text(row.admin_status, NAME_CHARACTERS),
        "oper_status": text(row.oper_status, NAME_CHARACTERS),
        "speed_mbps": number(row.speed_mbps),
        "duplex": text(row.duplex, NAME_CHARACTERS),
        "mtu": number(row.mtu),
        "mac_address": mac(row.mac_address),
        "ip_addresses": [pair for pair in pairs if pair is not None][:MOST_ADDRESSES],
        "vlan_id": number(row.vlan_id, 1, MOST_VLAN),
        "lag": text(row.lag, NAME_CHARACTERS),
        "if_index": number(row.if_index),
        "last_change_at": moment(row.last_change_at),
        "counters": _counters(row.counters),
    }


def _address_of(row: InterfaceAddress) -> Fields | None:
    found = address(row.address)
    if found is None:
        return None
    length = number(row.prefix_length, 0, 128 if ":" in found else 32)
    return None if length is None else {"address": found, "prefix_length": length}


def _counters(row: object) -> Fields:
    counters = row if isinstance(row, InterfaceCounters) else InterfaceCounters()
    return {name: number(getattr(counters, name)) for name in InterfaceCounters.__slots__}


def neighbor(row: Neighbor) -> Fields:
    if row.protocol not in ("lldp", "cdp"):
        raise Unusable
    chassis = row.remote_chassis_id
    return {
        "local_interface": _needed(text(row.local_interface, NAME_CHARACTERS)),
        "protocol": row.protocol,
        "remote_system_name": text(row.remote_system_name, NAME_CHARACTERS),
        "remote_chassis_id": mac(chassis) or text(chassis, NAME_CHARACTERS),
        "remote_port": text(row.remote_port, NAME_CHARACTERS),
        "remote_port_description": text(row.remote_port_description),
        "remote_platform": text(row.remote_platform),
        "remote_mgmt_address": address(row.remote_mgmt_address),
        "remote_capabilities": _each(
            row.remote_capabilities, lambda one: text(one, NAME_CHARACTERS), MOST_CAPABILITIES
        ),
    }


def mac_entry(row: MacEntry) -> Fields:
    return {
        "mac_address": _needed(mac(row.mac_address)),
        "vlan_id": number(row.vlan_id, 1, MOST_VLAN),
        "interface": text(row.interface, NAME_CHARACTERS),
        "type": text(row.type, NAME_CHARACTERS),
    }


def arp_entry(row: ArpEntry) -> Fields:
    return {
        "ip_address": _needed(address(row.ip_address)),
        "mac_address": mac(row.mac_address),
        "interface": text(row.interface, NAME_CHARACTERS),
        "vrf": text(row.vrf, NAME_CHARACTERS),
        "type": text(row.type, NAME_CHARACTERS),
    }


def vlan(row: Vlan) -> Fields:
    def name(value: object) -> str | None:
        return text(value, NAME_CHARACTERS)

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
            name: text(getattr(row, name))
            for name in ("sys_name", "sys_descr", "vendor", "model", "os_version", "serial_number")
        },
        "uptime_seconds": number(row.uptime_seconds),
        "cpu_percent": percent(row.cpu_percent),
        "memory_percent": percent(row.memory_percent),
        "device_type": text(row.device_type, NAME_CHARACTERS),
        "chassis_ids": _each(row.chassis_ids, lambda one: mac(one) or text(one, NAME_CHARACTERS), 64),
    }


def checked(rows: Iterable[object], kind: type, check: Callable[[Any], Fields]) -> tuple[list[Fields], int]:
    """The rows that can be stored, and how many could not."""
    kept: list[Fields] = []
    dropped = 0
    for row in rows:
        try:
            kept.append(check(row) if isinstance(row, kind) else _needed(None))
        except Unusable:
            dropped += 1
    return kept, dropped
