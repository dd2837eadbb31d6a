"""This node's share of the scheduling: scan, claim, run, heartbeat, take over; all nodes are equal."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta

from tornado.ioloop import PeriodicCallback

from netautod.core.clock import Clock
from netautod.core.identity import OrgId
from netautod.core.metrics import Metrics
from netautod.executions.ends import Ends
from netautod.executions.log import ExecutionLogStore, LogLimits
from netautod.executions.results import ResultStore
from netautod.executions.running.attempt import ActingFactory, AttemptParts, OwnerLookup
from netautod.executions.running.reaper import Reaper
from netautod.executions.running.runner import Runner
from netautod.executions.running.scheduler import Scheduler
from netautod.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.executions.store import COLLECTION, ExecutionStore
from netautod.plugin_api import Executor, FinishedExecution
from netautod.store.client import Database
from netautod.store.leases.keeper import Held, LeaseKeeper, LeaseTimes
from netautod.tasks.cron.ticks import NextTicks
from netautod.tasks.store import TaskStore

logger = logging.getLogger(__name__)


def lease_times(settings: ExecutionSettings) -> LeaseTimes:
    return LeaseTimes(
        lease=settings.lease_seconds,
        heartbeat=settings.heartbeat_seconds,
        abandon=settings.abandon_seconds,
    )


class ExecutionNode:
    """Started with `async with`; `drain` before leaving it makes the stop a graceful one."""

    def __init__(
        self,
        *,
        node_id: str,
        database: Database,
        clock: Clock,
        metrics: Metrics,
        ticks: NextTicks,
        executors: Mapping[str, Executor],
        owners: OwnerLookup,
        acting: ActingFactory,
        finished: Callable[[FinishedExecution], None],
        observed: Callable[[], bool] = lambda: True,
        runs: ExecutionSettings,
        schedule: SchedulerSettings,
        paused: Callable[[], Collection[OrgId]] = frozenset,
    ) -> None:
        """`paused` tells at any time for which organizations nothing is to begin; the others: see Ends."""
        self.store = ExecutionStore(database)
        self.ends = Ends(store=self.store, finished=finished, observed=observed)
        self._keeper = LeaseKeeper(
            collection=database.collection(COLLECTION),
            node_id=node_id,
            clock=clock,
            times=lease_times(runs),
        )
        parts = self._attempt_parts(database, clock, metrics, owners, acting, runs)
        tasks = TaskStore(database)
        self.runner = Runner(
            store=self.store,
            tasks=tasks,
            keeper=self._keeper,
            executors=executors,
            parts=parts,
            metrics=metrics,
            slots=runs.slots,
            ends=self.ends,
            paused=paused,
        )
        self.reaper = self._reaper(clock, metrics, runs)
        self.scheduler = self._scheduler(tasks, ticks, metrics, schedule, paused)
        self._clock = clock
        self._scan_seconds = schedule.scan_seconds
        self._scan = PeriodicCallback(self.scheduler.scan, schedule.scan_seconds * 1000)
        self._first_scan: asyncio.Task[None] | None = None
        self._stack = AsyncExitStack()

    def _attempt_parts(
        self,
        database: Database,
        clock: Clock,
        metrics: Metrics,
        owners: OwnerLookup,
        acting: ActingFactory,
        runs: ExecutionSettings,
    ) -> AttemptParts:
        return AttemptParts(
            clock=clock,
            metrics=metrics,
            owners=owners,
            acting=acting,
            logs=ExecutionLogStore(database),
            log_limits=LogLimits(lines=runs.log_lines, bytes=runs.log_bytes),
            results=ResultStore(database),
            save_progress=self._save_progress,
            approval_seconds=runs.approval_hours * 3600,
            cancel_grace=runs.cancel_grace_seconds,
        )

    def _reaper(self, clock: Clock, metrics: Metrics, runs: ExecutionSettings) -> Reaper:
        return Reaper(
            store=self.store,
            keeper=self._keeper,
            clock=clock,
            metrics=metrics,
            grace_seconds=runs.reap_grace_seconds,
            taken_over=self.runner.kick,
            ends=self.ends,
        )

    def _scheduler(
        self,
        tasks: TaskStore,
        ticks: NextTicks,
        metrics: Metrics,
        schedule: SchedulerSettings,
        paused: Callable[[], Collection[OrgId]],
    ) -> Scheduler:
        return Scheduler(
            tasks=tasks,
            executions=self.store,
            ticks=ticks,
            metrics=metrics,
            catch_up=timedelta(seconds=schedule.catch_up_seconds),
            batch=schedule.batch,
            fired=self.runner.kick,
            paused=paused,
        )

    async def __aenter__(self) -> "ExecutionNode":
        await self._stack.enter_async_context(self._keeper)
        await self._stack.enter_async_context(self.runner)
        await self._stack.enter_async_context(self.reaper)
        self._first_scan = asyncio.create_task(self._start_aligned(), name="first scan")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop_scanning()
        await self._stack.aclose()

    async def drain(self, seconds: float) -> None:
        """Stops scanning and claiming; runs get `seconds` to finish, the rest goes back to pending."""
        await self._stop_scanning()
        await self.runner.drain(seconds)

    async def _start_aligned(self) -> None:
        """The first scan at once (what was missed), the others on whole seconds of the server's clock."""
        await self.scheduler.scan()
        past = self._clock.now().timestamp() % self._scan_seconds
        await asyncio.sleep(self._scan_seconds - past)
        await self.scheduler.scan()
        self._scan.start()

    async def _stop_scanning(self) -> None:
        self._scan.stop()
        if self._first_scan is not None:
            self._first_scan.cancel()
            await asyncio.gather(self._first_scan, return_exceptions=True)

    async def _save_progress(self, held: Held, progress: Mapping[str, int]) -> None:
        fence = {**self._keeper.fence(held), "state": "running"}
        await self.store.collection.update(fence, {"$set": {"progress": dict(progress)}})
