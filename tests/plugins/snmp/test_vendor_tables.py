"""Agents that have tables of their vendor in place of those of the standards, or these in another form.

The forms are those that LibreNMS, Netdisco and Observium read from such devices.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from netautod.plugin_api import Collected, DeviceFailed, SnmpAccess, Table
from netautod.testing import PolledDevice
from netautod_snmp.agent import Agent, Rows
from netautod_snmp.bridge_ports import BASE_PORT_INDEX
from netautod_snmp.collector import SnmpCollector
from netautod_snmp.forwarding import BRIDGE_PORT, read_forwarding
from netautod_snmp.juniper import listed_ports
from netautod_snmp.ports import Ports
from netautod_snmp.tplink import listed
from netautod_snmp.vlans import VTP_STATE
from tests.plugins.snmp.switch import IF, LLDP, mac, objects, text
from tests.support.servers.snmp_agent import Encoded, Recording, integer, object_id, oid_of, serving_agent

LLDP_ROOT = "1.0.8802."
BRIDGE = "1.3.6.1.2.1.17."
Q_FDB = f"{BRIDGE}7.1.2.2.1.2"
EX = "1.3.6.1.4.1.2636.3.40.1.5.1"
L2ALD = "1.3.6.1.4.1.2636.3.48.1.3.1.1"
VRP = "1.3.6.1.4.1.2011.5.25.42"
TP_LINK = "1.3.6.1.4.1.11863.6"
BASE_PORTS = {f"{BRIDGE}1.4.1.2.{500 + port}": integer(port) for port in (1, 2, 3)}


async def collected(
    enterprise: int, rows: Mapping[str, Encoded], wanted: Iterable[Table], **instances: Mapping[str, Encoded]
) -> Collected:
    """Collect from a device of that vendor with the interfaces ge1 to ge3, and no other table than `rows`."""
    bare = {oid: value for oid, value in objects().items() if not oid.startswith((LLDP_ROOT, BRIDGE))}
    bare["1.3.6.1.2.1.1.2.0"] = object_id(oid_of(f"1.3.6.1.4.1.{enterprise}.1"))
    served = {"public": recording({**bare, **rows})}
    served |= {community: recording(found) for community, found in instances.items()}
    async with serving_agent(served) as agent:
        access = SnmpAccess(address="127.0.0.1", port=agent.port, community="public")
        found = await SnmpCollector().collect(PolledDevice(agent=access), frozenset(wanted))
    assert found.problems == {}
    return found


def recording(rows: Mapping[str, Encoded]) -> Recording:
    return Recording.of((oid_of(oid), value) for oid, value in rows.items())


def vlans_of(found: Collected) -> list[Any]:
    return [
        (one.vlan_id, one.name, list(one.tagged_interfaces), list(one.untagged_interfaces))
        for one in found.vlans or ()
    ]


def addresses_of(found: Collected) -> list[Any]:
    return [(one.mac_address, one.vlan_id, one.interface) for one in found.mac or ()]


JUNOS_EX = {
    **BASE_PORTS,
    f"{EX}.5.1.2.2": text("users"),
    f"{EX}.5.1.2.3": text("phones"),
    f"{EX}.5.1.5.2": integer(100),
    f"{EX}.5.1.5.3": integer(200),
    f"{EX}.7.1.4.2.501": integer(1),
    f"{EX}.7.1.4.2.502": integer(2),
    f"{EX}.7.1.4.3.501": integer(1),
    f"{BRIDGE}7.1.4.3.1.1.2": text("users"),  # by the index of its own, too
    f"{BRIDGE}7.1.4.5.1.1.502": integer(100),
    f"{BRIDGE}7.1.4.2.1.3.0.2": integer(7),
    f"{Q_FDB}.7.2.0.0.0.0.50": integer(502),
    f"{Q_FDB}.3.2.0.0.0.0.51": integer(501),
}
JUNOS_ELS = {
    **BASE_PORTS,
    f"{L2ALD}.2.5": text("users"),
    f"{L2ALD}.2.6": text("phones"),
    f"{L2ALD}.3.5": integer(100),
    f"{L2ALD}.3.6": integer(200),
    f"{L2ALD}.5.5": integer(65536),
    f"{L2ALD}.5.6": integer(131072),
    f"{BRIDGE}7.1.4.3.1.2.100": text("501,502"),
    f"{BRIDGE}7.1.4.3.1.4.100": text("502"),
    f"{BRIDGE}7.1.4.3.1.2.200": text("501"),
    f"{BRIDGE}7.1.4.5.1.1.502": integer(100),
    f"{Q_FDB}.65536.2.0.0.0.0.50": integer(502),
    f"{Q_FDB}.131072.2.0.0.0.0.51": integer(501),
}


@pytest.mark.parametrize(
    "rows", [pytest.param(JUNOS_EX, id="before ELS"), pytest.param(JUNOS_ELS, id="with ELS")]
)
async def test_junos_has_vlans_and_addresses_by_its_own_numbers(rows: Mapping[str, Encoded]) -> None:
    found = await collected(2636, rows, ("vlans", "mac", "interfaces"))
    assert vlans_of(found) == [(100, "users", ["ge1"], ["ge2"]), (200, "phones", ["ge1"], [])]
    assert sorted(addresses_of(found)) == [
        ("02:00:00:00:00:32", 100, "ge2"),
        ("02:00:00:00:00:33", 200, "ge1"),
    ]
    assert {one.name: one.vlan_id for one in found.interfaces or ()}["ge2"] == 100


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(b"501,502", [501, 502], id="a text"),
        pytest.param(b"7", [7], id="one port"),
        pytest.param(b"", [], id="none"),
        pytest.param(b"\x80\x01", [1, 16], id="a PortList"),
        pytest.param(None, [], id="no value"),
    ],
)
def test_a_list_of_ports_of_junos(value: bytes | None, expected: list[int]) -> None:
    assert listed_ports(value) == expected


def vlan_list(*vlans: int) -> Encoded:
    """Encode a list of HUAWEI-L2IF-MIB: the first bit is VLAN 0."""
    whole = bytearray(256)
    for vlan in vlans:
        whole[vlan // 8] |= 0x80 >> vlan % 8
    return text(bytes(whole))


async def test_vrp_without_q_bridge() -> None:
    rows = {
        f"{VRP}.3.1.1.1.1.2.100": text("users"),
        f"{VRP}.3.1.1.1.1.2.2100": text(""),
        f"{VRP}.3.1.1.1.1.2.300": text("not yet"),
        f"{VRP}.3.1.1.1.1.12.100": integer(1),
        f"{VRP}.3.1.1.1.1.12.2100": integer(1),
        f"{VRP}.3.1.1.1.1.12.300": integer(3),
        **{f"{VRP}.1.1.1.3.1.2.{port}": integer(port + 1) for port in (0, 1, 2)},
        **{f"{VRP}.1.1.1.3.1.4.{port}": integer(vlan) for port, vlan in enumerate((100, 2100, 100))},
        f"{VRP}.1.1.1.10.1.2.0": vlan_list(100, 400),  # a trunk; VLAN 400 is none
        f"{VRP}.1.1.1.10.1.3.0": vlan_list(2100 - 2048),
        f"{VRP}.1.1.1.9.1.3.1": vlan_list(2100 - 2048),  # a hybrid port: tagged, and untagged
        f"{VRP}.1.1.1.9.1.4.1": vlan_list(100),
        f"{VRP}.2.1.3.1.4.2.0.0.0.0.50.100.1.48": integer(2),
        f"{VRP}.2.1.3.1.4.2.0.0.0.0.51.2100.0": integer(1),
    }
    found = await collected(2011, rows, ("vlans", "mac"))
    assert vlans_of(found) == [(100, "users", [], ["ge1", "ge2", "ge3"]), (2100, None, ["ge1", "ge2"], [])]
    assert addresses_of(found) == [("02:00:00:00:00:32", 100, "ge2"), ("02:00:00:00:00:33", 2100, "ge1")]


async def test_jetstream_names_its_ports_by_itself() -> None:
    vlan, neighbor = f"{TP_LINK}.14.1", f"{TP_LINK}.35.1.2.2.1"
    rows = {
        **{f"{vlan}.1.1.1.1.{port}": text(f"1/0/{port + 10}") for port in (1, 2, 3)},
        f"{vlan}.1.1.1.2.3": integer(100),
        f"{vlan}.2.1.1.2.100": text("users"),
        f"{vlan}.2.1.1.3.100": text("1/0/11-12,LAG1"),
        f"{vlan}.2.1.1.4.100": text("1/0/13"),
        f"{neighbor}.4.2.1": text("A4:B9:84:00:00:4B"),
        f"{neighbor}.6.2.1": text("eth1"),
        f"{neighbor}.9.2.1": text("far"),
        f"{neighbor}.13.2.1": text(b""),
        f"{Q_FDB}.100.2.0.0.0.0.50": integer(13),
    }
    found = await collected(11863, rows, ("vlans", "mac", "neighbors"))
    assert vlans_of(found) == [(100, "users", ["ge1", "ge2"], ["ge3"])]
    assert addresses_of(found) == [("02:00:00:00:00:32", 100, "ge3")]
    [one] = found.neighbors or ()
    assert (one.local_interface, one.remote_system_name, one.remote_port) == ("ge2", "far", "eth1")
    assert one.remote_chassis_id == "a4:b9:84:00:00:4b"


def test_a_range_of_ports_of_jetstream_is_bounded() -> None:
    assert listed(b"1/0/1-2,LAG3") == ["1/0/1", "1/0/2", "LAG3"]
    assert len(listed(b"1/0/1-999999999")) < 2000


@pytest.mark.parametrize("branch", ["1.3.6.1.4.1.6486.801.1.2.1", "1.3.6.1.4.1.6486.800.1.2.1"])
async def test_an_omniswitch(branch: str) -> None:
    rows = {
        f"{branch}.3.1.1.1.1.1.2.100": text("users"),
        f"{branch}.3.1.1.2.1.1.3.100.1": integer(1),
        f"{branch}.3.1.1.2.1.1.3.100.2": integer(2),
        f"{branch}.8.1.1.8.1.7.1.1.2.100.0.2.0.0.0.0.50": integer(1),
    }
    found = await collected(6486, rows, ("vlans", "mac", "interfaces"))
    assert vlans_of(found) == [(100, "users", ["ge2"], ["ge1"])]
    assert addresses_of(found) == [("02:00:00:00:00:32", 100, "ge2")]
    assert {one.name: one.vlan_id for one in found.interfaces or ()}["ge1"] == 100


@pytest.mark.parametrize(
    ("enterprise", "rows", "expected"),
    [
        pytest.param(
            890,
            {**BASE_PORTS, f"{Q_FDB}.100.6.2.0.0.0.0.50": integer(502)},
            ("02:00:00:00:00:32", 100, "ge2"),
            id="Zyxel puts a length in front of the address",
        ),
        pytest.param(
            12356,
            {
                f"{BRIDGE}1.4.1.1.2": integer(32769),
                f"{BRIDGE}4.3.1.1.142": text(mac(50)),
                f"{BRIDGE}4.3.1.2.142": integer(32769),
            },
            ("02:00:00:00:00:32", None, "ge2"),
            id="FortiSwitch numbers its rows",
        ),
        pytest.param(
            47196,
            {
                "1.3.111.2.802.1.1.2.1.1.4.1.3.1.502": integer(2),
                f"{Q_FDB}.100.2.0.0.0.0.50": integer(502),
            },
            ("02:00:00:00:00:32", 100, "ge2"),
            id="ports in IEEE8021-BRIDGE-MIB alone",
        ),
    ],
)
async def test_a_forwarding_table_in_another_form(
    enterprise: int, rows: Mapping[str, Encoded], expected: tuple[Any, ...]
) -> None:
    assert addresses_of(await collected(enterprise, rows, ("mac",))) == [expected]


async def test_current_vlans_of_icx_are_not_believed() -> None:
    rows = {
        **{f"{BRIDGE}1.4.1.2.{port}": integer(port) for port in (1, 2, 3)},
        f"{BRIDGE}7.1.4.3.1.1.100": text("users"),
        f"{BRIDGE}7.1.4.2.1.4.0.100": text(b"\xff"),
        f"{BRIDGE}7.1.4.3.1.2.100": text(b"\x80"),
    }
    assert vlans_of(await collected(1991, rows, ("vlans",))) == [(100, "users", ["ge1"], [])]
    assert vlans_of(await collected(30065, rows, ("vlans",))) == [(100, "users", ["ge1", "ge2", "ge3"], [])]


def neighbor_rows(root: str, index: str, *, name: int = 9) -> dict[str, Encoded]:
    return {
        f"{root}.{name - 5}.{index}": integer(4),
        f"{root}.{name - 4}.{index}": text(mac(60)),
        f"{root}.{name - 3}.{index}": integer(5),
        f"{root}.{name - 2}.{index}": text("Gi0/1"),
        f"{root}.{name}.{index}": text("far"),
    }


MIKROTIK = {"1.3.6.1.4.1.14988.1.1.11.1.1.8.4": integer(2)}


@pytest.mark.parametrize(
    ("enterprise", "rows"),
    [
        pytest.param(
            14988, {**neighbor_rows(f"{LLDP}.4.1.1", "4"), **MIKROTIK}, id="RouterOS: a number alone"
        ),
        pytest.param(
            14988, {**neighbor_rows(f"{LLDP}.4.1.1", "0.0.4"), **MIKROTIK}, id="RouterOS: no local port"
        ),
        pytest.param(14988, neighbor_rows(f"{LLDP}.4.1.1", "0.2.4"), id="RouterOS from 7.7 on"),
        pytest.param(6527, neighbor_rows("1.3.6.1.4.1.6527.3.1.2.59.4.1.1", "9.2.1.1"), id="SR OS"),
        pytest.param(
            9999, neighbor_rows("1.3.111.2.802.1.1.13.1.4.1.1", "9.2.1.1", name=10), id="LLDP-V2-MIB"
        ),
        pytest.param(
            9999,
            {f"{BRIDGE}1.4.1.2.3": integer(2), **neighbor_rows(f"{LLDP}.4.1.1", "0.3.1")},
            id="a bridge port, though there is an interface of that number",
        ),
    ],
)
async def test_a_neighbor_at_its_interface(enterprise: int, rows: Mapping[str, Encoded]) -> None:
    [one] = (await collected(enterprise, rows, ("neighbors",))).neighbors or ()
    assert (one.local_interface, one.remote_system_name, one.remote_port) == (
        "ge2",
        "far",
        "GigabitEthernet0/1",
    )


class Switch:
    """A Cisco switch without a word on members: only some of its VLANs answer."""

    def __init__(self, answering: Mapping[int, Rows]) -> None:
        self._answering = answering
        self.queried: list[int] = []
        self.latency_ms: float | None = None

    async def get(self, oids: Iterable[str]) -> Rows:
        return {}

    async def walk(self, root: str) -> Rows:
        if root == VTP_STATE:
            return {f"1.{vlan}": 1 for vlan in range(10, 22)}
        return {}

    @asynccontextmanager
    async def vlan(self, number: int) -> AsyncIterator[Agent]:
        self.queried.append(number)
        if number not in self._answering:
            raise DeviceFailed("silent", kind="timeout")
        yield Instance(self._answering[number])


class Instance(Switch):
    """An instance of one VLAN."""

    def __init__(self, rows: Rows) -> None:
        super().__init__({})
        self._rows = rows

    async def walk(self, root: str) -> Rows:
        return self._rows if root == BRIDGE_PORT else {"7": 2} if root == BASE_PORT_INDEX else {}


@pytest.mark.parametrize(
    ("answering", "found", "queried"),
    [
        pytest.param([11], [11], range(10, 18), id="until all of some are silent"),
        pytest.param([11, 17], [11, 17], range(10, 22), id="all"),
        pytest.param([], [], range(10, 14), id="a switch without such communities"),
    ],
)
async def test_vlans_without_known_members(
    answering: list[int], found: list[int], queried: Iterable[int]
) -> None:
    switch = Switch({vlan: {"2.0.0.0.0.50": 7} for vlan in answering})
    entries = await read_forwarding(switch, Ports(names={2: "ge2"}), active=None, enterprise=9)
    assert [(one.vlan_id, one.interface) for one in entries or ()] == [(vlan, "ge2") for vlan in found]
    assert switch.queried == list(queried)


async def test_a_switch_of_cisco_without_known_members() -> None:
    rows = {f"{VTP_STATE}.1.{vlan}": integer(1) for vlan in (10, 20)}
    instance = {f"{BASE_PORT_INDEX}.7": integer(2), f"{BRIDGE_PORT}.2.0.0.0.0.50": integer(7)}
    found = await collected(9, rows, ("mac",), **{"public@10": {}, "public@20": instance})
    assert addresses_of(found) == [("02:00:00:00:00:32", 20, "ge2")]


@pytest.mark.parametrize(
    ("high", "low", "expected"),
    [
        pytest.param(1_000_000_000, 1_000_000_000, 1000, id="in bit/s"),
        pytest.param(100_000_000_000 // 1000, 4_294_967_295, 100_000_000_000 // 1000 // 1_000_000, id="also"),
        pytest.param(800_000, 4_294_967_295, 800_000, id="800 Gbit/s"),
        pytest.param(0, 64_000, 0, id="64 kbit/s"),
        pytest.param(0, 4_294_967_295, 0, id="not told"),
    ],
)
async def test_speeds(high: int, low: int, expected: int) -> None:
    rows = {f"{IF}.5.1": integer(low, 66), "1.3.6.1.2.1.31.1.1.1.15.1": integer(high, 66)}
    found = await collected(9999, rows, ("interfaces",))
    assert next(one.speed_mbps for one in found.interfaces or ()) == expected
