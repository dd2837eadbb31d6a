"""What was here before any inventory is never removed, whatever way it goes; what a source brought is."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from netautod.store.client import Database
from tests.network.inventory.sync.fake_inventory import TOKEN, URL, machine
from tests.network.inventory.sync.world import AD_HOC, SOURCES, World, automatic

Path = Callable[[World, Any], Awaitable[None]]
BODY = {"inventory_url": URL, "token": TOKEN}


@pytest.fixture(autouse=True)
async def no_other_sources(module_database: Database) -> None:
    """The look for due sources is over all organizations."""
    await module_database.collection("inventory_sources").delete_many({})


async def adopted(world: World, **fields: Any) -> tuple[Any, str]:
    """A source that has adopted `mine` and brought `theirs`, and the id of `mine`."""
    mine = await world.device(name="mine", host="192.0.2.1")
    world.remote.has(machine(1, "mine"), machine(2, "theirs"))
    source = await world.source(**fields)
    await world.sync(source)
    assert await world.names() == ["mine", "theirs"]
    return source, mine["id"]


async def nothing(world: World, source: Any) -> None:
    """What follows is the first synchronisation after the adoption."""


async def again(world: World, source: Any) -> None:
    await world.sync(source)


async def renamed(world: World, source: Any) -> None:
    world.remote.change(1, name="another name")
    await world.sync(source)


async def moved(world: World, source: Any) -> None:
    world.remote.change(1, host="198.51.100.1")
    await world.sync(source)


async def renumbered(world: World, source: Any) -> None:
    world.remote.change(1, external_id="77", inventory_id=77)
    await world.sync(source)


async def revived(world: World, source: Any) -> None:
    mine = (await world.node.all())["mine"]
    assert (await world.api.delete(f"/api/devices/{mine.id}")).status == 204
    assert (await world.sync(source))["added"] == 1


async def moved_here(world: World, source: Any) -> None:
    mine = (await world.node.all())["mine"]
    changes = {"name": "edited", "host": "198.51.100.2"}
    assert (await world.api.put(f"/api/devices/{mine.id}", changes)).status == 200


async def seen_by_an_ad_hoc_sync(world: World, source: Any) -> None:
    assert (await world.api.post(AD_HOC, BODY)).json["failed"] == 0


async def lost_by_an_incomplete_walk(world: World, source: Any) -> None:
    kept, world.remote.incomplete = world.remote.devices, "cut"
    world.remote.has()
    await world.sync(source)
    world.remote.incomplete = None
    world.remote.devices = kept


async def lost_and_found(world: World, source: Any) -> None:
    kept = world.remote.devices
    world.remote.has()
    await world.sync(source)
    world.remote.devices = kept
    await world.sync(source)


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(nothing, id="at once"),
        pytest.param(again, id="after another sync"),
        pytest.param(renamed, id="renamed there"),
        pytest.param(moved, id="with another host there"),
        pytest.param(renumbered, id="with another id there"),
        pytest.param(moved_here, id="edited here"),
        pytest.param(revived, id="deleted here and brought back"),
        pytest.param(seen_by_an_ad_hoc_sync, id="seen by an ad hoc sync"),
        pytest.param(lost_by_an_incomplete_walk, id="lost by an incomplete walk"),
        pytest.param(lost_and_found, id="gone once and there again"),
    ],
)
async def test_an_adopted_device_that_is_gone_there_stays(world: World, before: Path) -> None:
    source, mine = await adopted(world)
    await before(world, source)
    world.remote.has()
    body = {"confirm_removals": True}
    preview = await world.sync(source, body, "?dry_run=true")
    assert [device["name"] for device in preview["plan"]["remove"]] == ["theirs"]
    assert preview["plan"]["release"] == []
    assert (await world.sync(source, body))["removed"] == 1
    assert [device.id for device in (await world.node.all()).values()] == [mine]


async def test_nor_does_an_automatic_sync_remove_it(world: World) -> None:
    source, mine = await adopted(world, auto_sync_enabled=True)
    kept = machine(3, "kept")
    world.remote.has(*world.remote.devices, kept)
    await world.sync(source)
    world.remote.has(kept)
    due = world.node.installation.clock.now()
    await world.database.collection("inventory_sources").update_many({}, {"$set": {"next_sync_at": due}})
    auto = automatic(world.node)
    assert await auto.scan() == 1
    await auto.wait()
    assert (await world.api.get(f"{SOURCES}/{source['id']}")).json["last_sync_result"]["removed"] == 1
    assert (await world.names(), (await world.node.all())["mine"].id) == (["kept", "mine"], mine)


async def test_nor_does_the_deletion_of_its_source(world: World) -> None:
    """Which leaves what the source brought as well: the next source adopts both of them."""
    source, mine = await adopted(world)
    assert (await world.api.delete(f"{SOURCES}/{source['id']}")).status == 200
    assert await world.names() == ["mine", "theirs"]
    following = await world.source()
    assert (await world.sync(following))["updated"] == 2
    world.remote.has()
    assert (await world.sync(following, {"confirm_removals": True}))["removed"] == 0
    assert (await world.node.all())["mine"].id == mine


async def test_an_ad_hoc_sync_removes_neither_what_was_adopted_nor_what_it_brought(world: World) -> None:
    await world.device(name="mine", host="192.0.2.1")
    world.remote.has(*(machine(number, name) for number, name in ((1, "mine"), (2, "theirs"), (3, "kept"))))
    assert (await world.api.post(AD_HOC, BODY)).json["added"] == 2
    world.remote.drop(1, 2)
    for query in ("", "?dry_run=true"):
        result = (await world.api.post(f"{AD_HOC}{query}", {**BODY, "confirm_removals": True})).json
        assert (result["removed"], result["unchanged"], result["errors"]) == (0, 1, [])
    assert await world.names() == ["kept", "mine", "theirs"]


async def test_a_source_removes_nothing_of_another_one(world: World) -> None:
    source, _ = await adopted(world)
    world.remote.elsewhere["http://192.0.2.81"] = [machine(3, "third")]
    other = await world.source(name="other", url="http://192.0.2.81")
    await world.sync(other)
    world.remote.elsewhere["http://192.0.2.81"] = []
    body = {"confirm_removals": True}
    preview = await world.sync(other, body, "?dry_run=true")
    assert [device["name"] for device in preview["plan"]["remove"]] == ["third"]
    assert (await world.sync(other, body))["removed"] == 1
    assert await world.names() == ["mine", "theirs"]
    assert (await world.sync(source))["unchanged"] == 2


async def test_a_device_of_a_name_that_was_freed_is_not_the_one_that_was_brought(world: World) -> None:
    """The tombstone of a brought device comes back to no life under a device that was made by hand."""
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    world.remote.has()
    assert (await world.sync(source, {"confirm_removals": True}))["removed"] == 1
    mine = await world.device(name="sw1", host="192.0.2.1")
    world.remote.has(machine(1, "sw1"))
    assert (await world.sync(source))["updated"] == 1
    world.remote.has()
    assert (await world.sync(source, {"confirm_removals": True}))["removed"] == 0
    assert [device.id for device in (await world.node.all()).values()] == [mine["id"]]
