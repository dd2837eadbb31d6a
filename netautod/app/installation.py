"""An installation that is open: what the service and the commands of the CLI begin with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from netautod.app.parts.users import UserParts, initial_password_watch_of, users_of
from netautod.app.settings import Settings
from netautod.app.stores import INDEXES, Stores
from netautod.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.metrics import Metrics
from netautod.core.waiting import migrating
from netautod.devices import queries as devices
from netautod.devices.vouching.upgrade import vouch_once
from netautod.inventory import store as sources
from netautod.store.client import Database
from netautod.store.indexes import create_indexes
from netautod.store.server_clock import ServerClock
from netautod.users.organizations.bootstrap import Bootstrap
from netautod.users.passwords.hashing import PasswordHasher
from netautod.vault.vault import Vault


@dataclass(frozen=True, kw_only=True)
class Installation:
    """`initial_password`: set if this start created the first administrator with a generated password."""

    database: Database
    stores: Stores
    clock: Clock
    vault: Vault
    audit: AuditLog
    people: UserParts
    initial_password: str | None
    metrics: Metrics = field(default_factory=Metrics)


@asynccontextmanager
async def open_installation(
    settings: Settings, database: Database, metrics: Metrics | None = None
) -> AsyncIterator[Installation]:
    """Creates the indexes, opens the vault, and makes the first organization and administrator if needed."""
    with migrating():
        await create_indexes(database, INDEXES)
        await vouch_once(database, (devices.COLLECTION, sources.COLLECTION))
    vault = await Vault.open(
        database,
        data_dir=settings.data_dir,
        key_file=settings.master_key_path,
    )
    stores = Stores.of(database, settings.retention)
    async with ServerClock(database) as clock, PasswordHasher() as hasher:
        metrics = metrics or Metrics()
        audit = AuditLog(store=stores.audit, clock=clock, metrics=metrics)
        people = users_of(
            stores=stores,
            hasher=hasher,
            clock=clock,
            audit=audit,
            settings=settings.auth,
            ssh_ca=settings.ssh_ca,
        )
        bootstrap = Bootstrap(
            organizations=people.organizations,
            users=people.users,
            hasher=hasher,
            data_dir=settings.data_dir,
            admin_password=settings.admin_password,
        )
        initial_password = await bootstrap.run()
        people.users.password_changed.register(initial_password_watch_of(people, settings.data_dir).forget)
        # From here on: the little that a first start or an upgrade writes must not keep the service down.
        async with database.room:
            yield Installation(
                database=database,
                stores=stores,
                clock=clock,
                vault=vault,
                audit=audit,
                people=people,
                initial_password=initial_password,
                metrics=metrics,
            )
