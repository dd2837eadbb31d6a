"""Tables of devices: replaced whole or not at all, and remembered where that is wanted."""

import asyncio
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.errors import Unavailable
from netautod.core.identity.caller import OrgId
from netautod.network.discovery.tables.event_outbox import UNNOTIFIED
from netautod.network.discovery.tables.models import Superseded
from netautod.plugin_api import (
    ArpEntry,
    DeviceFacts,
    Interface,
    InterfaceAddress,
    MacEntry,
    Neighbor,
    Vlan,
)
from tests.network.discovery.tables.worlds import NOTE, START, World, at, mac, macs


async def test_a_device_that_was_never_polled(world: World) -> None:
    found = await world.reads.table(world.org_id, world.device_id, "mac")
    assert (found.rows, found.total, found.collected_at) == ((), 0, None)
    assert (await world.reads.status(world.org_id, world.device_id)).reachable is None


async def test_rows_come_back_in_the_order_of_their_keys(world: World) -> None:
    ports = [Interface(name=f"Ethernet{number}", if_index=number) for number in (10, 2, 1)]
    counts = await world.poll(interfaces=[*ports, Interface(name="virtual")], mac=macs(3, 1, 2))
    assert counts == {"interfaces": 4, "mac": 3}
    names = [row["name"] for row in await world.table("interfaces")]
    assert names == ["Ethernet1", "Ethernet2", "Ethernet10", "virtual"]
    assert await world.addresses() == [mac(1), mac(2), mac(3)]


async def test_a_table_that_was_not_given_stays(world: World) -> None:
    await world.poll(mac=macs(1), vlans=(Vlan(vlan_id=1),))
    await world.poll(5, mac=macs(2))
    vlans = await world.reads.table(world.org_id, world.device_id, "vlans")
    assert (vlans.total, vlans.collected_at, await world.addresses()) == (1, START, [mac(2)])


async def test_an_empty_table_is_an_empty_table(world: World) -> None:
    await world.poll(mac=macs(1))
    await world.poll(5, mac=())
    found = await world.reads.table(world.org_id, world.device_id, "mac")
    assert (found.rows, found.collected_at) == ([], at(5))


async def test_first_and_last_seen(world: World) -> None:
    await world.poll(mac=macs(1, 2))
    await world.poll(5, mac=macs(1, 3))
    rows = {
        row["mac_address"]: (row["first_seen_at"], row["last_seen_at"]) for row in await world.table("mac")
    }
    began, now = "2026-11-20T10:00:00.000Z", "2026-11-20T10:05:00.000Z"
    assert rows == {mac(1): (began, now), mac(3): (now, now)}


async def test_what_comes_back_keeps_when_it_was_first_seen(world: World) -> None:
    await world.poll(mac=macs(1))
    await world.poll(5, mac=())
    await world.poll(10, mac=macs(1))
    [row] = await world.table("mac")
    assert row["first_seen_at"] == "2026-11-20T10:00:00.000Z"


async def test_what_has_been_gone_for_long_is_forgotten(world: World) -> None:
    await world.poll(mac=macs(1))
    await world.poll(5, mac=())
    await world.poll(31 * 24 * 60, mac=())
    await world.poll(31 * 24 * 60 + 5, mac=macs(1))
    [row] = await world.table("mac")
    assert row["first_seen_at"] == "2026-12-21T10:05:00.000Z"


async def test_what_vanishes_was_seen_for_the_last_time_by_the_poll_before(world: World) -> None:
    day = 24 * 60
    await world.poll(mac=macs(1))
    await world.poll(40 * day, mac=())
    await world.poll(40 * day + 5, mac=macs(1))
    [row] = await world.table("mac")
    assert row["first_seen_at"] == "2026-12-30T10:05:00.000Z"


async def test_an_entry_on_another_port_is_another_one(world: World) -> None:
    await world.poll(mac=macs(1))
    await world.poll(5, mac=macs(1, interface="Ethernet2"))
    [row] = await world.table("mac")
    assert (row["interface"], row["first_seen_at"]) == ("Ethernet2", "2026-11-20T10:05:00.000Z")


async def test_an_unchanged_table_is_not_written_again(world: World) -> None:
    await world.poll(mac=macs(*range(3000)))
    before = await world.parts()
    assert before > 5
    await world.poll(5, mac=macs(*range(3000)))
    assert await world.parts() == before
    await world.poll(10, mac=macs(*range(3001)))
    assert await world.parts() <= before + 2
    assert len(await world.table("mac")) == 3001


async def test_parts_that_nobody_names_go(world: World) -> None:
    for minutes in range(0, 50, 5):
        await world.poll(minutes, vlans=(Vlan(vlan_id=1, name=f"at {minutes}"),))
    assert await world.parts() == 2  # the last one, and the one that a reader may still look for


