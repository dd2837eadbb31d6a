"""The storage of plugins on a real database: whose it is, what is sealed, and quotas under crashes."""

import asyncio
from typing import Any

import pytest

from netautod.automation.system.plugin_storage.store import PluginRecordStore
from netautod.automation.system.plugin_storage.usage_store import STALE, PluginUsageStore
from netautod.core.errors import DiskFull, UnknownOutcome
from netautod.plugin_api import StorageFull, StorageRefused
from netautod.store.disk_room import Room
from tests.automation.system.plugin_storage.conftest import World

CANARY = "CANARY-of-a-plugin"


async def test_plugins_and_organizations_see_nothing_of_each_other(world: World) -> None:
    await world.lend("acme").put(world.ours, "key", "ours")
    for storage, org_id in (
        (world.lend("acme"), world.theirs),
        (world.lend("acm"), world.ours),
        (world.lend("acme2"), world.ours),
    ):
        assert await storage.get(org_id, "key") is None
        assert await storage.list(org_id) == []
        assert not await storage.delete(org_id, "key")
        assert (await storage.usage(org_id)).records == 0
    for plugin, key in (("acm", "e/key"), ("acme", "../acme/key")):  # no key leads to another plugin
        assert await world.lend(plugin).get(world.ours, key) is None


async def test_values_are_sealed_and_keys_are_not(world: World) -> None:
    await world.lend().put(world.ours, "last/sw1", {"token": CANARY})
    [row] = await world.rows("plugin_records")
    assert (row["_id"], row["org_id"], row["plugin"]) == (f"{world.ours}/acme/last/sw1", world.ours, "acme")
    assert CANARY not in repr(row)
    assert CANARY not in repr(await world.lend().get(world.ours, "last/sw1"))  # as log lines show it
    moved = {**row, "_id": f"{world.ours}/acme/other"}
    await world.database.collection("plugin_records").insert(moved)
    with pytest.raises(Exception, match="does not open"):
        await world.lend().get(world.ours, "other")


async def test_no_organization_that_is_not_there_gets_a_record(world: World) -> None:
    await world.installation.stores.organizations.begin_deletion(world.theirs, world.clock.now())
    for org_id in ("no-such", world.theirs, "", "installation", "a/b", None, {"$ne": ""}):
        with pytest.raises(StorageRefused, match="There is no organization"):
            await world.lend().put(org_id, "key", 1)  # type: ignore[arg-type]
    assert await world.rows("plugin_records") == await world.rows("plugin_usage") == []


async def test_a_quota_holds_for_many_at_once(world: World) -> None:
    async def put(number: int) -> bool:
        try:
            await world.lend(records=10).put(world.ours, f"k{number}", number)
        except StorageFull:
            return False
        return True

    written = await asyncio.gather(*(put(number) for number in range(24)))
    assert sum(written) == 10
    assert len(await world.rows("plugin_records")) == 10
    assert (await world.lend().usage(world.ours)).records == 10
    assert (await world.rows("plugin_usage"))[0]["pending"] == []


async def test_one_key_written_by_many_is_counted_once(world: World) -> None:
    storage = world.lend()
    made = await asyncio.gather(
        *(storage.compare_and_set(world.ours, "key", n, revision=None) for n in range(8))
    )
    assert sum(one is not None for one in made) == 1
    await asyncio.gather(*(storage.put(world.ours, "key", "x" * n) for n in range(8)))
    found = await storage.get(world.ours, "key")
    assert found is not None
    usage = await storage.usage(world.ours)
    assert (usage.records, usage.bytes) == (1, len("key") + len(found.value) + 2)


async def _dies(*_: Any, **__: Any) -> bool:
    raise asyncio.CancelledError


async def _is_not_acknowledged(*_: Any, **__: Any) -> bool:
    raise UnknownOutcome("no answer")


