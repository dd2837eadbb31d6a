"""Backup states as documents: written with every capture, and read as lists of devices.

The state is kept with the device itself, so that no list of devices by their backups can miss one that came,
moved or went, and by one write, so that no part of it can be left behind.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from netautod.core.errors import Duplicate
from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page, in_turns
from netautod.core.work.context import Work
from netautod.network.configs.backups.counts import BackupCounting
from netautod.network.configs.backups.models import FAILED, SUCCESS, BackupFacts, DeviceWithBackup
from netautod.network.configs.backups.queries import (
    AT,
    ERROR,
    FRESH_AT,
    KIND,
    REPORTED_AT,
    STATE,
    SUCCESS_AT,
    Found,
    facts_fields,
)
from netautod.network.devices.records.counts import DeviceCounts
from netautod.network.devices.records.documents import BACKUP, ITEM_FIELDS, item_of
from netautod.network.devices.records.queries import COLLECTION
from netautod.store.batching import Batcher
from netautod.store.client import Change, Database, Document, Filter
from netautod.store.expressions import literal
from netautod.store.leases.lease import NEVER
from netautod.store.scoped import scoped

MOST_ERROR_CHARACTERS = 1000


class BackupStates:
    def __init__(self, database: Database, *, totals: DeviceCounts) -> None:
        self._devices = scoped(database, COLLECTION)
        self.counts = BackupCounting(database, totals=totals)
        self._changes: Batcher[OrgId, tuple[Filter, Change], None] = Batcher(self._note)

    async def record(
        self, work: Work, device_id: str, *, at: datetime, error: str | None, kind: str | None = None
    ) -> None:
        """Record how a capture ended; one that ended before the recorded one adds nothing but its success.

        One write, so that captures on two nodes may be recorded in any order. It is made even if the run is
        lost by now: the capture has happened. Nothing is recorded of a device that is gone.
        """
        change = noting(at, error=error, kind=kind)
        await self._changes.ask(work.org_id, ({"_id": device_id}, change), work.unguarded())

    async def _note(
        self, org_id: OrgId, changes: Sequence[tuple[Filter, Change]]
    ) -> Sequence[Duplicate | None]:
        await self._devices.change_batch(org_id, changes)
        await self.counts.changed(org_id)
        return [None] * len(changes)

    async def of(self, org_id: OrgId, device_ids: Sequence[str]) -> Mapping[str, BackupFacts]:
        """Return the facts by device, also of deleted ones."""
        wanted = {"_id": {"$in": list(device_ids)}}
        found = await self._devices.find(org_id, wanted, fields=facts_fields())
        return {row["_id"]: facts_of(row) for row in found}

    async def page(self, org_id: OrgId, found: Found, page: Page) -> list[DeviceWithBackup]:
        rows = await self._devices.find(
            org_id,
            found.where,
            fields={**ITEM_FIELDS, **facts_fields()},
            sort=found.sort,
            limit=page.limit,
            offset=page.offset,
            index=found.index,
        )
        return await in_turns(_listed, rows)

    async def each(self, org_id: OrgId, found: Found) -> AsyncIterator[DeviceWithBackup]:
        """Yield all of them in their order, a few hundred in memory at a time."""
        fields = {**ITEM_FIELDS, **facts_fields()}
        rows = self._devices.stream(org_id, found.where, fields=fields, sort=found.sort, index=found.index)
        async for row in rows:
            yield _listed(row)

    async def count(self, org_id: OrgId, found: Found) -> int:
        return await self._devices.count(org_id, found.where, index=found.index)


def noting(at: datetime, *, error: str | None, kind: str | None) -> list[Document]:
    """Return the change that records a capture; devices of earlier releases may have no state yet."""
    newer = {"$gte": [at, {"$ifNull": [f"${AT}", NEVER]}]}
    state = SUCCESS if error is None else FAILED
    text = None if error is None else error[:MOST_ERROR_CHARACTERS]
    noted = literal({AT: at, STATE: state, ERROR: text, KIND: kind})
    change: dict[str, Any] = {name: {"$cond": [newer, new, f"${name}"]} for name, new in noted.items()}
    if error is None:
        change |= {SUCCESS_AT: {"$max": [f"${SUCCESS_AT}", at]}, FRESH_AT: {"$max": [f"${SUCCESS_AT}", at]}}
        change[REPORTED_AT] = None
    else:
        change[FRESH_AT] = {"$ifNull": [f"${FRESH_AT}", "$created_at"]}
    return [{"$set": change}]


def facts_of(document: Document) -> BackupFacts:
    state = document.get(BACKUP) or {}
    if state.get("at") is None:
        return BackupFacts()
    return BackupFacts(
        status=state["state"],
        last_at=state["at"],
        error=state["error"],
        kind=state["kind"],
        last_success_at=state.get("success_at"),
    )


def _listed(document: Document) -> DeviceWithBackup:
    return DeviceWithBackup(device=item_of(document), facts=facts_of(document))
