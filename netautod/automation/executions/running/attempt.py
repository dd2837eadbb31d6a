"""One attempt: runs the executor under its deadline and its lease, and returns how it ended."""

import asyncio
import logging
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from marshmallow import ValidationError

from netautod.automation.executions.models import Execution
from netautod.automation.executions.records import outcome
from netautod.automation.executions.records.outcome import Finished, Outcome, Parked, Retried
from netautod.automation.executions.running.cancellation import FinalLog
from netautod.automation.executions.running.context import Context, RunResults
from netautod.automation.executions.running.environment import RunActing, RunEnvironment
from netautod.automation.executions.running.log_writer import LogLimits, LogWriter
from netautod.automation.executions.running.loop_marks import mark_of
from netautod.automation.executions.running.persistence import Persistence
from netautod.automation.tasks.parameters import loaded
from netautod.core.watch.loop import marked_task
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.core.work.plugin_calls import no_exit
from netautod.plugin_api import ExecutionFailed, ExecutionInfo, Executor, NeedsApproval, PermanentFailure
from netautod.store.leases.lease import Lease

logger = logging.getLogger(__name__)


class Attempt:
    """An attempt of an execution.

    `run()` returns the outcome to write, or None when the run belongs to another node by now. `ended` is that
    outcome as soon as it is known: from then on it only has to be written.
    """

    def __init__(self, *, environment: RunEnvironment, execution: Execution, held: Lease) -> None:
        self._environment = environment
        self._settings = environment.settings
        self._execution = execution
        self._held = held
        self._lost = asyncio.Event()
        self._over = False
        self._started = False
        self._left_behind = False
        self._work: asyncio.Task[Any] | None = None
        self._results: RunResults | None = None
        self._acting: RunActing | None = None
        self._persist = Persistence(held)
        self._final_log = FinalLog(environment, execution)
        self.ended: Outcome | None = None
        self.log = LogWriter(
            store=environment.logs,
            clock=environment.clock,
            org_id=execution.org_id,
            execution_id=execution.id,
            limits=LogLimits(lines=self._settings.log_lines, bytes=self._settings.log_bytes),
            known=held.known,
        )

    @property
    def unclear(self) -> bool:
        """Return whether the executor was in the middle of a change when it was ended."""
        return self._acting is not None and self._acting.unclear

    def abort(self) -> None:
        """Stop the work: it is cancelled, taken over, or unconfirmed for too long."""
        self._lost.set()

    async def run(self) -> Outcome | None:
        number = len(self._execution.attempts)
        try:
            await self._persist(partial(self.log.open, first=number == 1))
            await self._log_start(number)
            mark = mark_of(self._environment, self._execution, self._held.epoch)
            self._work = marked_task(self._execute(number), mark, name=f"run {self._execution.id}")
            ended = await self._wait()
        except LeaseLostError:
            ended = None if self._held.lost else await self._interrupted()
        if ended is not None:
            await self._log_end(number, ended)
        self.ended = ended
        return ended

    async def flush(self) -> None:
        """Write what the executor left: results of devices, lines of the log."""
        if self._results is not None:
            await self._results.flush()
        await self.log.flush()

    async def stop(self) -> None:
        """End an executor that still runs; one that ignores its cancellation is left behind."""
        await self._end_work()
        await self.log.close()

    async def _end_work(self) -> None:
        work = self._work
        if work is None or self._left_behind:
            return
        if not work.done():
            self._final_log.cancel(work)
            await asyncio.wait({work}, timeout=self._settings.cancel_grace_seconds)
            if not work.done():
                self._left_behind = True
                self._environment.metrics.add("executions_abandoned")
                await self.log.write("warning", self._final_log.left_behind(work))
                return
        line = self._final_log.ended(work)
        if line is not None:
            await self.log.write("warning", line)

    async def _wait(self) -> Outcome | None:
        assert self._work is not None
        lost = asyncio.create_task(self._lost.wait())
        try:
            await asyncio.wait(
                {self._work, lost},
                timeout=self._execution.timeout_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            lost.cancel()
            self._over = True
        if self._held.lost:
            return None
        if self._lost.is_set():
            return await self._interrupted()
        if not self._work.done():
            # Now, not after the end is written: that can take as long as the database is down.
            self._final_log.cancel(self._work)
            return outcome.timed_out(self._execution, unclear=self.unclear)
        return self._result(self._work)

    async def _interrupted(self) -> Outcome:
        """Return the outcome of a run that lost the database.

        The executor is ended first: once the outcome is written, another node may start the run again.
        """
        await self._end_work()
        seconds = self._held.times.abandon
        await self.log.write(
            "warning", f"the database did not answer for {seconds:g} s: the attempt was stopped"
        )
        executor = self._environment.executors.get(self._execution.task_type)
        idempotent = executor is None or executor.idempotent
        repeatable = idempotent or not self._started
        return outcome.interrupted(repeatable=repeatable, unclear=self.unclear)

    def _result(self, work: "asyncio.Task[Any]") -> Outcome:
        error: BaseException | None
        if work.cancelled():
            error = asyncio.CancelledError()
        else:
            error = work.exception()
        if error is None:
            return outcome.completed(work.result())
        if isinstance(error, LeaseLostError):
            raise error
        if not isinstance(error, ExecutionFailed | NeedsApproval):
            logger.error("the executor of %s raised", self._execution.id, exc_info=error)
        return self._raised(error)

    def _raised(self, error: BaseException) -> Outcome:
        seconds = self._settings.approval_hours * 3600
        repeatable = self._acting is None or self._acting.repeatable
        return outcome.raised(self._execution, error, approval_seconds=seconds, repeatable=repeatable)

    def _guard(self) -> None:
        """Raise LeaseLostError once the attempt is over or its lease is lost.

        It is called before anything leaves the node, so it also refuses an executor that outlives its
        attempt.
        """
        if self._over:
            raise LeaseLostError("the attempt is over")
        self._held.guard()

    async def _execute(self, number: int) -> Any:
        execution, environment = self._execution, self._environment
        executor = environment.executors.get(execution.task_type)
        if executor is None:
            raise PermanentFailure(f"no executor is installed for {execution.task_type}")
        owner = partial(environment.owners.active_caller, execution.org_id, execution.owner_id)
        caller = await self._persist(owner)
        if caller is None:
            raise PermanentFailure("the owner of the task is disabled or deleted")
        parameters = self._loaded_parameters(executor)
        await self._held.fresh()
        work = Work(
            caller=caller.within(execution.scope),
            guard=self._guard,
            persist=self._persist,
            bulk=True,
            execution_id=execution.id,
        )
        self._results = RunResults(store=environment.results, work=work, held=self._held)
        self._acting = environment.acting(work, execution)
        context = Context(
            execution=execution,
            parameters=parameters,
            info=ExecutionInfo(
                id=execution.id,
                org_id=execution.org_id,
                task_id=execution.of_task,
                task_name=execution.task_name,
                attempt=number,
                deadline=self._deadline(),
            ),
            acting=self._acting,
            results=self._results,
            log=self.log,
            held=self._held,
            progress=environment.progress,
        )
        self._started = True
        with no_exit():
            return await executor.run(context)

    def _loaded_parameters(self, executor: Executor) -> Any:
        """Load the parameters by the executor's schema, for each attempt anew.

        What is stored and shown stays the JSON that was sent.
        """
        try:
            return loaded(executor.parameters_schema, self._execution.parameters)
        except ValidationError as error:
            raise PermanentFailure(f"invalid parameters: {error}") from error

    def _deadline(self) -> datetime:
        return self._execution.attempts[-1].started_at + timedelta(seconds=self._execution.timeout_seconds)

    async def _log_start(self, number: int) -> None:
        """Write the first log lines of an attempt, which say why there is another one."""
        execution = self._execution
        before = execution.attempts[number - 2] if number > 1 else None
        if before is not None and before.outcome == "lost":
            await self.log.write("warning", f"attempt {before.number} was lost: its node {before.node} died")
        if before is not None and before.outcome == "approval_pending" and execution.approval is not None:
            decision = execution.approval
            comment = "" if decision.comment is None else f": {decision.comment}"
            await self.log.write("info", f"{decision.decision} by {decision.by}{comment}")
        # Attempts that were handed back or approved do not count as retries.
        of = "" if number == 1 else f" of {number + execution.max_retries - execution.retry_count}"
        await self.log.write("info", f"attempt {number}{of} started")

    async def _log_end(self, number: int, ended: Outcome) -> None:
        """Write the log line of the end.

        A timeout has its own last line, behind those of the executor that is being ended.
        """
        match ended:
            case Retried():
                text = f"attempt {number} failed: {ended.error_message}; next in {ended.delay_seconds:g} s"
                await self.log.write("warning", text)
            case Finished(state="failed"):
                await self.log.write("error", f"attempt {number} failed: {ended.error_message}")
            case Parked():
                await self.log.write("info", f"attempt {number} waits for an approval")
