"""A node that dies at any write of a poll, before or behind it: one whole poll is seen, and all goes on."""

from collections.abc import Mapping
from typing import Any

import pytest

from netautod.core.errors import Unavailable
from netautod.network.discovery.tables.event_outbox import HEADERS
from netautod.network.discovery.tables.orphaned_parts import LeftOvers
from netautod.network.discovery.tables.part_store import PARTS
from netautod.network.discovery.tables.store import named_parts
from netautod.plugin_api import ArpEntry, Vlan
from netautod.store.scoped import OrgCollection
from tests.network.discovery.tables.worlds import World, at, mac, macs

WRITES = ("insert", "insert_many", "update", "delete_many")
BEFORE: Mapping[str, Any] = {
    "mac": macs(*range(1500)),
    "arp": (ArpEntry(ip_address="10.0.0.1"),),
    "vlans": (Vlan(vlan_id=1),),
}
AFTER: Mapping[str, Any] = {"mac": macs(*range(1000, 2500)), "arp": (), "vlans": (Vlan(vlan_id=2),)}


class Death:
    """At that write, counted from 0; `behind`: the write is done, and nobody hears of it."""

    def __init__(self, patch: pytest.MonkeyPatch, number: int, *, behind: bool) -> None:
        self._left, self._behind = number, behind
        self.came = False
        for name in WRITES:
            patch.setattr(OrgCollection, name, self._deadly(getattr(OrgCollection, name)))

    def _deadly(self, real: Any) -> Any:
        async def write(*args: Any, **options: Any) -> Any:
            self._left -= 1
            is_last = self._left < 0
            self.came = self.came or is_last
            if is_last and not self._behind:
                raise Unavailable("dead")
            done = None if self._left < -1 else await real(*args, **options)
            if is_last:
                raise Unavailable("dead")
            return done

        return write


async def seen(world: World) -> tuple[list[str], list[str], list[int], bool, bool]:
    return (
        await world.addresses(),
        [row["ip_address"] for row in await world.table("arp")],
        [row["vlan_id"] for row in await world.table("vlans")],
        bool(await world.reads.find(world.org_id, mac=mac(0))),
        bool(await world.reads.find(world.org_id, mac=mac(2499))),
    )


OLD: tuple[Any, ...] = ([mac(number) for number in range(1500)], ["10.0.0.1"], [1], True, False)
NEW: tuple[Any, ...] = ([mac(number) for number in range(1000, 2500)], [], [2], False, True)


@pytest.mark.parametrize("behind", [pytest.param(False, id="before"), pytest.param(True, id="behind")])
async def test_a_poll_that_dies_is_seen_whole_or_not_at_all(
    world: World, monkeypatch: pytest.MonkeyPatch, behind: bool
) -> None:
    states: list[bool] = []
    for number in range(100):
        one = World(world.database)
        await one.poll(**BEFORE)
        with monkeypatch.context() as patch:
            death = Death(patch, number, behind=behind)
            if await _ended(one):
                assert not death.came
                break
        found = await seen(one)
        assert found in (OLD, NEW)
        states.append(found == NEW)
        await _goes_on(one, was_seen=found == NEW)
    # Every write until the flip leaves the old tables, and what comes behind it the new ones.
    assert states == sorted(states)
    assert states.count(False) >= 3
    assert states.count(True) >= 1


async def test_the_first_poll_of_a_device_that_dies_is_seen_whole_or_not_at_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        one = World(world.database)
        with monkeypatch.context() as patch:
            death = Death(patch, number, behind=False)
            if await _ended(one):
                assert not death.came
                return
        assert await seen(one) in (([], [], [], False, False), NEW)


async def _ended(world: World) -> bool:
    try:
        await world.poll(5, **AFTER)
    except Unavailable:
        return False
    return True


async def _goes_on(world: World, *, was_seen: bool) -> None:
    await world.poll(10, **AFTER)
    first = {row["mac_address"]: row["first_seen_at"] for row in await world.table("mac")}
    assert first[mac(1000)] == "2026-11-20T10:00:00.000Z"
    assert first[mac(2000)] == f"2026-11-20T10:{'05' if was_seen else '10'}:00.000Z"
    await world.poll(15, **BEFORE)
    assert {row["first_seen_at"] for row in await world.table("mac")} == {"2026-11-20T10:00:00.000Z"}
    await LeftOvers(world.database).sweep(now=at(24 * 60))
    [header] = await world.database.collection(HEADERS).find({"_id": world.device_id})
    parts = await world.database.collection(PARTS).find({"device_id": world.device_id}, fields={"_id": 1})
    there = {part["_id"] for part in parts}
    assert there - set(header["former"]) == named_parts(header["tables"])
