"""The watch over the file `initial-admin-password`: it says that the file is there, and removes it when it
has done its service."""

import asyncio
import logging
from pathlib import Path

from netautod.core.identity.caller import OrgId
from netautod.core.settings.risks import Risk
from netautod.identity.users.organizations import initial_password
from netautod.identity.users.organizations.service import FIRST_ADMIN, OrganizationService
from netautod.identity.users.service import UserService

logger = logging.getLogger(__name__)
NAME = initial_password.NAME
TEXT = f"the first administrator's generated password still stands in the file {NAME}: change the password"


class InitialPasswordWatch:
    """`forget` follows password changes of this process; `look` finds those that other nodes made."""

    def __init__(self, *, users: UserService, organizations: OrganizationService, data_dir: Path) -> None:
        self._users = users
        self._organizations = organizations
        self._data_dir = data_dir

    async def risks(self) -> list[Risk]:
        """For the status of the system: that this node has the file, while it has it."""
        if await asyncio.to_thread(initial_password.written_at, self._data_dir) is None:
            return []
        return [Risk(name=NAME, text=TEXT)]

    async def forget(self, org_id: OrgId, user_id: str) -> None:
        """After a password change of a user: removes the file if it was the first administrator's."""
        user = await self._users.find(user_id)
        if user is None or user.username != FIRST_ADMIN or org_id != await self._organizations.default_id():
            return
        await asyncio.to_thread(initial_password.remove, self._data_dir)

    async def look(self) -> None:
        """At start and from time to time: removes the file if its password was changed since, else warns.

        Whoever died between a change and its `forget`, or made it on another machine, left that to us.
        """
        written_at = await asyncio.to_thread(initial_password.written_at, self._data_dir)
        if written_at is None:
            return
        admin = await self._users.by_username(FIRST_ADMIN)
        changed_at = admin.password_changed_at if admin else None
        if changed_at is not None and changed_at >= written_at:
            await asyncio.to_thread(initial_password.remove, self._data_dir)
            return
        logger.warning("%s", TEXT)
