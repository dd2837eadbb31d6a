"""The users part of a service on a test's database."""

from dataclasses import dataclass
from pathlib import Path

from netautod.app.parts.users import UserParts, users_of
from netautod.app.stores import Stores
from netautod.audit.service import AuditLog
from netautod.auth.settings import AuthSettings
from netautod.core.clock import Clock
from netautod.core.identity import Caller, system_caller
from netautod.store.client import Database
from netautod.users.models import NewUser, User
from netautod.users.organizations.bootstrap import Bootstrap
from netautod.users.organizations.service import OrganizationService
from netautod.users.passwords import PasswordHasher
from netautod.users.service import UserService
from tests.support.databases import stores_of

PASSWORD = "correct horse battery staple"


@dataclass(frozen=True, kw_only=True)
class Installation:
    """`people` tell the caches of one node only: each node makes its own."""

    database: Database
    stores: Stores
    clock: Clock
    audit: AuditLog
    hasher: PasswordHasher
    people: UserParts

    @property
    def users(self) -> UserService:
        return self.people.users

    @property
    def organizations(self) -> OrganizationService:
        return self.people.organizations

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


def install(database: Database, hasher: PasswordHasher, clock: Clock) -> Installation:
    stores = stores_of(database)
    audit = AuditLog(store=stores.audit, clock=clock)
    people = users_of(stores=stores, hasher=hasher, clock=clock, audit=audit, settings=AuthSettings())
    return Installation(
        database=database, stores=stores, clock=clock, audit=audit, hasher=hasher, people=people
    )
