"""Runs, executions, their logs and results, approvals, and the agent-task history."""

from collections.abc import Mapping
from typing import Any

from netautod.automation.executions.device_subset import DeviceSubsetRuns
from netautod.automation.executions.models import Execution, result_to_json
from netautod.automation.executions.pending_approvals import WaitingApproval
from netautod.automation.executions.schemas import (
    ApprovalsAnswer,
    DecisionRequest,
    ExecutionAnswer,
    ExecutionListAnswer,
    ExecutionQuery,
    HistoryListAnswer,
    HistoryQuery,
    LogAnswer,
    LogQuery,
    ResultListAnswer,
    ResultsQuery,
)
from netautod.automation.executions.service import ExecutionService
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

OPERATOR = "tasks.operate"
APPROVER = "config.deploy"
ADMIN = "system.manage"


class ExecutionHandler(JsonHandler):
    executions: ExecutionService

    def execution_id(self, text: str) -> str:
        return self.path_id(text, "Execution")

    async def whole(self, execution: Execution) -> dict[str, Any]:
        """Return the whole execution as JSON.

        `output.results` holds the first results, failures first.
        """
        shown = {**execution.to_json(), "requested_by": await self.executions.requester(execution)}
        if isinstance(execution.output, Mapping):
            results = await self.executions.first_results(execution)
            if results:
                listed = [result_to_json(result) for result in results]
                shown["output"] = {**execution.output, "results": listed}
        return shown


class RunTaskHandler(ExecutionHandler):
    @requires(OPERATOR, status=202, answer=ExecutionAnswer, repeat=Repeat.FINDS)
    async def post(self, task_id: str) -> None:
        """Run a task now, in the background."""
        execution = await self.executions.run(
            self.caller, self.path_id(task_id, "Task"), execution_id=self.record_id
        )
        self.answer(await self.whole(execution))


class RunAgentScheduleHandler(ExecutionHandler):
    @requires(OPERATOR, status=202, answer=ExecutionAnswer, repeat=Repeat.FINDS)
    async def post(self, task_id: str) -> None:
        """Run an agent schedule now, in the background."""
        execution = await self.executions.run(
            self.caller, self.path_id(task_id, "Task"), agent=True, execution_id=self.record_id
        )
        self.answer(await self.whole(execution))


class ExecutionsHandler(ExecutionHandler):
    @requires(OPERATOR, query=ExecutionQuery, answer=ExecutionListAnswer, etag=True)
    async def get(self) -> None:
        """List executions, newest first."""
        page = Page(limit=self.query.pop("limit"), offset=self.query.pop("offset"))
        found = await self.executions.page(self.caller.org_id, self.query, page)
        self.answer(found.to_json("executions", Execution.to_list_item))


class TaskExecutionsHandler(ExecutionHandler):
    @requires(OPERATOR, query=PageQuery, answer=ExecutionListAnswer, etag=True)
    async def get(self, task_id: str) -> None:
        """List the executions of one task, newest first."""
        task_id = self.path_id(task_id, "Task")
        found = await self.executions.page_of_task(self.caller.org_id, task_id, Page(**self.query))
        self.answer(found.to_json("executions", Execution.to_list_item))


class RetryFailedHandler(ExecutionHandler):
    subset_runs: DeviceSubsetRuns

    @requires(OPERATOR, status=202, answer=ExecutionAnswer, repeat=Repeat.FINDS)
    async def post(self, execution_id: str) -> None:
        """Run the task again for the devices that failed, as a new execution."""
        execution = await self.subset_runs.retry_failed(
            self.caller, self.execution_id(execution_id), made_id=self.record_id
        )
        self.answer(await self.whole(execution))


class OneExecutionHandler(ExecutionHandler):
    @requires(OPERATOR, answer=ExecutionAnswer)
    async def get(self, execution_id: str) -> None:
        """Read an execution."""
        execution = await self.executions.get(self.caller.org_id, self.execution_id(execution_id))
        self.answer(await self.whole(execution))


class CancelExecutionHandler(ExecutionHandler):
    @requires(OPERATOR, status=204, grows=False)
    async def post(self, execution_id: str) -> None:
        """Cancel a running or waiting execution."""
        await self.executions.cancel(self.caller, self.execution_id(execution_id))
        self.answer_nothing()


