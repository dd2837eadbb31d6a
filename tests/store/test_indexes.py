"""Indexes are created once, and made anew when their definition has changed."""

from dataclasses import replace

from netautod.store.client import Database
from netautod.store.indexes import Index, create_indexes

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
