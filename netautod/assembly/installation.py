"""An installation that is open: what the service and the commands of the CLI begin with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.migrations import migrations_of
from netautod.assembly.data.stores import Stores
from netautod.assembly.parts.leases import named_leases
from netautod.assembly.parts.users import UserParts, initial_password_watch_of, users_of
from netautod.assembly.settings import Settings
from netautod.core.clock import Clock, SystemClock
from netautod.core.logs.tracing import Tracer
from netautod.core.metrics import Metrics
from netautod.identity.users.organizations.bootstrap import Bootstrap
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.secrets.vault.named_secrets import NamedSecrets
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database
from netautod.store.migrations.restore_marker import require_no_restore
from netautod.store.migrations.runner import Busy, MigrationRunner, ignore_busy
from netautod.store.server_clock import ServerClock


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
    tracer: Tracer | None = None

    @property
    def secrets(self) -> NamedSecrets:
        """Those that settings of plugins name."""
        return NamedSecrets(self.database, vault=self.vault, clock=self.clock)


@asynccontextmanager
async def open_installation(
    settings: Settings,
    database: Database,
    metrics: Metrics | None = None,
    tracer: Tracer | None = None,
    *,
    busy: Busy = ignore_busy,
) -> AsyncIterator[Installation]:
    """Migrates the data, opens the vault, and makes the first organization and administrator if needed.

    `busy` hears when the migrations begin and end. Raises NewerDatabase before anything is changed, and
    ArchiveError on a database into which a restore is not finished.
    """
    await require_no_restore(database)
    stores = Stores.of(database, settings.retention)
    await _migrate(settings, database, stores, busy)
    vault = await Vault.open(
        database,
        data_dir=settings.data_dir,
        key_file=settings.master_key_path,
    )
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
                tracer=tracer,
            )


async def _migrate(settings: Settings, database: Database, stores: Stores, busy: Busy) -> None:
    known = migrations_of(database, stores, settings.auth)
    leasing = named_leases(
        database=database, node_id=str(uuid4()), clock=SystemClock(), settings=settings.executions
    )
    async with leasing as leases:
        # A restore that begins at this moment finds the lease's collection and leaves the database alone, or
        # is found here: it marks the database before it looks whether there is anything in it.
        unless = partial(require_no_restore, database)
        await MigrationRunner(database, known, leases=leases, busy=busy, unless=unless).bring_up()
