"""Indexes are created once, and made anew when their definition has changed."""

from dataclasses import replace

import pytest
from pymongo import IndexModel

from netautod.store.client import Database
from netautod.store.indexes import Index, NotUniqueError, create_indexes

INDEX = Index(collection="things", keys=(("org_id", 1), ("at", -1)))


async def test_an_index_is_created_once_and_made_anew_when_it_changes(database: Database) -> None:
    changed = (
        INDEX,
        INDEX,
        replace(INDEX, unique=True),
        replace(INDEX, partial={"at": {"$type": "date"}}),
        replace(INDEX, keys=(("at", 1),), expire_seconds=60),
    )
    for index in changed:
        await create_indexes(database, [index])
    found = await database._raw["things"].index_information()
    assert set(found) == {"_id_", "org_id_1_at_-1", "at_1"}
    assert found["org_id_1_at_-1"]["partialFilterExpression"] == {"at": {"$type": "date"}}
    assert not found["org_id_1_at_-1"].get("unique")
    assert found["at_1"]["expireAfterSeconds"] == 60


async def test_one_that_changed_keeps_no_other_from_being_made(database: Database) -> None:
    """The server makes none of those that it is told of together with one that it refuses."""
    others = [replace(INDEX, keys=((name, 1),)) for name in ("first", "second")]
    elsewhere = replace(INDEX, collection="elsewhere")
    await create_indexes(database, [INDEX])
    changed = replace(INDEX, unique=True)
    await create_indexes(database, [others[0], changed, elsewhere, others[1]])
    found = await database._raw["things"].index_information()
    assert set(found) == {"_id_", "org_id_1_at_-1", "first_1", "second_1"}
    assert found["org_id_1_at_-1"]["unique"]
    assert set(await database._raw["elsewhere"].index_information()) == {"_id_", "org_id_1_at_-1"}


async def test_records_that_are_equal_and_may_not_be_are_told_with_their_collection(
    database: Database,
) -> None:
    things = database.collection("things")
    await things.insert_many([{"_id": number, "org_id": "o", "at": 1} for number in range(2)])
    unique = replace(INDEX, unique=True)
    for before in ([], [INDEX]):
        await create_indexes(database, before)
        with pytest.raises(NotUniqueError, match=r"^things has several records with the same org_id and at$"):
            await create_indexes(database, [unique])


@pytest.mark.parametrize(
    "other",
    [
        replace(INDEX, unique=False),
        replace(INDEX, partial={"at": {"$type": "string"}}),
        replace(INDEX, partial={}),
    ],
)
async def test_an_index_of_another_definition_is_told_and_made_anew(database: Database, other: Index) -> None:
    declared = replace(INDEX, unique=True, partial={"at": {"$type": "date"}})
    things = database.collection("things")

    async def is_as_declared() -> bool:
        return declared.is_as((await things.indexes())[declared.name])

    await create_indexes(database, [other])
    assert not await is_as_declared()
    await create_indexes(database, [declared])
    assert await is_as_declared()


async def test_keys_under_the_name_of_others_are_told(database: Database) -> None:
    things = database.collection("things")
    await things.create_indexes(IndexModel([("org_id", 1), ("at", 1)], name=INDEX.name))
    assert not INDEX.is_as((await things.indexes())[INDEX.name])
    await create_indexes(database, [INDEX])
    assert INDEX.is_as((await things.indexes())[INDEX.name])


async def test_how_long_documents_last_is_compared(database: Database) -> None:
    things, lasting = database.collection("things"), replace(INDEX, keys=(("at", 1),), expire_seconds=60)
    for seconds in (0, None, 60):
        await create_indexes(database, [replace(lasting, expire_seconds=seconds)])
        assert lasting.is_as((await things.indexes())["at_1"]) is (seconds == 60)
