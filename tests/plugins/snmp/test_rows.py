"""Neighbors, forwarding and ARP from columns: what vendors send, and what nobody should."""

from typing import Any

import pytest

from netautod.plugin_api import Neighbor
from netautod_snmp import arp, forwarding
from netautod_snmp.agent import Rows
from netautod_snmp.cdp import CDP_COLUMNS, cdp_neighbors_of
from netautod_snmp.neighbors import (
    REMOTE_COLUMNS,
    LldpTables,
    local_interfaces,
    merged,
    neighbors_of,
)
from netautod_snmp.ports import Ports

MAC = bytes.fromhex("020000000007")
PORTS = Ports(
    names={7: "Ethernet1/7", 8: "Ethernet1/8"},
    short_names={7: "Eth1/7", 8: "Eth1/8"},
    descriptions={7: "port seven", 8: "port eight"},
    aliases={7: "uplink", 8: "access"},
    macs={7: "02:00:00:00:00:07", 8: "02:00:00:00:00:08"},
    bridge={1: 7, 2: 8},
)


def lldp(*, index: str = "0.7.1", management: Rows | None = None, **row: Any) -> LldpTables:
    columns: dict[str, Rows] = {name: {} for name in REMOTE_COLUMNS}
    for name, value in {"chassis_subtype": 4, "chassis": MAC, "port": b"ge-0/0/1", **row}.items():
        columns[name][index] = value
    return LldpTables(columns=columns, management=management or {})


@pytest.mark.parametrize(
    ("number", "subtype", "own", "description", "expected"),
    [
        pytest.param(99, 5, b"Eth1/7", b"", "Ethernet1/7", id="ifName"),
        pytest.param(99, 5, b"port eight", b"", "Ethernet1/8", id="ifDescr"),
        pytest.param(99, 1, b"uplink", b"", "Ethernet1/7", id="ifAlias"),
        pytest.param(99, 3, MAC, b"", "Ethernet1/7", id="MAC"),
        pytest.param(99, 7, b"99", b"port seven", "Ethernet1/7", id="name only in the description"),
        pytest.param(7, 7, b"7", b"no such", "Ethernet1/7", id="number is the ifIndex"),
        pytest.param(2, 7, b"2", b"no such", "Ethernet1/8", id="number is the bridge port"),
        pytest.param(99, 7, b"99", b"no such", None, id="nothing explains it"),
        pytest.param(99, 3, MAC[:5], b"", None, id="MAC of five bytes"),
    ],
)
def test_local_ports(number: int, subtype: int, own: bytes, description: bytes, expected: str | None) -> None:
    key = str(number)
    tables = LldpTables(
        columns={name: {} for name in REMOTE_COLUMNS},
        management={},
        local_subtypes={key: subtype},
        local_ids={key: own},
        local_descriptions={key: description},
    )
    assert local_interfaces(tables, PORTS).get(number) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param({"name": b""}, {"remote_system_name": None}, id="empty name"),
        pytest.param({}, {"remote_system_name": None}, id="no name"),
        pytest.param({"name": b"\xff\x00core"}, {"remote_system_name": "\ufffd\ufffdcore"}, id="not UTF-8"),
        pytest.param({"chassis": MAC}, {"remote_chassis_id": "02:00:00:00:00:07"}, id="MAC"),
        pytest.param(
            {"chassis": b"2:0:0:0:0:7"}, {"remote_chassis_id": "02:00:00:00:00:07"}, id="MAC as a short text"
        ),
        pytest.param(
            {"chassis_subtype": 5, "chassis": bytes((1, 192, 0, 2, 1))},
            {"remote_chassis_id": "192.0.2.1"},
            id="network address",
        ),
        pytest.param(
            {"chassis_subtype": 7, "chassis": b"rack 4"}, {"remote_chassis_id": "rack 4"}, id="local"
        ),
        pytest.param({"port_subtype": 3, "port": MAC}, {"remote_port": "02:00:00:00:00:07"}, id="port MAC"),
        pytest.param({"capabilities": b"\x28\x00"}, {"remote_capabilities": ("bridge", "router")}, id="bits"),
        pytest.param({"capabilities": 40}, {"remote_capabilities": ()}, id="bits of the wrong type"),
    ],
)
def test_a_neighbor_of_lldp(row: dict[str, Any], expected: dict[str, Any]) -> None:
    [neighbor] = neighbors_of(lldp(**row), PORTS)
    assert neighbor.local_interface == "Ethernet1/7"
    assert {name: getattr(neighbor, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        pytest.param("0.7.1.1.4.192.0.2.9", "192.0.2.9", id="IPv4"),
        pytest.param("0.7.1.2.16.32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.9", "2001:db8::9", id="IPv6"),
        pytest.param("0.7.1.1.192.0.2.9", "192.0.2.9", id="without its length"),
        pytest.param("0.7.1.6.6.2.0.0.0.0.7", None, id="a MAC is no IP address"),
        pytest.param("0.7.1.1.4.192.0.2.999", None, id="not an octet"),
        pytest.param("0.7.1.1.4", None, id="cut off"),
        pytest.param("0.8.1.1.4.192.0.2.9", None, id="of another neighbor"),
    ],
)
def test_the_management_address_is_in_the_index(index: str, expected: str | None) -> None:
    [neighbor] = neighbors_of(lldp(management={index: 2}), PORTS)
    assert neighbor.remote_mgmt_address == expected


