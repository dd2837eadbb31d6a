"""The scheduling of this node: scan, claim, run, heartbeat, take over; all nodes are equal."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from tornado.ioloop import PeriodicCallback

from netautod.automation.executions.events.notifier import FinishNotifier
from netautod.automation.executions.logs.closing import LogClosing
from netautod.automation.executions.running.clock_alignment import Align, OtherAlignments
from netautod.automation.executions.running.environment import RunEnvironment
from netautod.automation.executions.running.reaper import Reaper
from netautod.automation.executions.running.runner import Runner
from netautod.automation.executions.running.scheduler import BlockReasons, Scheduler
from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.store import TaskStore
from netautod.core.loop.ioloop import use_monotonic_time
from netautod.core.loop.repeating import Repeating
from netautod.core.work.pauses import Pauses
from netautod.store.clock.steps import ClockSteps
from netautod.store.leases.lease import LeaseTimes

logger = logging.getLogger(__name__)
# Without a scan for so long, and for so many of its intervals, the node is not healthy.
STILL_SECONDS, STILL_SCANS = 30.0, 10


def lease_times(settings: ExecutionSettings) -> LeaseTimes:
    return LeaseTimes(
        lease=settings.lease_seconds,
        heartbeat=settings.heartbeat_seconds,
        abandon=settings.abandon_seconds,
    )


class ExecutionNode:
    """A node that runs executions, started with `async with`.

    Call `drain` before leaving the block for a graceful stop.
    """

    def __init__(
        self,
        *,
        node_id: str,
        environment: RunEnvironment,
        store: ExecutionStore,
        tasks: TaskStore,
        ticks: NextTicks,
        schedule: SchedulerSettings,
        notifier: FinishNotifier,
        closing: LogClosing,
        pauses: Pauses,
        owners: BlockReasons,
        steps: ClockSteps,
        alignments: Sequence[Align],
    ) -> None:
        self._keeper = store.lease_keeper(
            node_id, clock=environment.clock, times=lease_times(environment.settings)
        )
        self.runner = Runner(
            environment=environment,
            store=store,
            tasks=tasks,
            keeper=self._keeper,
            notifier=notifier,
            closing=closing,
            pauses=pauses,
        )
        self.reaper = Reaper(
            environment=environment,
            store=store,
            keeper=self._keeper,
            notifier=notifier,
            closing=closing,
            kick=self.runner.kick,
            steps=steps,
        )
        self._other_alignments = OtherAlignments(alignments, steps)
        self.scheduler = Scheduler(
            tasks=tasks,
            executions=store,
            ticks=ticks,
            metrics=environment.metrics,
            settings=schedule,
            kick=self.runner.kick,
            pauses=pauses,
            owners=owners,
            steps=steps,
            align_executions=partial(store.align, self._keeper),
            other_alignments=self._other_alignments,
        )
        self._clock = environment.clock
        self._scan_seconds = schedule.scan_seconds
        self._scan = PeriodicCallback(self.scheduler.scan, schedule.scan_seconds * 1000)
        self._first_scan: asyncio.Task[None] | None = None
        self._still_after = max(STILL_SECONDS, STILL_SCANS * schedule.scan_seconds)
        self._still_reported = False
        self._watch = Repeating(
            self._look_at_scan, name="the look at the due scan", seconds=self._still_after / 3
        )
        self._stack = AsyncExitStack()

    @property
    def stands_still(self) -> bool:
        """Return whether the due scan should run and does not: no schedule fires on this node."""
        return self._first_scan is not None and self.scheduler.still_seconds > self._still_after

    async def __aenter__(self) -> "ExecutionNode":
        use_monotonic_time()
        await self._stack.enter_async_context(self._keeper)
        await self._stack.enter_async_context(self.runner)
        await self._stack.enter_async_context(self.reaper)
        await self._stack.enter_async_context(self._watch)
        await self._stack.enter_async_context(self._other_alignments)
        self._first_scan = asyncio.create_task(self._start_aligned(), name="first scan")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop_scanning()
        await self._stack.aclose()

    async def drain(self, seconds: float) -> None:
        """Stop scanning and claiming; runs get `seconds` to finish, the rest goes back to pending."""
        await self._stop_scanning()
        await self.runner.drain(seconds)

    async def _start_aligned(self) -> None:
        """Scan at once for what was missed, then on whole seconds of the server's clock."""
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
            self._first_scan = None

    async def _look_at_scan(self) -> None:
        if self.stands_still and not self._still_reported:
            text = "the due scan has stood still for %.0f s: no schedule fires on this node, restart it"
            logger.error(text, self.scheduler.still_seconds)
        elif self._still_reported and not self.stands_still:
            logger.info("the due scan goes on")
        self._still_reported = self.stands_still
