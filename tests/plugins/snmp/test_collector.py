"""The reading of a switch of our own making, and of one that is odd."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.plugin_api import (
    TABLES,
    ArpEntry,
    Collected,
    DeviceFacts,
    InterfaceAddress,
    InterfaceCounters,
    MacEntry,
    Neighbor,
    SnmpAccess,
    Table,
    Vlan,
)
from netautod.testing import PolledDevice
from netautod_snmp.collector import SnmpCollector
from tests.plugins.snmp.switch import mac, objects, recording, text
from tests.support.servers.snmp_agent import (
    Behaviour,
    Encoded,
    Recording,
    Reply,
    Request,
    integer,
    oid_of,
    serving_agent,
)


async def collected(
    served: Recording,
    wanted: Iterable[Table] = TABLES,
    behaviour: Behaviour = lambda request, reply: reply,
) -> Collected:
    async with serving_agent({"public": served}, behaviour) as agent:
        access = SnmpAccess(address="127.0.0.1", port=agent.port, community="public")
        return await SnmpCollector().collect(PolledDevice(agent=access), frozenset(wanted))


def of(changes: dict[str, Encoded | None]) -> Recording:
    found = {oid: value for oid, value in {**objects(), **changes}.items() if value is not None}
    return Recording.of((oid_of(oid), value) for oid, value in found.items())


async def test_a_switch() -> None:
    before = datetime.now(UTC)
    found = await collected(recording())
    assert found.problems == {}
    assert found.latency_ms is not None
    assert found.status == DeviceFacts(
        sys_name="sw1.example.net",
        sys_descr="Arista Networks EOS version 4.30.1F running on an Arista Networks DCS-7050",
        vendor="Arista",
        model="DCS-7050",
        os_version="4.30.1F",
        uptime_seconds=1000,
        device_type="arista_eos",
        chassis_ids=("02:00:00:00:00:63",),
    )
    assert found.interfaces is not None
    first, second, third, lag, vlan = found.interfaces
    assert [one.name for one in found.interfaces] == ["ge1", "ge2", "ge3", "lag1", "vlan100"]
    assert (first.description, first.type, first.speed_mbps, first.duplex, first.mtu) == (
        "to the \ufffddge",
        "ethernetCsmacd",
        10_000,
        "full",
        1500,
    )
    assert first.counters == InterfaceCounters(in_octets=2**40 + 1, in_errors=1)
    assert (first.oper_status, third.oper_status, first.last_change_at) == ("up", "down", None)
    assert third.last_change_at is not None
    assert (
        timedelta(seconds=-5)
        < third.last_change_at - (before - timedelta(seconds=500))
        < timedelta(seconds=30)
    )
    assert (second.lag, lag.lag, third.vlan_id, first.vlan_id) == ("lag1", None, 100, None)
    assert vlan.ip_addresses == (InterfaceAddress(address="10.0.100.1", prefix_length=24),)
    assert found.vlans == [
        Vlan(
            vlan_id=100,
            name="users",
            status="active",
            tagged_interfaces=("ge1", "ge2"),
            untagged_interfaces=("ge3",),
        ),
        Vlan(vlan_id=200, name="phones", status="active"),
    ]
    assert found.mac == [
        MacEntry(mac_address="02:00:00:00:00:32", vlan_id=100, interface="ge3", type="dynamic")
    ]
    assert found.arp == [
        ArpEntry(
            ip_address="2001:db8::7", mac_address="02:00:00:00:00:07", interface="vlan100", type="dynamic"
        ),
        ArpEntry(
            ip_address="10.0.100.7", mac_address="02:00:00:00:00:07", interface="vlan100", type="dynamic"
        ),
    ]
    assert found.neighbors == [
        Neighbor(
            local_interface="ge1",
            protocol="lldp",
            remote_system_name="core",
            remote_chassis_id="02:00:00:00:00:3c",
            remote_port="GigabitEthernet0/1",
            remote_port_description="uplink",
            remote_platform="a core switch",
            remote_mgmt_address="10.0.0.60",
            remote_capabilities=("bridge", "router"),
        )
    ]


async def test_only_what_is_wanted_is_given() -> None:
    assert (await collected(recording(), ("arp", "status"))).given == {"arp", "status"}


def failing(root: str) -> Behaviour:
    """Answer requests for what is below the root by an error."""
    below = oid_of(root)

    def behaviour(request: Request, reply: Reply) -> Reply:
        is_below = any(oid[: len(below)] == below for oid in request.oids)
        return Reply(error=5) if is_below else reply

    return behaviour


@pytest.mark.parametrize(
    ("root", "lost"),
    [
        pytest.param("1.3.6.1.2.1.17.7.1.2.2.1.3", {"mac"}, id="the forwarding table"),
        pytest.param("1.3.6.1.2.1.4.22.1.4", {"arp"}, id="ARP"),
        pytest.param("1.0.8802.1.1.2.1.4.1.1.9", {"neighbors"}, id="neighbors"),
        pytest.param("1.3.6.1.2.1.17.7.1.4.2.1.5", {"vlans"}, id="VLANs"),
        pytest.param("1.3.6.1.2.1.4.20.1.3", {"interfaces"}, id="addresses"),
        pytest.param(
            "1.3.6.1.2.1.2.2.1.8", {"interfaces", "neighbors", "mac", "arp", "vlans"}, id="the interfaces"
        ),
    ],
)
async def test_what_fails_costs_its_table_and_says_why(root: str, lost: set[Table]) -> None:
    found = await collected(recording(), behaviour=failing(root))
    assert found.given == set(TABLES) - lost
    assert set(found.problems) == lost
    assert all("genErr" in reason for reason in found.problems.values())


ODD: list[Any] = [
    pytest.param({"1.3.6.1.2.1.2.2.1.6.1": text(b"\x01\x02\x03")}, id="a MAC address of three bytes"),
    pytest.param({"1.3.6.1.2.1.2.2.1.6.1": integer(5)}, id="a MAC address that is a number"),
    pytest.param({"1.3.6.1.2.1.2.2.1.4.1": text("many")}, id="an MTU that is a text"),
    pytest.param({"1.3.6.1.2.1.2.2.1.8.1": integer(77)}, id="a state that nobody knows"),
    pytest.param({"1.3.6.1.2.1.31.1.1.1.18.1": text(b"\xff\x00\x1b[0m")}, id="a description of bytes"),
    pytest.param({"1.3.6.1.2.1.1.2.0": text("no OID")}, id="an object id that is a text"),
    pytest.param({"1.3.6.1.2.1.1.3.0": None}, id="no uptime"),
    pytest.param({"1.0.8802.1.1.2.1.4.1.1.9.0.1.1": text("")}, id="a neighbor without a name"),
    pytest.param({"1.0.8802.1.1.2.1.4.1.1.5.0.1.1": text(b"")}, id="a neighbor without a chassis id"),
    pytest.param(
        {"1.3.6.1.2.1.17.7.1.2.2.1.2.100.2.0.0.0.0.50.9": integer(1)}, id="a MAC address of seven bytes"
    ),
    pytest.param({"1.3.6.1.2.1.17.7.1.2.2.1.2.100.2.0.0.0.0.999": integer(1)}, id="a byte over 255"),
    pytest.param({"1.3.6.1.2.1.4.22.1.2.100.10.0.100": text(mac(1))}, id="an address of three numbers"),
    pytest.param({"1.3.6.1.2.1.4.20.1.3.10.0.100.1": text("255")}, id="a mask that is none"),
    pytest.param({"1.3.6.1.2.1.17.7.1.4.3.1.1.9999": text("x")}, id="a VLAN over 4094"),
]


@pytest.mark.parametrize("changes", ODD)
async def test_what_is_odd_costs_no_table(changes: dict[str, Encoded | None]) -> None:
    found = await collected(of(changes))
    assert found.given == set(TABLES)
    assert found.problems == {}
    assert found.neighbors is not None
    assert len(found.neighbors) == 1
    assert [one.vlan_id for one in found.vlans or ()] == [100, 200]


async def test_interfaces_with_one_name_are_kept_apart() -> None:
    found = await collected(of({f"1.3.6.1.2.1.31.1.1.1.1.{index}": text("port") for index in (1, 2, 3)}))
    assert [one.name for one in found.interfaces or ()] == ["port", "ge2", "ge3", "lag1", "vlan100"]


async def test_a_host_without_tables_gives_none() -> None:
    bare = {
        oid: value for oid, value in objects().items() if oid.startswith(("1.3.6.1.2.1.1.", "1.3.6.1.2.1.2."))
    }
    found = await collected(Recording.of((oid_of(oid), value) for oid, value in bare.items()))
    assert found.given == {"status", "interfaces", "arp"}
    assert found.problems == {}


async def test_no_such_instance_everywhere() -> None:
    found = await collected(Recording.of([]))
    assert found.problems == {}
    assert list(found.interfaces or ()) == []


async def test_fifty_thousand_addresses() -> None:
    table = "1.3.6.1.2.1.17.7.1.2.2.1"
    ends = [f"{number >> 16}.{number >> 8 & 255}.{number & 255}" for number in range(50_000)]
    rows: dict[str, Encoded | None] = {
        f"{table}.{column}.100.4.0.0.{end}": integer(3) for end in ends for column in (2, 3)
    }
    found = await collected(of(rows), ("mac",))
    assert len(found.mac or ()) == 50_001


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"1.3.6.1.2.1.2.1.0": integer(40)}, id="ifNumber says more"),
        pytest.param({"1.3.6.1.2.1.2.2.1.8.100": None}, id="a state is missing"),
        pytest.param({f"1.3.6.1.2.1.2.2.1.3.{index}": None for index in (10, 100)}, id="types are cut"),
    ],
)
async def test_columns_that_disagree_are_no_table(changes: dict[str, Encoded | None]) -> None:
    found = await collected(of(changes))
    assert found.given == {"status"}
    assert "ifTable is not whole" in found.problems["interfaces"]


@pytest.mark.parametrize("column", [2, 3, 7, 8])
async def test_a_gap_in_a_column_is_the_agents_own(column: int) -> None:
    found = await collected(of({f"1.3.6.1.2.1.2.2.1.{column}.2": None}))
    assert found.problems == {}
    assert [one.name for one in found.interfaces or ()] == ["ge1", "ge2", "ge3", "lag1", "vlan100"]


async def test_a_column_that_the_agent_does_not_have() -> None:
    found = await collected(of({f"1.3.6.1.2.1.2.2.1.7.{index}": None for index in (1, 2, 3, 10, 100)}))
    assert {one.admin_status for one in found.interfaces or ()} == {None}
