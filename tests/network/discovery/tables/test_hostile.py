"""Rows that no device should send, from a plugin that checks nothing: they cost themselves, never a table."""

from typing import Any

import pytest

from netautod.network.discovery.tables import checks
from netautod.network.discovery.tables import first_seen as remembering
from netautod.plugin_api import (
    ArpEntry,
    Collected,
    Interface,
    InterfaceAddress,
    InterfaceCounters,
    Neighbor,
    Vlan,
)
from tests.network.discovery.tables.worlds import NOTE, World, mac, macs

ODD: Any = None
HEARD: Any = {"local_interface": "Ethernet1", "protocol": "lldp"}


def address(text: Any, length: Any = 24) -> InterfaceAddress:
    return InterfaceAddress(address=text, prefix_length=length)


@pytest.mark.parametrize(
    ("name", "row", "field", "stored"),
    [
        pytest.param("interfaces", Interface(name=" a\nb\x00"), "name", "a b", id="blanks and padding"),
        pytest.param("interfaces", Interface(name="x" * 999), "name", "x" * 255, id="a long name"),
        pytest.param(
            "interfaces", Interface(name="x", mac_address="00-50-56-AB-CD-EF"), "mac_address",
            "00:50:56:ab:cd:ef", id="another form of a MAC address",
        ),
        pytest.param("interfaces", Interface(name="x", mtu=True), "mtu", None, id="True is no number"),
        pytest.param("interfaces", Interface(name="x", if_index=-1), "if_index", None, id="a negative index"),
        pytest.param("interfaces", Interface(name="x", vlan_id=4095), "vlan_id", None, id="VLAN 4095"),
        pytest.param("interfaces", Interface(name="x", description=""), "description", None, id="no text"),
        pytest.param(
            "interfaces", Interface(name="x", counters=InterfaceCounters(in_octets=2**64 - 1)), "counters",
            {
                **dict.fromkeys(("in_octets", "out_octets", "in_errors")),
                **dict.fromkeys(("out_errors", "in_discards", "out_discards")),
            },
            id="a counter that no BSON holds",
        ),
        pytest.param(
            "interfaces", Interface(name="x", ip_addresses=(address("10.0.0.1"), address("10.0.0.1"))),
            "ip_addresses", [{"address": "10.0.0.1", "prefix_length": 24}], id="an address twice",
        ),
        pytest.param(
            "interfaces", Interface(name="x", ip_addresses=(address("10.0.0.1", 33), address("::1", 64))),
            "ip_addresses", [{"address": "::1", "prefix_length": 64}], id="33 bits of IPv4",
        ),
        pytest.param(
            "interfaces", Interface(name="x", ip_addresses=(address("2001:DB8:0::1", 64),)),
            "ip_addresses", [{"address": "2001:db8::1", "prefix_length": 64}], id="a long form of IPv6",
        ),
        pytest.param(
            "neighbors", Neighbor(**HEARD, remote_chassis_id="0050.56AB.CDEF"), "remote_chassis_id",
            "00:50:56:ab:cd:ef", id="a chassis that is a MAC address",
        ),
        pytest.param(
            "neighbors", Neighbor(**HEARD, remote_mgmt_address="fe80::1%eth0"), "remote_mgmt_address",
            None, id="an address with a zone",
        ),
        pytest.param(
            "neighbors", Neighbor(**HEARD, remote_capabilities=("bridge", "bridge", "", ODD)),
            "remote_capabilities", ["bridge"], id="a capability twice",
        ),
        pytest.param(
            "neighbors", Neighbor(**HEARD, remote_capabilities={"b", "c", "a"}),  # type: ignore[arg-type]
            "remote_capabilities", ["a", "b", "c"], id="a set, in one order",
        ),
        pytest.param(
            "vlans", Vlan(vlan_id=1, tagged_interfaces="Ethernet1"),  # type: ignore[arg-type]
            "tagged_interfaces", [], id="a text for a list",
        ),
        pytest.param("arp", ArpEntry(ip_address="::FFFF"), "ip_address", "::ffff", id="capital letters"),
        pytest.param("arp", ArpEntry(ip_address="::1", mac_address="x"), "mac_address", None, id="no MAC"),
    ],
)  # fmt: skip
async def test_a_field_is_stored_in_its_one_form(
    world: World, name: str, row: Any, field: str, stored: Any
) -> None:
    tables: dict[str, Any] = {name: [row]}
    assert await world.poll(**tables) == {name: 1}
    [found] = await world.table(name)
    assert found[field] == stored


