"""The records of neighbors as rows: one for each neighbor, whatever protocols it speaks."""

import re
from dataclasses import fields, replace
from typing import Any

from netautod.plugin_api import Neighbor
from netautod_cli.fields import address, mac, one, pick, port
from netautod_cli.records import Record, Records
from netautod_cli.unreadable import Unreadable

# IEEE 802.1AB, 8.5.8, as LLDP-MIB's LldpSystemCapabilitiesMap names them; CDP and vendors use other words.
CAPABILITIES = {
    "b": "bridge",
    "bridge": "bridge",
    "switch": "bridge",
    "s": "stationOnly",
    "r": "router",
    "router": "router",
    "w": "wlanAccessPoint",
    "wlan": "wlanAccessPoint",
    "wlan-ap": "wlanAccessPoint",
    "wlanaccesspoint": "wlanAccessPoint",
    "t": "telephone",
    "telephone": "telephone",
    "phone": "telephone",
    "c": "docsisCableDevice",
    "p": "repeater",
    "repeater": "repeater",
}


def neighbors_of_ios(
    records: Records, listed: Records | None = None, cdp: Records | None = None
) -> list[Neighbor]:
    """Build the neighbors. Older releases do not name the interface in the details; the list has the same
    order.
    """
    if any(not record.get("local_interface") for record in records):
        names = [one(record, "local_interface") for record in listed or ()]
        if len(names) != len(records):
            raise Unreadable("the device does not say on which interfaces its neighbors are heard")
        records = [{**record, "local_interface": name} for record, name in zip(records, names, strict=True)]
    return neighbors(records, cdp)


def neighbors(records: Records, cdp: Records | None = None) -> list[Neighbor]:
    found = [row for record in records if (row := _neighbor(record, "lldp")) is not None]
    others: list[Neighbor] = []
    for record in cdp or ():
        row = _neighbor(record, "cdp")
        if row is None:
            continue
        same = next((place for place, other in enumerate(found) if _is_same(row, other)), None)
        if same is None:
            others.append(row)
        else:
            found[same] = _filled(found[same], row)
    return found + others


def _neighbor(record: Record, protocol: Any) -> Neighbor | None:
    # RouterOS lists the bridge behind the port: "ether2,bridge_local".
    local = port((one(record, "local_interface", "interface") or "").partition(",")[0])
    if local is None:
        return None
    chassis = one(record, "chassis_id", "mac_address")
    far = one(record, "neighbor_port_id", "neighbor_interface", "interface_name")
    return Neighbor(
        local_interface=local,
        protocol=protocol,
        remote_system_name=one(record, "neighbor_name", "neighbor", "identity")
        or (one(record, "chassis_id") if protocol == "cdp" else None),
        remote_chassis_id=mac(chassis) or chassis,
        remote_port=None if far is None else mac(far) or port(far) or far,
        remote_port_description=one(record, "neighbor_interface_description", "neighbor_port_description"),
        remote_platform=_platform(record),
        remote_mgmt_address=address(
            pick(record, "mgmt_address", "management_ip", "ipv4_address", "address", "management_ipv6")
        ),
        remote_capabilities=_capabilities(one(record, "capabilities", "system_caps_enabled")),
    )


def _platform(record: Record) -> str | None:
    """Return the platform. RouterOS says `MikroTik` for every model: the board is more precise."""
    return one(record, "board", "platform", "neighbor_description", "system_description")


def _capabilities(text: str | None) -> tuple[str, ...]:
    words = re.split(r"[,\s]+", text or "")
    return tuple(dict.fromkeys(name for word in words if (name := CAPABILITIES.get(word.lower()))))


def _is_same(row: Neighbor, other: Neighbor) -> bool:
    if row.local_interface != other.local_interface:
        return False
    names = [
        (name or "").partition("(")[0].partition(".")[0].lower()
        for name in (row.remote_system_name, other.remote_system_name)
    ]
    return names[0] == names[1] if all(names) else row.remote_mgmt_address == other.remote_mgmt_address


def _filled(neighbor: Neighbor, other: Neighbor) -> Neighbor:
    empty = [field.name for field in fields(neighbor) if getattr(neighbor, field.name) in (None, ())]
    return replace(neighbor, **{name: getattr(other, name) for name in empty})
