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
from netautod.core.loop.repeating import Repeating
from netautod.store.clock.steps import ClockSteps

logger = logging.getLogger(__name__)
BATCH = 500
RETRY_SECONDS = 10.0
Align = Callable[[], Awaitable[None]]


class ClockAlignment:
    """The alignment of tasks and executions with a clock that was set back; nothing fires before it is done.

    It may be done twice, by several nodes at a time: each time is changed by compare-and-set, and to what the
    clock now says. `align_executions` does the same for what waits in executions.
    """

    def __init__(
        self,
        *,
        tasks: TaskStore,
        executions: ExecutionStore,
        ticks: NextTicks,
        align_executions: Align,
    ) -> None:
        self._tasks = tasks
        self._executions = executions
        self._ticks = ticks
        self._align_executions = align_executions

    async def run(self, progress: Callable[[], None]) -> None:
        """Align both; `progress` is called after each batch."""
        moved = 0
        async with aclosing(self._tasks.waiting(batch=BATCH)) as batches:
            async for rows in batches:
                moved += await self._tasks.advance(await self._moves(rows))
                progress()
        await self._align_executions()
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


class OtherAlignments(Repeating):
    """The alignment of what waits outside of tasks and executions, tried until all of it has succeeded.

    It runs apart from the scan, so that none of it can keep schedules from firing. `seconds` is the pause
    before the next try, which leaves out what has succeeded.
    """

    def __init__(
        self, alignments: Sequence[Align], steps: ClockSteps, *, seconds: float = RETRY_SECONDS
    ) -> None:
        super().__init__(
            self._align,
            name="the alignment with the clock that was set back",
            seconds=seconds,
            at_once=True,
            needed=lambda: self._number is not None,
        )
        self._alignments = alignments
        self._steps = steps
        self._number: int | None = None
        self._left: list[Align] = []

    def need(self, number: int) -> None:
        """Begin with all of it, in the background, unless it is under way for this number of the step."""
        if number != self._number:
            self._number, self._left = number, list(self._alignments)
            self.kick()
        self.start()

    async def _align(self) -> None:
        number, left, failure = self._number, self._left, None
        assert number is not None
        for align in list(left):
            try:
                await align()
            except Unavailable as error:
                failure = error
            except Exception:  # the rest must be put in order, whatever is wrong with one part
                logger.exception("a part of what waits for a time could not be put in order")
            else:
                left.remove(align)
        if failure is not None:
            raise failure
        if left:
            return
        await self._steps.others_aligned(number)
        if self._number == number:
            self._number = None
