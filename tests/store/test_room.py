"""The disk of our own database: what is refused when it is nearly full, and when that ends."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from netautod.core.disk import MIB
from netautod.core.errors import DiskFull
from netautod.core.identity.caller import OrgId
from netautod.store.client import Database
from netautod.store.scoped import scoped
from tests.support.databases import DatabasePool
from tests.support.disk import Disk

ORG = OrgId("o")


@pytest.mark.parametrize(
    ("free", "needed", "short"),
    [
        pytest.param(499, 500, True, id="less than needed"),
        pytest.param(500, 500, False, id="as much as needed"),
        pytest.param(0, 0, False, id="no bound"),
        pytest.param(-1, 500, False, id="a disk that cannot be looked at"),
    ],
)
async def test_when_there_is_no_room(free: int, needed: int, short: bool) -> None:
    async with Disk(free).room(needed) as room:
        assert room.short is short


async def test_room_has_come_back_when_there_is_a_tenth_more_than_needed() -> None:
    disk = Disk(499)
    async with disk.room() as room:
        seen = []
        for disk.free in (520, 549, 550, 520, 499):
            await room.look()
            seen.append(room.short)
    assert seen == [True, True, False, False, True]


async def test_what_was_seen_last_holds_while_the_disk_cannot_be_looked_at() -> None:
    disk = Disk(499)
    async with disk.room() as room:
        disk.free = -1
        await room.look()
        assert room.short


async def test_the_sentence_names_the_disk_and_the_bound() -> None:
    async with Disk(312).room() as room:
        with pytest.raises(DiskFull) as raised:
            room.require()
    assert raised.value.text == (
        "The disk of /data is full: 312 of 1000 MiB free, "
        "and the last 500 MiB (data.min_free_mb) are kept for what does not grow"
    )


async def test_the_disk_is_looked_at_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netautod.store.disk_room.LOOK_SECONDS", 0.01)
    disk, seen = Disk(499), asyncio.Event()
    async with disk.room() as room, asyncio.timeout(60):
        disk.free = 800
        room.follow(lambda space: seen.set() if space.free == 800 * MIB else None)
        await seen.wait()
    assert not room.short


async def test_it_is_said_once_when_it_begins_and_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    disk = Disk(499)
    async with disk.room() as room:
        for disk.free in (400, 300, 800, 900):
            await room.look()
    assert [(record.levelname, "is full" in record.getMessage()) for record in caplog.records] == [
        ("ERROR", True),
        ("WARNING", False),
    ]


@pytest.fixture
async def full(databases: DatabasePool) -> AsyncIterator[Database]:
    """A database on a disk without room, with a document that was there before."""
    made = databases.fresh()
    await scoped(made, "sites").insert(ORG, {"_id": "before"})
    async with Disk(0).under(made):
        yield made
    await databases.give_back(made)


async def test_no_way_to_insert_gets_around_it(full: Database) -> None:
    plain, sites = full.collection("sites"), scoped(full, "sites")
    for attempt in (
        plain.insert({"_id": "one"}),
        plain.insert_many([{"_id": "one"}]),
        plain.insert_in_order([{"_id": "one"}]),
        plain.unacknowledged_by_others().insert({"_id": "one"}),
        sites.insert(ORG, {"_id": "one"}),
        sites.insert_many(ORG, [{"_id": "one"}]),
    ):
        with pytest.raises(DiskFull):
            await attempt
    assert await plain.distinct("_id", {}) == ["before"]


async def test_what_does_not_grow_goes_on(full: Database) -> None:
    sites = scoped(full, "sites")
    await full.collection("sessions").insert({"_id": "a login"})
    assert await sites.update(ORG, {"_id": "before"}, {"$set": {"name": "another"}})
    assert await sites.insert_many(ORG, []) is not None
    assert await sites.delete(ORG, {"_id": "before"})
    assert await full.collection("sessions").count({}) == 1
