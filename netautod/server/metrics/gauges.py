"""The gauges that the database knows, read when the page is requested, every few seconds at most."""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from netautod.activity.webhooks.delivery.store import DeliveryStore
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.store import TaskStore
from netautod.core.clock import Clock
from netautod.core.errors import Unavailable
from netautod.core.metrics import Metrics
from netautod.core.work.deadlines import unhurried, waits
from netautod.documents.notes.store import NotesVaultStore
from netautod.network.devices.sessions.store import SuspensionStore
from netautod.network.discovery.polling.store import PollStore

logger = logging.getLogger(__name__)
FRESH_SECONDS = 5.0
READ_SECONDS = 3.0


@dataclass(kw_only=True)
class DatabaseGauges:
    """The gauges of the database. `refresh` costs nothing while they are fresh; without an answer they are
    left off the page.
    """

    metrics: Metrics
    clock: Clock
    executions: ExecutionStore
    tasks: TaskStore
    polls: PollStore
    suspensions: SuspensionStore
    notes: NotesVaultStore
    deliveries: DeliveryStore
    _reported: tuple[str, ...] = field(default=(), init=False)
    _read_at: float = field(default=float("-inf"), init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def refresh(self) -> None:
        async with self._turn:
            if time.monotonic() - self._read_at < FRESH_SECONDS:
                return
            try:
                async with asyncio.timeout(READ_SECONDS):
                    found = await self._read()
            except (Unavailable, TimeoutError):
                logger.warning("the database did not answer for the page of metrics")
                self.metrics.forget(*self._reported)
                self.metrics.set("database_up", 0)
            else:
                self._reported = tuple(found)
                for name, value in found.items():
                    self.metrics.set(name, value)
                self.metrics.set("database_up", 1)
            self._read_at = time.monotonic()

    @waits(unhurried)
    async def _read(self) -> Mapping[str, float]:
        now = self.clock.now()
        due = await self.tasks.oldest_due()
        oldest = await self.deliveries.oldest_waiting()
        return {
            "scheduler_oldest_due_seconds": 0 if due is None else due.total_seconds(),
            "executions_pending": await self.executions.pending_of_all(),
            "polls_waiting": await self.polls.waiting(),
            "credentials_suspended": await self.suspensions.suspended(now),
            "notes_vaults_unlocked": await self.notes.unlocked(now),
            "webhook_deliveries_waiting": await self.deliveries.waiting(),
            "webhook_deliveries_oldest_seconds": (
                0 if oldest is None else max(0.0, (now - oldest).total_seconds())
            ),
        }
