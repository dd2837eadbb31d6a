"""Which commands are sent for which table of which platform, and how their outputs become rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netautod.plugin_api import Table
from netautod_cli import linux, rows
from netautod_cli.records import Records, records_of

Rows = Sequence[Any]


@dataclass(frozen=True, kw_only=True)
class Read:
    """`command` has to be answered; `more` add to its rows where the device knows them.

    `rows` makes them out of the records of each command, in that order; None for one that was refused.
    """

    command: str
    rows: Callable[..., Rows]
    more: tuple[str, ...] = ()
    parse: Callable[[str, str, str], Records] = records_of

    @property
    def commands(self) -> tuple[str, ...]:
        return (self.command, *self.more)


def read(command: str, made: Callable[..., Rows], *more: str) -> Read:
    return Read(command=command, rows=made, more=more)


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
        "interfaces": read("show interfaces", rows.interfaces, "show interfaces switchport"),
        "neighbors": read(
            *("show lldp neighbors detail", rows.neighbors_of_ios),
            *("show lldp neighbors", "show cdp neighbors detail"),
        ),
        "mac": read("show mac address-table", rows.forwarding),
        "arp": read("show ip arp", rows.arp),
        "vlans": read("show vlan", rows.vlans, "show interfaces switchport"),
    },
    "cisco_nxos": {
        "status": read("show version", rows.status),
        "interfaces": read("show interface", rows.interfaces),
        "neighbors": read("show lldp neighbors detail", rows.neighbors, "show cdp neighbors detail"),
        "mac": read("show mac address-table", rows.forwarding),
        "arp": read("show ip arp vrf all", rows.arp),
        "vlans": read("show vlan", rows.vlans),
    },
    "cisco_xr": {
        "status": read("show version", rows.status),
        "interfaces": read("show interfaces", rows.interfaces),
        "neighbors": read("show lldp neighbors detail", rows.neighbors, "show cdp neighbors detail"),
        "arp": read("show arp", rows.arp),
    },
    "arista_eos": {
        "status": read("show version", rows.status),
        "interfaces": read("show interfaces", rows.interfaces),
        "neighbors": read("show lldp neighbors detail", rows.neighbors),
        "mac": read("show mac address-table", rows.forwarding),
        "arp": read("show ip arp vrf all", rows.arp),
        "vlans": read("show vlan", rows.vlans),
    },
    "juniper_junos": {
        "status": read("show version", rows.status),
        "interfaces": read("show interfaces", rows.interfaces),
        "neighbors": read("show lldp neighbors", rows.neighbors),
        "mac": read("show ethernet-switching table", rows.forwarding),
        "arp": read("show arp no-resolve", rows.arp),
        "vlans": read("show vlans", rows.vlans),
    },
    "hp_procurve": {
        "interfaces": read("show interfaces status", rows.interfaces),
        "neighbors": read("show lldp info remote-device detail", rows.neighbors, "show cdp neighbors detail"),
        "mac": read("show mac-address", rows.forwarding),
        "arp": read("show arp", rows.arp),
        "vlans": read("show vlans", rows.vlans),
    },
    "aruba_aoscx": {
        "interfaces": read("show interface", rows.interfaces),
        "neighbors": read("show lldp neighbor-info detail", rows.neighbors),
        "mac": read("show mac-address-table", rows.forwarding),
        "arp": read("show arp all-vrfs", rows.arp),
        "vlans": read("show vlan", rows.vlans),
    },
    "hp_comware": {
        "interfaces": read("display interface", rows.interfaces),
        "neighbors": read("display lldp neighbor-information verbose", rows.neighbors),
        "mac": read("display mac-address", rows.forwarding),
        "arp": read("display arp", rows.arp),
        "vlans": read("display vlan brief", rows.vlans),
    },
    "huawei_vrp": {
        "status": read("display version", rows.status),
        "interfaces": read("display interface", rows.interfaces),
        "neighbors": read("display lldp neighbor", rows.neighbors),
        "mac": read("display mac-address", rows.forwarding),
        "vlans": read("display vlan", rows.vlans),
    },
    "mikrotik_routeros": {
        "status": read("/system resource print", rows.status),
        "interfaces": read("/interface print terse without-paging", rows.interfaces),
        "neighbors": read("/ip neighbor print detail", rows.neighbors),
        "arp": read("/ip arp print terse without-paging", rows.arp),
    },
    "linux": LINUX,
    "cumulus": LINUX,
}
