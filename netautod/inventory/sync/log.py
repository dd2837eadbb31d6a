"""What is kept of a synchronisation: its entry in the history, the source's last result, the audit event."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from netautod.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity import Caller, OrgId
from netautod.core.pages import Page, PageOf
from netautod.inventory.models import FAILED, KEPT_ERRORS, SavedSource, SyncEntry, SyncError, SyncResult
from netautod.inventory.store import SourceStore
from netautod.inventory.sync.history import NOTHING, HistoryStore
from netautod.inventory.sync.reader import Place
from netautod.store.client import Database

logger = logging.getLogger(__name__)
ENDED_UNSEEN = "the node that synchronised ended before it was done; what it had changed by then stays"


@dataclass(frozen=True, kw_only=True)
class Options:
    """`confirm_removals`: also over half of a source's devices. `triggered_by`: manual or schedule."""

    dry_run: bool = False
    confirm_removals: bool = False
    triggered_by: str = "manual"


@dataclass(frozen=True, kw_only=True)
class Job:
    """One synchronisation. `key`: of the bindings. `source` None: the request named the inventory."""

    key: str
    place: Place
    source: SavedSource | None
    options: Options

    @property
    def source_id(self) -> str | None:
        return None if self.source is None else self.source.id


class SyncLog:
    """`keep`: entries of the history per source."""

    def __init__(
        self, database: Database, *, sources: SourceStore, clock: Clock, audit: AuditLog, keep: int
    ) -> None:
        self._history = HistoryStore(database)
        self._sources = sources
        self._clock = clock
        self._audit = audit
        self._keep = keep

    async def page(self, org_id: OrgId, page: Page, source_id: str | None) -> PageOf[SyncEntry]:
        """Newest first."""
        return await self._history.page(org_id, page, source_id)

    async def begin(self, org_id: OrgId, job: Job) -> SyncEntry:
        """Called under the lease: an entry of the same key that is still open belongs to nobody alive."""
        for abandoned in await self._history.open_entries(org_id, job.key):
            at = self._clock.now()
            result = {**NOTHING, "duration_ms": int((at - abandoned.started_at).total_seconds() * 1000)}
            await self._history.complete(org_id, abandoned.id, result=result, at=at, error=ENDED_UNSEEN)
        entry = SyncEntry(
            id=str(uuid4()),
            source_id=job.source_id,
            source_name=None if job.source is None else job.source.name,
            inventory_url=job.place.url,
            triggered_by=job.options.triggered_by,
            result=NOTHING,
            started_at=self._clock.now(),
        )
        await self._history.begin(org_id, entry, job.key)
        return entry

    async def end(
        self, caller: Caller, job: Job, entry: SyncEntry, result: SyncResult, error: str | None
    ) -> None:
        """`error`: why the synchronisation failed as a whole; then a database that is away is no news."""
        if error is None:
            await self._end(caller, job, entry, result, None)
            return
        with suppress(Unavailable):  # the entry stays open, and `begin` completes it another time
            await self._end(caller, job, entry, result, error)

    async def tried(self, caller: Caller, job: Job, result: SyncResult) -> None:
        """A dry run, which the history does not know."""
        await self._record(caller, job, {**_counts(result), "dry_run": True})

    async def _end(
        self, caller: Caller, job: Job, entry: SyncEntry, result: SyncResult, error: str | None
    ) -> None:
        org_id, at = caller.org_id, self._clock.now()
        kept = result.to_json(KEPT_ERRORS)
        await self._history.complete(org_id, entry.id, result=kept, at=at, error=error)
        await self._history.trim(org_id, job.source_id, self._keep)
        if job.source_id is not None:
            status = result.status if error is None else FAILED
            if error is not None:
                whole = SyncError(inventory_id=None, name=None, error=error)
                kept = {**kept, "errors": [*kept["errors"], whole.to_json()]}
            await self._sources.synced(org_id, job.source_id, at=at, status=status, result=kept)
        await self._record(caller, job, _counts(result) if error is None else {"error": error})

    async def _record(self, caller: Caller, job: Job, details: Mapping[str, Any]) -> None:
        about: dict[str, Any] = {"inventory_url": job.place.url, "triggered_by": job.options.triggered_by}
        if job.options.confirm_removals:
            about["confirm_removals"] = True
        told = {**about, **details}
        await self._audit.record(caller, "inventory.sync", "inventory_source", job.source_id, told)


def _counts(result: SyncResult) -> dict[str, Any]:
    return {name: getattr(result, name) for name in ("added", "updated", "unchanged", "failed", "removed")}
