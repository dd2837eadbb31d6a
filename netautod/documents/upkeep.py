"""Periodic work on documents: locks notes vaults whose time is over, and finishes interrupted writes.

Every node does it, at its start and once a minute; each step is idempotent.
"""

import logging
from datetime import timedelta
from typing import Self

from netautod.core.clock import Clock
from netautod.core.errors import NetautodError, Unavailable
from netautod.core.work.deadlines import unhurried, waits
from netautod.documents.editing import Resealing
from netautod.documents.notes.service import NotesVault
from netautod.documents.store import DocumentStore
from netautod.documents.version_store import VersionStore
from netautod.store.leases.periodic import Periodic

logger = logging.getLogger(__name__)
INTERVAL_SECONDS = 60.0
# No write that was under way at a deletion is still under way this much later.
KEEP_DELETED = timedelta(minutes=10)


class DocumentUpkeep:
    def __init__(
        self,
        *,
        documents: DocumentStore,
        versions: VersionStore,
        resealing: Resealing,
        notes: NotesVault,
        clock: Clock,
    ) -> None:
        self._documents = documents
        self._versions = versions
        self._resealing = resealing
        self._notes = notes
        self._clock = clock
        self._loop = Periodic(
            self.run, name="the upkeep of documents", seconds=INTERVAL_SECONDS, at_once=True
        )

    async def __aenter__(self) -> Self:
        await self._loop.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.__aexit__()

    @waits(unhurried)
    async def run(self) -> None:
        """Run once."""
        await self._notes.lock_expired()
        await self._finish_deletions()
        await self._finish_resealing()

    async def _finish_deletions(self) -> None:
        for org_id, document_id, since in await self._documents.deleted():
            await self._versions.remove_all(org_id, document_id)
            if self._clock.now() - since > KEEP_DELETED:
                await self._documents.forget(org_id, document_id)

    async def _finish_resealing(self) -> None:
        for org_id, document_id in await self._documents.all_resealing():
            key = await self._notes.key_if_unlocked(org_id)
            if key is None:
                continue  # the next pass after the next unlock
            try:
                await self._resealing.run(org_id, document_id, key)
            except Unavailable:
                raise
            except NetautodError as error:  # one broken version must not keep the others waiting
                logger.error("the versions of document %s cannot be re-encrypted: %s", document_id, error)
