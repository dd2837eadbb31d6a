"""Synchronisations that outlive the request that begins them: a browser waits for none of them long."""

import asyncio
import logging
from typing import Self

from netautod.core.errors import NetautodError
from netautod.core.identity.caller import Caller
from netautod.network.inventory.sync.models import SyncOptions, SyncResult
from netautod.network.inventory.sync.service import SyncService

logger = logging.getLogger(__name__)
PATIENCE = 2.0


class BackgroundSyncs:
    """The synchronisations in the background, within `async with`; the end stops what is running, and the
    history says so.

    `patience`: how many seconds a caller waits for the end.
    """

    def __init__(self, sync: SyncService, *, patience: float = PATIENCE) -> None:
        self._sync = sync
        self.patience = patience
        self._running: set[asyncio.Task[SyncResult]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._running:
            task.cancel()
        await self.wait()

    async def wait(self) -> None:
        """Wait for what is running now."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def begin(self, caller: Caller, source_id: str, options: SyncOptions) -> SyncResult | None:
        """Return the result if there is one soon, else None: then the history has it when it is over.

        Raises what SyncService.sync_source raises, as far as that happens soon.
        """
        task = asyncio.create_task(
            self._sync.sync_source(caller, source_id, options), name=f"sync of {source_id}"
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        done, _ = await asyncio.wait({task}, timeout=self.patience)
        if done:
            return task.result()
        task.add_done_callback(_note_failure)
        return None


def _note_failure(task: "asyncio.Task[SyncResult]") -> None:
    """Log the failure of a task that no caller awaits; what a user has to know is in the history."""
    if not task.cancelled() and (error := task.exception()) is not None:
        if isinstance(error, NetautodError):
            logger.warning("%s failed: %s", task.get_name(), error)
        else:
            logger.error("%s failed", task.get_name(), exc_info=error)
