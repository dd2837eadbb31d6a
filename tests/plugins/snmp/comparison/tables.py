"""Rows of recordings, as LibreNMS expects them and as the collector reads them, brought to one form."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from netautod.plugin_api import Collected, long_name, mac_address

Rows = set[tuple[Any, ...]]
"""Each with what tells it from others first."""
Expected = Mapping[str, Any]


# LibreNMS puts the chassis id behind the port.
_BEHIND = re.compile(r" \([0-9a-f]{12}\)$")


def _of_port(value: object) -> str:
    bare = _BEHIND.sub("", str(value or "")).strip()
    return mac_address(bare.replace(" ", ":")) or long_name(bare)


def _mbps(value: object) -> int | None:
    return None if value in (None, "") else int(str(value)) // 1_000_000


def ports_expected(expected: Expected) -> Rows:
    return {
        (
            row["ifIndex"],
            _text(row["ifAlias"]) if row["ifAlias"] not in (row["ifDescr"], row["ifName"]) else None,
            row["ifType"],
            row["ifAdminStatus"],
            row["ifOperStatus"],
            _mbps(row["ifSpeed"]),
            _hex(row["ifPhysAddress"]),
        )
        for row in expected["ports"]
    }


def ports_found(found: Collected) -> Rows:
    return {
        (
            one.if_index,
            _text(one.description) if one.description != one.name else None,
            one.type,
            one.admin_status,
            one.oper_status,
            one.speed_mbps or None,
            one.mac_address,
        )
        for one in found.interfaces or ()
    }


def _text(value: Any) -> str | None:
    return str(value or "").strip("\\ ") or None


def _hex(value: Any) -> str | None:
    if not value or set(value) == {"0"}:
        return None
    return ":".join(value[start : start + 2] for start in range(0, 12, 2)) if len(value) == 12 else None


def addresses_expected(expected: Expected) -> Rows:
    return {
        (row["ifIndex"], row["ipv4_address"], row["ipv4_prefixlen"]) for row in expected["ipv4_addresses"]
    }


def addresses_found(found: Collected) -> Rows:
    return {
        (one.if_index, address.address, address.prefix_length)
        for one in found.interfaces or ()
        for address in one.ip_addresses
        if ":" not in address.address
    }


def vlans_expected(expected: Expected) -> Rows:
    return {(row["vlan_vlan"],) for row in expected["vlans"]}


def vlans_found(found: Collected) -> Rows:
    return {(one.vlan_id,) for one in found.vlans or ()}


def links_expected(expected: Expected) -> Rows:
    return {
        (
            long_name(row["ifDescr"] or row["ifName"]),
            row["remote_hostname"] or "",
            _of_port(row["remote_port"]),
        )
        for row in expected["links"]
    }


def links_found(found: Collected) -> Rows:
    return {
        (one.local_interface, one.remote_system_name or "", _of_port(one.remote_port))
        for one in found.neighbors or ()
    }


def fdb_expected(expected: Expected) -> Rows:
    return {(row["vlan_vlan"], _hex(row["mac_address"])) for row in expected["ports_fdb"]}


def fdb_found(found: Collected) -> Rows:
    return {(one.vlan_id, one.mac_address) for one in found.mac or ()}


def members_expected(expected: Expected) -> Rows:
    """Return how many ports each VLAN has: LibreNMS names them by numbers of the bridge."""
    count = Counter(row["vlan"] for row in expected["ports_vlans"])
    return set(count.items())


def members_found(found: Collected) -> Rows:
    count = {
        one.vlan_id: len(one.tagged_interfaces) + len(one.untagged_interfaces) for one in found.vlans or ()
    }
    return {(vlan, members) for vlan, members in count.items() if members}


def stack_expected(expected: Expected) -> Rows:
    """Return members of aggregates: of ifStackTable the rows between a port and an aggregate.

    LibreNMS has them the other way round: the port is what it calls high.
    """
    types = {row["ifIndex"]: row["ifType"] for row in expected["ports"]}
    names = {row["ifIndex"]: long_name(row["ifDescr"] or row["ifName"]) for row in expected["ports"]}
    return {
        (row["high_ifIndex"], names[row["low_ifIndex"]])
        for row in expected["ports_stack"]
        if types.get(row["high_ifIndex"]) == "ethernetCsmacd"
        and (
            types.get(row["low_ifIndex"]) == "ieee8023adLag"
            or names.get(row["low_ifIndex"], "").startswith("Port-channel")
        )
    }


def stack_found(found: Collected) -> Rows:
    return {(one.if_index, one.lag) for one in found.interfaces or () if one.lag is not None}


# LibreNMS' names of systems, and ours of platforms.
SYSTEMS = {
    "arista_eos": "arista_eos",
    "comware": "hp_comware",
    "ios": "cisco_ios",
    "iosxe": "cisco_ios",
    "nxos": "cisco_nxos",
    "procurve": "hp_procurve",
    "routeros": "mikrotik_routeros",
    "vrp": "huawei_vrp",
}


def device_expected(expected: Expected) -> Rows:
    """Return the facts that LibreNMS knows; an unknown one is no row."""
    [row] = expected["devices"]
    known = {name: row.get(name) for name in ("sysName", "hardware", "version", "serial")}
    known["os"] = SYSTEMS[row["os"]]
    return {(name, value) for name, value in known.items() if value is not None}


def device_found(found: Collected) -> Rows:
    own = found.status
    assert own is not None
    known = {
        "sysName": own.sys_name,
        "hardware": own.model,
        "version": own.os_version,
        "serial": own.serial_number,
        "os": own.device_type,
    }
    return {(name, value) for name, value in known.items() if value is not None}


_MAC_TEXT = re.compile(r"(?:[0-9A-Fa-f]{1,2}:){5}[0-9A-Fa-f]{1,2}")
_MEDIA, _PHYSICAL = "1.3.6.1.2.1.4.22.1.", "1.3.6.1.2.1.4.35.1."


def arp_recorded(lines: Iterable[str]) -> Rows:
    """Return the addresses of the rows of ipNetToMediaTable, and of ipNetToPhysicalTable, that are not
    invalid.

    Where both have an address of one interface, the newer table counts.
    """
    values = {oid: (tag, value) for oid, tag, value in (line.split("|", 2) for line in lines if "|" in line)}
    found: dict[tuple[str, str], str | None] = {}
    for table, column, kind in ((_MEDIA, "2", "4"), (_PHYSICAL, "4", "6")):
        for oid, (tag, value) in values.items():
            index = oid.removeprefix(f"{table}{column}.")
            if index == oid or values.get(f"{table}{kind}.{index}", ("", ""))[1] == "2":
                continue
            parts = index.split(".")
            # A type and a length stand between the interface and the address of the newer table.
            octets = parts[1:] if table == _MEDIA else parts[3:]
            if table == _PHYSICAL and parts[1] != "1":
                octets = []
            shown_octets = bytes.fromhex(value) if tag.endswith("x") else value.encode("latin-1")
            if len(octets) == 4 and set(octets) != {"0"}:
                own = shown_octets.hex(":") if len(shown_octets) == 6 else None
                if _MAC_TEXT.fullmatch(value):
                    # The recording shows the octets so.
                    own = ":".join(part.zfill(2) for part in value.lower().split(":"))
                found[parts[0], ".".join(octets)] = own
    return {(address, own) for (_, address), own in found.items()}


Read = Callable[[Expected], Rows]
TABLES: Mapping[str, tuple[Read, Callable[[Collected], Rows]]] = {
    "devices": (device_expected, device_found),
    "ports": (ports_expected, ports_found),
    "ipv4_addresses": (addresses_expected, addresses_found),
    "vlans": (vlans_expected, vlans_found),
    "links": (links_expected, links_found),
    "ports_vlans": (members_expected, members_found),
    "ports_stack": (stack_expected, stack_found),
    "ports_fdb": (fdb_expected, fdb_found),
}


def shown(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    return sorted(map(str, rows))