@pytest.mark.parametrize("minutes", [pytest.param(5, id="a young part"), pytest.param(500, id="an old one")])
async def test_a_reader_that_has_seen_the_header_before_still_finds_its_parts(
    world: World, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    await world.poll(mac=macs(1))
    find = world.reads._parts_store._parts.find

    async def late(*args: Any, **options: Any) -> Any:
        monkeypatch.undo()
        await world.poll(minutes, mac=macs(2))
        return await find(*args, **options)

    monkeypatch.setattr(world.reads._parts_store._parts, "find", late)
    assert await world.addresses() == [mac(1)]


async def test_a_reader_that_is_overtaken_twice_reads_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.poll(mac=macs(1))
    find = world.reads._parts_store._parts.find

    async def late(*args: Any, **options: Any) -> Any:
        monkeypatch.undo()
        for minutes in (5, 10):
            await world.poll(minutes, mac=macs(minutes))
        return await find(*args, **options)

    monkeypatch.setattr(world.reads._parts_store._parts, "find", late)
    assert await world.addresses() == [mac(10)]


async def test_the_older_of_two_writers_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.poll(mac=macs(1))
    insert = world.store._parts_store._parts.insert_many

    async def late(*args: Any, **options: Any) -> Any:
        monkeypatch.undo()
        await world.poll(5, mac=macs(2))
        return await insert(*args, **options)

    monkeypatch.setattr(world.store._parts_store._parts, "insert_many", late)
    with pytest.raises(Superseded):
        await world.poll(6, mac=macs(3))
    assert await world.addresses() == [mac(2)]


@pytest.mark.parametrize(
    ("collection", "call"),
    [
        pytest.param("_parts_store._parts", "insert_many", id="before parts are inserted"),
        pytest.param("_headers", "update", id="before the header names them"),
    ],
)
async def test_who_dies_before_the_end_changes_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, collection: str, call: str
) -> None:
    await world.poll(mac=macs(*range(1000)), vlans=(Vlan(vlan_id=1),))
    before = (await world.table("mac"), await world.table("vlans"))

    async def dies(*args: Any, **options: Any) -> Any:
        raise Unavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(attrgetter(collection)(world.store), call, dies)
        with pytest.raises(Unavailable):
            await world.poll(5, mac=macs(*range(500, 3000)), vlans=(Vlan(vlan_id=2),))
    assert (await world.table("mac"), await world.table("vlans")) == before
    await world.poll(10, mac=macs(7))
    assert await world.addresses() == [mac(7)]


