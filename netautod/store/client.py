"""A database handle whose collections raise our errors; but for `connect` nothing else knows the driver.

A `Collection` is for what belongs to the whole installation (users by name, leases, the due scan); what
belongs to organizations goes through `scoped` (store/scoped.py).
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorCollection, AsyncIOMotorDatabase
from pymongo import IndexModel, ReturnDocument
from pymongo.collection import Collection as PymongoCollection
from pymongo.errors import BulkWriteError, OperationFailure
from pymongo.operations import DeleteOne, UpdateMany, UpdateOne
from pymongo.write_concern import WriteConcern

from netautod.store.disk_room import Room
from netautod.store.driver.calls import Calls, in_lane
from netautod.store.driver.changes import Changes
from netautod.store.driver.failures import duplicates_of

T = TypeVar("T")
Document = dict[str, Any]
Filter = Mapping[str, Any]
Change = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Sort = Sequence[tuple[str, int]]
# Documents per answer of the server. Decoding them holds the interpreter, event loop included.
BATCH = 500
UNAUTHORIZED = 13  # src/mongo/base/error_codes.yml


@dataclass(frozen=True, kw_only=True)
class InsertManyResult:
    """The result of an unordered insert. `duplicates` holds the positions (in the given order) that a unique
    index refused.
    """

    inserted: int
    duplicates: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ChangeManyResult:
    """The result of a batch of changes. `duplicates` holds the positions that a unique index refused; other
    unmatched ones are not listed.
    """

    matched: int
    duplicates: tuple[int, ...]


class Collection:
    """A collection of the whole installation."""

    def __init__(self, raw: AsyncIOMotorCollection[Document], calls: Calls, room: Room) -> None:
        self._raw = raw
        self._blocking = cast(PymongoCollection[Document], raw.delegate)
        self._calls = calls
        self._room = room

    def _read(self, work: Callable[[PymongoCollection[Document]], T]) -> Coroutine[None, None, T]:
        return self._calls.read(lambda: in_lane(lambda: work(self._blocking)))

    def _write(self, work: Callable[[PymongoCollection[Document]], T]) -> Coroutine[None, None, T]:
        return self._calls.write(lambda: in_lane(lambda: work(self._blocking)))

    @property
    def name(self) -> str:
        return self._raw.name

    def require_room(self) -> None:
        """Raise DiskFull where an insert would: before work whose result would have no place."""
        self._room.require_for(self.name)

    def unacknowledged_by_others(self) -> "Collection":
        """Return the collection for writes that a fail-over may lose: the primary's memory acknowledges
        them."""
        raw = self._raw.with_options(write_concern=WriteConcern(w=1, j=False))
        return Collection(raw, self._calls, self._room)

    def for_leases(self) -> "Collection":
        """Return the collection for claims, heartbeats and fences: they queue behind no other calls, and do
        not wait long.
        """
        return Collection(self._raw, self._calls.for_leases(), self._room)

    async def find_one(
        self, where: Filter, *, fields: Filter | None = None, sort: Sort | None = None
    ) -> Document | None:
        return await self._read(lambda rows: rows.find_one(where, fields, sort=sort))

    async def find(
        self,
        where: Filter,
        *,
        fields: Filter | None = None,
        sort: Sort | None = None,
        limit: int = 0,
        offset: int = 0,
        index: str | None = None,
    ) -> list[Document]:
        """Return the documents that match. `index` is the name of the index to use; without it the server
        chooses.
        """
        return await self._read(
            lambda rows: rows.find(
                where, fields, sort=sort, limit=limit, skip=offset, hint=index, batch_size=BATCH
            ).to_list()
        )

    async def stream(
        self,
        where: Filter,
        *,
        fields: Filter | None = None,
        sort: Sort | None = None,
        limit: int = 0,
        batch: int = 500,
        index: str | None = None,
    ) -> AsyncIterator[Document]:
        """Yield the documents that match one by one, `batch` of them in memory at a time."""
        cursor = self._blocking.find(where, fields, sort=sort, limit=limit, batch_size=batch, hint=index)
        first = True
        while documents := await self._calls.part(
            lambda: in_lane(lambda: cursor.to_list(batch)), first=first
        ):
            first = False
            for document in documents:
                yield document

    async def count(self, where: Filter, *, index: str | None = None) -> int:
        """Count the documents that match. `index` is the name of the index to use; without it the server
        chooses.
        """
        hint: dict[str, Any] = {} if index is None else {"hint": index}
        return await self._read(lambda rows: rows.count_documents(where, **hint))

    async def distinct(self, field: str, where: Filter) -> list[Any]:
        return await self._read(lambda rows: rows.distinct(field, where))

    async def aggregate(
        self, pipeline: Sequence[Mapping[str, Any]], *, index: str | None = None
    ) -> list[Document]:
        """Return what the pipeline yields. `index` is the name of the index to use; without it the server
        chooses.
        """
        hint: dict[str, Any] = {} if index is None else {"hint": index}
        return await self._read(lambda rows: rows.aggregate(pipeline, **hint).to_list())

    async def insert(self, document: Document) -> None:
        """Insert a document. Every insert raises DiskFull where there is no room for another document."""
        self.require_room()
        await self._write(lambda rows: rows.insert_one(document))

    async def insert_many(self, documents: Sequence[Document]) -> InsertManyResult:
        """Insert all that can be inserted, in any order; duplicates are reported, never raised."""
        if not documents:
            return InsertManyResult(inserted=0, duplicates=())
        self.require_room()
        try:
            result = await self._write(lambda rows: rows.insert_many(documents, ordered=False))
        except BulkWriteError as error:
            duplicates = duplicates_of(error)
            inserted = int((error.details or {}).get("nInserted", 0))
            return InsertManyResult(inserted=inserted, duplicates=duplicates)
        return InsertManyResult(inserted=len(result.inserted_ids), duplicates=())

    async def insert_in_order(self, documents: Sequence[Document]) -> int:
        """Insert documents one after the other, up to the first that a unique index refuses; return how many
        got in.
        """
        self.require_room()
        try:
            await self._write(lambda rows: rows.insert_many(documents, ordered=True))
        except BulkWriteError as error:
            return duplicates_of(error)[0]
        return len(documents)

    async def update_in_order(self, changes: Sequence[tuple[Filter, Change]]) -> None:
        """Change single documents one after the other, up to the first that a unique index refuses."""
        operations = [UpdateOne(where, change) for where, change in changes]
        try:
            await self._write(lambda rows: rows.bulk_write(operations, ordered=True))
        except BulkWriteError as error:
            duplicates_of(error)  # raises for any other reason

    async def update(self, where: Filter, change: Change, *, upsert: bool = False) -> bool:
        """Change one document; return whether one matched (or was inserted)."""
        result = await self._write(lambda rows: rows.update_one(where, change, upsert=upsert))
        return bool(result.matched_count or result.upserted_id is not None)

    async def update_many(self, where: Filter, change: Change) -> int:
        """Change all documents that match; return how many matched."""
        return (await self._write(lambda rows: rows.update_many(where, change))).matched_count

    async def update_batch(self, changes: Sequence[tuple[Filter, Change]], *, upsert: bool = False) -> None:
        """Change many single documents in one round trip, in any order."""
        if not changes:
            return
        operations = [UpdateOne(where, change, upsert=upsert) for where, change in changes]
        await self._write(lambda rows: rows.bulk_write(operations, ordered=False))

    async def change_batch(
        self, changes: Sequence[tuple[Filter, Change]], *, upsert: bool = False
    ) -> ChangeManyResult:
        """Change many single documents as `update_batch`, and return how many were not written, by filter or
        as a duplicate.
        """
        if not changes:
            return ChangeManyResult(matched=0, duplicates=())
        operations = [UpdateOne(where, change, upsert=upsert) for where, change in changes]
        try:
            result = await self._write(lambda rows: rows.bulk_write(operations, ordered=False))
        except BulkWriteError as error:
            duplicates = duplicates_of(error)
            matched = int((error.details or {}).get("nMatched", 0))
            return ChangeManyResult(matched=matched, duplicates=duplicates)
        return ChangeManyResult(matched=result.matched_count, duplicates=())

    async def update_groups(self, changes: Sequence[tuple[Filter, Change]]) -> int:
        """Apply many changes, each to all documents that match, in one round trip and in any order; return
        how many changed.

        The driver does not retry these (retryable writes are for single documents).
        """
        if not changes:
            return 0
        operations = [UpdateMany(where, change) for where, change in changes]
        return (await self._write(lambda rows: rows.bulk_write(operations, ordered=False))).modified_count

    async def find_and_update(
        self,
        where: Filter,
        change: Change,
        *,
        upsert: bool = False,
        sort: Sort | None = None,
        fields: Filter | None = None,
        before: bool = False,
    ) -> Document | None:
        """Compare and set: return the document after the change (`before`: as it was), or None if none
        matched.
        """
        returned = ReturnDocument.BEFORE if before else ReturnDocument.AFTER
        found: Document | None = await self._write(
            lambda rows: rows.find_one_and_update(
                where, change, projection=fields, sort=sort, upsert=upsert, return_document=returned
            )
        )
        return found

    async def delete(self, where: Filter) -> bool:
        return bool((await self._write(lambda rows: rows.delete_one(where))).deleted_count)

    async def delete_batch(self, wheres: Sequence[Filter]) -> None:
        """Delete one document for each filter, in one round trip that the driver repeats if it got lost."""
        if not wheres:
            return
        operations = [DeleteOne(where) for where in wheres]
        await self._write(lambda rows: rows.bulk_write(operations, ordered=False))

    async def delete_many(self, where: Filter) -> int:
        return (await self._write(lambda rows: rows.delete_many(where))).deleted_count

    async def create_indexes(self, *indexes: IndexModel) -> None:
        """Create all indexes in one command, which reads the collection once; if one is refused, none is
        created.
        """
        await self._write(lambda rows: rows.create_indexes(list(indexes)))

    async def indexes(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the indexes by name, each with `key` (pairs) and its options; none for a collection that
        does not exist.
        """
        return await self._read(lambda rows: rows.index_information())

    async def drop_index(self, name: str) -> None:
        await self._write(lambda rows: rows.drop_index(name))


