"""The first start: the organization `default`, its roles and the user `admin`."""

import asyncio
from pathlib import Path

from netautod.core.errors import Conflict
from netautod.identity.users.models import Organization
from netautod.identity.users.organizations import initial_password
from netautod.identity.users.organizations.service import (
    DEFAULT,
    FIRST_ADMIN,
    OrganizationService,
    generated_password,
)
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.identity.users.passwords.policy import PasswordOwner
from netautod.identity.users.service import UserService

OWNER = PasswordOwner(username=FIRST_ADMIN, organization=DEFAULT)


class Bootstrap:
    """The setup at every start. It works once per database; the next start finishes an interrupted one."""

    def __init__(
        self,
        *,
        organizations: OrganizationService,
        users: UserService,
        hasher: PasswordHasher,
        data_dir: Path,
        admin_password: str,
    ) -> None:
        self._organizations = organizations
        self._users = users
        self._hasher = hasher
        self._data_dir = data_dir
        self._admin_password = admin_password

    async def run(self) -> str | None:
        """Return the generated password if this start created the user `admin` with one, else None.

        A non-empty `admin_password` (the setting) is used instead. Raises InvalidInput if it breaks the
        policy, Conflict if another organization has a user `admin`.
        """
        await self._organizations.refresh_builtin_roles()
        organization = await self._organizations.begin(DEFAULT)
        if organization.ready:
            return None
        password = None
        if await self._admin_exists(organization):
            pass  # an earlier start died between the user and its last line
        elif self._admin_password:
            await self._add_admin(organization, self._admin_password)
        else:
            password = await self._add_generated(organization)
        await self._organizations.finish(organization, "first start")
        return password

    async def _add_admin(self, organization: Organization, password: str) -> None:
        await self._organizations.check_admin_password(password, OWNER)
        if not await self._add(organization, password):
            await self._admin_exists(organization)

    async def _add_generated(self, organization: Organization) -> str | None:
        # The file comes first: if we die after the insert, the password of the new user can still be read.
        generated = generated_password()
        password = await asyncio.to_thread(initial_password.obtain, self._data_dir, generated)
        if password != generated:  # the file existed: its author chose the password
            await self._organizations.check_admin_password(password, OWNER, field=initial_password.NAME)
        if await self._add(organization, password):
            return password
        await self._admin_exists(organization)
        # Another node was first. If it shares our folder it took the same file, else ours opens nothing.
        admin = await self._users.by_username(FIRST_ADMIN)
        if not await self._users.check_password(admin, password):
            await asyncio.to_thread(initial_password.remove, self._data_dir)
        return None

    async def _add(self, organization: Organization, password: str) -> bool:
        hashed = await self._hasher.hash(password)
        return await self._organizations.add_admin(organization, FIRST_ADMIN, hashed)

    async def _admin_exists(self, organization: Organization) -> bool:
        admin = await self._users.by_username(FIRST_ADMIN)
        if admin is not None and admin.org_id != organization.id:
            raise Conflict("The username admin is taken by another organization than default")
        return admin is not None
