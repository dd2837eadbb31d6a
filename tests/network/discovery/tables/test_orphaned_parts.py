"""Parts that nobody names are deleted, and no other ones."""

import pytest

from netautod.core.identity.caller import OrgId
from netautod.network.discovery.tables import orphaned_parts as leftovers
from netautod.network.discovery.tables.event_outbox import HEADERS
from netautod.network.discovery.tables.orphaned_parts import LeftOvers
from netautod.network.discovery.tables.part_store import PARTS
from netautod.plugin_api import Vlan
from tests.network.discovery.tables.worlds import World, at, macs


async def stray(world: World, org_id: str, device_id: str, name: str, minutes: float = 0) -> None:
    document = {"_id": name, "org_id": org_id, "device_id": device_id, "made_at": at(minutes), "rows": []}
    await world.database.collection(PARTS).insert(document)


async def left(world: World) -> set[str]:
    found = await world.database.collection(PARTS).find({"rows": []}, fields={"_id": 1})
    return {part["_id"] for part in found}


@pytest.mark.parametrize("at_once", [1, 2, 500])
async def test_only_what_no_header_names_goes(
    world: World, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(leftovers, "AT_ONCE", at_once)
    other = World(world.database)
    for one in (world, other):
        await one.poll(mac=macs(*range(800)), vlans=(Vlan(vlan_id=1),))
        await one.poll(5, mac=macs(*range(400)))  # with history, and with parts that have just gone
        await stray(one, one.org_id, one.device_id, f"beside {one.org_id}")
    await stray(world, world.org_id, "deleted", "of a device that is gone")
    await stray(world, str(OrgId("gone")), world.device_id, "of an organization that is gone")
    before = await world.parts()
    await LeftOvers(world.database).sweep(now=at(24 * 60))
    assert (await left(world), await world.parts()) == (set(), before - 4)
    for one in (world, other):
        assert len(await one.addresses()) == 400
        [header] = await world.database.collection(HEADERS).find({"_id": one.device_id})
        assert header["former"]
        await one.poll(10, mac=macs(*range(800)))
        assert {row["first_seen_at"] for row in await one.table("mac")} == {"2026-11-20T10:00:00.000Z"}


async def test_what_a_poll_is_writing_stays(world: World) -> None:
    await stray(world, world.org_id, world.device_id, "young", minutes=30)
    await LeftOvers(world.database).sweep(now=at(80))
    assert await left(world) == {"young"}
    await LeftOvers(world.database).sweep(now=at(91))
    assert await left(world) == set()