@pytest.mark.parametrize(
    ("name", "row"),
    [
        pytest.param("interfaces", Interface(name="\x00\x00"), id="an interface without a name"),
        pytest.param("interfaces", Interface(name=ODD), id="an interface whose name is None"),
        pytest.param("neighbors", Neighbor(local_interface="", protocol="lldp"), id="heard nowhere"),
        pytest.param("neighbors", Neighbor(local_interface="x", protocol=ODD), id="of no protocol"),
        pytest.param("arp", ArpEntry(ip_address="10.0.0.0/24"), id="a network for an address"),
        pytest.param("arp", ArpEntry(ip_address="10.0.0.256"), id="an address out of range"),
        pytest.param("vlans", Vlan(vlan_id=0), id="VLAN 0"),
        pytest.param("vlans", Vlan(vlan_id=True), id="VLAN True"),
        pytest.param("vlans", Vlan(vlan_id="1"), id="VLAN as a text"),  # type: ignore[arg-type]
    ],
)
async def test_a_row_without_what_it_needs_is_dropped_and_counted(world: World, name: str, row: Any) -> None:
    tables: dict[str, Any] = {name: [row]}
    assert await world.poll(**tables) == {name: 0, f"{name}_dropped": 1}
    assert await world.table(name) == []


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param({"a": 1}, id="a mapping"),
        pytest.param("text", id="a text"),
        pytest.param(iter(macs(1)), id="what can be read once"),
        pytest.param(5, id="a number"),
    ],
)
async def test_what_is_no_table_leaves_the_table_as_it_was(world: World, rows: Any) -> None:
    await world.poll(mac=macs(1))
    assert await world.poll(5, mac=rows, vlans=(Vlan(vlan_id=1),)) == {"mac_dropped": 1, "vlans": 1}
    assert await world.addresses() == [mac(1)]


async def test_a_status_that_is_none_is_not_stored(world: World) -> None:
    found = Collected(status="sw1", mac=macs(1))  # type: ignore[arg-type]
    counts = await world.store.replace(world.org_id, world.device_id, found, sources={}, note=NOTE)
    assert counts == {"mac": 1}
    assert (await world.reads.status(world.org_id, world.device_id)).sys_name is None


async def test_rows_behind_the_most_that_is_kept_are_dropped_and_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "MOST_WEIGHT", 100)
    assert await world.poll(mac=macs(*range(150))) == {"mac": 100, "mac_dropped": 50}


async def test_what_is_remembered_has_a_bound_and_the_longest_gone_are_forgotten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "MOST_GONE", 4)
    await world.poll(mac=macs(1, 2, 3))
    await world.poll(5, mac=macs(4, 5, 6))
    await world.poll(10, mac=())  # 1, 2 and 3 went before 4, 5 and 6
    await world.poll(15, mac=macs(1, 2, 3, 4, 5, 6))
    first = {row["mac_address"]: row["first_seen_at"][14:16] for row in await world.table("mac")}
    assert [first[mac(number)] for number in (4, 5, 6)] == ["05"] * 3
    assert sorted(first[mac(number)] for number in (1, 2, 3)) == ["00", "15", "15"]


TRUNKS = tuple(f"TenGigabitEthernet1/0/{number}" for number in range(600))
WIDEST = "\U0001f5a7" * 255


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        pytest.param(
            "vlans",
            [Vlan(vlan_id=number, tagged_interfaces=TRUNKS) for number in range(1, 4095)],
            id="every VLAN on 600 trunks",
        ),
        pytest.param(
            "vlans",
            [
                Vlan(vlan_id=number, tagged_interfaces=tuple(f"{port}{WIDEST}" for port in range(4096)))
                for number in range(1, 5)
            ],
            id="names as wide as they can be",
        ),
        pytest.param(
            "interfaces",
            [
                Interface(
                    name=f"Ethernet{number}",
                    if_index=number,
                    description="\U0001f5a7" * 1024,
                    ip_addresses=tuple(address(f"2001:db8::{one:x}", 64) for one in range(256)),
                )
                for number in range(1500)
            ],
            id="256 addresses on each interface",
        ),
    ],
)
async def test_the_heaviest_tables_are_stored_in_parts_that_fit(
    world: World, name: str, rows: list[Any]
) -> None:
    """A document of the database holds 16 MB."""
    tables: dict[str, Any] = {name: rows}
    assert await world.poll(**tables) == {name: len(rows)}
    assert len(await world.table(name)) == len(rows)
