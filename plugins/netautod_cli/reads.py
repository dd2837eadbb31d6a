"""The commands for each table of each platform, and how their outputs become rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netautod.plugin_api import Table
from netautod_cli import linux, rows
from netautod_cli.interfaces import interfaces
from netautod_cli.neighbors import neighbors, neighbors_of_ios
from netautod_cli.records import Records, records_of
from netautod_cli.vlans import vlans, vlans_of_comware, vlans_of_ios, vlans_of_junos, vlans_of_procurve

Rows = Sequence[Any]


@dataclass(frozen=True, kw_only=True)
class Read:
    """A read of a table. `command` has to be answered; `more` add to its rows where the device knows them.

    `rows` makes them out of the records of each command, in that order; None for one that was refused.
    `is_filled`: no device has none of them. With `adds_rows`, one of `more` that cannot be read costs the
    table: without it, rows would be missing.
    """

    command: str
    rows: Callable[..., Rows]
    more: tuple[str, ...] = ()
    parse: Callable[[str, str, str], Records] = records_of
    adds_rows: bool = False
    is_filled: bool = False

    @property
    def commands(self) -> tuple[str, ...]:
        return (self.command, *self.more)


def read(command: str, made: Callable[..., Rows], *more: str) -> Read:
    return Read(
        command=command,
        rows=made,
        more=more,
        adds_rows=made in (neighbors, neighbors_of_ios),
        is_filled=made in (interfaces, rows.status),
    )


def _json(command: str, made: Callable[..., Rows], *more: str) -> Read:
    return Read(command=command, rows=made, more=more, parse=linux.records_of)


LINUX: Mapping[Table, Read] = {
    "status": _json("cat /etc/os-release", linux.status, "uname -a", "cat /proc/uptime", "hostname"),
    "interfaces": _json("ip -json -s -d address show", linux.interfaces),
    "neighbors": _json("lldpctl -f json0", linux.neighbors),
    "mac": _json("bridge -json fdb show", linux.forwarding),
    "arp": _json("ip -json neigh show", linux.arp),
    "vlans": _json("bridge -json vlan show", linux.vlans),
}
READS: Mapping[str, Mapping[Table, Read]] = {
    "cisco_ios": {
        "status": read("show version", rows.status),
        "interfaces": read(
            *("show interfaces", interfaces, "show interfaces switchport"),
            *("show ip interface", "show ipv6 interface"),
        ),
        "neighbors": read(
            *("show lldp neighbors detail", neighbors_of_ios),
            *("show lldp neighbors", "show cdp neighbors detail"),
        ),
        "mac": read("show mac address-table", rows.forwarding),
        "arp": read("show ip arp", rows.arp),
        "vlans": read("show vlan", vlans_of_ios, "show interfaces switchport"),
    },
    "cisco_nxos": {
        "status": read("show version", rows.status),
        "interfaces": read(
            *("show interface", interfaces, "show interface switchport"),
            *("show ip interface vrf all", "show ipv6 interface vrf all"),
        ),
        "neighbors": read("show lldp neighbors detail", neighbors, "show cdp neighbors detail"),
        "mac": read("show mac address-table", rows.forwarding_of_nxos),
        "arp": read("show ip arp vrf all", rows.arp),
        "vlans": read("show vlan", vlans, "show interface switchport"),
    },
    "cisco_xr": {
        "status": read("show version", rows.status),
        "interfaces": read("show interfaces", interfaces),
        "neighbors": read("show lldp neighbors detail", neighbors, "show cdp neighbors detail"),
        "arp": read("show arp", rows.arp),
    },
    "arista_eos": {
        "status": read("show version", rows.status),
        "interfaces": read("show interfaces", interfaces, "show interfaces switchport"),
        "neighbors": read("show lldp neighbors detail", neighbors),
        "mac": read("show mac address-table", rows.forwarding),
        "arp": read("show ip arp vrf all", rows.arp),
        "vlans": read("show vlan", vlans, "show interfaces switchport"),
    },
    "juniper_junos": {
        "status": read("show version", rows.status),
        "interfaces": read("show interfaces", interfaces),
        "neighbors": read("show lldp neighbors", neighbors),
        "mac": read("show ethernet-switching table", rows.forwarding_of_junos, "show vlans"),
        "arp": read("show arp no-resolve", rows.arp),
        "vlans": read("show vlans", vlans_of_junos, "show vlans extensive"),
    },
    "hp_procurve": {
        "status": read("show system", rows.status, "show modules"),
        "interfaces": read("show interfaces status", interfaces),
        "neighbors": read("show lldp info remote-device detail", neighbors, "show cdp neighbors detail"),
        "mac": read("show mac-address", rows.forwarding),
        "arp": read("show arp", rows.arp),
        "vlans": read("show vlans", vlans_of_procurve, "show vlans ports all detail"),
    },
    "aruba_aoscx": {
        "status": read("show system", rows.status),
        "interfaces": read("show interface", interfaces),
        "neighbors": read("show lldp neighbor-info detail", neighbors),
        "mac": read("show mac-address-table", rows.forwarding),
        "arp": read("show arp all-vrfs", rows.arp),
        "vlans": read("show vlan", vlans, "show interface"),
    },
    "hp_comware": {
        "status": read("display version", rows.status, "display device manuinfo"),
        "interfaces": read("display interface", interfaces),
        "neighbors": read("display lldp neighbor-information verbose", neighbors),
        "mac": read("display mac-address", rows.forwarding),
        "arp": read("display arp", rows.arp),
        "vlans": read("display vlan brief", vlans_of_comware, "display vlan all"),
    },
    "huawei_vrp": {
        "status": read("display version", rows.status),
        "interfaces": read("display interface", interfaces),
        "neighbors": read("display lldp neighbor", neighbors),
        "mac": read("display mac-address", rows.forwarding),
        "arp": read("display arp all", rows.arp),
        "vlans": read("display vlan", vlans),
    },
    "mikrotik_routeros": {
        "status": read("/system resource print", rows.status),
        "interfaces": read("/interface print terse without-paging", interfaces),
        "neighbors": read("/ip neighbor print detail", neighbors),
        "mac": read("/interface bridge host print terse without-paging", rows.forwarding),
        "arp": read("/ip arp print terse without-paging", rows.arp),
    },
    "linux": LINUX,
    "cumulus": LINUX,
}