def test_cdp_of_a_neighbor_with_what_it_says() -> None:
    row = {
        "address": bytes((192, 0, 2, 1)),
        "id": b"core.example.net",
        "port": b"Gi1/0/1",
        "platform": b"cisco X",
        "capabilities": bytes((0, 0, 0, 0x29)),
    }
    columns: dict[str, Rows] = {name: {"8.1": row[name]} if name in row else {} for name in CDP_COLUMNS}
    assert cdp_neighbors_of(columns, PORTS) == [
        Neighbor(
            local_interface="Ethernet1/8",
            protocol="cdp",
            remote_system_name="core.example.net",
            remote_chassis_id="core.example.net",
            remote_port="GigabitEthernet1/0/1",
            remote_platform="cisco X",
            remote_mgmt_address="192.0.2.1",
            remote_capabilities=("router", "bridge"),
        )
    ]


def neighbor_by(protocol: Any, interface: str = "Ethernet1/7", **fields: Any) -> Neighbor:
    return Neighbor(local_interface=interface, protocol=protocol, **fields)


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        pytest.param(
            {"remote_system_name": "core"}, {"remote_system_name": "CORE.example.net"}, 1, id="name"
        ),
        pytest.param(
            {"remote_system_name": "core"}, {"remote_system_name": "edge"}, 2, id="two behind a hub"
        ),
        pytest.param({"remote_chassis_id": "a"}, {"remote_chassis_id": "a"}, 1, id="chassis"),
        pytest.param({"remote_port": "p1"}, {"remote_port": "p1"}, 1, id="port"),
        pytest.param(
            {"remote_chassis_id": "a"}, {"remote_port": "p1", "remote_chassis_id": "b"}, 2, id="nothing alike"
        ),
        pytest.param({"remote_port": "p1"}, {"remote_port": "p2"}, 2, id="ports differ, no chassis"),
        pytest.param({"remote_chassis_id": "a"}, {"remote_chassis_id": "b"}, 2, id="chassis differ, no port"),
    ],
)
def test_a_neighbor_of_both_protocols(one: dict[str, Any], other: dict[str, Any], count: int) -> None:
    both = merged([neighbor_by("lldp", **one)], [neighbor_by("cdp", remote_platform="cisco X", **other)])
    assert len(both) == count
    assert both[0].protocol == "lldp"
    assert both[0].remote_platform == ("cisco X" if count == 1 else None)


def test_neighbors_of_other_interfaces_stay_apart() -> None:
    name = {"remote_system_name": "core"}
    assert len(merged([neighbor_by("lldp", **name)], [neighbor_by("cdp", "Ethernet1/8", **name)])) == 2


