"""A mongod of a benchmark with its process id, whose processor time is a measure."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from netautod.store.embedded.mongod import EmbeddedMongo, EmbeddedMongoError
from tests.bench.measuring.report import BenchmarkError


@asynccontextmanager
async def database_process() -> AsyncIterator[tuple[str, int]]:
    """Its URI and its process id; its data are removed at the end."""
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        try:
            async with EmbeddedMongo(Path(folder)) as mongo:
                yield mongo.uri, mongo.pid
        except EmbeddedMongoError as error:
            raise BenchmarkError(error.text) from error
