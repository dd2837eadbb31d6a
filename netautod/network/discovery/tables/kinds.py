"""The tables that are kept: what makes a row of each, what tells rows apart, what they are searched by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from netautod.network.discovery.tables import checks
from netautod.network.discovery.tables.parts import Fields, Key
from netautod.plugin_api.discovery.rows import ArpEntry, Interface, MacEntry, Neighbor, Vlan

FIRST_SEEN, LAST_SEEN = "first_seen_at", "last_seen_at"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of table. `remembers`: whether rows keep when they were first seen, and for a while after they
    have gone.

    `weight`: how much larger a row is than one of a MAC table; see MOST_WEIGHT.
    """

    row: type
    check: Callable[[Any], Fields]
    key: Callable[[Fields], Key]
    weight: Callable[[Fields], int] = lambda row: 1
    remembers: bool = False


KINDS: Mapping[str, Kind] = {
    "interfaces": Kind(
        row=Interface,
        check=checks.interface,
        key=lambda row: (row["if_index"] if row["if_index"] is not None else 1 << 62, row["name"]),
        weight=lambda row: 4 + len(row["ip_addresses"]) // 2,
    ),
    "neighbors": Kind(
        row=Neighbor,
        check=checks.neighbor,
        key=lambda row: (
            row["local_interface"],
            row["protocol"],
            row["remote_system_name"],
            row["remote_chassis_id"],
            row["remote_port"],
        ),
        weight=lambda row: 4,
    ),
    "mac": Kind(
        row=MacEntry,
        check=checks.mac_entry,
        key=lambda row: (row["mac_address"], row["vlan_id"], row["interface"]),
        remembers=True,
    ),
    "arp": Kind(
        row=ArpEntry,
        check=checks.arp_entry,
        key=lambda row: (row["ip_address"], row["vrf"], row["interface"], row["mac_address"]),
        remembers=True,
    ),
    "vlans": Kind(
        row=Vlan,
        check=checks.vlan,
        key=lambda row: (row["vlan_id"],),
        weight=lambda row: 1 + (len(row["tagged_interfaces"]) + len(row["untagged_interfaces"])) // 8,
    ),
}


def searched_by(table: str, rows: list[Fields]) -> Fields:
    """Return the MAC and IP addresses of a part, for the indexes that searches use; none for neighbors."""
    if table not in ("interfaces", "mac", "arp"):
        return {}
    macs = {row["mac_address"] for row in rows} - {None}
    if table == "arp":
        addresses = {row["ip_address"] for row in rows}
    else:
        addresses = {one["address"] for row in rows for one in row.get("ip_addresses", ())}
    return {"macs": sorted(macs), "addresses": sorted(addresses)}
