"""The actions of users on executions: run, cancel, decide, read; with their rules and the audit trail.

`since` and `until` of the list filter `created_at` (both included). A manual run of a disabled task is
allowed. Cancelling a running execution ends it at once on this node, elsewhere with the next heartbeat of the
node that runs it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol
from uuid import uuid4

from netautod.activity.audit.service import AuditLog
from netautod.automation.executions.events.notifier import FinishNotifier
from netautod.automation.executions.logs.closing import LogClosing
from netautod.automation.executions.logs.store import ExecutionLogStore
from netautod.automation.executions.models import (
    DeviceRun,
    Execution,
    ExecutionTally,
    LogEntry,
    ResultCounts,
    new_execution,
)
from netautod.automation.executions.pending_approvals import WaitingApproval
from netautod.automation.executions.records.result_store import DeviceResultStore
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.models import AGENT_TASK
from netautod.automation.tasks.service import TaskService
from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Duplicate, Forbidden, NotFound
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.logs.lines import current
from netautod.core.pages import Page, PageOf
from netautod.plugin_api import ApprovalDecision, DeviceResult

RESULTS_IN_OUTPUT = 1000
BY_OTHERS = "Another user has to decide: you started this run, own its task, or set what it does"


class LocalRuns(Protocol):
    """The runs of this node."""

    def kick(self) -> None:
        """Wake the runner: there may be something to claim."""
        ...

    def abort(self, execution_id: str) -> None:
        """End the run at once, if this node runs it."""
        ...


class Named(Protocol):
    @property
    def username(self) -> str: ...


class Users(Protocol):
    """The source of the users who have started runs."""

    async def find_many(self, ids: Iterable[str]) -> Mapping[str, Named]: ...


class ExecutionService:
    def __init__(
        self,
        *,
        store: ExecutionStore,
        tasks: TaskService,
        results: DeviceResultStore,
        logs: ExecutionLogStore,
        audit: AuditLog,
        clock: Clock,
        runs: LocalRuns,
        notifier: FinishNotifier,
        closing: LogClosing,
        users: Users,
    ) -> None:
        self._users = users
        self._store = store
        self._tasks = tasks
        self._results = results
        self._logs = logs
        self._audit = audit
        self._clock = clock
        self._runs = runs
        self._notifier = notifier
        self._closing = closing

    async def run(
        self, caller: Caller, task_id: str, *, agent: bool = False, execution_id: str | None = None
    ) -> Execution:
        """Create a manual run: pending, for any node to claim.

        `execution_id`: an execution with this id was created by this very request. Raises NotFound, or
        Conflict for a blocked task.
        """
        task = await self._tasks.get(caller.org_id, task_id, agent=agent)
        task.require_unblocked()
        execution = new_execution(
            task,
            execution_id=execution_id or str(uuid4()),
            scheduled_for=None,
            created_at=self._clock.now(),
            requested_by=caller.user_id,
            traceparent=current.get().traceparent or None,
        )
        try:
            await self._store.insert(execution)
        except Duplicate:
            # The request is repeated: the node of the first one died between this write and the answer.
            execution = await self.get(caller.org_id, execution.id)
        self._runs.kick()
        await self._audit.record(caller, "task.run", "execution", execution.id, {"task_id": task_id})
        return execution

    async def get(self, org_id: OrgId, execution_id: str) -> Execution:
        """Read an execution. Raises NotFound."""
        execution = await self._store.get(org_id, execution_id)
        if execution is None:
            raise NotFound("Execution not found")
        return execution

    async def requester(self, execution: Execution) -> dict[str, str | None]:
        """Return `{id, username}` of the user who started it; the name of a deleted user is None."""
        user_id = _requester(execution)
        return _named(user_id, await self._users.find_many([user_id]))

    async def name_of_user(self, user_id: str) -> str | None:
        """Return the username, None if the user is gone."""
        return _named(user_id, await self._users.find_many([user_id]))["username"]

    async def first_results(self, execution: Execution) -> Sequence[DeviceResult]:
        """Return the results that the output of an execution shows: at most 1,000, failures first."""
        found = await self._results.page(execution.org_id, execution.id, Page(limit=RESULTS_IN_OUTPUT))
        return found.items

    async def page(self, org_id: OrgId, filters: Mapping[str, Any], page: Page) -> PageOf[Execution]:
        """Return one page of executions, newest first.

        `filters`: task_id, task_type, state, triggered_by, since, until. Raises InvalidInput.
        """
        self.check_filters(filters)
        return await self._store.page(org_id, filters, page)

    def check_filters(self, filters: Mapping[str, Any]) -> None:
        """Raise InvalidInput for an unknown task type: a typo would find nothing."""
        if "task_type" in filters:
            self._tasks.require_type(filters["task_type"])

    async def page_of_task(self, org_id: OrgId, task_id: str, page: Page) -> PageOf[Execution]:
        """Return one page of the executions of a task, newest first. Raises NotFound without such a task."""
        await self._tasks.get(org_id, task_id)
        return await self._store.page(org_id, {"task_id": task_id}, page)

    async def of_device(self, org_id: OrgId, device_id: str, page: Page) -> PageOf[DeviceRun]:
        """Return the runs that have visited the device, newest first, each with the device's result."""
        found = await self._store.some(org_id, await self._results.of_device(org_id, device_id), page)
        results = await self._results.of_both(org_id, device_id, [run.id for run in found.items])
        items = [DeviceRun(execution=run, result=results[run.id]) for run in found.items if run.id in results]
        return PageOf(items=items, total=found.total, page=page)

    async def cancel(self, caller: Caller, execution_id: str) -> None:
        """Cancel an execution. Raises NotFound, or Conflict if it has ended."""
        execution = await self.get(caller.org_id, execution_id)
        cancelled = await self._store.cancel(
            caller.org_id, execution_id, by=caller.user_id, name=caller.username
        )
        if cancelled is None:
            now = await self.get(caller.org_id, execution_id)
            raise Conflict(f"The execution has ended already: {now.state}")
        self._runs.abort(execution.id)
        await self._closing.ended(cancelled)
        await self._notifier.notify(cancelled, cancelled.state, cancelled.error_message)
        await self._audit.record(caller, "execution.cancel", "execution", execution_id)

    async def decide(
        self,
        caller: Caller,
        execution_id: str,
        decision: str,
        *,
        comment: str | None = None,
        shown: str | None = None,
    ) -> Execution:
        """Approve or reject the request of a parked execution; both let the run continue.

        `decision`: approved or rejected. `shown` is the hash of the request that the caller has seen:
        Conflict if the request is another one by now. Raises NotFound, Conflict or Forbidden.
        """
        execution = await self.get(caller.org_id, execution_id)
        if execution.needs_another_approver(caller.user_id):
            raise Forbidden(BY_OTHERS)
        updated = await self._store.decide_approval(
            caller.org_id,
            execution_id,
            ApprovalDecision(decision=decision, by=caller.username, comment=comment, at=self._clock.now()),
            shown=shown,
        )
        if updated is None:
            raise Conflict(_undecided(await self.get(caller.org_id, execution_id), shown))
        self._runs.kick()
        await self._audit.record(
            caller, f"execution.{decision}", "execution", execution_id, {"comment": comment}
        )
        return updated

    async def log(
        self,
        org_id: OrgId,
        execution_id: str,
        after_seq: int,
        limit: int,
        *,
        level: str | None = None,
        device_id: str | None = None,
    ) -> tuple[list[LogEntry], bool]:
        """Return log lines after a number, and whether the log is complete with them."""
        execution = await self.get(org_id, execution_id)
        entries = await self._logs.read(
            org_id, execution_id, after_seq, limit, level=level, device_id=device_id
        )
        return entries, execution.log_ended and len(entries) < limit

    async def newest_log(
        self, execution: Execution, limit: int, *, level: str | None = None, device_id: str | None = None
    ) -> list[LogEntry]:
        """Return the newest log lines, oldest first."""
        return await self._logs.newest(
            execution.org_id, execution.id, limit, level=level, device_id=device_id
        )

    async def newest_of_tasks(self, org_id: OrgId, task_ids: Sequence[str]) -> Mapping[str, Execution]:
        """Return the newest execution of each of these tasks that has one, without its large fields."""
        return await self._store.newest_of(org_id, task_ids)

    async def result_counts(self, execution: Execution) -> ResultCounts:
        return await self._results.counts(execution.org_id, execution.id)

    async def results(
        self,
        org_id: OrgId,
        execution_id: str,
        page: Page,
        *,
        success: bool | None = None,
        error_kind: str | None = None,
    ) -> tuple[PageOf[DeviceResult], ResultCounts]:
        """Return one page of results, failures first, and the counts of all results.

        `success` and `error_kind` filter the page; None: all. Raises NotFound.
        """
        await self.get(org_id, execution_id)
        found = await self._results.page(org_id, execution_id, page, success=success, error_kind=error_kind)
        return found, await self._results.counts(org_id, execution_id)

    async def approvals(
        self, org_id: OrgId, page: Page, *, by_expiry: bool = False
    ) -> PageOf[WaitingApproval]:
        """Return what waits for a decision, the newest execution first, or the one that expires first."""
        found = await self._store.parked(org_id, page, by_expiry=by_expiry)
        users = await self._users.find_many([_requester(execution) for execution in found.items])
        return PageOf(
            items=[
                WaitingApproval(execution=execution, requester=_named(_requester(execution), users))
                for execution in found.items
            ],
            total=found.total,
            page=page,
        )

    async def tally(self, org_id: OrgId) -> ExecutionTally:
        """Count the executions that run, wait, wait for a decision, and have failed within 24 hours."""
        return await self._store.tally(org_id, failed_since=self._clock.now() - timedelta(hours=24))

    async def history(
        self, org_id: OrgId, filters: Mapping[str, Any], page: Page
    ) -> tuple[PageOf[Execution], dict[str, str | None]]:
        """Return one page of executions of agent tasks, and the prompt of each by execution id."""
        found = await self._store.page(org_id, {**filters, "task_type": AGENT_TASK}, page)
        return found, await self.prompts(org_id, found.items)

    async def prompts(self, org_id: OrgId, executions: Sequence[Execution]) -> dict[str, str | None]:
        """Return the prompt of each execution of an agent task by execution id."""
        return await self._store.prompts(org_id, [execution.id for execution in executions])

    async def agent_execution(self, org_id: OrgId, execution_id: str) -> Execution:
        """Read an execution of an agent task. Raises NotFound, also for another task type."""
        execution = await self.get(org_id, execution_id)
        if execution.task_type != AGENT_TASK:
            raise NotFound("Execution not found")
        return execution


def _requester(execution: Execution) -> str:
    return execution.requested_by or execution.owner_id


def _named(user_id: str, users: Mapping[str, Named]) -> dict[str, str | None]:
    found = users.get(user_id)
    return {"id": user_id, "username": None if found is None else found.username}


def _undecided(execution: Execution, shown: str | None) -> str:
    if execution.state != "approval_pending":
        return "The execution is not waiting for an approval"
    if shown is not None and shown != (execution.approval_request or {}).get("hash"):
        return "The execution asks for something else by now"
    return "The approval has expired"
