"""Puts in order what waits for a time when the database's clock was set back: it would wait for too long."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import datetime

from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.decide import tick_by_new_clock
from netautod.automation.tasks.models import Task
from netautod.automation.tasks.store import DueRow, TaskStore
from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.loop.pace import Pace

logger = logging.getLogger(__name__)
BATCH = 500
Align = Callable[[], Awaitable[None]]


class ClockAlignment:
    """The alignment of all waiting times with a clock that was set back.

    It may be done twice, by several nodes at a time: each time is changed by compare-and-set, and to what the
    clock now says. `others` do the same for what waits outside of tasks.
    """

    def __init__(
        self,
        *,
        tasks: TaskStore,
        executions: ExecutionStore,
        ticks: NextTicks,
        others: Sequence[Align],
    ) -> None:
        self._tasks = tasks
        self._executions = executions
        self._ticks = ticks
        self._others = others

    async def run(self, progress: Callable[[], None]) -> None:
        """Align everything; `progress` is called after each batch."""
        moved = 0
        async with aclosing(self._tasks.waiting(batch=BATCH)) as batches:
            async for rows in batches:
                moved += await self._tasks.advance(await self._moves(rows))
                progress()
        for align in self._others:
            try:
                await align()
            except Unavailable:
                raise
            except Exception:  # the tasks must go on, whatever is wrong with the rest
                logger.exception("what waits for a time could not be put in order")
        logger.info("%d tasks go on by the clock that was set back", moved)

    async def _moves(self, rows: Sequence[DueRow]) -> list[tuple[Task, datetime]]:
        fired = await self._fired(rows)
        moves, pace = [], Pace()
        for row in rows:
            await pace.breathe()
            try:
                tick = tick_by_new_clock(row.due(), row.now, fired.get(row.task.id, ()), self._ticks)
            except InvalidInput:
                continue  # its time comes, and the scan disables it
            if tick is not None:
                moves.append((row.task, tick))
        return moves

    async def _fired(self, rows: Sequence[DueRow]) -> dict[str, set[datetime]]:
        """Return the ticks that have fired, and that the clock is to show again, of tasks that fire each tick
        once.
        """
        fired: dict[str, set[datetime]] = {}
        once = [row.task.id for row in rows if self._fires_once(row)]
        for tick in await self._executions.fired_after(once, rows[0].now) if once else ():
            assert tick.scheduled_for is not None
            fired.setdefault(tick.task_id, set()).add(tick.scheduled_for)
        return fired

    def _fires_once(self, row: DueRow) -> bool:
        try:
            return self._ticks.schedule(row.task.cron_expression, row.task.timezone).fields.fixed_time
        except InvalidInput:
            return False
