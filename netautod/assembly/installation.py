"""An open installation: what the service and the commands of the CLI begin with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.leases import named_leases
from netautod.assembly.data.migrations import list_migrations
from netautod.assembly.data.stores import Stores
from netautod.assembly.settings import Settings
from netautod.core.clock import Clock, SystemClock
from netautod.core.identity.permissions import PermissionKeys
from netautod.core.logs.tracing import Tracer
from netautod.core.metrics import Metrics
from netautod.http.routing.services import Services
from netautod.identity.users.organizations.bootstrap import Bootstrap
from netautod.identity.users.organizations.initial_password_watch import InitialPasswordWatch
from netautod.identity.users.organizations.service import OrganizationService
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.identity.users.passwords.policy import PasswordPolicy
from netautod.identity.users.principals import PrincipalRules
from netautod.identity.users.roles.service import RoleService
from netautod.identity.users.service import UserService
from netautod.secrets.vault.named_secrets import NamedSecrets
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database
from netautod.store.clock.server_clock import ServerClock
from netautod.store.clock.steps import ClockSteps
from netautod.store.migrations.restore_marker import require_no_restore
from netautod.store.migrations.runner import Busy, MigrationRunner, ignore_busy


@dataclass(frozen=True, kw_only=True)
class People(Services):
    """The users with their roles and organizations.

    `permissions` are the keys that exist; those of plugins are added when the plugins are loaded.
    """

    organizations: OrganizationService
    roles: RoleService
    users: UserService
    permissions: PermissionKeys


@dataclass(frozen=True, kw_only=True)
class Installation:
    """The opened data of a service, with its users.

    `initial_password` is set if this start created the first administrator with a generated password.
    """

    settings: Settings
    database: Database
    stores: Stores
    clock: Clock
    clock_steps: ClockSteps
    vault: Vault
    audit: AuditLog
    people: People
    initial_password: str | None
    metrics: Metrics = field(default_factory=Metrics)
    tracer: Tracer | None = None

    @property
    def secrets(self) -> NamedSecrets:
        """The secrets that settings of plugins name."""
        return NamedSecrets(self.database, vault=self.vault, clock=self.clock)

    @property
    def initial_password_watch(self) -> InitialPasswordWatch:
        return InitialPasswordWatch(
            users=self.people.users,
            organizations=self.people.organizations,
            data_dir=self.settings.data_dir,
        )


@asynccontextmanager
async def open_installation(
    settings: Settings,
    database: Database,
    metrics: Metrics | None = None,
    tracer: Tracer | None = None,
    *,
    busy: Busy = ignore_busy,
) -> AsyncIterator[Installation]:
    """Migrate the data, open the vault, and create the first organization and administrator if needed.

    `busy` is called when the migrations begin and end. Raises NewerDatabase before anything is changed, and
    ArchiveError on a database with an unfinished restore.
    """
    await require_no_restore(database)
    stores = Stores.of(database, settings.retention)
    await _migrate(settings, database, stores, busy)
    vault = await Vault.open(database, data_dir=settings.data_dir, key_file=settings.master_key_path)
    metrics = metrics or Metrics()
    async with ServerClock(database, metrics=metrics) as clock, PasswordHasher() as hasher:
        audit = AuditLog(store=stores.audit, clock=clock, metrics=metrics)
        people = build_people(settings, stores=stores, hasher=hasher, clock=clock, audit=audit)
        bootstrap = Bootstrap(
            organizations=people.organizations,
            users=people.users,
            hasher=hasher,
            data_dir=settings.data_dir,
            admin_password=settings.admin_password,
        )
        installation = Installation(
            settings=settings,
            database=database,
            stores=stores,
            clock=clock,
            clock_steps=ClockSteps(database, clock),
            vault=vault,
            audit=audit,
            people=people,
            initial_password=await bootstrap.run(),
            metrics=metrics,
            tracer=tracer,
        )
        people.users.password_changed.register(installation.initial_password_watch.forget)
        # From here on: the little that a first start or an upgrade writes must not keep the service down.
        async with database.room:
            yield installation


def build_people(
    settings: Settings, *, stores: Stores, hasher: PasswordHasher, clock: Clock, audit: AuditLog
) -> People:
    policy = PasswordPolicy(hasher=hasher, minimum=settings.auth.password_min_length)
    principals = PrincipalRules(settings.ssh_ca.reserved_principals)
    permissions = PermissionKeys()
    return People(
        organizations=OrganizationService(
            store=stores.organizations,
            roles=stores.roles,
            users=stores.users,
            hasher=hasher,
            clock=clock,
            audit=audit,
            policy=policy,
            principals=principals,
        ),
        roles=RoleService(
            store=stores.roles, users=stores.users, clock=clock, audit=audit, permissions=permissions
        ),
        users=UserService(
            store=stores.users,
            roles=stores.roles,
            hasher=hasher,
            clock=clock,
            audit=audit,
            organizations=stores.organizations,
            policy=policy,
            principals=principals,
        ),
        permissions=permissions,
    )


async def _migrate(settings: Settings, database: Database, stores: Stores, busy: Busy) -> None:
    known = list_migrations(database, stores, settings.auth)
    leasing = named_leases(
        database=database, node_id=str(uuid4()), clock=SystemClock(), settings=settings.executions
    )
    async with leasing as leases:
        # A restore that begins at this moment finds the lease's collection and leaves the database alone, or
        # is found here: it marks the database before it checks whether the database is empty.
        unless = partial(require_no_restore, database)
        await MigrationRunner(database, known, leases=leases, busy=busy, unless=unless).bring_up()
