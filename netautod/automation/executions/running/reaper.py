"""Takes over executions whose node died: their lease ran out and was not renewed."""

import logging
from collections.abc import Callable
from dataclasses import replace

from netautod.automation.executions.events.notifier import FinishNotifier
from netautod.automation.executions.logs.closing import LogClosing
from netautod.automation.executions.models import Closing
from netautod.automation.executions.records import outcome
from netautod.automation.executions.records.claims import DeadRun
from netautod.automation.executions.running.environment import RunEnvironment
from netautod.automation.executions.store import ExecutionStore
from netautod.core.errors import Unavailable
from netautod.store.clock.steps import ClockSteps
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.periodic import Periodic

logger = logging.getLogger(__name__)
BATCH = 100
WRITE_SECONDS = 5.0  # a node may take so long for the last lines of a log


class Reaper:
    """A service that ends runs at `lease_until` + grace, and expires approvals.

    After an outage of the database, and after a jump of its clock, it waits a full lease, so that living
    nodes can renew theirs first.
    """

    def __init__(
        self,
        *,
        environment: RunEnvironment,
        store: ExecutionStore,
        keeper: LeaseKeeper,
        notifier: FinishNotifier,
        closing: LogClosing,
        kick: Callable[[], None],
        steps: ClockSteps,
    ) -> None:
        self._steps = steps
        self._store = store
        self._clock = environment.clock
        self._metrics = environment.metrics
        self._grace = environment.settings.reap_grace_seconds
        # A node learns of a cancel while its lease lasts, and then lets the executor clean up.
        self._closing_seconds = (
            keeper.times.lease + environment.settings.cancel_grace_seconds + WRITE_SECONDS + self._grace
        )
        self._keeper = keeper
        self._notifier = notifier
        self._closing = closing
        self._kick = kick
        self._outage_at: float | None = None
        self._loop = Periodic(
            self._pass, name="the search for dead nodes", seconds=keeper.times.lease / 10, at_once=True
        )

    async def __aenter__(self) -> "Reaper":
        await self._loop.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.__aexit__()

    async def _pass(self) -> None:
        try:
            await self.reap()
            await self._expire_approvals()
            if not self._after_outage():
                await self._closing.close_left(self._closing_seconds)
        except Unavailable:
            self._outage_at = self._clock.monotonic()
            raise

    async def _expire_approvals(self) -> None:
        while execution := await self._store.expire_approval():
            await self._closing.ended(execution)
            await self._notifier.notify(execution, execution.state, execution.error_message)

    async def reap(self) -> int:
        """Make one pass; return how many executions it moved."""
        dead_runs = await self._store.dead_runs(grace_seconds=self._grace, limit=BATCH)
        if not dead_runs or self._after_outage() or not await self._steps.settled(self._keeper.times.lease):
            return 0
        moved = 0
        for dead in dead_runs:
            # This node ends its own runs by itself, however late its heartbeats are.
            if not self._keeper.holds(dead.execution.id, dead.epoch):
                moved += await self._take_over(dead)
        if moved:
            self._metrics.add("executions_taken_over", moved)
            self._kick()
        return moved

    async def _take_over(self, dead: DeadRun) -> bool:
        execution = dead.execution
        lost = outcome.lost(execution, idempotent=dead.idempotent)
        if not await self._store.end_dead(dead, lost):
            return False
        logger.warning(
            "execution %s: node %s is lost, the execution is %s now", execution.id, dead.node_id, lost.state
        )
        if lost.state != "pending":
            text = lost.error_message or ""
            await self._closing.ended(
                replace(execution, closing=Closing(level="error", text=text, node=None))
            )
        await self._notifier.notify(execution, lost.state, lost.error_message)
        return True

    def _after_outage(self) -> bool:
        seen = [moment for moment in (self._outage_at, self._keeper.failed_at) if moment is not None]
        return bool(seen) and self._clock.monotonic() - max(seen) < self._keeper.times.lease
