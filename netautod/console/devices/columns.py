"""The tabs of a device, and the columns of the tables that polls fill."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

RUNS = "tasks.operate"
Kind = Literal[
    "text", "name", "number", "state", "mac", "ip", "moment", "list", "addresses", "errors", "device"
]
"""How a cell is written: see the macro `cell` of templates/devices/table.html."""


@dataclass(frozen=True, kw_only=True)
class Tab:
    """A tab of a device's page; `permission` None: that of the page itself."""

    name: str
    text: str
    permission: str | None = None


@dataclass(frozen=True, kw_only=True)
class Column:
    name: str
    text: str
    kind: Kind = "text"


def _column(name: str, text: str, kind: Kind = "text") -> Column:
    return Column(name=name, text=text, kind=kind)


TABS: Sequence[Tab] = (
    Tab(name="summary", text="Summary"),
    Tab(name="interfaces", text="Interfaces"),
    Tab(name="neighbors", text="Neighbors"),
    Tab(name="mac", text="MAC table"),
    Tab(name="arp", text="ARP table"),
    Tab(name="vlans", text="VLANs"),
    Tab(name="polls", text="Polls"),
    Tab(name="runs", text="Runs", permission=RUNS),
)
SEEN = (_column("first_seen_at", "First seen", "moment"), _column("last_seen_at", "Last seen", "moment"))
TABLES: Mapping[str, Sequence[Column]] = {
    "interfaces": (
        _column("name", "Interface", "name"),
        _column("description", "Description"),
        _column("oper_status", "State", "state"),
        _column("speed_mbps", "Mbit/s", "number"),
        _column("mtu", "MTU", "number"),
        _column("vlan_id", "VLAN"),
        _column("lag", "Aggregate"),
        _column("ip_addresses", "Addresses", "addresses"),
        _column("mac_address", "MAC", "mac"),
        _column("counters", "Errors", "errors"),
        _column("last_change_at", "Last change", "moment"),
    ),
    "neighbors": (
        _column("local_interface", "Interface", "name"),
        _column("remote_system_name", "Neighbor", "device"),
        _column("remote_port", "Its port"),
        _column("remote_port_description", "Port description"),
        _column("remote_platform", "Platform"),
        _column("remote_mgmt_address", "Address", "ip"),
        _column("remote_chassis_id", "Chassis"),
        _column("remote_capabilities", "Capabilities", "list"),
        _column("protocol", "Protocol"),
    ),
    "mac": (
        _column("mac_address", "MAC", "mac"),
        _column("vlan_id", "VLAN"),
        _column("interface", "Interface", "name"),
        _column("type", "Type"),
        *SEEN,
    ),
    "arp": (
        _column("ip_address", "Address", "ip"),
        _column("mac_address", "MAC", "mac"),
        _column("interface", "Interface", "name"),
        _column("vrf", "VRF"),
        _column("type", "Type"),
        *SEEN,
    ),
    "vlans": (
        _column("vlan_id", "VLAN", "name"),
        _column("name", "Name"),
        _column("status", "Status"),
        _column("untagged_interfaces", "Untagged", "list"),
        _column("tagged_interfaces", "Tagged", "list"),
    ),
}
