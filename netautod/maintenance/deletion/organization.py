"""Deletes an organization: stops what is done for it, then all that belongs to it, its own document last.

Every step may be repeated, and a call that died is finished by the next one. Nodes may run meanwhile: what
they were in the middle of is waited for, and what they write late is found by another pass.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from netautod.assembly.data.stores import Stores
from netautod.automation.system.models import Pause
from netautod.core.errors import Conflict
from netautod.core.identity.caller import OrgId
from netautod.core.work.deadlines import unhurried, waits
from netautod.documents.notes.service import notes_of
from netautod.documents.notes.store import COLLECTION as NOTES
from netautod.identity.auth.lockout.service import Lockout
from netautod.identity.auth.sessions.store import SESSIONS
from netautod.identity.users.models import Organization
from netautod.identity.users.organizations.service import OrganizationService
from netautod.identity.users.store import USERS
from netautod.maintenance.deletion.ownership import KEPT_TO_THE_END, OWNED
from netautod.network.credentials.service import key_of
from netautod.network.credentials.store import COLLECTION as CREDENTIALS
from netautod.network.devices.records.queries import COLLECTION as DEVICES
from netautod.network.devices.sessions.service import lease_name as device_lease
from netautod.network.discovery.polling.poller import lease_name as poll_lease
from netautod.network.inventory.service import lease_prefix
from netautod.store.client import Database, Document
from netautod.store.leases import named
from netautod.store.ownership import First, Owned, delete_owned

REASON = "the organization is deleted"
LOOK_SECONDS = 0.25
# A visit of a device has time limits of its own, all below this; then an administrator has to look.
LONGEST_WAIT_SECONDS = 600.0
# What a request that had begun may still take to write: it waits for the database no longer than that.
SETTLED_SECONDS = 5.0


@dataclass(kw_only=True)
class OrganizationDeletion:
    """A deletion of an organization. `report` gets a line for what is waited for."""

    database: Database
    stores: Stores
    organizations: OrganizationService
    lockout: Lockout
    report: Callable[[str], None]
    settled_seconds: float = SETTLED_SECONDS
    _counts: Counter[str] = field(default_factory=Counter)

    @waits(unhurried)
    async def run(self, name: str) -> Counter[str]:
        """Return how many documents of each collection this call has deleted.

        Raises NotFound, Conflict for one that stays, and for one whose work does not end in time.
        """
        organization = await self.organizations.begin_deletion(name)
        await self._stop(organization)
        await self._sweep_until_nothing_is_left(organization.id)
        await self.organizations.note_deleted(organization, self._counts)
        for owned in KEPT_TO_THE_END:
            self._counts[owned.collection] += await delete_owned(self.database, owned, organization.id)
        return self._counts

    async def _stop(self, organization: Organization) -> None:
        org_id = organization.id
        pause = Pause(reason=REASON, by="cli", at=await self.database.now())
        await self.stores.system.put_pause(org_id, pause)
        await self._delete(OWNED[0], org_id)  # no task fires any more
        if not await self.stores.system.any_alive():
            await self.stores.executions.cancel_all(org_id, REASON)
            return

        async def executions() -> int:
            await self.stores.executions.cancel_all(org_id, REASON)  # those of ticks that were under way, too
            return await self.stores.executions.cleaning_up(org_id)

        await self._wait("cancelled executions that clean up", executions)
        await self._wait("visits of devices and inventories", lambda: self._visits(org_id))

    async def _wait(self, what: str, left: Callable[[], Awaitable[int]]) -> None:
        until, reported = time.monotonic() + LONGEST_WAIT_SECONDS, False
        while count := await left():
            if time.monotonic() > until:
                raise Conflict(f"{count} {what} do not end: stop the nodes, and call this again")
            if not reported:
                self.report(f"waiting for {count} {what}")
                reported = True
            await asyncio.sleep(LOOK_SECONDS)

    async def _visits(self, org_id: OrgId) -> int:
        names = await named.held_names(self.database)
        syncs = [name for name in names if name.startswith(lease_prefix(org_id))]
        ids = {name.partition(":")[2] for name in names}
        where = {"_id": {"$in": sorted(ids)}, "org_id": org_id}
        return len(syncs) + await self.database.collection(DEVICES).count(where)

    async def _sweep_until_nothing_is_left(self, org_id: OrgId) -> None:
        while await self._sweep(org_id):
            if await self.stores.system.any_alive():
                await asyncio.sleep(self.settled_seconds)

    async def _sweep(self, org_id: OrgId) -> int:
        leases = [name for name in await self._lease_names() if name.startswith(lease_prefix(org_id))]
        await named.drop(self.database, leases)
        return sum([await self._delete(owned, org_id) for owned in OWNED])

    async def _lease_names(self) -> list[str]:
        rows = await self.database.collection(named.COLLECTION).find({}, fields={"_id": 1})
        return [row["_id"] for row in rows]

    async def _delete(self, owned: Owned, org_id: OrgId) -> int:
        first, fields = self._firsts().get(owned.collection, (None, ()))
        deleted = await delete_owned(self.database, owned, org_id, first=first, fields=fields)
        self._counts[owned.collection] += deleted
        return deleted

    def _firsts(self) -> dict[str, tuple[First, Sequence[str]]]:
        """Return the steps that first delete what names the users, sessions and devices but not the
        organization."""
        return {
            SESSIONS: (self._free_seats, ()),
            USERS: (self._forget_logins, ("username",)),
            DEVICES: (self._drop_leases, ()),
            NOTES: (self._forget_notes, ()),
            CREDENTIALS: (self._forget_keys, ()),
        }

    async def _free_seats(self, sessions: Sequence[Document]) -> None:
        await self.stores.seats.free([row["_id"] for row in sessions])

    async def _forget_logins(self, users: Sequence[Document]) -> None:
        for user in users:
            await self.lockout.forget(user["username"])

    async def _forget_notes(self, vaults: Sequence[Document]) -> None:
        for vault in vaults:
            await self.lockout.forget_opening(notes_of(vault["_id"]))

    async def _forget_keys(self, credentials: Sequence[Document]) -> None:
        for credential in credentials:
            await self.lockout.forget_opening(key_of(credential["_id"]))

    async def _drop_leases(self, devices: Sequence[Document]) -> None:
        ids = [row["_id"] for row in devices]
        await named.drop(self.database, [lease(one) for one in ids for lease in (device_lease, poll_lease)])