class ExecutionLogHandler(ExecutionHandler):
    @requires(OPERATOR, query=LogQuery, answer=LogAnswer)
    async def get(self, execution_id: str) -> None:
        """List the log lines after a number; `complete` once no more will come."""
        after_seq = self.query["after_seq"]
        entries, complete = await self.executions.log(
            self.caller.org_id,
            self.execution_id(execution_id),
            after_seq,
            self.query["limit"],
            level=self.query["level"],
            device_id=self.query["device_id"],
        )
        self.answer(
            {
                "entries": [entry.to_json() for entry in entries],
                "next_seq": entries[-1].seq if entries else after_seq,
                "complete": complete,
            }
        )


class ExecutionResultsHandler(ExecutionHandler):
    @requires(OPERATOR, query=ResultsQuery, answer=ResultListAnswer)
    async def get(self, execution_id: str) -> None:
        """List the results of the devices, failures first."""
        page = Page(limit=self.query.pop("limit"), offset=self.query.pop("offset"))
        found, counts = await self.executions.results(
            self.caller.org_id, self.execution_id(execution_id), page, **self.query
        )
        self.answer({**found.to_json("results", result_to_json), "counts": counts.to_json()})


class ApprovalsHandler(ExecutionHandler):
    @requires(OPERATOR, query=PageQuery, answer=ApprovalsAnswer)
    async def get(self) -> None:
        """List what waits for an approval, newest first."""
        found = await self.executions.approvals(self.caller.org_id, Page(**self.query))
        self.answer(found.to_json("approvals", WaitingApproval.to_json))


class DecideExecutionHandler(ExecutionHandler):
    async def decide(self, execution_id: str, decision: str) -> None:
        execution = await self.executions.decide(
            self.caller,
            self.execution_id(execution_id),
            decision,
            comment=self.body.get("comment"),
            shown=self.body.get("hash"),
        )
        self.answer(await self.whole(execution))


class ApproveExecutionHandler(DecideExecutionHandler):
    @requires(APPROVER, body=DecisionRequest, answer=ExecutionAnswer, grows=False)
    async def post(self, execution_id: str) -> None:
        """Approve the request of a parked execution; it runs again from its saved state."""
        await self.decide(execution_id, "approved")


class RejectExecutionHandler(DecideExecutionHandler):
    @requires(APPROVER, body=DecisionRequest, answer=ExecutionAnswer, grows=False)
    async def post(self, execution_id: str) -> None:
        """Reject the request of a parked execution; it runs again and learns of the decision."""
        await self.decide(execution_id, "rejected")


class AgentHistoryHandler(ExecutionHandler):
    @requires(ADMIN, query=HistoryQuery, answer=HistoryListAnswer, name="list_agent_executions")
    async def get(self) -> None:
        """List the executions of agent tasks, newest first."""
        page = Page(limit=self.query.pop("limit"), offset=self.query.pop("offset"))
        found, prompts = await self.executions.history(self.caller.org_id, self.query, page)
        self.answer(found.to_json("executions", lambda item: history_item(item, prompts[item.id])))


def history_item(execution: Execution, prompt: str | None) -> dict[str, Any]:
    item = execution.to_list_item()
    for key in ("task_type", "scheduled_for", "cancelled_by", "retry_of"):
        del item[key]
    return {**item, "prompt": prompt}


ROUTES = (
    Route(path="/api/tasks/schedules/:id/run", handler=RunTaskHandler),
    Route(path="/api/tasks/schedules/:id/executions", handler=TaskExecutionsHandler),
    Route(path="/api/tasks/agent-schedules/:id/run", handler=RunAgentScheduleHandler),
    Route(path="/api/tasks/approvals", handler=ApprovalsHandler),
    Route(path="/api/tasks/executions", handler=ExecutionsHandler),
    Route(path="/api/tasks/executions/:id", handler=OneExecutionHandler),
    Route(path="/api/tasks/executions/:id/cancel", handler=CancelExecutionHandler),
    Route(path="/api/tasks/executions/:id/retry-failed", handler=RetryFailedHandler),
    Route(path="/api/tasks/executions/:id/log", handler=ExecutionLogHandler),
    Route(path="/api/tasks/executions/:id/results", handler=ExecutionResultsHandler),
    Route(path="/api/tasks/executions/:id/approve", handler=ApproveExecutionHandler),
    Route(path="/api/tasks/executions/:id/reject", handler=RejectExecutionHandler),
    Route(path="/api/admin/agent-tasks/history", handler=AgentHistoryHandler),
)