class Database:
    """The service's database: majority writes, journaled, retried once by the driver.

    `client` is a motor client (or mongomock-motor's, in quick unit tests). `room` is that of its disk. How
    long calls may take is declared by who makes them (core/work/deadlines.py).
    """

    def __init__(
        self,
        client: AsyncIOMotorClient[Document],
        name: str,
        *,
        calls: Calls | None = None,
        room: Room | None = None,
    ) -> None:
        self._client = client
        self.room = room or Room()
        self._raw: AsyncIOMotorDatabase[Document] = client[name]
        self._calls = Calls() if calls is None else calls

    @property
    def name(self) -> str:
        return self._raw.name

    def collection(self, name: str) -> Collection:
        return Collection(self._raw[name], self._calls, self.room)

    async def hello(self) -> Document:
        """Return what the server says of itself: `localTime`, `isWritablePrimary`, `setName` and more.

        It is called once: a second try would make the time a guess.
        """
        # A command does not take the client's options by itself, and `localTime` would have no zone.
        return await self._calls.read_once(
            lambda: self._client.admin.command("hello", codec_options=self._raw.codec_options)
        )

    async def now(self) -> datetime:
        """Return the primary's clock, which measures leases and due times."""
        moment: datetime = (await self.hello())["localTime"]
        return moment

    async def replica_set_status(self) -> Document | None:
        """Return the answer of `replSetGetStatus`; None where the user has no right to it."""
        command = "replSetGetStatus"
        try:
            return await self._calls.read(
                lambda: self._client.admin.command(command, codec_options=self._raw.codec_options)
            )
        except OperationFailure as error:
            if error.code != UNAUTHORIZED:
                raise
            return None

    async def version(self) -> str:
        answer: Document = await self._calls.read(lambda: self._client.admin.command("buildInfo"))
        return str(answer["version"])

    async def has_connections(self, app_name: str) -> bool:
        """Return whether the primary has any connection of that name; those of the same user are visible
        without a privilege.

        A process that was stopped keeps its connections, one that has ended does not.
        """
        of_name = [
            {"$currentOp": {"idleConnections": True}},
            {"$match": {"appName": app_name}},
            {"$limit": 1},
        ]
        command = {"aggregate": 1, "pipeline": of_name, "cursor": {}}
        answer: Document = await self._calls.read(lambda: self._client.admin.command(command))
        return bool(answer["cursor"]["firstBatch"])

    async def collection_names(self) -> frozenset[str]:
        """Return the names of all collections but the server's own."""
        names = await self._calls.read(lambda: self._raw.list_collection_names())
        return frozenset(name for name in names if not name.startswith("system."))

    async def changes(self, stages: Sequence[Mapping[str, Any]], *, after: Any = None) -> Changes:
        """Open a stream of the changes of all collections from now on, or behind a `token`, through the
        stages.

        Of an updated document the whole comes along, as it is when the change is read. Raises
        NoChangeStreams, HistoryLost, Unavailable. The caller closes it.
        """
        session = await self._calls.read_once(lambda: self._client.start_session())

        async def run(command: Mapping[str, Any]) -> Document:
            answer: Document = await self._raw.command(
                dict(command), session=session, codec_options=self._raw.codec_options
            )
            return answer

        made = Changes(self._calls, run, session.end_session)
        try:
            await made.open(stages, after)
        except BaseException:
            await session.end_session()
            raise
        return made

    async def drop(self) -> None:
        await self._calls.write(lambda: self._client.drop_database(self.name))

    def close(self) -> None:
        self._client.close()
        self._calls.close()
