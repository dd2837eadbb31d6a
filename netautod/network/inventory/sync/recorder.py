"""Records a synchronisation: its entry in the history, the source's last result, the audit event."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import Caller
from netautod.network.inventory.models import FAILED
from netautod.network.inventory.store import SourceStore
from netautod.network.inventory.sync.models import KEPT_ERRORS, SyncEntry, SyncError, SyncJob, SyncResult
from netautod.network.inventory.sync.store import NOTHING, HistoryStore

ENDED_UNSEEN = "the node that synchronised ended before it was done; what it had changed by then stays"


class SyncRecorder:
    def __init__(self, *, history: HistoryStore, sources: SourceStore, clock: Clock, audit: AuditLog) -> None:
        self.history = history
        self._sources = sources
        self._clock = clock
        self._audit = audit

    async def begin(self, job: SyncJob) -> SyncEntry:
        """Start an entry, under the lease: an entry of the same key that is still open was left by a dead
        node.
        """
        for abandoned in await self.history.open_entries(job.org_id, job.key):
            at = self._clock.now()
            result = {**NOTHING, "duration_ms": int((at - abandoned.started_at).total_seconds() * 1000)}
            await self.history.complete(job.org_id, abandoned.id, result=result, at=at, error=ENDED_UNSEEN)
        entry = SyncEntry(
            id=str(uuid4()),
            source_id=job.source_id,
            source_name=None if job.source is None else job.source.name,
            inventory_url=job.remote.url,
            triggered_by=job.options.triggered_by,
            result=NOTHING,
            started_at=self._clock.now(),
        )
        await self.history.begin(job.org_id, entry, job.key)
        return entry

    async def end(self, job: SyncJob, entry: SyncEntry, result: SyncResult, error: str | None) -> None:
        """End an entry. `error`: why the synchronisation failed as a whole; a database that is down does not
        hide it.
        """
        if error is None:
            await self._end(job, entry, result, None)
            return
        with suppress(Unavailable):  # the entry stays open, and a later `begin` completes it
            await self._end(job, entry, result, error)

    async def record_preview(self, job: SyncJob, result: SyncResult) -> None:
        """Audit a dry run, which makes no entry in the history."""
        await self._record(job, {**_counts(result), "dry_run": True})

    async def record_test(self, caller: Caller, url: str, source_id: str | None, *, success: bool) -> None:
        details = {"inventory_url": url, "success": success}
        await self._audit.record(caller, "inventory.test", "inventory_source", source_id, details)

    async def _end(self, job: SyncJob, entry: SyncEntry, result: SyncResult, error: str | None) -> None:
        org_id, at = job.org_id, self._clock.now()
        kept = result.to_json(KEPT_ERRORS)
        await self.history.complete(org_id, entry.id, result=kept, at=at, error=error)
        await self.history.trim(org_id, job.source_id)
        if job.source_id is not None:
            status = result.status if error is None else FAILED
            if error is not None:
                whole = SyncError(inventory_id=None, name=None, error=error)
                kept = {**kept, "errors": [*kept["errors"], whole.to_json()]}
            # One that failed, or saw a part only, does not know what is missing: what waited before waits on.
            unconfirmed = result.unconfirmed if error is None else None
            await self._sources.record_sync(
                org_id, job.source_id, at=at, status=status, result=kept, unconfirmed=unconfirmed
            )
        await self._record(job, _counts(result) if error is None else {"error": error})

    async def _record(self, job: SyncJob, details: Mapping[str, Any]) -> None:
        about: dict[str, Any] = {"inventory_url": job.remote.url, "triggered_by": job.options.triggered_by}
        if job.options.confirm_removals:
            about["confirm_removals"] = True
        details = {**about, **details}
        await self._audit.record(job.caller, "inventory.sync", "inventory_source", job.source_id, details)


def _counts(result: SyncResult) -> dict[str, Any]:
    counted = ("added", "updated", "unchanged", "failed", "removed")
    waiting = {"unconfirmed_removals": result.unconfirmed} if result.unconfirmed else {}
    return {**{name: getattr(result, name) for name in counted}, **waiting}
