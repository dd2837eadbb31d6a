"""Claims executions while this node has a free slot, runs them, and writes how they ended."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from netautod.automation.executions.events.notifier import FinishNotifier
from netautod.automation.executions.logs.closing import LogClosing
from netautod.automation.executions.models import Execution
from netautod.automation.executions.records import outcome
from netautod.automation.executions.records.claims import Candidate, ClaimedRun
from netautod.automation.executions.records.outcome import NeverStarted, Outcome
from netautod.automation.executions.running.attempt import Attempt
from netautod.automation.executions.running.environment import RunEnvironment
from netautod.automation.executions.running.run_tracing import note_end, traced
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.store import TaskStore
from netautod.core.errors import Unavailable
from netautod.core.logs.folding import Failing, repeats
from netautod.core.logs.tracing import Span
from netautod.core.loop.repeating import Repeating
from netautod.core.work.guard import LeaseLostError
from netautod.core.work.pauses import Pauses
from netautod.store.leases.keeper import LeaseKeeper
from netautod.store.leases.lease import Lease

logger = logging.getLogger(__name__)
POLL_SECONDS = 1.0
WRITE_PAUSE = 0.5
# A round of claims under way at a stop has this long to end: cut off, it would leave rows in `running` that
# no node runs.
CLAIM_SECONDS = 5.0
# At a stop: time to write a known end, and what a handed-back run has left.
LAST_WRITE_SECONDS = 5.0


class Runner:
    """A runner of executions, in as many slots as the node has.

    `kick()` wakes it; without a kick it looks for work once a second.
    """

    def __init__(
        self,
        *,
        environment: RunEnvironment,
        store: ExecutionStore,
        tasks: TaskStore,
        keeper: LeaseKeeper,
        notifier: FinishNotifier,
        closing: LogClosing,
        pauses: Pauses,
    ) -> None:
        self._environment = environment
        self._store = store
        self._metrics = environment.metrics
        self._slots = environment.settings.slots
        self._tasks = tasks
        self._keeper = keeper
        self._notifier = notifier
        self._closing = closing
        self._pauses = pauses
        # By lease, not by execution: one that was taken away and claimed again can be here twice.
        self._running: dict[Lease, _Running] = {}
        self._starting = Failing(logger, "claimed executions cannot be started yet")
        self._ending = Failing(logger, "the end of an execution cannot be written yet")
        self._stopping = False
        self._loop = Repeating(
            self._claim_all,
            name="runner",
            seconds=POLL_SECONDS,
            at_once=True,
            failure="no executions can be claimed",
        )

    async def __aenter__(self) -> "Runner":
        self._loop.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Abort what `drain` left; the leases run out and other nodes take the runs over."""
        await self._stop_claiming(0)
        running = list(self._running.values())
        for one in running:
            one.attempt.abort()
            one.task.cancel()
        await asyncio.gather(*(one.task for one in running), return_exceptions=True)

    @property
    def running(self) -> int:
        return len(self._running)

    def kick(self) -> None:
        self._loop.kick()

    def abort(self, execution_id: str) -> None:
        """End a run after a cancel on this node, without waiting for the next heartbeat."""
        for held in list(self._running):
            if held.row_id == execution_id:
                held.lose()

    async def drain(self, seconds: float) -> None:
        """Claim nothing more, let runs finish for `seconds`, then hand the rest back."""
        await self._stop_claiming(CLAIM_SECONDS)
        tasks = [one.task for one in self._running.values()]
        if tasks:
            logger.info("waiting up to %g s for %d executions to finish", seconds, len(tasks))
            await asyncio.wait(tasks, timeout=seconds)
        await asyncio.gather(*(self._hand_back(one) for one in list(self._running.values())))

    async def _stop_claiming(self, seconds: float) -> None:
        self._stopping = True
        await self._loop.stop(grace=seconds)

    async def _claim_all(self) -> None:
        while not self._stopping and await self._claim_some():
            pass

    async def _claim_some(self) -> int:
        """Claim once; return how many runs were started (0: nothing to do, or no free slot)."""
        free = self._slots - len(self._running)
        if free <= 0:
            return 0
        candidates = await self._store.claimable(free, without=self._pauses.paused())
        # Wait for all claims: if one fails, the others hold leases and their runs must still be started.
        claims = await asyncio.gather(*(self._claim(one) for one in candidates), return_exceptions=True)
        claimed = [claim for claim in claims if isinstance(claim, ClaimedRun)]
        if claimed:
            await self._start(claimed)
        for claim in claims:
            if isinstance(claim, BaseException):
                raise claim
        return len(claimed)

    async def _claim(self, candidate: Candidate) -> ClaimedRun | None:
        executor = self._environment.executors.get(candidate.task_type)
        idempotent = executor is not None and executor.idempotent
        return await self._store.claim(self._keeper, candidate, idempotent=idempotent)

    async def _start(self, claimed: list[ClaimedRun]) -> None:
        """Start the claimed runs whose tasks are still enabled.

        The task is read after the claim, so disabling a task wins.
        """
        of_tasks = (run.execution.of_task for run in claimed)
        enabled = await self._enabled({task_id for task_id in of_tasks if task_id is not None})
        starts = []
        for run in claimed:
            execution = run.execution
            reason = _unwanted(execution, enabled)
            if reason is not None:
                await self._cancel_claimed(run, NeverStarted(error_message=reason))
                continue
            self._launch(run)
            if execution.started_at is not None and execution.of_task is not None:
                starts.append((execution.task_id, execution.started_at))
        await self._tasks.record_starts(starts)

    async def _enabled(self, task_ids: set[str]) -> dict[str, bool]:
        """Read which tasks are enabled, repeated until the database answers.

        What is claimed is renewed with every heartbeat, so it must be started. If that takes too long, the
        leases are lost meanwhile, and the attempts end as they begin.
        """
        while True:
            try:
                enabled = await self._tasks.enabled_states(task_ids)
                self._starting.over()
                return enabled
            except Unavailable as error:
                self._starting.failed(error)
                await asyncio.sleep(WRITE_PAUSE)

    async def _cancel_claimed(self, run: ClaimedRun, ended: NeverStarted) -> None:
        try:
            if await self._store.end_attempt(run.held, ended):
                await self._notifier.notify(run.execution, ended.state, ended.error_message)
        except Unavailable as error:
            # The lease runs out, the execution is taken over, and the next claim cancels it.
            logger.warning(
                "execution %s could not be cancelled: %s", run.execution.id, error, extra=repeats("cancel")
            )
        finally:
            self._keeper.release(run.held)
            await self._closing.executor_ended(run.held, None)

    def _launch(self, run: ClaimedRun) -> None:
        attempt = Attempt(environment=self._environment, execution=run.execution, held=run.held)
        run.held.on_lost = attempt.abort
        task = asyncio.create_task(self._run(run, attempt), name=f"attempt {run.execution.id}")
        self._running[run.held] = _Running(claimed=run, attempt=attempt, task=task)
        self._metrics.add("executions_started")
        self._metrics.set("executions_running", len(self._running))

    async def _run(self, run: ClaimedRun, attempt: Attempt) -> None:
        with traced(self._environment.tracer, run.execution) as span:
            await self._run_and_write(run, attempt, span)

    async def _run_and_write(self, run: ClaimedRun, attempt: Attempt, span: Span | None) -> None:
        held, execution = run.held, run.execution
        ended, written = None, False
        try:
            ended = await attempt.run()
            if ended is None:
                self._metrics.add("executions_leases_lost")
            written = ended is not None and await self._write(held, attempt, ended)
            if ended is not None and written:
                note_end(span, ended.state)
                self._metrics.add("executions_finished")
                self._metrics.add("executions_ended", 1, ended.state)
                await self._notifier.notify(execution, ended.state, ended.error_message)
            else:
                self._metrics.add("executions_fenced")
                logger.info("execution %s belongs to another node now: its result is dropped", execution.id)
        finally:
            held.lose()  # from here on the executor can neither write nor send
            self._keeper.release(held)
            await attempt.stop()
            if not written or (ended is not None and ended.state == "timeout"):
                await self._closing.executor_ended(held, attempt.log)
            del self._running[held]
            self._metrics.set("executions_running", len(self._running))
            self.kick()

    async def _write(self, held: Lease, attempt: Attempt, ended: Outcome) -> bool:
        """Write the end of the attempt, fenced, until the database says whether the run was still this
        node's.

        This takes as long as it takes: the work is done, and meanwhile the run occupies its slot.
        """
        while True:
            try:
                await attempt.flush()
                written = await self._write_once(held, ended)
                self._ending.over()
                return written
            except LeaseLostError:
                return False
            except Unavailable as error:
                self._ending.failed(f"{held.row_id}: {error}")
                await asyncio.sleep(WRITE_PAUSE)

    async def _write_once(self, held: Lease, ended: Outcome) -> bool:
        # An earlier try may have succeeded without its acknowledgement: then the row has this outcome.
        return await self._store.end_attempt(held, ended) or await self._store.has_ended(held, ended.state)

    async def _hand_back(self, running: "_Running") -> None:
        """End the attempt, then give the execution back.

        This order matters: from the write on, another node may run the execution.
        """
        run = running.claimed
        if running.attempt.ended is not None:  # its end is known: nothing else may be written in its place
            if (await asyncio.wait({running.task}, timeout=LAST_WRITE_SECONDS))[1]:
                logger.error("the end of execution %s could not be written before the stop", run.execution.id)
            return
        with suppress(LeaseLostError, Unavailable, TimeoutError):
            async with asyncio.timeout(LAST_WRITE_SECONDS):
                await running.attempt.flush()
        with suppress(LeaseLostError):
            await running.attempt.log.write("info", "the node stops: the attempt is ended")
        run.held.lose()
        await asyncio.wait({running.task})
        ended = outcome.stopped(idempotent=run.idempotent, unclear=running.attempt.unclear)
        try:
            if await self._write_once(run.held, ended):
                logger.info("execution %s is handed back as %s", run.execution.id, ended.state)
                await self._notifier.notify(run.execution, ended.state, ended.error_message)
        except Unavailable as error:
            logger.warning(
                "execution %s could not be handed back: %s", run.execution.id, error, extra=repeats("back")
            )


@dataclass(frozen=True, kw_only=True)
class _Running:
    claimed: ClaimedRun
    attempt: Attempt
    task: "asyncio.Task[None]"


def _unwanted(execution: Execution, enabled: Mapping[str, bool]) -> str | None:
    if execution.of_task is None:
        return None
    if execution.task_id not in enabled:
        return "the task was deleted"
    if execution.triggered_by == "schedule" and not enabled[execution.task_id]:
        return "the task was disabled"
    return None
