"""The private mongod of a benchmark, and fresh databases on it."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from netautod.store.client import Database
from netautod.store.connection import connect
from netautod.store.embedded.mongod import EmbeddedMongo, EmbeddedMongoError
from netautod.store.indexes import Index, create_indexes
from tests.bench.measuring.report import BenchmarkError


@asynccontextmanager
async def private_mongod() -> AsyncIterator[str]:
    """The URI of a mongod of its own, as the service would start it; its data are removed at the end."""
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        try:
            async with EmbeddedMongo(Path(folder)) as mongo:
                yield mongo.uri
        except EmbeddedMongoError as error:
            raise BenchmarkError(error.text) from error


@asynccontextmanager
async def fresh_database(uri: str, indexes: Iterable[Index] = ()) -> AsyncIterator[Database]:
    """An empty database with the indexes, dropped at the end; majority and journaled writes."""
    database = connect(uri, f"b{uuid4().hex[:20]}")
    try:
        await create_indexes(database, indexes)
        yield database
        await database.drop()
    finally:
        database.close()
