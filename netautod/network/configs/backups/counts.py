"""Counts of backup states, made once per change instead of once per request.

As the totals of devices (network/devices/records/counts.py). Captures have a revision of their own, which
grows once per batch of them. What becomes stale does so without a write: a count is kept no longer than until
the next device does.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from netautod.core.identity.caller import OrgId
from netautod.network.configs.backups.models import FAILED, NEVER, SUCCESS, UNKNOWN_KIND, BackupCounts
from netautod.network.configs.backups.queries import (
    BY_AGE,
    BY_STATE,
    FRESH_AT,
    KIND,
    STATE,
    keys_alone,
    narrows,
    stale_since,
)
from netautod.network.devices.models import DeviceFilter
from netautod.network.devices.records.counts import REVISIONS, DeviceCounts
from netautod.network.devices.records.kept_counts import KeptCounts, Revision
from netautod.network.devices.records.queries import COLLECTION, live, where
from netautod.store.client import Database, Document
from netautod.store.scoped import scoped


@dataclass(frozen=True, kw_only=True)
class _Key:
    org_id: OrgId
    narrowed: DeviceFilter
    stale_hours: float


@dataclass(frozen=True, kw_only=True)
class _Counted:
    """The counts of moments in `[since, until]`."""

    counts: BackupCounts
    since: datetime
    until: datetime | None

    def holds_at(self, now: datetime) -> bool:
        return self.since <= now and (self.until is None or now <= self.until)


class BackupCounting:
    """The counting of backup states, one per node, for the counts that it keeps. `totals` has the numbers of
    devices.
    """

    def __init__(
        self, database: Database, *, totals: DeviceCounts, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._devices = scoped(database, COLLECTION)
        self._revisions = database.collection(REVISIONS)
        self._totals = totals
        self._kept: KeptCounts[_Key, _Counted] = KeptCounts(monotonic=monotonic)

    async def changed(self, org_id: OrgId) -> None:
        """Invalidate the counts: after every write, or batch of writes, of backup states."""
        await self._revisions.update({"_id": org_id}, {"$inc": {"backups": 1}}, upsert=True)

    async def of(
        self, org_id: OrgId, narrowed: DeviceFilter, *, now: datetime, stale_hours: float
    ) -> BackupCounts:
        """Count the live devices that match, all answered writes included; `stale_hours` 0: none is stale."""
        key = _Key(org_id=org_id, narrowed=narrowed, stale_hours=stale_hours)
        counted = await self._kept.get(
            key,
            revision=partial(self._revision, org_id),
            count=partial(self._count, key, now),
            is_usable=lambda kept: kept.holds_at(now),
        )
        return counted.counts

    async def _count(self, key: _Key, now: datetime) -> _Counted:
        border = stale_since(now, key.stale_hours)
        counting = self._narrowed if narrows(key.narrowed) else self._whole
        counts, next_fresh_at = await counting(key, border)
        until = None if next_fresh_at is None else next_fresh_at + timedelta(hours=key.stale_hours)
        return _Counted(counts=counts, since=now, until=until)

    async def _whole(self, key: _Key, border: datetime) -> tuple[BackupCounts, datetime | None]:
        """Count a whole organization: what is few is counted, each by a range of keys, and the rest
        follows."""
        kinds, never, stale, total, next_fresh_at = await asyncio.gather(
            self._devices.aggregate(
                key.org_id,
                [
                    {"$match": live(**{STATE: FAILED})},
                    {"$group": {"_id": f"${KIND}", "count": {"$sum": 1}}},
                ],
                index=BY_STATE.name,
            ),
            self._devices.count(key.org_id, live(**{STATE: NEVER}), index=BY_STATE.name),
            self._devices.count(key.org_id, live(**{FRESH_AT: {"$lt": border}}), index=BY_AGE.name),
            self._totals.total(key.org_id, key.narrowed),
            self._next_fresh_at(key, border),
        )
        by_kind = Counter({row["_id"] or UNKNOWN_KIND: row["count"] for row in kinds})
        failed = by_kind.total()
        counts = BackupCounts(
            # They were read at moments of their own.
            success=max(0, total - failed - never),
            failed=failed,
            never=never,
            stale=stale,
            by_kind=_ordered(by_kind),
        )
        return counts, next_fresh_at

    async def _next_fresh_at(self, key: _Key, border: datetime) -> datetime | None:
        """Return `fresh_at` of the device that becomes stale next; None: nothing ever does."""
        if not key.stale_hours:
            return None
        found = await self._devices.find(
            key.org_id,
            live(**{FRESH_AT: {"$gte": border}}),
            fields={FRESH_AT: 1, "_id": 0},
            sort=[(FRESH_AT, 1)],
            limit=1,
            index=BY_AGE.name,
        )
        return found[0]["backup"]["fresh_at"] if found else None

    async def _narrowed(self, key: _Key, border: datetime) -> tuple[BackupCounts, datetime | None]:
        """Count what a filter matches: by the keys of all devices, or by the documents of those of a site."""
        is_stale = {"$lt": [f"${FRESH_AT}", border]}
        found = await self._devices.aggregate(
            key.org_id,
            [
                {"$match": where(key.narrowed)},
                {
                    "$group": {
                        "_id": {"state": f"${STATE}", "kind": f"${KIND}"},
                        "count": {"$sum": 1},
                        "stale": {"$sum": {"$cond": [is_stale, 1, 0]}},
                        "next": {"$min": {"$cond": [is_stale, None, f"${FRESH_AT}"]}},
                    }
                },
            ],
            index=BY_AGE.name if keys_alone(key.narrowed) else None,
        )
        nexts = [row["next"] for row in found if row["next"] is not None]
        return _summed(found), min(nexts, default=None) if key.stale_hours else None

    async def _revision(self, org_id: OrgId) -> Revision:
        found = await self._revisions.find_one({"_id": org_id}) or {}
        return int(found.get("revision", 0)), int(found.get("backups", 0))


def _summed(rows: list[Document]) -> BackupCounts:
    states: Counter[str] = Counter()
    by_kind: Counter[str] = Counter()
    for row in rows:
        # A device of an earlier release that has no state yet has had no capture.
        state = row["_id"].get("state") or NEVER
        states[state] += row["count"]
        if state == FAILED:
            by_kind[row["_id"].get("kind") or UNKNOWN_KIND] += row["count"]
    return BackupCounts(
        success=states[SUCCESS],
        failed=states[FAILED],
        never=states[NEVER],
        stale=sum(row["stale"] for row in rows),
        by_kind=_ordered(by_kind),
    )


def _ordered(by_kind: Counter[str]) -> dict[str, int]:
    """Sort the most frequent first, and always in the same order: what is the same has the same ETag."""
    return dict(sorted(by_kind.items(), key=lambda one: (-one[1], one[0])))
