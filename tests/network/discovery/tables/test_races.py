"""Polls that end while others read, search, tell, or write: nothing that is there is ever missing."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from netautod.core.errors import Unavailable
from netautod.network.discovery.tables.event_outbox import UNNOTIFIED
from netautod.network.discovery.tables.models import Before, Superseded
from netautod.network.discovery.tables.part_store import PARTS
from netautod.plugin_api import ArpEntry, Interface, InterfaceAddress, Neighbor, Vlan
from tests.network.discovery.tables.worlds import NOTE, World, at, mac, macs

HEARD = Neighbor(local_interface="Ethernet1", protocol="lldp", remote_system_name="sw2")
PORT = Interface(
    name="Vlan1",
    if_index=1,
    mac_address=mac(1),
    ip_addresses=(InterfaceAddress(address="10.0.0.1", prefix_length=24),),
)
Step = Callable[[], Awaitable[Any]]


def meanwhile(
    patch: pytest.MonkeyPatch, thing: Any, call: str, *, first: Step | None = None, then: Step | None = None
) -> None:
    """The next time that this is called, something happens before it, or behind it."""
    real = getattr(thing, call)

    async def late(*args: Any, **options: Any) -> Any:
        patch.undo()
        if first is not None:
            await first()
        found = await real(*args, **options)
        if then is not None:
            await then()
        return found

    patch.setattr(thing, call, late)


@pytest.mark.parametrize(
    ("tables", "later", "wanted"),
    [
        pytest.param({"mac": macs(1)}, {"mac": macs(1, 2)}, {"mac": mac(1)}, id="a MAC table"),
        pytest.param(
            {"interfaces": [PORT]},
            {"interfaces": [replace(PORT, mtu=9000)]},
            {"mac": mac(1)},
            id="MAC addresses of interfaces",
        ),
        pytest.param(
            {"interfaces": [PORT]},
            {"interfaces": [replace(PORT, mtu=9000)]},
            {"ip": "10.0.0.1"},
            id="addresses of interfaces",
        ),
        pytest.param(
            {"arp": [ArpEntry(ip_address="10.0.0.1")]},
            {"arp": [ArpEntry(ip_address="10.0.0.1"), ArpEntry(ip_address="10.0.0.2")]},
            {"ip": "10.0.0.1"},
            id="an ARP table",
        ),
    ],
)
async def test_a_search_that_a_poll_overtakes_finds_what_is_there(
    world: World, monkeypatch: pytest.MonkeyPatch, tables: Any, later: Any, wanted: Any
) -> None:
    await world.poll(**tables)
    meanwhile(monkeypatch, world.reads._search._parts, "aggregate", then=lambda: world.poll(5, **later))
    [found] = await world.reads.find(world.org_id, **wanted)
    assert found.last_seen_at == at(5)


async def test_a_search_that_is_overtaken_does_not_find_what_has_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.poll(mac=macs(1))
    parts = world.reads._search._parts
    meanwhile(monkeypatch, parts, "aggregate", then=lambda: world.poll(5, mac=macs(2)))
    assert await world.reads.find(world.org_id, mac=mac(1)) == []


async def test_owners_of_addresses_are_known_while_a_poll_ends(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.poll(interfaces=[PORT])
    parts = world.reads._search._parts
    changed = replace(PORT, mtu=9000)
    meanwhile(monkeypatch, parts, "aggregate", then=lambda: world.poll(5, interfaces=[changed]))
    assert await world.reads.owners(world.org_id, "macs", [mac(1)]) == [(mac(1), world.device_id)]


async def overtaken_twice(world: World) -> None:
    for minutes in (5, 10):
        await world.poll(
            minutes,
            neighbors=[replace(HEARD, remote_platform=f"{minutes}")],
            interfaces=[replace(PORT, description=f"{minutes}")],
        )


async def test_neighbors_of_all_devices_are_whole_though_two_polls_end_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.poll(neighbors=[HEARD])
    meanwhile(monkeypatch, world.reads._parts_store._parts, "find", first=lambda: overtaken_twice(world))
    [[found]] = [batch async for batch in world.reads.every_device(world.org_id)]
    assert [row["remote_platform"] for row in found.neighbors] == ["10"]
    assert (found.neighbors_at, found.revision) == (at(10), 3)


async def test_interfaces_of_devices_are_whole_though_two_polls_end_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.poll(interfaces=[PORT])
    meanwhile(monkeypatch, world.reads._parts_store._parts, "find", first=lambda: overtaken_twice(world))
    found = await world.reads.interfaces(world.org_id, [world.device_id])
    assert [row["description"] for row in found[world.device_id]] == ["10"]


async def test_events_that_are_told_while_a_poll_ends_are_not_told_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [{"id": str(number), "kind": "interface_down"} for number in range(2)]
    await world.store.note(world.org_id, world.device_id, NOTE, events=events[:1])
    meanwhile(
        monkeypatch,
        world.store,
        "_header",
        then=lambda: world.store.unnotified.clear({world.device_id: ["0"]}),
    )
    await world.store.note(world.org_id, world.device_id, replace(NOTE, at=at(1)), events=events[1:])
    [header] = await world.store.unnotified.find(before=at(5), limit=10)
    assert [event["id"] for event in header[UNNOTIFIED]] == ["1"]


async def test_events_wait_since_the_first_of_them(world: World) -> None:
    for minutes in (1, 10):
        note = replace(NOTE, at=at(minutes))
        event = {"id": str(minutes), "kind": "interface_down"}
        await world.store.note(world.org_id, world.device_id, note, events=[event])
    [header] = await world.store.unnotified.find(before=at(5), limit=10)
    assert [event["id"] for event in header[UNNOTIFIED]] == ["1", "10"]


async def test_a_poll_of_a_device_that_is_deleted_meanwhile_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.poll(mac=macs(1))
    meanwhile(
        monkeypatch,
        world.store._parts_store._parts,
        "insert_many",
        first=lambda: world.store.forget(world.org_id, world.device_id),
    )
    with pytest.raises(Superseded):
        await world.poll(5, mac=macs(2))
    assert await world.parts() == 0


async def test_who_is_refused_takes_away_its_own_parts_only(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.poll(mac=macs(1), vlans=(Vlan(vlan_id=1),))
    meanwhile(
        monkeypatch, world.store._parts_store._parts, "insert_many", first=lambda: world.poll(5, mac=macs(2))
    )
    with pytest.raises(Superseded):
        await world.poll(6, mac=macs(3))
    assert await world.addresses() == [mac(2)]
    assert [row["vlan_id"] for row in await world.table("vlans")] == [1]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        pytest.param("vlans", (Vlan(vlan_id=1),), id="VLANs"),
        pytest.param("mac", macs(1), id="a MAC table"),
        pytest.param("arp", (ArpEntry(ip_address="10.0.0.1"),), id="an ARP table"),
        pytest.param("interfaces", (PORT,), id="interfaces"),
        pytest.param("neighbors", (HEARD,), id="neighbors"),
    ],
)
async def test_a_part_that_was_lost_is_written_again(world: World, name: str, rows: Any) -> None:
    """As behind a backup of the database whose collections are not of one moment."""
    await world.poll(**{name: rows})
    await world.database.collection(PARTS).delete_many({})
    with pytest.raises(Unavailable):
        await world.table(name)
    before = await world.reads.before(world.org_id, world.device_id)
    assert before == Before(reachable=True, failures=0)
    assert await world.reads.interfaces(world.org_id, [world.device_id]) == {}
    [[known]] = [batch async for batch in world.reads.every_device(world.org_id)]
    assert (known.neighbors, known.neighbors_at) == ((), None)
    await world.poll(5, **{name: rows})
    assert len(await world.table(name)) == 1
