"""Executions that visit a subset of the devices: those that failed before, or those of a bulk pull.

They are executions like all others: with attempts, a log, results and a cancel. A device that is gone by the
time of the run is skipped.
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.automation.executions.models import Execution, new_execution
from netautod.automation.executions.records.result_store import DeviceResultStore
from netautod.automation.executions.service import ExecutionService, LocalRuns
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.models import Task
from netautod.automation.tasks.service import TaskService
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, NotFound
from netautod.core.identity.caller import Caller
from netautod.core.logs.lines import current

BACKUP = "backup"
BULK_PULL = "bulk pull"
PULL_SECONDS = 3600


class DeviceSubsetRuns:
    def __init__(
        self,
        *,
        store: ExecutionStore,
        executions: ExecutionService,
        tasks: TaskService,
        results: DeviceResultStore,
        audit: AuditLog,
        clock: Clock,
        runs: LocalRuns,
    ) -> None:
        self._store = store
        self._executions = executions
        self._tasks = tasks
        self._results = results
        self._audit = audit
        self._clock = clock
        self._runs = runs

    async def retry_failed(
        self, caller: Caller, execution_id: str, *, made_id: str | None = None
    ) -> Execution:
        """Create an execution of the same task, as the task is now, for the devices that failed.

        `made_id`: an execution with this id was created by this very request. Raises NotFound or Conflict.
        """
        before = await self._executions.get(caller.org_id, execution_id)
        if not before.terminal:
            raise Conflict(f"The execution has not ended yet: {before.state}")
        failed = await self._results.failed(caller.org_id, execution_id)
        if not failed:
            raise Conflict(await self._why_none(caller, before))
        again = await self._like(caller, before, made_id or str(uuid4()))
        execution = await self._started(replace(again, device_subset=failed, retry_of=execution_id))
        details = {"task_id": execution.of_task, "retry_of": execution_id, "devices": len(failed)}
        await self._audit.record(caller, "execution.retry_failed", "execution", execution.id, details)
        return execution

    async def pull(
        self, caller: Caller, device_ids: Sequence[str], *, execution_id: str | None = None
    ) -> Execution:
        """Read the configurations of these devices, as an execution that belongs to no task.

        `execution_id`: an execution with this id was created by this very request.
        """
        wanted = list(dict.fromkeys(device_ids))
        pull = self._pull(caller, execution_id or str(uuid4()))
        execution = await self._started(replace(pull, device_subset=wanted))
        details = {"devices": len(wanted)}
        await self._audit.record(caller, "config.bulk_pull", "execution", execution.id, details)
        return execution

    async def _why_none(self, caller: Caller, before: Execution) -> str:
        counts = await self._results.counts(caller.org_id, before.id)
        if counts.succeeded:
            return "No device of the execution failed"
        return f"There are no results of devices: it ended before the first, or {before.task_type} keeps none"

    async def _like(self, caller: Caller, before: Execution, execution_id: str) -> Execution:
        if before.of_task is None:
            return self._pull(caller, execution_id)
        try:
            task = await self._tasks.get(caller.org_id, before.of_task)
        except NotFound as exc:
            raise Conflict("The task of this execution was deleted") from exc
        task.require_unblocked()
        return self._of(task, execution_id, caller)

    def _pull(self, caller: Caller, execution_id: str) -> Execution:
        self._tasks.require_type(BACKUP)
        now = self._clock.now()
        task = Task(
            id=execution_id,
            org_id=caller.org_id,
            name=BULK_PULL,
            description=None,
            task_type=BACKUP,
            cron_expression="",
            timezone="UTC",
            parameters={},
            enabled=False,
            max_retries=0,
            retry_delay_seconds=0,
            timeout_seconds=PULL_SECONDS,
            next_run_at=now,
            last_run_at=None,
            owner_id=caller.user_id,
            created_at=now,
            updated_at=now,
            scope=caller.scope,
        )
        return self._of(task, execution_id, caller)

    def _of(self, task: Task, execution_id: str, caller: Caller) -> Execution:
        return new_execution(
            task,
            execution_id=execution_id,
            scheduled_for=None,
            created_at=self._clock.now(),
            requested_by=caller.user_id,
            traceparent=current.get().traceparent or None,
        )

    async def _started(self, execution: Execution) -> Execution:
        """Insert the execution and wake the runner.

        If this request is a repetition, returns the execution that the first one created.
        """
        try:
            await self._store.insert(execution)
        except Duplicate:
            execution = await self._executions.get(execution.org_id, execution.id)
        self._runs.kick()
        return execution
