"""The real service of a benchmark: `netautod serve` on a private mongod, without limits, logged in."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from netautod.store.settings import MongoDBSettings
from tests.bench.measuring.report import BenchmarkError
from tests.support.client import ApiClient
from tests.support.programs.service import NotStarted, Service, serving

UNLIMITED = {
    "NETAUTOD_LIMITS_REQUESTS_PER_SECOND": "0",
    "NETAUTOD_LIMITS_ANONYMOUS_PER_SECOND": "0",
    "NETAUTOD_LOG_LEVEL": "warning",
    "NETAUTOD_SERVER_UVLOOP": "true",
}
DATABASE = MongoDBSettings().database


@asynccontextmanager
async def running_service(
    uri: str, variables: Mapping[str, str] | None = None, *flags: str
) -> AsyncIterator[tuple[Service, ApiClient]]:
    """The service on the database `DATABASE` of that mongod, and a client that is logged in as admin.

    `variables` are added to its environment, `flags` to its command.
    """
    changed = {**UNLIMITED, **(variables or {})}
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        try:
            database = ("--mongodb-uri", uri)
            async with serving(Path(folder) / "data", *database, *flags, variables=changed) as service:
                yield service, await service.client()
        except NotStarted as error:
            last_line = str(error).rstrip().rpartition("\n")[2]
            raise BenchmarkError(f"the service did not start: {last_line}") from error
