"""The reading of a switch with EOS, and the handling of answers that are none."""

from datetime import UTC, datetime
from typing import Any

import pytest

from netautod.plugin_api import (
    TABLES,
    ArpEntry,
    DeviceFacts,
    DeviceFailed,
    HttpReply,
    Interface,
    InterfaceAddress,
    InterfaceCounters,
    MacEntry,
    Neighbor,
    Table,
    Vlan,
)
from netautod_eapi.collector import EapiCollector
from tests.plugins.eapi.switch import ANSWERS, Switch

ALL = frozenset(TABLES)


async def test_a_switch() -> None:
    found = await EapiCollector().collect(Switch(ANSWERS), ALL)
    assert found.problems == {}
    assert found.status == DeviceFacts(
        sys_name="sw1.example.net",
        vendor="Arista",
        model="DCS-7050",
        os_version="4.30.1F",
        serial_number="JPE0",
        memory_percent=75.0,
        device_type="arista_eos",
        chassis_ids=("02:00:00:00:00:99",),
    )
    assert found.interfaces == [
        Interface(
            name="Ethernet1",
            description="to the core",
            type="ethernetCsmacd",
            admin_status="up",
            oper_status="up",
            speed_mbps=10_000,
            duplex="full",
            mtu=9214,
            mac_address="02:00:00:00:00:01",
            ip_addresses=(
                InterfaceAddress(address="10.0.0.1", prefix_length=31),
                InterfaceAddress(address="10.9.0.1", prefix_length=24),
                InterfaceAddress(address="2001:db8::1", prefix_length=64),
                InterfaceAddress(address="fe80::1", prefix_length=64),
            ),
            lag="Port-Channel1",
            last_change_at=datetime.fromtimestamp(1_750_000_000.5, UTC),
            counters=InterfaceCounters(
                in_octets=10, out_octets=20, in_errors=1, out_errors=2, in_discards=3, out_discards=4
            ),
        ),
        Interface(name="Ethernet2", admin_status="down", oper_status="down", vlan_id=7),
        Interface(name="Port-Channel1", type="ieee8023adLag", admin_status="up", oper_status="up", vlan_id=1),
    ]
    assert found.neighbors == [
        Neighbor(
            local_interface="Ethernet1",
            protocol="lldp",
            remote_system_name="core",
            remote_chassis_id="02:00:00:00:00:aa",
            remote_port="Ethernet5",
            remote_port_description="to sw1",
            remote_platform="a core switch",
            remote_mgmt_address="10.0.0.9",
            remote_capabilities=("bridge",),
        )
    ]
    assert found.mac == [
        MacEntry(mac_address="02:00:00:00:00:50", vlan_id=7, interface="Ethernet2", type="dynamic")
    ]
    assert found.arp == [
        ArpEntry(ip_address="10.0.0.9", mac_address="02:00:00:00:00:aa", interface="Vlan7", type="dynamic"),
        ArpEntry(ip_address="10.1.0.9", mac_address="02:00:00:00:00:ab", vrf="blue", type="static"),
        ArpEntry(ip_address="2001:db8::9", mac_address="02:00:00:00:00:aa", type="dynamic"),
    ]
    assert found.vlans == [
        Vlan(vlan_id=1, name="default", status="active", untagged_interfaces=("Port-Channel1",)),
        Vlan(
            vlan_id=7,
            name="users",
            status="active",
            tagged_interfaces=("Port-Channel1",),
            untagged_interfaces=("Ethernet2",),
        ),
    ]


LOST = DeviceFailed("the connection dropped", kind="lost")
BROKEN: list[Any] = [
    pytest.param(None, "`show vlan`: Invalid input (at token 1: 'x')", id="a refused command"),
    pytest.param(b"<html>", "`show vlan` is answered by what is no JSON", id="no JSON"),
    pytest.param(b"[" * 100_000, "`show vlan` is answered by what is no JSON", id="brackets without end"),
    pytest.param(b"[]", "`show vlan` is answered in another form", id="an array"),
    pytest.param(b'{"result": []}', "`show vlan` is answered in another form", id="no result"),
    pytest.param(b'{"result": [1]}', "`show vlan` is answered in another form", id="a number"),
    pytest.param(b'{"error": {"code": 1}}', "`show vlan`: None", id="an error without a word"),
    pytest.param({}, "vlans is not an object", id="no table"),
    pytest.param({"vlans": []}, "vlans is not an object", id="an array of VLANs"),
    pytest.param({"vlans": {"1": 1}}, "vlans.1 is not an object", id="a VLAN that is a number"),
    pytest.param(LOST, "the connection dropped", id="a lost connection"),
    pytest.param(HttpReply(status=500, body=b""), "the command API answers with status 500", id="a status"),
]


@pytest.mark.parametrize(("answer", "reason"), BROKEN)
async def test_what_cannot_be_read_costs_its_table(answer: Any, reason: str) -> None:
    found = await EapiCollector().collect(Switch({**ANSWERS, "show vlan": answer}), ALL)
    assert (found.given, found.problems) == (ALL - {"vlans"}, {"vlans": reason})


@pytest.mark.parametrize(
    ("table", "command", "answer"),
    [
        ("interfaces", "show interfaces", {"interfaces": {"Ethernet1": {"mtu": "many", "bandwidth": None}}}),
        (
            "neighbors",
            "show lldp neighbors detail",
            {"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [{}]}}},
        ),
        ("mac", "show mac address-table", {"unicastTable": {"tableEntries": [{"macAddress": 7}, {}]}}),
        ("arp", "show arp vrf all", {"vrfs": {"default": {"ipV4Neighbors": [{"address": []}]}}}),
        ("vlans", "show vlan", {"vlans": {"x": {}, "5": {"name": 7}}}),
        ("status", "show version", {"bootupTimestamp": "long ago", "memTotal": "much"}),
    ],
)
async def test_fields_of_another_type_are_unknown(table: Table, command: str, answer: Any) -> None:
    found = await EapiCollector().collect(Switch({**ANSWERS, command: answer}), frozenset({table}))
    assert found.given == {table}
    assert found.problems == {}


@pytest.mark.parametrize(("status", "kind"), [(401, "auth"), (403, "auth"), (404, "refused"), (503, "lost")])
async def test_a_switch_that_does_not_answer_at_all(status: int, kind: str) -> None:
    reply = HttpReply(status=status, body=b"")
    with pytest.raises(DeviceFailed) as failed:
        await EapiCollector().collect(Switch(dict.fromkeys(ANSWERS, reply)), ALL)
    assert failed.value.kind == kind


async def test_only_the_wanted_tables_are_requested() -> None:
    switch = Switch(ANSWERS)
    found = await EapiCollector().collect(switch, frozenset({"mac"}))
    assert found.given == {"mac"}
    assert switch.sent == ["show mac address-table"]
