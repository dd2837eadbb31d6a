"""The due scan: inserts one execution per task and tick, whatever the other nodes do at the same time.

Insert before advance: if the node dies between the two, the next scan (here or on another node) inserts the
same id again, learns that it exists, and advances the schedule.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Set
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from netautod.automation.executions.models import Execution, FiredTick, new_execution, scheduled_id
from netautod.automation.executions.running.clock_alignment import Align, ClockAlignment, OtherAlignments
from netautod.automation.executions.running.scan_batch import ScanDecisions, count_fires, count_unrun
from netautod.automation.executions.settings import SchedulerSettings
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.decide import Fire, Skip, Wait, decide, step_of
from netautod.automation.tasks.store import DueRow, TaskStore
from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.logs.folding import Failing
from netautod.core.loop.read_ahead import read_ahead
from netautod.core.metrics import Metrics
from netautod.core.work.pauses import Pauses
from netautod.store.clock.steps import ClockSteps

logger = logging.getLogger(__name__)
# The number of tasks that one turn of the event loop decides about.
SLICE = 200
# Writes at the same time: while one inserts or waits for the disk, another one advances its tasks.
WRITES = 3
# The number of batches of one reading: all are decided by the time at which it began.
BATCHES = 10
Decisions = dict[tuple[str, str, datetime, bool], Fire | Skip | Wait]


class BlockReasons(Protocol):
    """The source of the owners whose tasks do not run."""

    async def block_reasons(self, owner_ids: Iterable[str]) -> Mapping[str, str]:
        """Return why tasks of these owners are blocked, by owner; active owners are missing."""
        ...


@dataclass(frozen=True, kw_only=True)
class _Batch:
    """A batch of due tasks: the `active` ones have an execution of an earlier tick; owners are `blocked`."""

    rows: list[DueRow]
    active: Set[str]
    blocked: Set[str]


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """The moment of one reading of the due tasks.

    All its rows are as of that moment; `began` is the same moment on the clock of the loop. `clock_step` is
    how often the database's clock had been set back.
    """

    began: float
    clock_step: int
    decisions: Decisions = field(default_factory=dict)


class Scheduler:
    """A scheduler that fires the ticks that are due.

    A PeriodicCallback calls `scan()`; `kick` is called when there is something to claim. The ticks of a
    paused organization stay as they are; after the pause they are treated as missed ones.
    """

    def __init__(
        self,
        *,
        tasks: TaskStore,
        executions: ExecutionStore,
        ticks: NextTicks,
        metrics: Metrics,
        settings: SchedulerSettings,
        kick: Callable[[], None],
        pauses: Pauses,
        owners: BlockReasons,
        steps: ClockSteps,
        align_executions: Align,
        other_alignments: OtherAlignments,
    ) -> None:
        self._owners = owners
        self._steps = steps
        self._alignment = ClockAlignment(
            tasks=tasks, executions=executions, ticks=ticks, align_executions=align_executions
        )
        self._other_alignments = other_alignments
        self._tasks = tasks
        self._executions = executions
        self._ticks = ticks
        self._metrics = metrics
        self._catch_up = timedelta(seconds=settings.catch_up_seconds)
        self._batch = settings.batch
        self._kick = kick
        self._pauses = pauses
        self._scanning = False
        self._progress_at = time.monotonic()
        self._failing = Failing(logger, "the due scan failed")

    @property
    def still_seconds(self) -> float:
        """Return for how long no scan has begun or handled a batch."""
        return time.monotonic() - self._progress_at

    def _progress(self) -> None:
        self._progress_at = time.monotonic()

    async def scan(self) -> None:
        """Fire all that is due now, batch by batch.

        If the database is away or full, the next scan does it.
        """
        if self._scanning:
            return
        self._scanning = True
        self._progress()
        try:
            while await self._scan_round() >= self._batch * BATCHES:
                pass
            self._failing.over()
        except Unavailable as error:
            self._metrics.add("scheduler_failures")
            self._failing.failed(error)
        except Exception:  # the next scan must come, whatever went wrong with this one
            self._metrics.add("scheduler_failures")
            logger.exception("the due scan failed", extra=self._failing.again())
        finally:
            self._scanning = False

    async def _scan_round(self) -> int:
        """Fire one reading of due tasks; return how many there were."""
        step = await self._steps.look()
        if not step.aligned:
            # If this node dies before it has recorded it, the next scan of any node does it again.
            await self._alignment.run(self._progress)
            await self._steps.aligned(step.number)
        if not step.others_aligned:
            self._other_alignments.need(step.number)
        reading, seen = _Reading(began=asyncio.get_running_loop().time(), clock_step=step.number), 0
        async with aclosing(read_ahead(self._due(step.number))) as batches:
            async for batch in batches:
                await self._scan_batch(batch, reading)
                seen += len(batch.rows)
                self._progress()
        return seen

    async def _due(self, clock_step: int) -> AsyncGenerator[_Batch, None]:
        """Yield due tasks with what decides about them besides their schedules.

        Ends when the clock is found to be set back: what was read may be due by the clock before, and would
        fire a second time under the new number.
        """
        limit, without = self._batch * BATCHES, self._pauses.paused()
        async with aclosing(self._tasks.due(limit, batch=self._batch, without=without)) as batches:
            async for rows in batches:
                active, blocked = await asyncio.gather(
                    self._active_before_their_tick(rows, clock_step),
                    self._owners.block_reasons(row.task.owner_id for row in rows),
                )
                if await self._steps.number() != clock_step:
                    return
                yield _Batch(rows=rows, active=active, blocked=blocked.keys())

    async def _scan_batch(self, batch: _Batch, reading: _Reading) -> None:
        self._executions.require_room()
        waiting = ScanDecisions()
        writes: set[asyncio.Task[None]] = set()
        try:
            for start in range(0, len(batch.rows), SLICE):
                waiting.add(await self._decisions_of(batch.rows[start : start + SLICE], batch, reading))
                await asyncio.sleep(0)
                # A write waits for the disk, however much is in it: the next one takes all that was decided
                # during those before.
                under_way = {one for one in writes if not one.done()}
                if len(under_way) < WRITES:
                    writes.add(asyncio.create_task(self._write(waiting, reading), name="due scan"))
                    waiting = ScanDecisions()
        finally:
            await _all_done(writes)
        await self._write(waiting, reading)

    async def _decisions_of(self, rows: list[DueRow], batch: _Batch, reading: _Reading) -> ScanDecisions:
        """Return the executions to insert, and how the schedules advance."""
        decisions = ScanDecisions()
        for row in rows:
            try:
                decision = self._decision(row, row.task.id in batch.active, reading)
            except InvalidInput as error:
                logger.error("task %s is disabled, its schedule is not valid: %s", row.task.id, error)
                await self._tasks.disable(row.task)
                continue
            if isinstance(decision, Wait):
                continue
            blocked = row.task.owner_id in batch.blocked
            decisions.move(row.task, decision, blocked=blocked)
            if isinstance(decision, Fire) and not blocked:
                decisions.fires.append((self._execution(row, decision), decision))
        return decisions

    def _decision(self, row: DueRow, is_active: bool, reading: _Reading) -> Fire | Skip | Wait:
        """Return the decision about a task.

        It is made once for tasks that share a schedule and so were advanced together the last time.
        """
        alike = (row.task.cron_expression, row.task.timezone, row.task.next_run_at, is_active)
        found = reading.decisions.get(alike)
        if found is None:
            found = reading.decisions[alike] = decide(
                row.due(), row.now, self._catch_up, is_active, self._ticks, reading.clock_step
            )
        return found

    async def _write(self, decisions: ScanDecisions, reading: _Reading) -> None:
        """Insert the executions, then advance the schedules; each is counted when it is done."""
        inserted = await self._executions.insert_many([execution for execution, _ in decisions.fires])
        since_read = timedelta(seconds=asyncio.get_running_loop().time() - reading.began)
        count_fires(self._metrics, decisions.fires, duplicates=inserted.duplicates, since_read=since_read)
        if inserted.inserted:
            self._kick()
        for unrun, moves in decisions.moves.items():
            count_unrun(self._metrics, unrun, await self._tasks.advance(moves))

    async def _active_before_their_tick(self, rows: list[DueRow], clock_step: int) -> set[str]:
        """Return the tasks whose previous execution has not ended."""
        by_id = {row.task.id: row for row in rows}
        found = await self._executions.active_of(by_id)
        return {tick.task_id for tick in found if self._is_previous(tick, by_id[tick.task_id], clock_step)}

    def _is_previous(self, tick: FiredTick, row: DueRow, clock_step: int) -> bool:
        """Return whether an active execution is of an earlier tick than the one that is due.

        One of the very tick in question is not "previous": a node died after inserting it. A later time that
        the clock has shown before it was set back is an earlier tick.
        """
        if tick.scheduled_for is None or tick.scheduled_for < row.task.next_run_at:
            return True
        try:
            schedule = self._ticks.schedule(row.task.cron_expression, row.task.timezone)
        except InvalidInput:
            return False  # the decision about the task says it
        return tick.scheduled_for > row.now or tick.clock_step != step_of(schedule, clock_step)

    def _execution(self, row: DueRow, fire: Fire) -> Execution:
        return new_execution(
            row.task,
            execution_id=scheduled_id(row.task.id, fire.scheduled_for, fire.clock_step),
            scheduled_for=fire.scheduled_for,
            created_at=row.now,
            clock_step=fire.clock_step,
        )


async def _all_done(tasks: set[asyncio.Task[None]]) -> None:
    """Wait for all tasks; raise the first error of one of them."""
    for error in await asyncio.gather(*tasks, return_exceptions=True):
        if error is not None:
            raise error
