"""Databases that tests take turns on: making the indexes of one takes longer than most tests."""

import asyncio
from collections import deque
from uuid import uuid4

from netautod.assembly.data.stores import INDEXES, Stores
from netautod.core.settings.retention import RetentionSettings
from netautod.store.client import Database
from netautod.store.connection import connect
from netautod.store.indexes import create_indexes

# A loaded machine is no hung database: what tests of the limits measure is declared by them.
PATIENT_SECONDS = 60.0
# A task that outlives its test may still write: its database is not the next one that is taken.
REST = 3


def stores_of(database: Database) -> Stores:
    return Stores.of(database, RetentionSettings())


class DatabasePool:
    """One client for all databases of a run; those with the indexes are cleared and used again."""

    def __init__(self, uri: str) -> None:
        self._shared = connect(uri, "unused", timeout_seconds=PATIENT_SECONDS)
        self._resting: deque[str] = deque()
        self._pooled: set[str] = set()

    def fresh(self) -> Database:
        """One that does not exist yet."""
        return self._named(f"t{uuid4().hex[:20]}")

    async def become_indexed(self, database: Database) -> None:
        """Makes a fresh, still empty database one with all indexes of the service, and without a document."""
        if len(self._resting) < REST or not await self._reused(database, self._resting.popleft()):
            await create_indexes(database, INDEXES)
        self._pooled.add(database.name)

    async def give_back(self, database: Database) -> None:
        """No test uses it any more."""
        if database.name in self._pooled:
            self._resting.append(database.name)
        else:
            await database.drop()

    async def _reused(self, database: Database, name: str) -> bool:
        """Turns the database into the cleared one of that name, unless a test has profiled that one."""
        rested = self._named(name)
        collections = await rested._raw.list_collection_names()
        if any(collection.startswith("system.") for collection in collections):
            await rested.drop()
            return False
        await asyncio.gather(*(rested.collection(collection).delete_many({}) for collection in collections))
        vars(database).update(vars(rested))
        return True

    def close(self) -> None:
        self._shared.close()

    def _named(self, name: str) -> Database:
        return Database(self._shared._client, name, calls=self._shared._calls)
