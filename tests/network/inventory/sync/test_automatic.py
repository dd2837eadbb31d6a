"""Automatic syncs: when they are due, that one node does each, and what becomes of failures."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from netautod.core.errors import DiskFull
from netautod.core.identity.caller import OrgId
from netautod.core.json.values import to_text
from netautod.network.inventory.store import SourceStore
from netautod.network.inventory.sync.automatic import AutoSync
from netautod.plugin_api import InventoryFailed
from netautod.store.client import Database
from tests.network.inventory.sync.fake_inventory import machine
from tests.network.inventory.sync.world import SOURCES, Node, World, automatic
from tests.support.clock import MovableClock
from tests.support.disk import Disk
from tests.support.execution import eventually

HOUR = 3600.0


@pytest.fixture(autouse=True)
async def no_other_sources(module_database: Database) -> None:
    """The look for due sources is over all organizations."""
    await module_database.collection("inventory_sources").delete_many({})


def hours_later(text: str, hours: float) -> str:
    return to_text(datetime.fromisoformat(text) + timedelta(hours=hours))


async def enabled(world: World, **fields: Any) -> Any:
    return await world.source(auto_sync_enabled=True, sync_interval_hours=2, **fields)


async def shown(world: World, source: Any) -> Any:
    return (await world.api.get(f"{SOURCES}/{source['id']}")).json


async def passed(node: Node) -> int:
    """One scan of the node, to the end of what it began."""
    auto = automatic(node)
    begun = await auto.scan()
    await auto.wait()
    return begun


async def test_the_next_time_follows_the_settings_of_the_source(world: World) -> None:
    source = await enabled(world)
    assert source["next_sync_at"] == source["created_at"]
    path = f"{SOURCES}/{source['id']}"
    longer = (await world.api.put(path, {"sync_interval_hours": 5})).json
    assert longer["next_sync_at"] == hours_later(longer["updated_at"], 5)
    assert (await world.api.put(path, {"name": "x"})).json["next_sync_at"] == longer["next_sync_at"]
    assert (await world.api.put(path, {"auto_sync_enabled": False})).json["next_sync_at"] is None
    await world.sync(source)
    on = (await world.api.put(path, {"auto_sync_enabled": True})).json
    assert on["next_sync_at"] == on["updated_at"]
    again = (await world.api.put(path, {"auto_sync_enabled": True, "sync_interval_hours": 5})).json
    assert again["next_sync_at"] == on["next_sync_at"]
    shorter = (await world.api.put(path, {"sync_interval_hours": 3})).json
    assert shorter["next_sync_at"] == hours_later(shorter["last_sync_at"], 3)


@pytest.mark.parametrize(
    ("fields", "due"),
    [
        pytest.param({"sync_interval_hours": 12}, False, id="another interval"),
        pytest.param({"sync_interval_hours": 12, "auto_sync_enabled": False}, False, id="off, said again"),
        pytest.param({"sync_interval_hours": 12, "auto_sync_enabled": True}, True, id="switched on"),
    ],
)
async def test_a_source_has_a_next_time_only_while_it_is_switched_on(
    world: World, fields: dict[str, Any], due: bool
) -> None:
    source = await world.source()
    changed = (await world.api.put(f"{SOURCES}/{source['id']}", fields)).json
    assert changed["next_sync_at"] == (changed["updated_at"] if due else None)


async def test_a_due_source_is_synchronised_and_then_due_an_interval_later(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await enabled(world)
    off = await world.source(name="off")
    clock = MovableClock()
    async with world.another_node(clock=clock) as node:
        assert await passed(node) == 1
        assert await passed(node) == 0
        clock.move(2 * HOUR + 60)
        assert await passed(node) == 1
        after = await shown(world, source)
        assert (after["last_sync_status"], after["last_sync_result"]["unchanged"]) == ("success", 1)
        assert after["next_sync_at"] == to_text(clock.now() + timedelta(hours=2))
        assert await passed(node) == 0
    assert {(entry["triggered_by"], entry["source_id"]) for entry in await world.history()} == {
        ("schedule", source["id"])
    }
    assert (await shown(world, off))["last_sync_at"] is None


@pytest.mark.parametrize("changed", [pytest.param(False, id="created"), pytest.param(True, id="switched on")])
async def test_a_source_is_synchronised_at_once(world: World, changed: bool) -> None:
    """The next look for due sources would come in an hour."""
    world.remote.has(machine(1, "sw1"))
    async with automatic(world.node, scan_seconds=HOUR) as auto:
        world.node.inventory.sources.became_due = auto.kick
        source = await world.source(auto_sync_enabled=not changed)
        if changed:
            assert (
                await world.api.put(f"{SOURCES}/{source['id']}", {"auto_sync_enabled": True})
            ).status == 200

        async def synchronised() -> bool:
            return bool((await shown(world, source))["last_sync_status"] == "success")

        await eventually(synchronised)
        await auto.wait()
    assert await world.names() == ["sw1"]
    after = await shown(world, source)
    assert after["next_sync_at"] > hours_later(source["created_at"], 23)


async def test_an_empty_answer_removes_nothing_until_a_user_confirms_it(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"))
    source = await enabled(world)
    clock = MovableClock()
    async with world.another_node(clock=clock) as node:
        for _ in range(2):
            clock.move(3 * HOUR)
            assert await passed(node) == 1
            world.remote.has()
    assert await world.names() == ["sw1", "sw2"]
    found = await world.node.inventory.sources.get(world.caller.org_id, source["id"])
    assert found.unconfirmed_removals == 2
    assert f"2 devices of inventory source {source['id']} are missing" in caplog.text
    assert (await world.audited("inventory.sync"))[-1]["unconfirmed_removals"] == 2
    world.remote.failure = InventoryFailed("away")
    await world.api.post(f"{SOURCES}/{source['id']}/sync")
    failed = await world.node.inventory.sources.get(world.caller.org_id, source["id"])
    assert (failed.last_sync_status, failed.unconfirmed_removals) == ("failed", 2)
    world.remote.failure = None
    world.remote.has(replace(machine(3, "sw3"), external_id=""))  # the walk is not complete
    await world.sync(source)
    partial = await world.node.inventory.sources.get(world.caller.org_id, source["id"])
    assert (partial.last_sync_status, partial.unconfirmed_removals) == ("partial", 2)
    world.remote.has()
    assert (await world.sync(source, {"confirm_removals": True}))["removed"] == 2
    found = await world.node.inventory.sources.get(world.caller.org_id, source["id"])
    assert (await world.names(), found.unconfirmed_removals) == ([], 0)


async def test_of_many_nodes_one_does_it(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    await enabled(world)
    clock = MovableClock()
    clock.move(3 * HOUR)
    async with world.another_node(clock=clock) as node:
        nodes = [automatic(node) for _ in range(5)]
        assert sum(await asyncio.gather(*(auto.scan() for auto in nodes))) == 1
        for auto in nodes:
            await auto.wait()
    assert len(await world.history()) == 1


async def test_an_inventory_that_is_down_hurts_no_other_and_is_tried_an_interval_later(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.remote.has(machine(1, "sw1"))
    down = await enabled(world, token="refused-token")
    up = await enabled(world, name="up")
    clock = MovableClock()
    clock.move(3 * HOUR)
    async with world.another_node(clock=clock) as node:
        assert await passed(node) == 2
        failed = await shown(world, down)
        assert (failed["last_sync_status"], (await shown(world, up))["last_sync_status"]) == (
            "failed",
            "success",
        )
        assert failed["last_sync_result"]["errors"][0]["error"] == "the token *** is refused"
        assert failed["next_sync_at"] == to_text(clock.now() + timedelta(hours=2))
        assert await passed(node) == 0
    [told] = [record for record in caplog.records if record.name == AutoSync.__module__]
    assert told.getMessage() == (
        f"the synchronisation of inventory source {down['id']} failed: the token *** is refused"
    )


async def test_a_node_that_dies_leaves_the_source_to_the_others_soon(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await enabled(world)
    clock = MovableClock()
    clock.move(3 * HOUR)
    async with world.another_node(clock=clock) as node:
        with monkeypatch.context() as dying:

            async def die(*_: Any) -> None:
                """The node ends right after it has claimed the source."""

            dying.setattr(AutoSync, "_one", die)
            assert await passed(node) == 1
        assert await passed(node) == 0
        clock.move(world.settings.inventory.sync_seconds + 130)
        assert await passed(node) == 1
    assert (await shown(world, source))["last_sync_status"] == "success"


async def test_a_source_that_is_synchronised_by_hand_at_the_moment_is_left_alone(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await enabled(world)
    world.remote.held = asyncio.Event()
    by_hand = asyncio.create_task(world.sync(source))
    await world.remote.walking.wait()
    clock = MovableClock()
    clock.move(3 * HOUR)
    async with world.another_node(clock=clock) as node:
        assert await passed(node) == 1
    world.remote.held.set()
    await by_hand
    (entry,) = await world.history()
    assert entry["triggered_by"] == "manual"


async def test_what_is_set_meanwhile_counts(world: World) -> None:
    source = await enabled(world)
    world.remote.held = asyncio.Event()
    clock = MovableClock()
    clock.move(3 * HOUR)
    async with world.another_node(clock=clock) as node:
        auto = automatic(node)
        await auto.scan()
        await world.remote.walking.wait()
        path = f"{SOURCES}/{source['id']}"
        assert (await world.api.put(path, {"auto_sync_enabled": False})).status == 200
        world.remote.held.set()
        await auto.wait()
    after = await shown(world, source)
    assert (after["next_sync_at"], after["last_sync_status"]) == (None, "success")


@pytest.mark.parametrize("room", [1, 2])
async def test_no_more_at_a_time_than_there_is_room(world: World, room: int) -> None:
    for number in range(3):
        await enabled(world, name=f"s{number}")
    world.remote.held = asyncio.Event()
    clock = MovableClock()
    clock.move(3 * HOUR)
    async with world.another_node(clock=clock) as node:
        auto = automatic(node, concurrent_syncs=room)
        assert (await auto.scan(), await auto.scan()) == (room, 0)
        world.remote.held.set()
        await auto.wait()
        left = 3 - room
        assert await auto.scan() == min(room, left)
        await auto.wait()


async def test_nothing_begins_while_the_organization_is_paused(world: World) -> None:
    await enabled(world)
    clock = MovableClock()
    clock.move(3 * HOUR)
    async with world.another_node(clock=clock) as node:
        assert await automatic(node, paused={world.org_id}).scan() == 0
        another = automatic(node, paused={OrgId("another one")})
        assert await another.scan() == 1
        await another.wait()


async def test_a_due_source_waits_for_room_on_a_full_disk(world: World) -> None:
    source = await enabled(world)
    disk, clock = Disk(free=100), MovableClock()
    clock.move(3 * HOUR)
    room = disk.under(world.database)
    async with world.another_node(clock=clock) as node, room:
        with pytest.raises(DiskFull):
            await passed(node)
        assert (await shown(world, source))["last_sync_at"] is None
        disk.free = 900
        await room.look()
        assert await passed(node) == 1
    assert (await shown(world, source))["last_sync_status"] == "success"


async def test_the_background_loop_does_it_and_stops_cleanly(world: World) -> None:
    source = await enabled(world)
    world.remote.held = asyncio.Event()
    clock = MovableClock()
    clock.move(3 * HOUR)
    async with world.another_node(clock=clock) as node:
        async with automatic(node, scan_seconds=0.05), asyncio.timeout(10):
            await world.remote.walking.wait()
        (entry,) = await world.history()
        assert (entry["success"], "it was stopped" in entry["error"]) == (False, True)
        world.remote.held = None
        assert (await node.sync(source["id"])).errors == ()  # the lease is free


async def test_a_failure_of_any_kind_ends_no_loop(world: World) -> None:
    world.remote.failure = InventoryFailed("down")
    await enabled(world)
    clock = MovableClock()
    clock.move(3 * HOUR)

    async def failures() -> int:
        return len([entry for entry in await world.history() if entry["success"] is False])

    async def another_after(count: int) -> bool:
        return await failures() > count

    async with world.another_node(clock=clock) as node, automatic(node, scan_seconds=0.05) as auto:
        await eventually(lambda: another_after(0))
        await auto.wait()  # the entry comes before the source is put off
        clock.move(3 * HOUR)
        await eventually(lambda: another_after(1))


@pytest.mark.parametrize(
    ("ahead", "kept"),
    [
        pytest.param(1.9, True, id="within its interval"),
        pytest.param(3, False, id="the database's clock was set back"),
    ],
)
async def test_a_source_waits_no_longer_than_its_interval(
    world: World, module_database: Database, ahead: float, kept: bool
) -> None:
    source, sources = await enabled(world), module_database.collection("inventory_sources")
    now = await module_database.now()
    at = now + timedelta(hours=ahead)
    await sources.update({"_id": source["id"]}, {"$set": {"next_sync_at": at}})
    await SourceStore(module_database).align()
    row = await sources.find_one({"_id": source["id"]})
    assert row is not None
    if kept:
        assert row["next_sync_at"] == at
    else:
        assert timedelta(hours=2) <= row["next_sync_at"] - now < timedelta(hours=2.5)