@pytest.mark.parametrize(
    ("index", "status", "expected"),
    [
        pytest.param("10.2.0.0.0.0.7", 3, ["dynamic"], id="learned"),
        pytest.param("10.2.0.0.0.0.7", 4, ["self"], id="self"),
        pytest.param("10.2.0.0.0.0.7", 5, ["static"], id="mgmt"),
        pytest.param("10.2.0.0.0.0.7", 2, [], id="invalid"),
        pytest.param("10.2.0.0.0.0", 3, [], id="MAC of five bytes"),
        pytest.param("10.2.0.0.0.0.7.8", 3, [], id="MAC of seven bytes"),
        pytest.param("10.2.0.0.0.0.256", 3, [], id="not an octet"),
        pytest.param("x", 3, [], id="no numbers"),
    ],
)
def test_forwarding(index: str, status: int, expected: list[str]) -> None:
    found = forwarding.entries_of({index: 1}, {index: status}, PORTS, {10: 100})
    assert [entry.type for entry in found] == expected
    assert all((entry.vlan_id, entry.interface) == (100, "Ethernet1/7") for entry in found)


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        pytest.param(MAC, 3, ["02:00:00:00:00:07"], id="dynamic"),
        pytest.param(MAC, 2, [], id="invalid"),
        pytest.param(MAC[:5], 3, [None], id="MAC of five bytes"),
        pytest.param(bytes(6), 3, [None], id="no answer yet"),
        pytest.param(b"2:0:0:0:0:7", 3, ["02:00:00:00:00:07"], id="a text without zeros in front"),
        pytest.param(b"02-00-00-00-00-07\x00", 3, ["02:00:00:00:00:07"], id="a text with a zero behind"),
        pytest.param(b"1:2:3:4:5", 3, [None], id="a text of five bytes"),
        pytest.param(7, 3, [None], id="of the wrong type"),
    ],
)
def test_arp(value: Any, kind: int, expected: list[str | None]) -> None:
    index = "7.192.0.2.1"
    found = arp.entries_of({index: value}, {index: kind}, PORTS, old=True)
    assert [entry.mac_address for entry in found.values()] == expected
    assert list(found) == [(7, "192.0.2.1")] * len(expected)


def test_arp_of_both_tables_once() -> None:
    old = arp.entries_of({"7.192.0.2.1": MAC}, {"7.192.0.2.1": 3}, PORTS, old=True)
    new = arp.entries_of({"7.1.4.192.0.2.1": b""}, {"7.1.4.192.0.2.1": 3}, PORTS, old=False)
    [entry] = arp.merged(new, old)
    assert (entry.ip_address, entry.mac_address, entry.interface) == (
        "192.0.2.1",
        "02:00:00:00:00:07",
        "Ethernet1/7",
    )


def v2(*indexes: str, **row: Any) -> LldpTables:
    """Build the same neighbor at several rows of LLDP-V2-MIB; `row` is another one behind them."""
    columns: dict[str, Rows] = {name: {} for name in REMOTE_COLUMNS}
    fields = {"chassis_subtype": 4, "chassis": MAC, "port": b"ge-0/0/1"}
    for place, index in enumerate(indexes):
        last = row if place == len(indexes) - 1 else {}
        for name, value in {**fields, **last}.items():
            columns[name][index] = value
    return LldpTables(columns=columns, management={}, by_if_index=True)


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        pytest.param(v2("0.7.1.1", "0.7.2.1", "0.7.3.1"), 1, id="three destination addresses"),
        pytest.param(v2("0.7.1.1", "9.7.1.1"), 1, id="two time marks"),
        pytest.param(v2("0.7.1.1", "0.8.1.1"), 2, id="two interfaces"),
        pytest.param(v2("0.7.1.1", "0.7.1.2", port=b"ge-0/0/2"), 2, id="two ports behind a hub"),
        pytest.param(v2("0.7.1.1", "0.7.1.2", chassis=MAC[::-1]), 2, id="two chassis behind a hub"),
        pytest.param(v2("0.7.1.1", "0.7.1.2", port=None), 2, id="one that names no port"),
    ],
)
def test_a_neighbor_once(tables: LldpTables, expected: int) -> None:
    assert len(neighbors_of(tables, PORTS)) == expected


def test_a_neighbor_once_has_what_any_of_its_rows_says() -> None:
    [neighbor] = neighbors_of(v2("0.7.1.1", "0.7.2.1", name=b"core"), PORTS)
    assert neighbor.remote_system_name == "core"


def test_filtering_database_0_is_no_vlan() -> None:
    [entry] = forwarding.entries_of({"0.2.0.0.0.0.7": 1}, {"0.2.0.0.0.0.7": 3}, PORTS, {})
    assert (entry.vlan_id, entry.interface) == (None, "Ethernet1/7")
