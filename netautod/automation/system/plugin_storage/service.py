"""The storage of plugins: checks, quotas, and the order of the writes.

What grows is reserved, then written, then settled. If the node dies in between, too much is counted until all
is counted anew, which happens when the quota seems to be reached.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from uuid import uuid4

from netautod.automation.system.plugin_storage.models import (
    PLUGIN,
    Amount,
    KeptRecord,
    Owner,
    Quota,
    RecordMark,
    Usage,
    require_key,
    require_page,
    written,
)
from netautod.automation.system.plugin_storage.store import COLLECTION, FIELD, PluginRecordStore, record_id
from netautod.automation.system.plugin_storage.usage_store import STALE, PluginUsageStore, Reservation
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Unavailable, UnknownOutcome
from netautod.core.identity.caller import OrgId
from netautod.identity.users.models import Organization
from netautod.plugin_api.storage import StorageFull, StorageRefused, StorageUsage, StoredValue
from netautod.secrets.vault.vault import Vault

Writing = Callable[[], Awaitable[bool]]
MAX_PAGE_BYTES = 4 << 20
TRIES = 16  # tries of a write that loses to others
PAUSE_SECONDS = 0.05
LATE = STALE / 4  # a write after this long is given up


class Organizations(Protocol):
    """The source of the existing organizations."""

    async def get(self, org_id: OrgId) -> Organization | None: ...


@dataclass(frozen=True, kw_only=True)
class PluginStorages:
    """A service that gives each plugin its storage; `quota` is that of one plugin for one organization."""

    records: PluginRecordStore
    usages: PluginUsageStore
    vault: Vault
    organizations: Organizations
    clock: Clock
    quota: Quota

    def of(self, plugin: str) -> "OwnStorage":
        return OwnStorage(self, plugin)

    async def purge(self, plugin: str, organizations: Iterable[OrgId]) -> int:
        """Delete all that the plugin has stored for these organizations; return how many records.

        For a plugin that is not loaded: what a loaded one writes meanwhile may stay.
        """
        deleted = 0
        for org_id in organizations:
            owner = Owner(org_id=org_id, plugin=plugin)
            deleted += await self.records.delete_all(owner)
            await self.usages.delete(owner)
        return deleted


class OwnStorage:
    """The `PluginStorage` of one plugin."""

    def __init__(self, shared: PluginStorages, plugin: str) -> None:
        self._shared = shared
        self._records, self._usages = shared.records, shared.usages
        self._plugin = plugin

    async def get(self, org_id: str, key: str) -> StoredValue | None:
        owner = self._owner(org_id)
        require_key(key)
        found = await self._records.get(owner, key)
        return None if found is None else await self._opened(owner, found)

    async def put(self, org_id: str, key: str, value: Any) -> StoredValue:
        owner, body = await self._checked(org_id, key, value)
        for _ in range(TRIES):
            found = await self._records.mark(owner, key)
            made = await self._write(owner, key, body, found)
            if made is not None:
                return _stored(made, value)
        raise Conflict(f"{key} is being changed by others: try again")

    async def compare_and_set(
        self, org_id: str, key: str, value: Any, *, revision: str | None
    ) -> StoredValue | None:
        owner, body = await self._checked(org_id, key, value)
        found = await self._records.mark(owner, key)
        if revision != (None if found is None else found.revision):
            return None
        made = await self._write(owner, key, body, found)
        return None if made is None else _stored(made, value)

    async def delete(self, org_id: str, key: str, *, revision: str | None = None) -> bool:
        owner = self._owner(org_id)
        require_key(key)
        for _ in range(TRIES):
            found = await self._records.mark(owner, key)
            if found is None or revision not in (None, found.revision):
                return False
            gone = Amount(records=-1, bytes=-found.size)
            deletion = partial(self._records.delete, owner, key, revision=found.revision)
            if await self._counted(owner, gone, deletion):
                return True
        raise Conflict(f"{key} is being changed by others: try again")

    async def list(
        self, org_id: str, *, prefix: str = "", after: str = "", limit: int = 100
    ) -> Sequence[StoredValue]:
        owner = self._owner(org_id)
        require_page(prefix, after, limit)
        while marks := await self._records.marks(owner, prefix=prefix, after=after, limit=limit):
            keys = _page(marks)
            if found := await self._records.many(owner, keys):
                return [await self._opened(owner, record) for record in found]
            after = keys[-1]  # all of this page were deleted meanwhile; an empty page would mean the end
        return []

    async def usage(self, org_id: str) -> StorageUsage:
        owner = self._owner(org_id)
        found = await self._usages.get(owner, self._shared.clock.now())
        if found is not None and found.loose and await self._count_anew(owner, found):
            found = await self._usages.get(owner, self._shared.clock.now())
        stored = await self._records.stored(owner) if found is None else found.stored
        return StorageUsage(records=stored.records, bytes=stored.bytes)

    async def _checked(self, org_id: str, key: str, value: Any) -> tuple[Owner, bytes]:
        owner = self._owner(org_id)
        require_key(key)
        body = written(value)
        most = self._shared.quota.value_bytes
        if len(body) > most:
            raise StorageFull(f"{key}: the value is {len(body)} bytes long, more than {most}")
        organization = await self._shared.organizations.get(owner.org_id)
        if organization is None or organization.deleting_since is not None:
            raise StorageRefused(f"There is no organization {org_id[:64]!r}")
        return owner, body

    def _owner(self, org_id: str) -> Owner:
        if not PLUGIN.fullmatch(self._plugin):
            raise StorageRefused(f"A plugin named {self._plugin!r} cannot store anything")
        if not isinstance(org_id, str) or not PLUGIN.fullmatch(org_id):
            raise StorageRefused(f"There is no organization {str(org_id)[:64]!r}")
        return Owner(org_id=OrgId(org_id), plugin=self._plugin)

    async def _write(
        self, owner: Owner, key: str, body: bytes, found: RecordMark | None
    ) -> KeptRecord | None:
        """Write over the record that was found; return None if the record has changed since."""
        self._records.require_room()
        place = record_id(owner, key)
        record = KeptRecord(
            key=key,
            sealed=await self._shared.vault.seal(owner.org_id, COLLECTION, place, FIELD, body),
            revision=str(uuid4()),
            size=len(key) + len(body),
            updated_at=self._shared.clock.now(),
        )
        over, old = (None, 0) if found is None else (found.revision, found.size)
        change = Amount(records=0 if found else 1, bytes=record.size - old)
        writing = partial(self._records.write, owner, record, over=over)
        try:
            return record if await self._counted(owner, change, writing) else None
        except StorageFull:
            # Another write may have used the last room meanwhile; its record can still be overwritten.
            if await self._records.mark(owner, key) == found:
                raise
            return None

    async def _counted(self, owner: Owner, change: Amount, writing: Writing) -> bool:
        """Write within the quota; return whether it was written.

        Raises StorageFull.
        """
        reservation = Reservation(id=str(uuid4()), change=change)
        started = self._shared.clock.monotonic()
        await self._reserve(owner, reservation)
        try:
            if self._shared.clock.monotonic() - started > LATE.total_seconds():
                raise Unavailable("The database did not answer in time")
            done = await writing()
        except (UnknownOutcome, asyncio.CancelledError):
            raise  # it may have been written: the reservation stays until all is counted anew
        except Exception:
            await self._usages.settle(owner, reservation, done=False)
            raise
        await asyncio.shield(self._usages.settle(owner, reservation, done=done))
        return done

    async def _reserve(self, owner: Owner, reservation: Reservation) -> None:
        """Reserve what a write adds.

        It waits a moment for reservations that may be given back. Raises StorageFull, or Unavailable if too
        much is under way.
        """
        counted, quota, change = False, self._shared.quota, reservation.change
        full = StorageFull(
            f"A plugin may store {quota.records} records and {quota.bytes} bytes for an organization"
        )
        for _ in range(TRIES):
            if await self._usages.reserve(owner, reservation, quota, self._shared.clock.now()):
                return
            usage = await self._usages.get(owner, self._shared.clock.now())
            if usage is None:
                await self._usages.begin(owner, await self._records.stored(owner))
            elif usage.loose and not counted:
                counted = await self._count_anew(owner, usage)
            elif not quota.has_room_for(change, usage.stored.without(usage.pending)):
                raise full
            else:
                await asyncio.sleep(PAUSE_SECONDS)
        usage = await self._usages.get(owner, self._shared.clock.now())
        if usage is not None and not quota.has_room_for(change, usage.stored):
            raise full
        raise Unavailable("Too many writes at the same time; try again in a moment")

    async def _count_anew(self, owner: Owner, usage: Usage) -> bool:
        """Count all records; return False if others wrote meanwhile."""
        stored = await self._records.stored(owner)
        return await self._usages.replace(owner, usage, stored, self._shared.clock.now())

    async def _opened(self, owner: Owner, record: KeptRecord) -> StoredValue:
        place = record_id(owner, record.key)
        body = await self._shared.vault.unseal(owner.org_id, COLLECTION, place, FIELD, record.sealed)
        return _stored(record, json.loads(body))


def _page(marks: Sequence[RecordMark]) -> list[str]:
    """Return the first keys whose records are not too large together, at least one."""
    keys, size = list[str](), 0
    for mark in marks:
        size += mark.size
        if keys and size > MAX_PAGE_BYTES:
            break
        keys.append(mark.key)
    return keys


def _stored(record: KeptRecord, value: Any) -> StoredValue:
    return StoredValue(key=record.key, value=value, revision=record.revision, updated_at=record.updated_at)
