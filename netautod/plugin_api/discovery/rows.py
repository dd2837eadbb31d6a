"""Rows of a device's tables, in the one form in which they are stored and shown.

The maker of a row has normalised it: MAC addresses as `aa:bb:cc:dd:ee:ff`, IP addresses in their short form,
interface names in the vendor's long form, texts without control characters. What a device does not tell is
None, never an empty text or a zero.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Table = Literal["status", "interfaces", "neighbors", "mac", "arp", "vlans"]
TABLES: tuple[Table, ...] = ("status", "interfaces", "neighbors", "mac", "arp", "vlans")


@dataclass(frozen=True, kw_only=True, slots=True)
class InterfaceAddress:
    """An address of an interface, in its short form."""

    address: str
    prefix_length: int


@dataclass(frozen=True, kw_only=True, slots=True)
class InterfaceCounters:
    """The counters since the device last set them to zero."""

    in_octets: int | None = None
    out_octets: int | None = None
    in_errors: int | None = None
    out_errors: int | None = None
    in_discards: int | None = None
    out_discards: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Interface:
    """An interface. `admin_status` and `oper_status` as IF-MIB names them (`up`, `down`, `testing`,
    `dormant`, `notPresent`, `lowerLayerDown`, `unknown`); `type` as IANAifType names it
    (`ethernetCsmacd`).

    `duplex` is `full`, `half` or `auto`; `vlan_id` the VLAN of untagged frames; `lag` the name of the
    aggregate that it is a member of.
    """

    name: str
    description: str | None = None
    type: str | None = None
    admin_status: str | None = None
    oper_status: str | None = None
    speed_mbps: int | None = None
    duplex: str | None = None
    mtu: int | None = None
    mac_address: str | None = None
    ip_addresses: tuple[InterfaceAddress, ...] = ()
    vlan_id: int | None = None
    lag: str | None = None
    if_index: int | None = None
    last_change_at: datetime | None = None
    counters: InterfaceCounters = InterfaceCounters()


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbor:
    """A neighbor that a device heard on one interface. `remote_port` is the port as the neighbor names it.

    `remote_chassis_id` is a MAC address where it is one, else the text that the neighbor sends;
    `remote_capabilities` as LLDP-MIB names them (`bridge`, `router`, `wlanAccessPoint`, `telephone`).
    """

    local_interface: str
    protocol: Literal["lldp", "cdp"]
    remote_system_name: str | None = None
    remote_chassis_id: str | None = None
    remote_port: str | None = None
    remote_port_description: str | None = None
    remote_platform: str | None = None
    remote_mgmt_address: str | None = None
    remote_capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class MacEntry:
    """An entry of a MAC table. `type` is `dynamic`, `static`, `self`, or the device's own word in
    lower case.
    """

    mac_address: str
    vlan_id: int | None = None
    interface: str | None = None
    type: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ArpEntry:
    """An entry of IPv4 or IPv6. Without a `mac_address` the neighbor has not answered."""

    ip_address: str
    mac_address: str | None = None
    interface: str | None = None
    vrf: str | None = None
    type: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Vlan:
    """A VLAN. `status` is `active`, `suspended`, or the device's own word in lower case.

    A trunk is among `tagged_interfaces`; the VLAN of its untagged frames has it among `untagged_interfaces`.
    """

    vlan_id: int
    name: str | None = None
    status: str | None = None
    tagged_interfaces: tuple[str, ...] = ()
    untagged_interfaces: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceFacts:
    """The table `status`. `device_type` is the platform that the device was recognised as (`cisco_ios`).

    `chassis_ids`: what it calls itself towards neighbors (its LLDP chassis id, the address of its bridge), in
    the form of `Neighbor.remote_chassis_id`.
    """

    sys_name: str | None = None
    sys_descr: str | None = None
    vendor: str | None = None
    model: str | None = None
    os_version: str | None = None
    serial_number: str | None = None
    uptime_seconds: int | None = None
    cpu_percent: float | None = None
    memory_percent: float | None = None
    device_type: str | None = None
    chassis_ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Collected:
    """The tables that one collector read in one visit. A table is given whole or not at all.

    None: not given, for the reason in `problems` if there is one ("mac: the walk stopped after 1,200 rows").
    An empty sequence: the device has the table, and nothing is in it. `latency_ms`: how long the device took
    for its first answer, where that is known.
    """

    status: DeviceFacts | None = None
    interfaces: Sequence[Interface] | None = None
    neighbors: Sequence[Neighbor] | None = None
    mac: Sequence[MacEntry] | None = None
    arp: Sequence[ArpEntry] | None = None
    vlans: Sequence[Vlan] | None = None
    problems: Mapping[Table, str] = field(default_factory=dict)
    latency_ms: float | None = None

    @property
    def given(self) -> frozenset[Table]:
        """The tables that were read whole."""
        return frozenset(table for table in TABLES if getattr(self, table) is not None)