@pytest.mark.parametrize("end", [_dies, _is_not_acknowledged])
async def test_a_write_that_died_is_not_counted_for_ever(
    world: World, end: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = world.lend(records=1)
    with monkeypatch.context() as patched:
        patched.setattr(PluginRecordStore, "write", end)
        with pytest.raises((asyncio.CancelledError, UnknownOutcome)):
            await storage.put(world.ours, "a", 1)
    with pytest.raises(StorageFull):  # it may still come
        await storage.put(world.ours, "b", 1)
    world.clock.move(STALE.total_seconds() + 1)
    await storage.put(world.ours, "b", 1)
    assert (await storage.usage(world.ours)).records == 1
    with pytest.raises(StorageFull):
        await storage.put(world.ours, "c", 1)


async def test_a_write_without_a_recorded_end_is_counted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = world.lend(records=2)
    with monkeypatch.context() as patched:
        patched.setattr(PluginUsageStore, "settle", _dies)
        with pytest.raises(asyncio.CancelledError):
            await storage.put(world.ours, "a", 1)
        with pytest.raises(asyncio.CancelledError):
            await storage.put(world.ours, "b", "x" * 100)
        with pytest.raises(asyncio.CancelledError):
            await storage.delete(world.ours, "b")
    assert (await storage.usage(world.ours)).records == 2  # at least what there is
    world.clock.move(STALE.total_seconds() + 1)
    usage = await storage.usage(world.ours)
    assert (usage.records, usage.bytes) == (1, len("a") + 1)


async def test_counting_anew_forgets_nothing_that_is_under_way(world: World) -> None:
    """Hold a write between its reservation and its row, and make another one count all anew."""
    storage, other = world.lend(records=2), world.lend(records=2)
    held, go_on = asyncio.Event(), asyncio.Event()
    plain = PluginRecordStore.write

    class Held(PluginRecordStore):
        async def write(self, *args: Any, **options: Any) -> bool:
            held.set()
            await go_on.wait()
            return await plain(self, *args, **options)

    slow = world.lend(records=2)
    slow._records = Held(world.database)  # type: ignore[attr-defined]
    await storage.put(world.ours, "a", 1)
    writing = asyncio.create_task(slow.put(world.ours, "b", 1))
    await held.wait()
    await world.database.collection("plugin_usage").update({}, {"$set": {"loose": True}})
    with pytest.raises(StorageFull):
        await other.put(world.ours, "c", 1)
    go_on.set()
    await writing
    assert (await storage.usage(world.ours)).records == 2
    with pytest.raises(StorageFull):
        await other.put(world.ours, "c", 1)


async def test_a_deletion_is_not_counted_twice(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold it between its row and the record of its end, and count all anew meanwhile."""
    storage = world.lend(records=3)
    for key in ("a", "b", "c"):
        await storage.put(world.ours, key, 1)
    held, go_on = asyncio.Event(), asyncio.Event()
    plain = PluginUsageStore.settle

    async def settle(self: PluginUsageStore, *args: Any, **options: Any) -> None:
        held.set()
        await go_on.wait()
        await plain(self, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(PluginUsageStore, "settle", settle)
        deleting = asyncio.create_task(storage.delete(world.ours, "a"))
        await held.wait()
        await world.database.collection("plugin_usage").update({}, {"$set": {"loose": True}})
        assert (await storage.usage(world.ours)).records == 2  # counted one by one
        go_on.set()
        await deleting
    [row] = await world.rows("plugin_usage")
    assert (row["records"], row["loose"], row["pending"]) == (2, True, [])
    await storage.put(world.ours, "d", 1)
    with pytest.raises(StorageFull):
        await storage.put(world.ours, "e", 1)


async def test_a_lower_quota_lets_what_is_there_shrink_and_go(world: World) -> None:
    for key in ("a", "b", "c"):
        await world.lend().put(world.ours, key, "x" * 100)
    low = world.lend(records=1, bytes=50)
    with pytest.raises(StorageFull):
        await low.put(world.ours, "a", "x" * 101)
    await low.put(world.ours, "a", "x")
    assert await low.delete(world.ours, "b")


async def test_a_full_disk_refuses_what_grows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = world.lend()
    await storage.put(world.ours, "a", 1)

    def full(self: Room, collection: str) -> None:
        raise DiskFull("no room", retry_after=60)

    monkeypatch.setattr(Room, "require_for", full)
    for key in ("a", "b"):
        with pytest.raises(DiskFull):
            await storage.put(world.ours, key, "more")
    assert await storage.delete(world.ours, "a")


async def test_what_is_under_way_is_waited_for_when_it_takes_the_last_room(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hold one write of the only key that has room; another of the same key waits, and comes after it."""
    reserved, go_on = asyncio.Event(), asyncio.Event()
    plain = PluginRecordStore.write

    class Held(PluginRecordStore):
        async def write(self, *args: Any, **options: Any) -> bool:
            reserved.set()
            await go_on.wait()
            return await plain(self, *args, **options)

    slow, storage = world.lend(records=1), world.lend(records=1)
    slow._records = Held(world.database)  # type: ignore[attr-defined]
    writing = asyncio.create_task(slow.put(world.ours, "key", "first"))
    await reserved.wait()

    async def waits(seconds: float) -> None:
        go_on.set()
        await asyncio.wait({writing})

    monkeypatch.setattr("netautod.automation.system.plugin_storage.service.asyncio.sleep", waits)
    await storage.put(world.ours, "key", "second")
    await writing
    found = await storage.get(world.ours, "key")
    assert found is not None
    assert found.value == "second"
    assert go_on.is_set()
    with pytest.raises(StorageFull):
        await storage.put(world.ours, "other", 1)


async def test_a_page_of_deleted_records_is_not_the_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = world.lend()
    for key in ("a", "b", "c"):
        await storage.put(world.ours, key, key)
    many = PluginRecordStore.many

    async def late(self: PluginRecordStore, owner: Any, keys: list[str]) -> Any:
        await storage.delete(world.ours, "a")
        return await many(self, owner, keys)

    monkeypatch.setattr(PluginRecordStore, "many", late)
    assert [row.key for row in await storage.list(world.ours, limit=1)] == ["b"]


async def test_a_page_is_bounded_in_bytes_and_none_is_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netautod.automation.system.plugin_storage.service.MAX_PAGE_BYTES", 250)
    storage = world.lend()
    for key in ("a", "b", "c", "d"):
        await storage.put(world.ours, key, "x" * 100)
    pages, after = list[list[str]](), ""
    while page := await storage.list(world.ours, after=after):
        pages.append([row.key for row in page])
        after = page[-1].key
    assert pages == [["a", "b"], ["c", "d"]]


async def test_what_a_plugin_has_left_is_deleted_by_its_name(world: World) -> None:
    for plugin, org_id in (("acme", world.ours), ("acme", world.theirs), ("acme2", world.ours)):
        await world.lend(plugin).put(org_id, "key", 1)
    assert await world.storages.purge("acme", [world.ours, world.theirs]) == 2
    assert [row["plugin"] for row in await world.rows("plugin_records")] == ["acme2"]
    assert [row["plugin"] for row in await world.rows("plugin_usage")] == ["acme2"]
    await world.lend("acme").put(world.ours, "key", 1)
    assert (await world.lend("acme").usage(world.ours)).records == 1


async def test_a_restored_database_is_counted_anew(world: World) -> None:
    """Check a restore: backups leave `plugin_usage` out."""
    storage = world.lend(records=2)
    await storage.put(world.ours, "a", 1)
    await storage.put(world.ours, "b", 1)
    await world.database.collection("plugin_usage").delete_many({})
    with pytest.raises(StorageFull):
        await storage.put(world.ours, "c", 1)
