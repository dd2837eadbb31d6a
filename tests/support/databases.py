"""Databases that tests take turns on: making the indexes of one takes longer than most tests."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from uuid import uuid4

from netautod.app.stores import Stores
from netautod.core.retention import RetentionSettings
from netautod.store.client import Database, connect
from netautod.store.indexes import Index, create_indexes

Indexed = Callable[[Iterable[Index]], Awaitable[Database]]
# A task that outlives its test may still write: its database is not the next one that is taken.
REST = 3


def stores_of(database: Database) -> Stores:
    return Stores.of(database, RetentionSettings())


class DatabasePool:
    """One client for all databases of a run; those with the same indexes are cleared and used again."""

    def __init__(self, uri: str) -> None:
        self._shared = connect(uri, "unused")
        self._resting: dict[str, deque[str]] = {}

    def fresh(self) -> Database:
        """One that does not exist yet."""
        return self._named(f"t{uuid4().hex[:20]}")

    async def become_indexed(self, database: Database, indexes: Iterable[Index]) -> None:
        """Makes the fresh, still empty database one with these indexes and without a document."""
        wanted = list(indexes)
        if self.is_pooled(database):  # a second set of indexes in one test: nobody else wants both
            await create_indexes(database, wanted)
            for names in self._resting.values():
                with suppress(ValueError):
                    names.remove(database.name)
            return
        resting = self._resting.setdefault(repr(sorted(map(repr, wanted))), deque())
        if len(resting) < REST or not await self._reused(database, resting.popleft()):
            await create_indexes(database, wanted)
        resting.append(database.name)

    async def _reused(self, database: Database, name: str) -> bool:
        """Turns the database into the cleared one of that name, unless a test has profiled that one."""
        rested = self._named(name)
        collections = await rested._raw.list_collection_names()
        if any(collection.startswith("system.") for collection in collections):
            await rested.drop()
            return False
        for collection in collections:
            await rested.collection(collection).delete_many({})
        vars(database).update(vars(rested))
        return True

    def is_pooled(self, database: Database) -> bool:
        return any(database.name in names for names in self._resting.values())

    def close(self) -> None:
        self._shared.close()

    def _named(self, name: str) -> Database:
        return Database(self._shared._client, name)
