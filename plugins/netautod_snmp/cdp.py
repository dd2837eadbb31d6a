"""Neighbors of CDP (CISCO-CDP-MIB)."""

from collections.abc import Mapping

from netautod.plugin_api import Neighbor, long_name
from netautod_snmp.agent import Rows, Value
from netautod_snmp.ports import Ports
from netautod_snmp.values import address, name_or_mac, numbers, text

CDP = "1.3.6.1.4.1.9.9.23.1.2.1.1"  # cdpCacheEntry; index: ifIndex, number
# cdpCacheCapabilities, from the right (CISCO-CDP-MIB).
CDP_CAPABILITIES = {
    0: "router",
    1: "bridge",
    2: "bridge",
    3: "bridge",
    4: "stationOnly",
    6: "repeater",
    7: "telephone",
}
CDP_COLUMNS = {
    "address_type": 3,
    "address": 4,
    "id": 6,
    "port": 7,
    "platform": 8,
    "capabilities": 9,
    "name": 17,
}


def cdp_neighbors_of(columns: Mapping[str, Rows], ports: Ports) -> list[Neighbor]:
    found = []
    for index, raw in columns.get("id", {}).items():
        parts = numbers(index)
        if len(parts) != 2:
            continue
        own_id, port = name_or_mac(raw), text(columns["port"].get(index))
        found.append(
            Neighbor(
                local_interface=ports.names.get(parts[0], f"port {parts[0]}"),
                protocol="cdp",
                remote_system_name=text(columns["name"].get(index)) or own_id,
                remote_chassis_id=own_id,
                remote_port=None if port is None else long_name(port),
                remote_platform=text(columns["platform"].get(index)),
                remote_mgmt_address=_cdp_address(columns, index),
                remote_capabilities=_cdp_capabilities(columns["capabilities"].get(index)),
            )
        )
    return found


def _cdp_address(columns: Mapping[str, Rows], index: str) -> str | None:
    own = address(columns["address"].get(index))
    return None if own in ("0.0.0.0", "::") else own


def _cdp_capabilities(value: Value) -> tuple[str, ...]:
    if not isinstance(value, bytes):
        return ()
    whole = int.from_bytes(value[-4:])
    return tuple(dict.fromkeys(name for bit, name in CDP_CAPABILITIES.items() if whole >> bit & 1))
