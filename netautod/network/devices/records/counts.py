"""The totals of device lists, counted once per change instead of once per page.

Every organization has a revision in `device_revisions`. It grows after each write that can change what a
filter matches: creating, deleting, importing and syncing devices, an update of a field that lists are
narrowed by, the rename of a site. A node keeps the total of a filter (kept_counts.py) together with the
revision that it read before it counted, and serves it while the organization has no newer one. The writer
moves the revision before it answers, so that a list requested after that answer has the right total, on every
node.
"""

import time
from collections.abc import Callable
from functools import partial

from netautod.core.identity.caller import OrgId
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.records.kept_counts import KeptCounts, Revision
from netautod.network.devices.records.queries import COLLECTION, best_index, where
from netautod.store.client import Database
from netautod.store.scoped import scoped

REVISIONS = "device_revisions"


class DeviceCounts:
    """The totals that a node keeps; one object per node."""

    def __init__(self, database: Database, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._devices = scoped(database, COLLECTION)
        self._revisions = database.collection(REVISIONS)
        self._kept: KeptCounts[tuple[OrgId, DeviceFilter], int] = KeptCounts(monotonic=monotonic)

    async def changed(self, org_id: OrgId) -> None:
        """Invalidate the totals: after every write, or batch of writes, that can change what a filter
        matches.

        It comes after the write, never before: a count in between would be kept under the new revision.
        """
        await self._revisions.update({"_id": org_id}, {"$inc": {"revision": 1}}, upsert=True)

    async def total(self, org_id: OrgId, narrowed: DeviceFilter) -> int:
        """Count the live devices that match, all answered writes included."""
        return await self._kept.get(
            (org_id, narrowed),
            revision=partial(self._revision, org_id),
            count=partial(self._devices.count, org_id, where(narrowed), index=best_index(narrowed)),
        )

    async def _revision(self, org_id: OrgId) -> Revision:
        found = await self._revisions.find_one({"_id": org_id})
        return (0 if found is None else int(found["revision"]),)
