"""Small networks as they are heard, and as they have to be drawn."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.network.devices.models import Called
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.tables.models import DeviceTables
from netautod.network.discovery.tables.reading import DiscoveredReads
from netautod.network.discovery.topology.service import Networks

ORG = OrgId("org")
SEEN = datetime(2026, 11, 20, tzinfo=UTC)


def heard(local: str, name: str | None = None, port: str | None = None, **more: Any) -> dict[str, Any]:
    """A row of a neighbor table."""
    return {
        "local_interface": local,
        "protocol": "lldp",
        "remote_system_name": name,
        "remote_chassis_id": None,
        "remote_port": port,
        "remote_port_description": None,
        "remote_platform": None,
        "remote_mgmt_address": None,
        "remote_capabilities": [],
        **more,
    }


def mac(number: int) -> str:
    return f"00:00:00:00:00:{number:02x}"


@dataclass(frozen=True, kw_only=True)
class Polled:
    """A device as its poll has told it; `ports` are rows of its interface table."""

    neighbors: Sequence[Mapping[str, Any]] = ()
    sys_name: str | None = None
    chassis: tuple[str, ...] = ()
    ports: Sequence[Mapping[str, Any]] = ()


@dataclass
class World:
    """Stands for the stores. Devices without a `Polled` have never been polled."""

    devices: Mapping[str, Polled | None]
    hosts: Mapping[str, str] = field(default_factory=dict)

    async def every_device(self, org_id: OrgId) -> AsyncIterator[list[DeviceTables]]:
        yield [
            DeviceTables(
                device_id=f"id-{name}",
                revision=1,
                sys_name=polled.sys_name,
                chassis_ids=polled.chassis,
                neighbors_at=SEEN,
                neighbors=polled.neighbors,
            )
            for name, polled in self.devices.items()
            if polled is not None
        ]

    async def called(self, org_id: OrgId) -> AsyncIterator[list[Called]]:
        yield [
            Called(
                id=f"id-{name}",
                name=name,
                host=self.hosts.get(name, f"{name}.mgmt.example"),
                platform=None,
                device_type="generic",
            )
            for name in self.devices
        ]

    async def owners(self, org_id: OrgId, what: str, keys: Sequence[str]) -> list[tuple[str, str]]:
        found = []
        for name, polled in self.devices.items():
            for row in () if polled is None else polled.ports:
                own = [row.get("mac_address")] if what == "macs" else row.get("addresses", [])
                found += [(key, f"id-{name}") for key in keys if key in own]
        return found

    async def interfaces(self, org_id: OrgId, ids: Sequence[str]) -> dict[str, list[Any]]:
        return {
            f"id-{name}": list(polled.ports)
            for name, polled in self.devices.items()
            if polled is not None and f"id-{name}" in ids
        }

    def networks(self) -> Networks:
        reads, devices = cast("DiscoveredReads", self), cast("DeviceService", self)
        return Networks(reads=reads, devices=devices, clock=SystemClock())


async def drawn(devices: Mapping[str, Polled | None], **more: Any) -> tuple[list[str], list[str]]:
    """The nodes (strangers in brackets) and the links, as texts."""
    found = (await World(devices, **more).networks().topology(ORG)).to_json()
    names = {}
    for node in found["nodes"]:
        shown = node["name"] or node["mgmt_address"] or "?"
        names[node["id"]] = shown if node["device_id"] is not None else f"[{shown}]"
    links = []
    for link in found["links"]:
        a, b = sorted(f"{names[link[end]['node']]}:{link[end]['interface']}" for end in ("a", "b"))
        links.append(f"{a} - {b} ({'+'.join(link['protocols'])})")
    return sorted(names.values()), sorted(links)


def port(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": None, "mac_address": None, "if_index": None, **more}


CDP: dict[str, Any] = {"protocol": "cdp"}
G1, G2 = "GigabitEthernet0/1", "GigabitEthernet0/2"
PAIR = (mac(2), mac(4))
SAME = Polled(chassis=(mac(8),))
JUNOS = [port("ge-0/0/0"), port("ge-0/0/0.0")]
BUNDLE = [port("e1", lag="ae0"), port("e2", lag="ae0"), port("ae0")]
SWAPPED = [port("2", if_index=1), port("1", if_index=2)]
ROWS = [
    pytest.param({}, [], [], id="nothing"),
    pytest.param({"a": Polled()}, ["a"], [], id="a device that hears nobody"),
    pytest.param({"a": None}, [], [], id="a device that was never polled"),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "b", "e2")]), "b": Polled(neighbors=[heard("e2", "a", "e1")])},
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="both ends",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "b", "e2")]), "b": None},
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="one end was never polled",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "e2"), heard("e1", "b", "e2", **CDP)]),
            "b": Polled(neighbors=[heard("e2", "a", "e1", **CDP)]),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (cdp+lldp)"],
        id="two protocols on one cable",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "e3"), heard("e2", "b", "e4")]),
            "b": Polled(neighbors=[heard("e4", "a", "e2"), heard("e3", "a", "e1")]),
        },
        ["a", "b"],
        ["a:e1 - b:e3 (lldp)", "a:e2 - b:e4 (lldp)"],
        id="parallel links",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("Ethernet1", "b", "Gi0/1")]),
            "b": Polled(neighbors=[heard(G1, "a", "Et1")]),
        },
        ["a", "b"],
        [f"a:Ethernet1 - b:{G1} (lldp)"],
        id="short forms",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b.example.net", "e2")]),
            "b": Polled(neighbors=[heard("e2", "A", "e1")]),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="a domain, and capitals",
    ),
    pytest.param(
        {"a.example.net": Polled(neighbors=[heard("e1", "b", "e2")]), "b.example.net": Polled()},
        ["a.example.net", "b.example.net"],
        ["a.example.net:e1 - b.example.net:e2 (lldp)"],
        id="the inventory has the domain",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "b(FOX1234ABCD)", "e2", **CDP)]), "b": Polled()},
        ["a", "b"],
        ["a:e1 - b:e2 (cdp)"],
        id="a serial number behind the name",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "renamed", "e2")]), "b": Polled(sys_name="renamed")},
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="what a device calls itself",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "switch", "e2")]),
            "b": Polled(sys_name="switch"),
            "c": Polled(sys_name="switch"),
        },
        ["[switch]", "a", "b", "c"],
        ["[switch]:e2 - a:e1 (lldp)"],
        id="a name of two devices is nobody's",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "switch", "e2", remote_chassis_id=mac(2))]),
            "b": Polled(sys_name="switch", chassis=(mac(1),)),
            "c": Polled(sys_name="switch", chassis=(mac(2),)),
        },
        ["a", "b", "c"],
        ["a:e1 - c:e2 (lldp)"],
        id="a name of two devices, and the chassis decides",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "e2", remote_chassis_id=mac(3))]),
            "b": Polled(),
            "c": Polled(chassis=(mac(3),)),
        },
        ["a", "b", "c"],
        ["a:e1 - c:e2 (lldp)"],
        id="chassis and name contradict each other",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "e2", remote_chassis_id=mac(9))]),
            "b": Polled(chassis=(mac(9),)),
            "c": Polled(chassis=(mac(9),)),
        },
        ["a", "b", "c"],
        ["a:e1 - b:e2 (lldp)"],
        id="a chassis id that a pair shares, and the name decides",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", None, "e2", remote_chassis_id=mac(7))]),
            "b": Polled(ports=[port("e2", mac_address=mac(7))]),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="the address of an interface as chassis id",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", None, "e2", remote_mgmt_address="10.0.0.2")]),
            "b": Polled(ports=[port("e9", addresses=["10.0.0.2"])]),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="the address of an interface",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", None, "e2", remote_mgmt_address="10.0.0.1")]),
            "b": Polled(ports=[port("v1", addresses=["10.0.0.1"])]),
            "c": Polled(ports=[port("v1", addresses=["10.0.0.1"])]),
        },
        ["[10.0.0.1]", "a", "b", "c"],
        ["[10.0.0.1]:e2 - a:e1 (lldp)"],
        id="the address of two devices is nobody's",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", mac(5))]),
            "b": Polled(
                neighbors=[heard("e2", "a", "e1")],
                ports=[port("e2", mac_address=mac(5)), port("e3", mac_address=mac(6))],
            ),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="a port by its MAC address",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "512")]),
            "b": Polled(ports=[port("ge-0/0/0", if_index=512)]),
        },
        ["a", "b"],
        ["a:e1 - b:ge-0/0/0 (lldp)"],
        id="a port by its ifIndex",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "to a")]),
            "b": Polled(ports=[port("e2", description="To A")]),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="a port by its description",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "uplink")]),
            "b": Polled(ports=[port("e2", description="uplink"), port("e3", description="uplink")]),
        },
        ["a", "b"],
        ["a:e1 - b:uplink (lldp)"],
        id="a description of two ports",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "ge-0/0/0.0")]),
            "b": Polled(neighbors=[heard("ge-0/0/0", "a", "e1")]),
        },
        ["a", "b"],
        ["a:e1 - b:ge-0/0/0 (lldp)"],
        id="a unit of Junos",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "bridge/ether1")]),
            "b": Polled(ports=[port("ether1"), port("bridge")]),
        },
        ["a", "b"],
        ["a:e1 - b:ether1 (lldp)"],
        id="a port of a bridge of RouterOS",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "odd")]),
            "b": Polled(neighbors=[heard("e2", "a", "strange")]),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="neither names the other's port, and there is one each",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "odd")]),
            "b": Polled(neighbors=[heard("e2", "a", "e1")]),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)"],
        id="one of them names the other's port",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "e2")]),
            "b": Polled(neighbors=[heard("e9", "a", "e8")], ports=[port("e2"), port("e9")]),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)", "a:e8 - b:e9 (lldp)"],
        id="two cables, each of them heard at one end",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "a", "e2"), heard("e2", "a", "e1")])},
        ["a"],
        [],
        id="a loop to oneself",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "e1"), heard("e1", "c", "e1")]),
            "b": Polled(neighbors=[heard("e1", "a", "e1"), heard("e1", "c", "e1")]),
            "c": Polled(neighbors=[heard("e1", "a", "e1"), heard("e1", "b", "e1")]),
        },
        ["a", "b", "c"],
        ["a:e1 - b:e1 (lldp)", "a:e1 - c:e1 (lldp)", "b:e1 - c:e1 (lldp)"],
        id="three on a hub",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "phone", "port 1")])},
        ["[phone]", "a"],
        ["[phone]:port 1 - a:e1 (lldp)"],
        id="a stranger",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "x", "p1")]),
            "b": Polled(neighbors=[heard("e1", None, "p2", remote_chassis_id=mac(1))]),
            "c": Polled(neighbors=[heard("e1", "x", "p3", remote_chassis_id=mac(1))]),
        },
        ["[x]", "a", "b", "c"],
        ["[x]:p1 - a:e1 (lldp)", "[x]:p2 - b:e1 (lldp)", "[x]:p3 - c:e1 (lldp)"],
        id="a stranger by name, by chassis and by both is one",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "ap", "p", remote_chassis_id=mac(1))]),
            "b": Polled(neighbors=[heard("e1", "ap", "p", remote_chassis_id=mac(2))]),
        },
        ["[ap]", "[ap]", "a", "b"],
        ["[ap]:p - a:e1 (lldp)", "[ap]:p - b:e1 (lldp)"],
        id="two strangers with one name",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", None, "p")]), "b": Polled(neighbors=[heard("e1", None, "p")])},
        ["[?]", "[?]", "a", "b"],
        ["[?]:p - a:e1 (lldp)", "[?]:p - b:e1 (lldp)"],
        id="two strangers without anything",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", None, "p", remote_mgmt_address="10.0.0.7")]),
            "b": Polled(neighbors=[heard("e1", None, "p", remote_mgmt_address="10.0.0.7")]),
        },
        ["[10.0.0.7]", "a", "b"],
        ["[10.0.0.7]:p - a:e1 (lldp)", "[10.0.0.7]:p - b:e1 (lldp)"],
        id="a stranger by its address",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "b", None)]), "b": Polled()},
        ["a", "b"],
        ["a:e1 - b:None (lldp)"],
        id="no port at all",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard(G1, "b", G1), heard("Port-channel1", "b", "Port-channel1")]),
            "b": Polled(neighbors=[heard(G1, "a", G1), heard("Port-channel1", "a", "Port-channel1")]),
        },
        ["a", "b"],
        [f"a:{G1} - b:{G1} (lldp)", "a:Port-channel1 - b:Port-channel1 (lldp)"],
        id="an aggregate beside its member",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", mac(5)), heard("e1", "b", "e2", **CDP)]),
            "b": Polled(neighbors=[heard("e2", "a", "e1")]),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (cdp+lldp)"],
        id="one protocol names the port, the other its address",
    ),
    pytest.param(
        {
            "s": Polled(neighbors=[heard("Gi1/0/1", "b", "e1"), heard("Gi2/0/1", "b", "e2")], chassis=PAIR),
            "b": Polled(
                neighbors=[
                    heard("e1", None, "Gi1/0/1", remote_chassis_id=mac(2)),
                    heard("e2", None, "Gi2/0/1", remote_chassis_id=mac(4)),
                ]
            ),
        },
        ["b", "s"],
        ["b:e1 - s:Gi1/0/1 (lldp)", "b:e2 - s:Gi2/0/1 (lldp)"],
        id="a stack of two chassis",
    ),
    pytest.param(
        {
            "a": Polled(chassis=(mac(8),), neighbors=[heard("e1", "b", "e1", remote_chassis_id=mac(8))]),
            "b": None,
        },
        ["a", "b"],
        ["a:e1 - b:e1 (lldp)"],
        id="a pair with one chassis id, one half was polled",
    ),
    pytest.param(
        {
            "a": Polled(chassis=(mac(8),), neighbors=[heard("e1", "b", "e1", remote_chassis_id=mac(8))]),
            "b": Polled(chassis=(mac(8),), neighbors=[heard("e1", "a", "e1", remote_chassis_id=mac(8))]),
        },
        ["a", "b"],
        ["a:e1 - b:e1 (lldp)"],
        id="a pair with one chassis id",
    ),
    pytest.param(
        {
            "a": Polled(chassis=(mac(8),), neighbors=[heard("e1", "a", "e1", remote_chassis_id=mac(8))]),
            "b": SAME,
        },
        ["a", "b"],
        [],
        id="half of a pair hears itself",
    ),
    pytest.param(
        {
            "a": Polled(
                sys_name="MikroTik",
                chassis=(mac(2),),
                neighbors=[heard("e1", "MikroTik", "e2", remote_chassis_id=mac(4))],
            )
        },
        ["[MikroTik]", "a"],
        ["[MikroTik]:e2 - a:e1 (lldp)"],
        id="a stranger with the default name that the device has as well",
    ),
    pytest.param(
        {
            "a": Polled(
                neighbors=[
                    heard("e1", "x", "e2", remote_chassis_id=mac(2)),
                    heard("e1", "x", "e2", **CDP),
                ]
            ),
            "b": Polled(chassis=(mac(2),)),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (cdp+lldp)"],
        id="one protocol has the chassis id, the other the name alone",
    ),
    pytest.param(
        {
            "a": Polled(
                neighbors=[
                    heard("e1", "x", "e2", remote_chassis_id=mac(2)),
                    heard("e1", "x", "e2", remote_chassis_id=mac(4)),
                    heard("e2", "x", "e2"),
                ]
            ),
            "b": Polled(chassis=(mac(2),)),
        },
        ["[x]", "a", "b"],
        ["[x]:e2 - a:e1 (lldp)", "[x]:e2 - a:e2 (lldp)", "a:e1 - b:e2 (lldp)"],
        id="one name, but another chassis id or another interface",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("ge-0/0/0.0", "b", "e1")], ports=JUNOS),
            "b": Polled(neighbors=[heard("e1", "a", "ge-0/0/0")]),
        },
        ["a", "b"],
        ["a:ge-0/0/0.0 - b:e1 (lldp)"],
        id="heard on a unit, and the interface is named",
    ),
    pytest.param(
        {
            "a": Polled(
                neighbors=[heard("Ether1", "b", "e2")], ports=[port("ether1"), port("e9", if_index=7)]
            ),
            "b": Polled(neighbors=[heard("e2", "a", "ETHER1"), heard("e3", "a", "7")]),
        },
        ["a", "b"],
        ["a:Ether1 - b:e2 (lldp)", "a:e9 - b:e3 (lldp)"],
        id="capitals in one table only",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "ae0")], ports=BUNDLE),
            "b": Polled(neighbors=[heard("e1", "a", "e1")], ports=BUNDLE),
        },
        ["a", "b"],
        ["a:e1 - b:e1 (lldp)"],
        id="an aggregate is named instead of its member",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "b", "ae0"), heard("e2", "b", "ae0")], ports=BUNDLE),
            "b": Polled(neighbors=[heard("e2", "a", "e1"), heard("e1", "a", "e2")], ports=BUNDLE),
        },
        ["a", "b"],
        ["a:e1 - b:e2 (lldp)", "a:e2 - b:e1 (lldp)"],
        id="an aggregate is named instead of two members, which are crossed",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "b", mac(6)), heard("e1", "b", "e2", **CDP)]), "b": None},
        ["a", "b"],
        ["a:e1 - b:e2 (cdp+lldp)"],
        id="a port's name before its address",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "phone", "P1"), heard("e1", "pc", mac(2))])},
        ["[pc]", "[phone]", "a"],
        [f"[pc]:{mac(2)} - a:e1 (lldp)", "[phone]:P1 - a:e1 (lldp)"],
        id="a computer behind a phone",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "x", "p", remote_mgmt_address="192.168.1.1")]),
            "b": Polled(neighbors=[heard("e1", "y", "p", remote_mgmt_address="192.168.1.1")]),
            "c": Polled(neighbors=[heard("e1", None, "p", remote_mgmt_address="192.168.1.1")]),
        },
        ["[192.168.1.1]", "[x]", "[y]", "a", "b", "c"],
        ["[192.168.1.1]:p - c:e1 (lldp)", "[x]:p - a:e1 (lldp)", "[y]:p - b:e1 (lldp)"],
        id="two names at the address of the factory",
    ),
    pytest.param(
        {
            "a": Polled(neighbors=[heard("e1", "x", "p", remote_mgmt_address="10.0.0.7")]),
            "b": Polled(neighbors=[heard("e1", None, "p", remote_mgmt_address="10.0.0.7")]),
            "c": Polled(
                neighbors=[heard("e1", None, "p", remote_mgmt_address="10.0.0.7", remote_chassis_id=mac(2))]
            ),
        },
        ["[x]", "a", "b", "c"],
        ["[x]:p - a:e1 (lldp)", "[x]:p - b:e1 (lldp)", "[x]:p - c:e1 (lldp)"],
        id="a name, nothing and a chassis id at one address",
    ),
    *(
        pytest.param(
            {
                "a": Polled(neighbors=[heard("e1", "x", "p", remote_mgmt_address=address)]),
                "b": Polled(ports=[port("v1", addresses=[address])]),
                "c": Polled(neighbors=[heard("e1", None, "p", remote_mgmt_address=address)]),
            },
            [f"[{address}]", "[x]", "a", "b", "c"],
            [f"[{address}]:p - c:e1 (lldp)", "[x]:p - a:e1 (lldp)"],
            id=f"an address that each has for itself: {address}",
        )
        for address in ("0.0.0.0", "127.0.0.1", "169.254.1.1", "::", "::1", "fe80::1", "ff02::1")
    ),
    *(
        pytest.param(
            {
                "a": Polled(neighbors=[heard("e1", None, "p", remote_chassis_id=nobody)]),
                "b": Polled(ports=[port("lo", mac_address=nobody)], chassis=(nobody,)),
                "c": Polled(neighbors=[heard("e1", None, "p", remote_chassis_id=nobody)]),
            },
            ["[?]", "[?]", "a", "b", "c"],
            ["[?]:p - a:e1 (lldp)", "[?]:p - c:e1 (lldp)"],
            id=f"a chassis id that is nobody's: {nobody}",
        )
        for nobody in ("00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:80:c2:00:00:0e")
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "b", "1")]), "b": Polled(ports=SWAPPED)},
        ["a", "b"],
        ["a:e1 - b:1 (lldp)"],
        id="a number that is the name of one port and the ifIndex of another",
    ),
    pytest.param(
        {
            "hub": Polled(neighbors=[heard("p1", "a", "e1"), heard("p1", "b", "e1"), heard("p1", "c", "e1")]),
            "a": Polled(neighbors=[heard("e1", "hub", "p1")]),
            "b": Polled(neighbors=[heard("e1", "hub", "p1")]),
            "c": None,
        },
        ["a", "b", "c", "hub"],
        ["a:e1 - hub:p1 (lldp)", "b:e1 - hub:p1 (lldp)", "c:e1 - hub:p1 (lldp)"],
        id="three devices on one port",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "sw.x.net", "e1")]), "sw.x.net": None, "sw.y.net": None},
        ["a", "sw.x.net"],
        ["a:e1 - sw.x.net:e1 (lldp)"],
        id="one host name in two domains, and the whole name",
    ),
    pytest.param(
        {"a": Polled(neighbors=[heard("e1", "sw", "e1")]), "sw.x.net": None, "sw.y.net": None},
        ["[sw]", "a"],
        ["[sw]:e1 - a:e1 (lldp)"],
        id="one host name in two domains, and the host name alone",
    ),
    pytest.param(
        {"10.1.1.1": Polled(neighbors=[heard("e1", "10.1.1.2", "e1")]), "10.1.1.2": None},
        ["10.1.1.1", "10.1.1.2"],
        ["10.1.1.1:e1 - 10.1.1.2:e1 (lldp)"],
        id="addresses as names",
    ),
]


@pytest.mark.parametrize(("devices", "nodes", "links"), ROWS)
async def test_a_network(devices: Mapping[str, Polled | None], nodes: list[str], links: list[str]) -> None:
    assert await drawn(devices) == (nodes, links)


async def test_a_device_by_the_address_of_its_host() -> None:
    devices = {"a": Polled(neighbors=[heard("e1", None, "e2", remote_mgmt_address="10.9.9.9")]), "b": None}
    assert await drawn(devices, hosts={"b": "10.9.9.9"}) == (["a", "b"], ["a:e1 - b:e2 (lldp)"])


async def test_an_address_tells_who_it_is_and_the_name_who_else() -> None:
    rows = [heard("e1", "x", "e2", remote_mgmt_address="10.9.9.9"), heard("e1", "x", "e2", **CDP)]
    found = await drawn({"a": Polled(neighbors=rows), "b": None}, hosts={"b": "10.9.9.9"})
    assert found == (["a", "b"], ["a:e1 - b:e2 (cdp+lldp)"])
    world = World({"a": Polled(neighbors=rows), "b": None}, hosts={"b": "10.9.9.9"})
    matched = await world.networks().matched(ORG, "id-a", rows)
    assert [row["remote_device_id"] for row in matched] == ["id-b", "id-b"]


async def test_others_run_while_phones_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """With slices of no time every step lets others run: none of them is as long as the number of phones."""
    monkeypatch.setattr("netautod.core.loop.pace.SLICE_SECONDS", -1.0)
    phones = 300
    rows = [heard(f"e{number}", f"phone{number}", "1") for number in range(phones)]
    drawing = asyncio.create_task(World({"a": Polled(neighbors=rows)}).networks().topology(ORG))
    turns = 0
    while not drawing.done():
        await asyncio.sleep(0)
        turns += 1
    assert len((await drawing).nodes) == phones + 1
    # Heard, said, three keys, made, named, sided, linked (thrice and more), sorted: a turn for each phone.
    assert turns > 10 * phones


async def test_strangers_keep_their_ids() -> None:
    one = Polled(neighbors=[heard("e1", "x", "p", remote_chassis_id=mac(1))])
    ids = []
    for devices in ({"a": one}, {"a": one, "b": one}):
        found = (await World(devices).networks().topology(ORG)).to_json()
        ids.append([node["id"] for node in found["nodes"] if node["device_id"] is None])
    assert ids[0] == ids[1]


async def test_neighbors_are_matched_when_they_are_read() -> None:
    rows = [heard("e1", "b"), heard("e2", "nobody"), heard("e3", "a")]
    world = World({"a": Polled(neighbors=rows), "b": None})
    found = await world.networks().matched(ORG, "id-a", rows)
    assert [row["remote_device_id"] for row in found] == ["id-b", None, None]


async def test_requests_that_come_together_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world, readings = World({"a": None}), 0
    called = world.called

    async def counted(org_id: OrgId) -> AsyncIterator[list[Called]]:
        nonlocal readings
        readings += 1
        await asyncio.sleep(0)  # as one that asks a database
        async for batch in called(org_id):
            yield batch

    monkeypatch.setattr(world, "called", counted)
    networks = world.networks()
    await asyncio.gather(networks.topology(ORG), networks.topology(ORG), networks.matched(ORG, "id-a", []))
    assert readings == 1
