"""An installation of the service on a test's database: what tests compose nodes from, as app does."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from netautod.activity.audit.service import AuditLog
from netautod.assembly import installation as app
from netautod.assembly.base import Base
from netautod.assembly.data.stores import Stores
from netautod.assembly.identity import build_ssh_ca
from netautod.assembly.network.devices import DeviceRecords, build_devices
from netautod.assembly.settings import Settings
from netautod.core.clock import Clock, SystemClock
from netautod.core.identity.caller import Caller, system_caller
from netautod.core.metrics import Metrics
from netautod.core.settings.risks import Risk
from netautod.identity.auth.ssh_ca.service import SshAuthority
from netautod.identity.users.models import NewUser, User
from netautod.identity.users.organizations.bootstrap import Bootstrap
from netautod.identity.users.organizations.service import OrganizationService
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.identity.users.service import UserService
from netautod.secrets.vault.vault import Vault
from netautod.store.client import Database
from netautod.store.clock.server_clock import ServerClock
from netautod.store.clock.steps import ClockSteps
from netautod.transport.ssh.platform.registry import PlatformRegistry

PASSWORD = "correct horse battery staple"
TRANSPORTS = frozenset({"cli", "snmp", "eapi", "netconf"})


@dataclass(frozen=True, kw_only=True)
class Installation(app.Installation):
    """Before its first start: `started` is that. The indexes are those of the fixture `indexed`."""

    hasher: PasswordHasher
    initial_password: None = None

    @property
    def users(self) -> UserService:
        return self.people.users

    @property
    def organizations(self) -> OrganizationService:
        return self.people.organizations

    def devices(self) -> DeviceRecords:
        return build_devices(self, platforms=PlatformRegistry(), transports=TRANSPORTS)

    def ssh_ca(self) -> SshAuthority:
        return build_ssh_ca(self)

    def on_another_node(self, **changes: Any) -> "Installation":
        """With stores of its own, and people who tell the caches of that node only."""
        same = {"clock": self.clock, "hasher": self.hasher, "settings": self.settings}
        return installation_of(self.database, self.vault, **{**same, **changes})

    def bootstrap(self, data_dir: Path, password: str = "") -> Bootstrap:
        return Bootstrap(
            organizations=self.organizations,
            users=self.users,
            hasher=self.hasher,
            data_dir=data_dir,
            admin_password=password,
        )

    async def started(self, data_dir: Path) -> "Installation":
        """After its first start: with the organization default and its admin, whose password is PASSWORD."""
        await self.bootstrap(data_dir, PASSWORD).run()
        return self

    async def system(self) -> Caller:
        """The command line's caller in the organization default."""
        return system_caller(await self.organizations.default_id())

    async def add(self, username: str, *roles: str, password: str = PASSWORD) -> User:
        return await self.users.create(
            await self.system(), NewUser(username=username, password=password, roles=roles)
        )


def installation_of(
    database: Database, vault: Vault, *, clock: Clock, hasher: PasswordHasher, settings: Settings
) -> Installation:
    stores = Stores.of(database, settings.retention)
    audit = AuditLog(store=stores.audit, clock=clock)
    people = app.build_people(settings, stores=stores, hasher=hasher, clock=clock, audit=audit)
    return Installation(
        database=database,
        stores=stores,
        clock=clock,
        clock_steps=ClockSteps(database, ServerClock(database)),
        vault=vault,
        audit=audit,
        people=people,
        settings=settings,
        hasher=hasher,
    )


async def open_installation(
    database: Database,
    data_dir: Path,
    *,
    clock: Clock | None = None,
    hasher: PasswordHasher | None = None,
    settings: Settings | None = None,
) -> Installation:
    return installation_of(
        database,
        await Vault.open(database, data_dir=data_dir, environ={}),
        clock=clock or SystemClock(),
        hasher=hasher or PasswordHasher(),  # which starts no thread before the first password
        settings=settings or Settings(),
    )


def bare_base(database: Database, *, settings: Settings | None = None, **parts: Any) -> Base:
    """Return a Base of these parts only, with stores on the database: for services that use no other."""
    settings, clock = settings or Settings(), SystemClock()
    stores = parts.get("stores") or Stores.of(database, settings.retention)
    common: dict[str, Any] = {
        "database": database,
        "settings": settings,
        "stores": stores,
        "clock": clock,
        "clock_steps": ClockSteps(database, ServerClock(database)),
        "audit": AuditLog(store=stores.audit, clock=clock),
        "metrics": Metrics(),
        "initial_password_watch": SimpleNamespace(risks=_no_risks),
    }
    return cast(Base, SimpleNamespace(**{**common, **parts}))


async def _no_risks() -> list[Risk]:
    return []
