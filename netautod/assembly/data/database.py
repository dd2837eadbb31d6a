"""Opens the database: the configured one, that of a running service, or a private one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pymongo.errors import PyMongoError

from netautod.assembly.data.full_disk_collections import SPARED
from netautod.assembly.settings import Settings
from netautod.core.errors import NetautodError, Unavailable
from netautod.core.metrics import Metrics
from netautod.store.client import Database
from netautod.store.connection import APP_NAME, connect
from netautod.store.disk_room import Room
from netautod.store.embedded.files import DataDir, holds_database
from netautod.store.embedded.mongod import EmbeddedMongo, EmbeddedMongoError, find_running


class DatabaseError(NetautodError):
    """The configured database cannot be used; one line for the operator."""


class NoReplicaSetError(DatabaseError):
    """The server is one of its own."""


class NoInstallationError(DatabaseError):
    """There is none to look at."""


@asynccontextmanager
async def open_database(
    settings: Settings, uri: str, metrics: Metrics | None = None, *, app_name: str = APP_NAME
) -> AsyncIterator[Database]:
    """Connects and makes sure that a writable replica-set member answers. `app_name` as of `connect`."""
    database = _connected(settings, uri, metrics, app_name)
    try:
        await _require_replica_set(database)
        yield database
    finally:
        database.close()


def _connected(settings: Settings, uri: str, metrics: Metrics | None, app_name: str) -> Database:
    chosen = settings.mongodb
    try:
        return connect(
            uri,
            chosen.database,
            timeout_seconds=chosen.timeout_seconds,
            pool=chosen.pool_size,
            metrics=metrics,
            room=_room(settings, uri),
            app_name=app_name,
        )
    except (PyMongoError, ValueError) as error:  # it does not quote the URI, which may hold a password
        raise DatabaseError(f"the MongoDB URI cannot be used: {error}; check NETAUTOD_MONGODB_URI") from error


def _room(settings: Settings, uri: str) -> Room:
    """That of the disk of our own mongod, which this process runs or the one that started it."""
    try:
        running = find_running(settings.data_dir)
    except EmbeddedMongoError:  # who may not look there uses another database
        running = None
    if uri != running:
        return Room()
    database = DataDir(root=settings.data_dir.absolute()).database
    return Room(database, needed_mib=settings.data.min_free_mb, exempt=SPARED)


async def _require_replica_set(database: Database) -> None:
    try:
        hello = await database.hello()
    except Unavailable as error:
        raise DatabaseError(f"{error}; check NETAUTOD_MONGODB_URI") from error
    if "setName" not in hello:
        raise NoReplicaSetError("the MongoDB server is not a member of a replica set; netautod needs one")


def require_installation(settings: Settings) -> None:
    """For commands that make none: raises NoInstallationError where `any_server` would make a database."""
    if not settings.mongodb.uri and not holds_database(settings.data_dir):
        raise NoInstallationError(f"there is no installation in {settings.data_dir}: is --data-dir right?")


@asynccontextmanager
async def any_server(settings: Settings) -> AsyncIterator[str]:
    """For commands: the URI of the configured server, that of a running service, or a private one within the
    block.
    """
    uri = settings.mongodb.uri or find_running(settings.data_dir)
    if uri:
        yield uri
    else:
        async with EmbeddedMongo(settings.data_dir) as mongo:
            yield mongo.uri


@asynccontextmanager
async def any_database(settings: Settings) -> AsyncIterator[Database]:
    """The database on any server."""
    async with any_server(settings) as uri, open_database(settings, uri) as database:
        yield database
