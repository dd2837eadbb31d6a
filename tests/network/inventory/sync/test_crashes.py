"""A node that dies before, between or in the middle of any of its writes, and edits made in between."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from netautod.network.devices.bindings.store import BindingStore
from netautod.network.inventory.sync.recorder import ENDED_UNSEEN
from netautod.store.client import Collection
from netautod.store.scoped import scoped
from tests.network.inventory.sync.fake_inventory import machine
from tests.network.inventory.sync.world import SOURCES, Node, World, after_the_plan

pytestmark = pytest.mark.slow

SINGLE = ("insert", "update", "update_many", "find_and_update", "delete", "delete_many")
BATCHES = ("insert_many", "change_batch")


class Died(BaseException):
    """Stands for the end of the process: nothing of ours catches it."""


@dataclass(kw_only=True)
class Death:
    """The process dies at its write number `at`: of a batch only the first half is written."""

    at: int
    writes: int = 0

    @property
    def dead(self) -> bool:
        return self.writes > self.at

    def count(self) -> bool:
        """True for the last write."""
        self.writes += 1
        if self.dead:
            raise Died
        return self.writes == self.at


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Death]:
    def arm(at: int) -> Death:
        death = Death(at=at)
        for name in SINGLE:
            monkeypatch.setattr(Collection, name, _single(death, getattr(Collection, name)))
        for name in BATCHES:
            monkeypatch.setattr(Collection, name, _batch(death, getattr(Collection, name)))
        return death

    return arm


def _single(death: Death, real: Any) -> Any:
    async def write(self: Collection, *args: Any, **options: Any) -> Any:
        last = death.count()
        done = await real(self, *args, **options)
        if last:
            raise Died
        return done

    return write


def _batch(death: Death, real: Any) -> Any:
    async def write(self: Collection, batch: Any, **options: Any) -> Any:
        if death.count():
            await real(self, batch[: len(batch) // 2], **options)
            raise Died
        return await real(self, batch, **options)

    return write


async def prepared(world: World) -> Any:
    """A source with devices of which the next sync has to do something of everything.

    One that is gone there stays, since another source has it too.
    """
    world.remote.has(*(machine(number, f"sw{number}") for number in range(1, 9)), machine(20, "back"))
    source = await world.source()
    await world.sync(source)
    other = "http://192.0.2.81"
    world.remote.elsewhere[other] = [machine(108, "sw8", host="192.0.2.8")]
    await world.sync(await world.source(name="other", url=other))
    device = (await world.node.all())["back"]
    assert (await world.api.delete(f"/api/devices/{device.id}")).status == 204
    await world.device(name="mine", host="192.0.2.30")
    world.remote.drop(7, 8)
    world.remote.change(1, name="sw2")
    world.remote.change(2, name="sw1")
    world.remote.change(3, name="sw7")
    world.remote.change(4, description="changed")
    world.remote.change(5, tags=("core",))
    world.remote.devices += [machine(30, "mine"), machine(40, "new"), machine(41, "new too")]
    return source


RELEASED = "sw8"
EXPECTED = {"sw1", "sw2", "sw4", "sw5", "sw6", "sw7", RELEASED, "back", "mine", "new", "new too"}


async def end_state(node: Node) -> dict[str, Any]:
    return {
        name: (device.inventory_id, device.description, device.tags, device.source)
        for name, device in (await node.all()).items()
    }


async def run_to_death(work: Awaitable[Any]) -> bool:
    try:
        await work
    except Died:
        return True
    return False


async def test_a_sync_that_dies_at_any_write_is_continued_by_the_next_one(
    world: World, dying: Callable[[int], Death], monkeypatch: pytest.MonkeyPatch
) -> None:
    died, at, wanted = True, 0, None
    while died:
        at += 1
        await clear(world)
        source = await prepared(world)
        ids = {device.id: device.inventory_id for device in (await world.node.all()).values()}
        with monkeypatch.context():
            dying(at)
            died = await run_to_death(world.node.sync(source["id"]))
        monkeypatch.undo()
        assert await world.node.total() == len(await world.names())
        await world.forget_leases()
        async with world.another_node() as node:  # its start finishes the deletions
            result = await node.sync(source["id"])
            assert (result.failed, result.errors) == (0, ()), at
            again = await node.sync(source["id"])
            assert again.unchanged == len(EXPECTED - {RELEASED}), at
            state = await end_state(node)
        wanted = wanted or state
        assert state == wanted, at
        assert set(state) == EXPECTED, at
        # Each device is still the one that it was.
        now = {device.id: device.inventory_id for device in (await world.node.all()).values()}
        assert all(
            now[device_id] == number for device_id, number in ids.items() if number and device_id in now
        )
        assert await releases(world) == [True, None], at
        open_entries = [entry for entry in await world.history() if entry["completed_at"] is None]
        assert open_entries == []
    assert at > 15


async def releases(world: World) -> list[bool | None]:
    (device,) = await scoped(world.database, "devices").find(world.org_id, {"name": RELEASED, "live": True})
    return [binding.get("released") for binding in device["bindings"]]


async def clear(world: World) -> None:
    world.remote.elsewhere.clear()
    for name in ("devices", "inventory_sources", "sync_history"):
        await scoped(world.database, name).delete_many(world.org_id, {})


async def test_the_history_tells_of_a_node_that_ended_unseen(
    world: World, dying: Callable[[int], Death], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    with monkeypatch.context():
        dying(3)  # the lease, the entry, the device
        assert await run_to_death(world.node.sync(source["id"]))
    monkeypatch.undo()
    (entry,) = await world.history()
    assert (entry["success"], entry["completed_at"], entry["error"]) == (None, None, None)
    await world.forget_leases()
    await world.sync(source)
    newest, oldest = await world.history()
    assert (newest["success"], newest["error"]) == (True, None)
    assert (oldest["success"], oldest["error"]) == (False, ENDED_UNSEEN)
    assert oldest["completed_at"] is not None


async def test_a_removal_of_a_source_that_dies_is_finished_by_the_next_start(
    world: World, dying: Callable[[int], Death], monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(2, 7):
        await clear(world)
        world.remote.has(machine(1, "sw1"))
        source = await world.source()
        await world.sync(source)
        with monkeypatch.context():
            dying(at)
            caller = world.node.caller
            assert await run_to_death(world.node.inventory.sources.delete(caller, source["id"]))
        monkeypatch.undo()
        await world.forget_leases()
        assert (await world.api.get(f"{SOURCES}/{source['id']}")).status == 404
        assert (await world.source())["name"] == "netbox"  # the name is free at once
        async with world.another_node():
            left = await scoped(world.database, "inventory_sources").find(world.org_id, {})
            assert [document["_id"] == source["id"] for document in left] == [False]
        (device,) = await scoped(world.database, "devices").find(world.org_id, {})
        assert (device["bindings"], device["inventory_id"]) == ([], None)


async def test_an_edit_of_another_field_meanwhile_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    path = f"/api/devices/{(await world.node.all())['sw1'].id}"
    world.remote.change(1, description="new")
    after_the_plan(monkeypatch, lambda: world.api.put(path, {"port": 2222, "asset_tag": "A1"}))
    assert (await world.sync(source))["updated"] == 1
    after = (await world.api.get(path)).json
    assert (after["description"], after["port"], after["asset_tag"]) == ("new", 2222, "A1")


async def test_a_tag_that_is_added_meanwhile_is_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.remote.has(machine(1, "sw1", tags=("old",)))
    source = await world.source()
    await world.sync(source)
    path = f"/api/devices/{(await world.node.all())['sw1'].id}"
    world.remote.change(1, tags=("new",))
    after_the_plan(monkeypatch, lambda: world.api.put(path, {"tags": ["old", "mine"]}))
    assert (await world.sync(source))["updated"] == 1
    assert (await world.api.get(path)).json["tags"] == ["mine", "new"]


async def test_a_name_that_is_taken_meanwhile_is_an_error_or_an_adoption(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remote.has(machine(1, "sw1"), machine(2, "sw2"), machine(3, "sw3"))
    source = await world.source()

    async def take() -> None:
        await world.device(name="sw1", host="198.51.100.1")
        await world.device(name="sw2", host="192.0.2.2")

    after_the_plan(monkeypatch, take)
    result = await world.sync(source)
    assert [result[name] for name in ("added", "updated", "failed")] == [1, 1, 1]
    assert [error["name"] for error in result["errors"]] == ["sw1"]


async def test_a_device_that_is_deleted_meanwhile_comes_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    device = (await world.node.all())["sw1"]
    world.remote.change(1, description="new")
    after_the_plan(monkeypatch, lambda: world.api.delete(f"/api/devices/{device.id}"))
    assert (await world.sync(source))["added"] == 1
    back = (await world.node.all())["sw1"]
    assert (back.id, back.description) == (device.id, "new")


async def test_a_device_that_never_stands_still_is_an_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    await world.sync(source)
    path = f"/api/devices/{(await world.node.all())['sw1'].id}"
    world.remote.change(1, description="new")
    real, edits = BindingStore.write, iter(range(100))

    async def edit_then_write(self: BindingStore, *args: Any, **options: Any) -> Any:
        await world.api.put(path, {"description": f"edit {next(edits)}"})
        return await real(self, *args, **options)

    monkeypatch.setattr(BindingStore, "write", edit_then_write)
    result = await world.sync(source)
    assert (result["failed"], result["updated"]) == (1, 0)
    assert "being changed by others" in result["errors"][0]["error"]
    assert (await world.api.get(path)).json["description"].startswith("edit")


async def test_a_sync_whose_lease_is_lost_writes_nothing_more(world: World) -> None:
    world.remote.has(machine(1, "sw1"))
    source = await world.source()
    world.remote.held = asyncio.Event()
    running = asyncio.create_task(world.api.post(f"{SOURCES}/{source['id']}/sync"))
    await world.remote.walking.wait()
    keeper = world.node.inventory.sync._leases._keeper
    for held in list(keeper._held.values()):
        held.lose()
    world.remote.held.set()
    answer = await running
    assert (answer.status, "was lost meanwhile" in answer.json["error"]) == (503, True)
    assert await world.names() == []
    (entry,) = await world.history()
    assert (entry["success"], "was lost meanwhile" in entry["error"]) == (False, True)
