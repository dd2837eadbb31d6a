"""The due scan: inserts one execution per task and tick, whatever the other nodes do at the same time.

Insert before advance: if the node dies between the two, the next scan (here or on another node) inserts the
same id again, learns that it exists, and advances the schedule.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Set
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from netautod.automation.executions.models import Execution, new_execution, scheduled_id
from netautod.automation.executions.running.scan_batch import ScanDecisions, count_fires, count_unrun
from netautod.automation.executions.settings import SchedulerSettings
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.decide import Fire, Skip, Wait, decide
from netautod.automation.tasks.store import DueRow, TaskStore
from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.logs.folding import Failing
from netautod.core.loop.read_ahead import read_ahead
from netautod.core.metrics import Metrics
from netautod.core.work.pauses import Pauses

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

    All its rows are as of that moment; `began` is the same moment on the clock of the loop.
    """

    began: float
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
    ) -> None:
        self._owners = owners
        self._tasks = tasks
        self._executions = executions
        self._ticks = ticks
        self._metrics = metrics
        self._catch_up = timedelta(seconds=settings.catch_up_seconds)
        self._batch = settings.batch
        self._kick = kick
        self._pauses = pauses
        self._scanning = False
        self._failing = Failing(logger, "the due scan failed")

    async def scan(self) -> None:
        """Fire all that is due now, batch by batch.

        If the database is away or full, the next scan does it.
        """
        if self._scanning:
            return
        self._scanning = True
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
        reading, seen = _Reading(began=asyncio.get_running_loop().time()), 0
        async with aclosing(read_ahead(self._due())) as batches:
            async for batch in batches:
                await self._scan_batch(batch, reading)
                seen += len(batch.rows)
        return seen

    async def _due(self) -> AsyncGenerator[_Batch, None]:
        """Yield due tasks with what decides about them besides their schedules."""
        limit, without = self._batch * BATCHES, self._pauses.paused()
        async with aclosing(self._tasks.due(limit, batch=self._batch, without=without)) as batches:
            async for rows in batches:
                active, blocked = await asyncio.gather(
                    self._active_before_their_tick(rows),
                    self._owners.block_reasons(row.task.owner_id for row in rows),
                )
                yield _Batch(rows=rows, active=active, blocked=blocked.keys())

    async def _scan_batch(self, batch: _Batch, reading: _Reading) -> None:
        self._executions.require_room()
        waiting = ScanDecisions()
        writes: set[asyncio.Task[None]] = set()
        try:
            for start in range(0, len(batch.rows), SLICE):
                some = batch.rows[start : start + SLICE]
                waiting.add(await self._decisions_of(some, batch, reading.decisions))
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

    async def _decisions_of(self, rows: list[DueRow], batch: _Batch, known: Decisions) -> ScanDecisions:
        """Return the executions to insert, and how the schedules advance."""
        decisions = ScanDecisions()
        for row in rows:
            try:
                decision = self._decision(row, row.task.id in batch.active, known)
            except InvalidInput as error:
                logger.error("task %s is disabled, its schedule is not valid: %s", row.task.id, error)
                await self._tasks.disable(row.task)
                continue
            if isinstance(decision, Wait):
                continue
            blocked = row.task.owner_id in batch.blocked
            decisions.move(row.task, decision, blocked=blocked)
            if isinstance(decision, Fire) and not blocked:
                decisions.fires.append((self._execution(row, decision.scheduled_for), decision))
        return decisions

    def _decision(self, row: DueRow, is_active: bool, known: Decisions) -> Fire | Skip | Wait:
        """Return the decision about a task.

        It is made once for tasks that share a schedule and so were advanced together the last time.
        """
        alike = (row.task.cron_expression, row.task.timezone, row.task.next_run_at, is_active)
        found = known.get(alike)
        if found is None:
            found = known[alike] = decide(row.due(), row.now, self._catch_up, is_active, self._ticks)
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

    async def _active_before_their_tick(self, rows: list[DueRow]) -> set[str]:
        """Return the tasks whose previous execution has not ended.

        An active execution of the very tick in question is not "previous": a node died after inserting it.
        """
        due_since = {row.task.id: row.task.next_run_at for row in rows}
        found = await self._executions.active_of(due_since)
        return {
            task_id
            for task_id, scheduled_for in found
            if scheduled_for is None or scheduled_for < due_since[task_id]
        }

    def _execution(self, row: DueRow, scheduled_for: datetime) -> Execution:
        return new_execution(
            row.task,
            execution_id=scheduled_id(row.task.id, scheduled_for),
            scheduled_for=scheduled_for,
            created_at=row.now,
        )


async def _all_done(tasks: set[asyncio.Task[None]]) -> None:
    """Wait for all tasks; raise the first error of one of them."""
    for error in await asyncio.gather(*tasks, return_exceptions=True):
        if error is not None:
            raise error
