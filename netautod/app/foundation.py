"""What the service and the commands of the CLI both stand on: database, vault, users, organizations."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pymongo.errors import PyMongoError

from netautod.app.settings import Settings
from netautod.audit import store as audit_store
from netautod.audit.service import AuditLog
from netautod.auth.lockout import store as failure_counters
from netautod.auth.lockout.service import Lockout, LockoutRules
from netautod.auth.redirect import store as redirect_store
from netautod.auth.sessions import store as auth_store
from netautod.auth.tokens import store as api_token_store
from netautod.configs import store as config_store
from netautod.core.clock import Clock
from netautod.core.errors import NetautodError, Unavailable
from netautod.credentials import store as credential_store
from netautod.devices import queries as device_queries
from netautod.devices.sessions import store as suspension_store
from netautod.docs import store as document_store
from netautod.docs.notes import store as notes_store
from netautod.executions import log_store, result_store
from netautod.executions import store as execution_store
from netautod.inventory import store as inventory_store
from netautod.inventory.sync import store as history_store
from netautod.outbound.addresses import AddressRules
from netautod.outbound.client import GuardedClient
from netautod.sites import store as site_store
from netautod.store.client import Database, connect
from netautod.store.embedded.mongod import EmbeddedMongo, find_running
from netautod.store.indexes import Index, create_indexes
from netautod.store.server_clock import ServerClock
from netautod.system import store as system_store
from netautod.tasks import store as task_store
from netautod.users import store as user_store
from netautod.users.organizations import store as organization_store
from netautod.users.organizations.service import OrganizationService
from netautod.users.passwords import PasswordHasher
from netautod.users.service import UserService
from netautod.vault.vault import INSTALLATION, Vault

logger = logging.getLogger(__name__)

INDEXES: tuple[Index, ...] = (
    *api_token_store.INDEXES,
    *audit_store.INDEXES,
    *auth_store.INDEXES,
    *config_store.INDEXES,
    *credential_store.INDEXES,
    *device_queries.INDEXES,
    *document_store.INDEXES,
    *execution_store.INDEXES,
    *failure_counters.INDEXES,
    *history_store.INDEXES,
    *inventory_store.INDEXES,
    *log_store.INDEXES,
    *notes_store.INDEXES,
    *organization_store.INDEXES,
    *redirect_store.INDEXES,
    *result_store.INDEXES,
    *site_store.INDEXES,
    *suspension_store.INDEXES,
    *system_store.INDEXES,
    *task_store.INDEXES,
    *user_store.INDEXES,
)


class DatabaseError(NetautodError):
    """The configured database cannot be used; one line for the operator."""


@dataclass(frozen=True, kw_only=True)
class Foundation:
    settings: Settings
    database: Database
    clock: Clock
    vault: Vault
    hasher: PasswordHasher
    audit: AuditLog
    users: UserService
    organizations: OrganizationService
    lockout: Lockout
    http: GuardedClient


@asynccontextmanager
async def open_database(settings: Settings, uri: str) -> AsyncIterator[Database]:
    """Connects and makes sure that a writable replica-set member answers."""
    database = _connected(settings, uri)
    try:
        await _require_replica_set(database)
        yield database
    finally:
        database.close()


def _connected(settings: Settings, uri: str) -> Database:
    chosen = settings.mongodb
    try:
        return connect(uri, chosen.database, timeout_seconds=chosen.timeout_seconds, pool=chosen.pool_size)
    except (PyMongoError, ValueError) as error:  # it does not quote the URI, which may hold a password
        raise DatabaseError(f"the MongoDB URI cannot be used: {error}; check NETAUTOD_MONGODB_URI") from error


async def _require_replica_set(database: Database) -> None:
    try:
        hello = await database.hello()
    except Unavailable as error:
        raise DatabaseError(f"{error}; check NETAUTOD_MONGODB_URI") from error
    if "setName" not in hello:
        raise DatabaseError("the MongoDB server is not a member of a replica set; netautod needs one")


@asynccontextmanager
async def any_database(settings: Settings) -> AsyncIterator[Database]:
    """For commands: the configured database, that of a running service, or an own one for the while."""
    uri = settings.mongodb.uri or find_running(settings.data_dir)
    if uri:
        async with open_database(settings, uri) as database:
            yield database
    else:
        async with EmbeddedMongo(settings.data_dir) as mongo, open_database(settings, mongo.uri) as database:
            yield database


@asynccontextmanager
async def lay(settings: Settings, database: Database) -> AsyncIterator[Foundation]:
    """Creates the indexes, opens the vault and builds the services below the resources."""
    await create_indexes(database, INDEXES)
    vault = await Vault.open(
        database,
        data_dir=settings.data_dir,
        key_file=settings.master_key_path,
    )
    async with ServerClock(database) as clock, PasswordHasher() as hasher:
        log_book = AuditLog(database, clock)
        minimum = settings.auth.password_min_length
        rules = LockoutRules(
            failures=settings.auth.lockout_failures,
            window_seconds=settings.auth.lockout_window,
            lockout_seconds=settings.auth.lockout_seconds,
        )
        yield Foundation(
            settings=settings,
            database=database,
            clock=clock,
            vault=vault,
            hasher=hasher,
            audit=log_book,
            users=UserService(
                database, hasher=hasher, clock=clock, audit=log_book, password_min_length=minimum
            ),
            organizations=OrganizationService(
                database, hasher=hasher, clock=clock, audit=log_book, password_min_length=minimum
            ),
            lockout=Lockout(
                database,
                rules=rules,
                account_key=await vault.derived_key(INSTALLATION, "login failures"),
                clock=clock,
            ),
            http=GuardedClient(AddressRules.allowing(settings.outbound.allow)),
        )
