"""Opens the database: the configured one, that of a running service, or a private one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pymongo.errors import PyMongoError

from netautod.assembly.data.full_disk_collections import FULL_DISK_COLLECTIONS
from netautod.assembly.settings import Settings
from netautod.core.errors import NetautodError, Unavailable
from netautod.core.metrics import Metrics
from netautod.identity.users.organizations.store import COLLECTION as ORGANIZATIONS
from netautod.store.client import Database
from netautod.store.connection import APP_NAME, connect
from netautod.store.disk_room import Room
from netautod.store.embedded.files import DataDir, holds_database
from netautod.store.embedded.mongod import EmbeddedMongo, EmbeddedMongoError, find_running


class DatabaseError(NetautodError):
    """The configured database cannot be used; one line for the operator."""


class NoReplicaSetError(DatabaseError):
    """Raised for a server that is not a member of a replica set."""


class NoInstallationError(DatabaseError):
    """Raised where there is no installation to work on."""


@asynccontextmanager
async def open_database(
    settings: Settings, uri: str, metrics: Metrics | None = None, *, app_name: str = APP_NAME
) -> AsyncIterator[Database]:
    """Connect and check that a writable member of a replica set answers; `app_name` is as in `connect`."""
    database = _connected(settings, uri, metrics, app_name)
    try:
        await _require_replica_set(database)
        yield database
    finally:
        database.close()


def _connected(settings: Settings, uri: str, metrics: Metrics | None, app_name: str) -> Database:
    mongodb = settings.mongodb
    try:
        return connect(
            uri,
            mongodb.database,
            timeout_seconds=mongodb.timeout_seconds,
            pool=mongodb.pool_size,
            metrics=metrics,
            room=_room(settings, uri),
            app_name=app_name,
        )
    except (
        PyMongoError,
        ValueError,
    ) as error:  # they do not quote the URI with its password
        raise DatabaseError(f"the MongoDB URI cannot be used: {error}; check NETAUTOD_MONGODB_URI") from error


def _room(settings: Settings, uri: str) -> Room:
    """Return the room on the disk of our own mongod, which this process or another one runs."""
    try:
        running = find_running(settings.data_dir)
    except EmbeddedMongoError:  # a user without access to the folder uses another database
        running = None
    if uri != running:
        return Room()
    database = DataDir(root=settings.data_dir.absolute()).database
    return Room(database, needed_mib=settings.data.min_free_mb, exempt=FULL_DISK_COLLECTIONS)


async def _require_replica_set(database: Database) -> None:
    try:
        hello = await database.hello()
    except Unavailable as error:
        raise DatabaseError(f"{error}; check NETAUTOD_MONGODB_URI") from error
    if "setName" not in hello:
        raise NoReplicaSetError("the MongoDB server is not a member of a replica set; netautod needs one")


def require_installation(settings: Settings) -> None:
    """Raise NoInstallationError where `any_server` would create a database: for commands that create none."""
    if not settings.mongodb.uri and not holds_database(settings.data_dir):
        raise NoInstallationError(f"there is no installation in {settings.data_dir}: is --data-dir right?")


async def require_organization(settings: Settings, database: Database) -> None:
    """Raise NoInstallationError for a database that the service has not begun to use."""
    if await database.collection(ORGANIZATIONS).find_one({}) is None:
        raise NoInstallationError(
            f"there is no installation in the database {settings.mongodb.database}: is the address right?"
        )


@asynccontextmanager
async def any_server(settings: Settings) -> AsyncIterator[str]:
    """Yield the URI of the configured server, of a running service, or of a private one within the block.

    It is for commands.
    """
    uri = settings.mongodb.uri or find_running(settings.data_dir)
    if uri:
        yield uri
    else:
        async with EmbeddedMongo(settings.data_dir) as mongo:
            yield mongo.uri


@asynccontextmanager
async def any_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database on the server that `any_server` finds."""
    async with any_server(settings) as uri, open_database(settings, uri) as database:
        yield database
