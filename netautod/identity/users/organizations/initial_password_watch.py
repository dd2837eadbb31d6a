"""The watch over the file `initial-admin-password`: it warns while the file exists, and removes it after
use."""

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
    """A watch: `forget` follows password changes of this process, `look` finds those of other nodes."""

    def __init__(self, *, users: UserService, organizations: OrganizationService, data_dir: Path) -> None:
        self._users = users
        self._organizations = organizations
        self._data_dir = data_dir

    async def risks(self) -> list[Risk]:
        """List the risk for the status of the system while this node has the file."""
        if await asyncio.to_thread(initial_password.written_at, self._data_dir) is None:
            return []
        return [Risk(name=NAME, text=TEXT)]

    async def forget(self, org_id: OrgId, user_id: str) -> None:
        """Remove the file if the user whose password changed is the first administrator."""
        user = await self._users.find(user_id)
        if user is None or user.username != FIRST_ADMIN or org_id != await self._organizations.default_id():
            return
        await asyncio.to_thread(initial_password.remove, self._data_dir)

    async def look(self) -> None:
        """Remove the file if its password was changed since, else warn. Called at start and from time to
        time.

        It also covers a process that died between a change and its `forget`, and changes made on another
        machine.
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
