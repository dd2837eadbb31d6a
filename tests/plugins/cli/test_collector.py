"""The reading of command lines of our own making, and the handling of outputs that are none."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from netautod.plugin_api import (
    TABLES,
    ArpEntry,
    Collected,
    DeviceFacts,
    DeviceFailed,
    InterfaceAddress,
    InterfaceCounters,
    MacEntry,
    Neighbor,
    Table,
    Vlan,
)
from netautod.testing import PolledDevice
from netautod_cli import offload
from netautod_cli.collector import CliCollector
from netautod_cli.offload import Offload
from netautod_cli.unreadable import Unreadable
from tests.plugins.cli.outputs import IOS, LINUX

ALL = frozenset(TABLES)


@pytest.fixture(scope="module")
async def collector() -> AsyncIterator[CliCollector]:
    """Yield a collector with one process that parses for all tests of the module."""
    parsing = Offload()
    yield CliCollector(parsing)
    parsing.end()


pytestmark = pytest.mark.asyncio(loop_scope="session")


def device(platform: str, responses: Any) -> PolledDevice:
    return PolledDevice(device_type=platform, responses=responses)


async def test_a_switch_with_ios(collector: CliCollector) -> None:
    target = device("cisco_ios", IOS)
    found = await collector.collect(target, ALL)
    assert found.problems == {}
    assert len(target.sent) == len(set(target.sent)) == len(IOS)
    assert found.status == DeviceFacts(
        sys_name="sw1",
        vendor="Cisco",
        model="WS-C2960X-24TS-L",
        os_version="15.2(7)E4",
        serial_number="FOC0000A0AA",
        uptime_seconds=((9 * 24 + 3) * 60 + 4) * 60,
        device_type="cisco_ios",
    )
    svi, first, second = found.interfaces or ()
    assert (svi.name, svi.ip_addresses) == (
        "Vlan100",
        (
            InterfaceAddress(address="10.0.100.1", prefix_length=24),
            InterfaceAddress(address="10.0.101.1", prefix_length=24),
            InterfaceAddress(address="2001:db8:100::1", prefix_length=64),
            InterfaceAddress(address="fe80::1", prefix_length=64),
        ),
    )
    assert (first.name, first.description, first.admin_status, first.oper_status) == (
        "GigabitEthernet1/0/1",
        "to the core",
        "up",
        "up",
    )
    assert (first.speed_mbps, first.duplex, first.mtu, first.mac_address, first.vlan_id) == (
        1000,
        "full",
        1500,
        "02:00:00:00:00:01",
        99,
    )
    assert (second.admin_status, second.oper_status, second.duplex, second.vlan_id) == (
        "down",
        "down",
        "auto",
        100,
    )
    assert found.neighbors == [
        Neighbor(
            local_interface="GigabitEthernet1/0/1",
            protocol="lldp",
            remote_system_name="core.example.net",
            remote_chassis_id="02:00:00:00:00:aa",
            remote_port="GigabitEthernet0/1",
            remote_port_description="GigabitEthernet0/1",
            remote_platform="Cisco IOS Software, C3560 Software, Version 15.0(2)SE",
            remote_mgmt_address="10.0.0.1",
            remote_capabilities=("bridge", "router"),
        )
    ]
    assert found.mac == [
        MacEntry(
            mac_address="02:00:00:00:00:32", vlan_id=100, interface="GigabitEthernet1/0/1", type="dynamic"
        ),
        MacEntry(
            mac_address="02:00:00:00:00:33", vlan_id=200, interface="GigabitEthernet1/0/2", type="static"
        ),
    ]
    assert found.arp == [
        ArpEntry(
            ip_address="10.0.100.7", mac_address="02:00:00:00:00:07", interface="Vlan100", type="dynamic"
        ),
        ArpEntry(
            ip_address="10.0.100.1", mac_address="02:00:00:00:00:64", interface="Vlan100", type="dynamic"
        ),
    ]
    assert found.vlans == [
        Vlan(vlan_id=1, name="default", status="active"),
        Vlan(
            vlan_id=100,
            name="users",
            status="active",
            tagged_interfaces=("GigabitEthernet1/0/1",),
            untagged_interfaces=("GigabitEthernet1/0/2",),
        ),
        Vlan(vlan_id=200, name="phones", status="suspended", tagged_interfaces=("GigabitEthernet1/0/1",)),
    ]


async def test_a_host_with_linux(collector: CliCollector) -> None:
    found = await collector.collect(device("linux", LINUX), ALL)
    assert (found.problems, found.given) == ({}, ALL)
    assert found.status == DeviceFacts(
        sys_name="host1",
        sys_descr="Linux host1 6.1.0-18-amd64 #1 SMP x86_64 GNU/Linux",
        os_version="Debian GNU/Linux 12 (bookworm)",
        uptime_seconds=12345,
        device_type="linux",
    )
    loopback, member, bond, vlan = found.interfaces or ()
    assert (loopback.mac_address, loopback.type, loopback.oper_status) == (
        None,
        "softwareLoopback",
        "unknown",
    )
    assert (member.lag, member.description, member.oper_status, member.admin_status) == (
        "bond0",
        "uplink",
        "up",
        "up",
    )
    assert member.counters == InterfaceCounters(
        in_octets=10, out_octets=20, in_errors=1, out_errors=3, in_discards=2, out_discards=4
    )
    assert (bond.lag, bond.type) == (None, "ieee8023adLag")
    assert (vlan.vlan_id, vlan.admin_status, vlan.oper_status, vlan.ip_addresses) == (
        7,
        "down",
        "down",
        (InterfaceAddress(address="2001:db8::1", prefix_length=64),),
    )
    assert [(one.ip_address, one.type) for one in found.arp or ()] == [
        ("10.0.0.1", "dynamic"),
        ("2001:db8::2", "static"),
    ]
    assert [(one.mac_address, one.vlan_id, one.interface, one.type) for one in found.mac or ()] == [
        ("02:00:00:00:00:50", 7, "veth1", "dynamic"),
        ("02:00:00:00:00:51", None, "br0", "self"),
    ]
    assert [(one.vlan_id, one.tagged_interfaces, one.untagged_interfaces) for one in found.vlans or ()] == [
        (1, (), ("veth1",)),
        (7, ("veth1",), ("veth2",)),
        (8, ("veth1",), ()),
        (9, ("veth1",), ()),
    ]
    assert found.neighbors == [
        Neighbor(
            local_interface="eth0",
            protocol="lldp",
            remote_system_name="core",
            remote_chassis_id="02:00:00:00:00:aa",
            remote_port="ge1",
            remote_port_description="to host1",
            remote_platform="a switch",
            remote_mgmt_address="10.0.0.9",
            remote_capabilities=("bridge", "telephone"),
        )
    ]


async def test_a_platform_without_reads_is_not_logged_in_to(collector: CliCollector) -> None:
    target = device("generic", {})
    assert (await collector.collect(target, ALL)).given == frozenset()
    assert target.sent == []


async def changed(collector: CliCollector, **responses: Any) -> Collected:
    """Collect from an IOS with other answers; `_` in a name is a blank."""
    answers = {**IOS, **{name.replace("_", " "): value for name, value in responses.items()}}
    return await collector.collect(device("cisco_ios", answers), ALL)


GONE = DeviceFailed("the connection dropped", kind="lost")
REFUSED = DeviceFailed("% Invalid input", kind="refused_command")


@pytest.mark.parametrize(
    ("responses", "lost"),
    [
        pytest.param({"show_ip_arp": REFUSED}, {"arp": "% Invalid input"}, id="a refused command"),
        pytest.param({"show_cdp_neighbors_detail": REFUSED}, {}, id="a refused addition"),
        pytest.param(
            {"show_vlan": GONE}, {"vlans": "the connection dropped"}, id="the session ends with the last one"
        ),
        pytest.param(
            {"show_ip_arp": "no table at all\nbut a story\n"},
            {"arp": "`show ip arp` prints a form that is not known"},
            id="a text that is no table",
        ),
        pytest.param(
            {"show_ip_arp": IOS["show ip arp"] + "%LINK-3-UPDOWN: Interface Gi1, changed state\n"},
            {"arp": "`show ip arp` prints a form that is not known"},
            id="a log line within",
        ),
    ],
)
async def test_what_cannot_be_read_costs_its_table(
    collector: CliCollector, responses: dict[str, Any], lost: dict[Table, str]
) -> None:
    found = await changed(collector, **responses)
    assert found.problems == lost
    assert found.given == ALL - set(lost)


async def test_a_session_that_ends_in_the_middle_costs_the_commands_after_it(collector: CliCollector) -> None:
    found = await changed(collector, show_mac_address_table=GONE, **{"show_mac_address-table": GONE})
    assert found.given == {"status", "interfaces", "neighbors"}
    assert found.problems["arp"] == "the session ended before it"


async def test_a_session_that_gives_nothing_is_a_failure(collector: CliCollector) -> None:
    with pytest.raises(DeviceFailed, match="dropped"):
        await changed(collector, show_version=GONE)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        pytest.param("Total entries displayed: 0\n", [], id="empty"),
        pytest.param("% LLDP is not enabled\n", [], id="off"),
    ],
)
async def test_an_empty_table_is_one(collector: CliCollector, answers: str, expected: list[Any]) -> None:
    responses = {"show_lldp_neighbors_detail": answers, "show_cdp_neighbors_detail": "% CDP is not enabled\n"}
    assert (await changed(collector, **responses)).neighbors == expected


async def test_neighbors_with_interfaces_in_the_list_alone(collector: CliCollector) -> None:
    details = IOS["show lldp neighbors detail"].replace("Local Intf: Gi1/0/1\n", "")
    found = await changed(collector, show_lldp_neighbors_detail=details)
    assert [one.local_interface for one in found.neighbors or ()] == ["GigabitEthernet1/0/1"]
    found = await changed(collector, show_lldp_neighbors_detail=details, show_lldp_neighbors=REFUSED)
    assert "on which interfaces" in found.problems["neighbors"]


@pytest.mark.parametrize("answers", ["{", "[1]", '"text"', "12"])
async def test_json_of_another_form(collector: CliCollector, answers: str) -> None:
    found = await collector.collect(device("linux", {**LINUX, "ip -json neigh show": answers}), ALL)
    assert set(found.problems) == {"arp"}


async def test_ten_thousand_addresses_leave_the_loop_alone(collector: CliCollector) -> None:
    head = IOS["show mac address-table"].partition(" 100 ")[0]
    lines = [
        f" 100    0200.0000.{number >> 8 & 255:02x}{number & 255:02x}    DYNAMIC     Gi1/0/1\n"
        for number in range(10_000)
    ]
    late: list[float] = []

    async def watch() -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await asyncio.sleep(0)
            late.append(loop.time() - began)

    watching = asyncio.create_task(watch())
    found = await changed(collector, **{"show_mac_address-table": head + "".join(lines)})
    watching.cancel()
    assert len(found.mac or ()) >= 10_000
    assert len(late) > 1000  # the loop went on meanwhile


async def test_a_long_table_is_unpacked_in_many_turns_of_the_loop() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    packed = offload._packed(_many, 50 * offload.AT_ONCE + 1)
    counting = asyncio.create_task(count())
    await asyncio.sleep(0)
    before = turns
    rows = await offload._unpacked(packed)
    counting.cancel()
    assert rows == _many(50 * offload.AT_ONCE + 1)
    assert turns - before >= 50


def _many(number: int) -> list[MacEntry]:
    return [MacEntry(mac_address=f"02:00:00:00:{one >> 8:02x}:{one & 255:02x}") for one in range(number)]


async def test_a_parser_that_does_not_end_is_killed() -> None:
    parsing = Offload(seconds=3.0)
    try:
        with pytest.raises(Unreadable, match="not read within 3 s"):
            await parsing.call(_forever)
        parsing._seconds = 60.0  # a process begins within seconds on an idle machine only
        assert await parsing.call(len, "four") == 4  # a new process
    finally:
        parsing.end()


def _forever() -> None:
    while True:
        pass


async def test_a_parser_that_dies_fails_one_reading() -> None:
    parsing = Offload()
    try:
        with pytest.raises(Unreadable, match="has ended"):
            await parsing.call(_dies)
        assert await parsing.call(len, "four") == 4
    finally:
        parsing.end()


def _dies() -> None:
    import os

    os._exit(1)