async def test_what_a_crash_left_goes_an_hour_later(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def dies(*args: Any, **options: Any) -> Any:
        raise Unavailable("gone")

    await world.poll(vlans=(Vlan(vlan_id=1),))
    with monkeypatch.context() as patch:
        patch.setattr(world.store._headers, "update", dies)
        with pytest.raises(Unavailable):
            await world.poll(5, vlans=(Vlan(vlan_id=2),))
    assert await world.parts() == 2
    await world.poll(30, vlans=(Vlan(vlan_id=1),))
    assert await world.parts() == 2
    await world.poll(70, vlans=(Vlan(vlan_id=1),))
    assert await world.parts() == 1


HOSTILE: list[Any] = [
    pytest.param(MacEntry(mac_address="01:02"), id="an odd length"),
    pytest.param(MacEntry(mac_address=b"\x00\x01\x02\x03\x04\x05"), id="bytes"),  # type: ignore[arg-type]
    pytest.param(ArpEntry(ip_address="10.0.0.1"), id="a row of another table"),
    pytest.param("row", id="no row"),
    pytest.param(None, id="nothing"),
]


@pytest.mark.parametrize("row", HOSTILE)
async def test_a_row_that_cannot_be_stored_costs_itself(world: World, row: Any) -> None:
    assert await world.poll(mac=[*macs(1), row, *macs(2)]) == {"mac": 2, "mac_dropped": 1}
    assert await world.addresses() == [mac(1), mac(2)]


async def test_fields_that_cannot_be_stored_are_unknown(world: World) -> None:
    odd: Any = Interface
    port = odd(
        name="Ethernet1",
        description="a\x1b[0mb\ud800",
        speed_mbps=-5,
        mtu=2**70,
        vlan_id=5000,
        mac_address="junk",
        ip_addresses=(
            InterfaceAddress(address="10.0.0.1", prefix_length=24),
            InterfaceAddress(address="10.0.0.1", prefix_length=99),
            InterfaceAddress(address="no", prefix_length=1),
        ),
        last_change_at=datetime(2026, 1, 1),
        counters=None,
    )
    await world.poll(interfaces=[port])
    [row] = await world.table("interfaces")
    assert row["description"] == "a\ufffd[0mb\ufffd"
    assert row["ip_addresses"] == [{"address": "10.0.0.1", "prefix_length": 24}]
    assert [row[name] for name in ("speed_mbps", "mtu", "vlan_id", "mac_address", "last_change_at")] == [
        None
    ] * 5


async def test_equal_rows_are_one(world: World) -> None:
    assert await world.poll(mac=(*macs(1), *macs(1))) == {"mac": 1}


async def test_the_status_is_facts_and_what_the_poll_says(world: World) -> None:
    await world.poll(status=DeviceFacts(sys_name="sw1", cpu_percent=140.0, uptime_seconds=5))
    failed = replace(NOTE, state="failed", error="no answer", reachable=False, latency_ms=None, at=at(5))
    await world.store.note(world.org_id, world.device_id, replace(failed, last_success_at=None))
    status = (await world.reads.status(world.org_id, world.device_id)).to_json()
    assert (status["sys_name"], status["cpu_percent"], status["uptime_seconds"]) == ("sw1", None, 5)
    assert (status["reachable"], status["last_poll_state"], status["last_poll_error"]) == (
        False,
        "failed",
        "no answer",
    )
    assert (status["last_success_at"], status["collected_at"]) == ("2026-11-20T10:00:00.000Z",) * 2


async def test_find_knows_all_three_tables(world: World) -> None:
    port = Interface(
        name="Vlan1",
        mac_address=mac(1),
        ip_addresses=(InterfaceAddress(address="10.0.0.1", prefix_length=24),),
    )
    other = str(uuid4())
    await world.poll(interfaces=[port], arp=[ArpEntry(ip_address="10.0.0.9", mac_address=mac(9))])
    await world.poll(5, device_id=other, mac=macs(1, 2, vlan=7), arp=[ArpEntry(ip_address="10.0.0.1")])
    by_mac = await world.reads.find(world.org_id, mac=mac(1))
    assert [(one.device_id, one.source, one.interface, one.vlan_id) for one in by_mac] == [
        (other, "mac", "Ethernet1", 7),
        (world.device_id, "interface", "Vlan1", None),
    ]
    by_ip = await world.reads.find(world.org_id, ip="10.0.0.1")
    assert [(one.source, one.ip_address) for one in by_ip] == [("arp", "10.0.0.1"), ("interface", "10.0.0.1")]
    assert [one.mac_address for one in await world.reads.find(world.org_id, ip="10.0.0.9")] == [mac(9)]
    assert await world.reads.find(OrgId(str(uuid4())), mac=mac(1)) == []


async def test_find_does_not_know_what_has_gone(world: World) -> None:
    await world.poll(mac=macs(1))
    await world.poll(5, mac=macs(2))
    assert await world.reads.find(world.org_id, mac=mac(1)) == []


async def test_a_forgotten_device_leaves_nothing(world: World) -> None:
    await world.poll(mac=macs(1))
    for _ in range(2):
        await world.store.forget(world.org_id, world.device_id)
    assert (await world.parts(), await world.addresses()) == (0, [])
    assert await world.reads.find(world.org_id, mac=mac(1)) == []


async def test_events_wait_with_the_tables_until_they_are_cleared(world: World) -> None:
    events = [{"id": str(number), "kind": "interface_down"} for number in range(3)]
    note = replace(NOTE, at=at(1))
    await world.store.note(world.org_id, world.device_id, note, events=events[:2])
    await world.store.note(world.org_id, world.device_id, replace(note, at=at(2)), events=events[2:])
    pending = world.store.unnotified
    await pending.clear({world.device_id: ["0", "2"]})
    [waiting] = await pending.find(before=at(5), limit=10)
    assert (waiting["_id"], waiting["org_id"]) == (world.device_id, world.org_id)
    assert waiting[UNNOTIFIED] == [events[1]]
    assert await pending.find(before=at(1), limit=10) == []
    await pending.clear({world.device_id: ["1"]})
    assert await pending.find(before=at(5), limit=10) == []


async def test_every_device_comes_with_its_neighbors(world: World) -> None:
    heard = Neighbor(local_interface="Ethernet1", protocol="lldp", remote_system_name="sw2")
    others = [str(uuid4()) for _ in range(3)]
    for device_id in others:
        await world.poll(
            device_id=device_id, neighbors=[heard], status=DeviceFacts(sys_name="x", chassis_ids=("c",))
        )
    found = [one async for batch in world.reads.every_device(world.org_id) for one in batch]
    assert sorted(one.device_id for one in found) == sorted(others)
    assert {(one.sys_name, one.chassis_ids, one.neighbors[0]["remote_system_name"]) for one in found} == {
        ("x", ("c",), "sw2")
    }


async def test_what_the_next_poll_is_compared_with(world: World) -> None:
    heard = Neighbor(local_interface="Ethernet1", protocol="cdp")
    await world.poll(neighbors=[heard], interfaces=[Interface(name="Ethernet1", oper_status="up")])
    before = await world.reads.before(world.org_id, world.device_id)
    assert before.neighbors is not None
    assert before.interfaces is not None
    assert [row["protocol"] for row in before.neighbors] == ["cdp"]
    assert [row["oper_status"] for row in before.interfaces] == ["up"]
    assert (before.reachable, before.failures) == (True, 0)


async def test_many_readers_and_writers_see_whole_tables(world: World) -> None:
    """Each poll writes one number into all rows of both tables."""
    ended = asyncio.Event()

    async def write() -> None:
        for minutes in range(1, 15):
            ports = [Interface(name=f"Ethernet{port}", mtu=minutes, if_index=port) for port in range(600)]
            await world.poll(minutes, interfaces=ports)
        ended.set()

    async def read() -> None:
        while not ended.is_set():
            rows = await world.table("interfaces")
            assert len({row["mtu"] for row in rows}) <= 1
            assert len(rows) in (0, 600)

    await asyncio.gather(write(), read(), read())
