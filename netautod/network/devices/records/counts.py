"""The totals of device lists, counted once per change instead of once per page.

Every organization has a revision in `device_revisions`. It grows after each write that can change what a
filter matches: creating, deleting, importing and syncing devices, an update of a field that lists are
narrowed by, the rename of a site. A node keeps the total of a filter together with the revision that it read
before it counted, and serves it while the organization has no newer one. The writer moves the revision before
it answers, so that a list asked for after that answer has the right total, on every node.

If a writer dies between its write and the new revision, lists show the old total for `SECONDS` at most.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from netautod.core.identity.caller import OrgId
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.records.queries import COLLECTION, best_index, where
from netautod.store.client import Database
from netautod.store.scoped import scoped

REVISIONS = "device_revisions"
SECONDS = 30.0
MOST = 1000

Key = tuple[OrgId, DeviceFilter]


@dataclass(frozen=True, kw_only=True)
class Total:
    """A total, counted no earlier than `counted_at` (monotonic), when the organization had the revision."""

    devices: int
    revision: int
    counted_at: float


class DeviceCounts:
    """The totals that a node keeps; one object per node."""

    def __init__(self, database: Database, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._devices = scoped(database, COLLECTION)
        self._revisions = database.collection(REVISIONS)
        self._monotonic = monotonic
        self._kept: OrderedDict[Key, Total] = OrderedDict()
        self._locks: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    async def changed(self, org_id: OrgId) -> None:
        """Invalidate the totals: after every write, or batch of writes, that can change what a filter
        matches.

        It comes after the write, never before: a count in between would be kept under the new revision.
        """
        await self._revisions.update({"_id": org_id}, {"$inc": {"revision": 1}}, upsert=True)

    async def total(self, org_id: OrgId, narrowed: DeviceFilter) -> int:
        """Count the live devices that match, all answered writes included."""
        key = (org_id, narrowed)
        revision = await self._revision(org_id)
        if (kept := self._usable(key, revision)) is not None:
            return kept
        # One count at a time per filter. A caller that waited takes the other's count if that is new enough.
        # The newest revision is read again, so that no caller waits for more than two counts.
        async with self._locks.setdefault(key, asyncio.Lock()):
            if (kept := self._usable(key, revision)) is not None:
                return kept
            return await self._count(key, await self._revision(org_id))

    async def _count(self, key: Key, revision: int) -> int:
        org_id, narrowed = key
        began = self._monotonic()
        devices = await self._devices.count(org_id, where(narrowed), index=best_index(narrowed))
        self._kept[key] = Total(devices=devices, revision=revision, counted_at=began)
        self._kept.move_to_end(key)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return devices

    def _usable(self, key: Key, revision: int) -> int | None:
        kept = self._kept.get(key)
        if kept is None or kept.revision < revision or self._monotonic() - kept.counted_at > SECONDS:
            return None
        self._kept.move_to_end(key)
        return kept.devices

    async def _revision(self, org_id: OrgId) -> int:
        found = await self._revisions.find_one({"_id": org_id})
        return 0 if found is None else int(found["revision"])
