"""Every call of a scoped collection stays inside its organization, whatever its filter says."""

from collections.abc import Awaitable, Callable

import pytest

from netautod.core.identity.caller import OrgId
from netautod.store.client import Database
from netautod.store.scoped import OrgCollection, scoped

OURS, THEIRS = OrgId("ours"), OrgId("theirs")
SET = {"$set": {"changed": True}}
WIDER = {"org_id": THEIRS}


@pytest.fixture
async def things(database: Database) -> OrgCollection:
    made = scoped(database, "things")
    await made.insert(THEIRS, {"_id": "a", "n": 1})
    return made


async def _streamed(things: OrgCollection) -> list[object]:
    return [thing async for thing in things.stream(OURS, WIDER)]


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda things: things.find_one(OURS, WIDER), id="find_one"),
        pytest.param(lambda things: things.find(OURS, WIDER), id="find"),
        pytest.param(_streamed, id="stream"),
        pytest.param(lambda things: things.count(OURS, WIDER), id="count"),
        pytest.param(lambda things: things.aggregate(OURS, [{"$match": WIDER}]), id="aggregate"),
    ],
)
async def test_a_read_sees_nothing_of_others(
    things: OrgCollection, read: Callable[[OrgCollection], Awaitable[object]]
) -> None:
    assert not await read(things)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda things: things.update(OURS, WIDER, SET), id="update"),
        pytest.param(lambda things: things.update_many(OURS, WIDER, SET), id="update_many"),
        pytest.param(lambda things: things.change_batch(OURS, [(WIDER, SET)]), id="change_batch"),
        pytest.param(lambda things: things.find_and_update(OURS, WIDER, SET), id="find_and_update"),
        pytest.param(lambda things: things.delete(OURS, WIDER), id="delete"),
        pytest.param(lambda things: things.delete_many(OURS, WIDER), id="delete_many"),
    ],
)
async def test_a_write_changes_nothing_of_others(
    things: OrgCollection, write: Callable[[OrgCollection], Awaitable[object]]
) -> None:
    await write(things)
    assert await things.find(THEIRS, {}) == [{"_id": "a", "n": 1, "org_id": THEIRS}]


async def test_an_insert_belongs_to_the_organization_that_the_call_names(things: OrgCollection) -> None:
    await things.insert(OURS, {"_id": "b", **WIDER})
    done = await things.insert_many(OURS, [{"_id": "c", **WIDER}, {"_id": "a"}])
    assert (done.inserted, done.duplicates) == (1, (1,))
    assert [thing["_id"] for thing in await things.find(OURS, {}, sort=[("_id", 1)])] == ["b", "c"]
