"""One execution: its state, its log, and the result of each device."""

from typing import Any

from marshmallow import fields, validate

from netautod.automation.executions.device_subset import DeviceSubsetRuns
from netautod.automation.executions.models import LEVELS, Execution
from netautod.automation.executions.pending_approvals import WaitingApproval
from netautod.automation.executions.schemas import LogQuery, ResultsQuery
from netautod.automation.executions.service import BY_OTHERS, ExecutionService
from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.console.base.words import counted
from netautod.console.runs.advice import advice_on
from netautod.console.runs.views import ResultsView, answer_of, json_text, output_text, runs_of
from netautod.core.pages import Page
from netautod.core.schema.bases import Id, QueryInteger
from netautod.http.access import requires
from netautod.http.routing.routes import Route

OPERATOR = "tasks.operate"
SHOWN_LINES = 200  # the newest ones on the page of an execution
LOG_PAGE = 1000


class ExecutionPageQuery(ResultsQuery):
    """The query of an execution: of its results and of its log."""

    level = fields.String(load_default=None, validate=validate.OneOf(LEVELS))
    device_id = Id(load_default=None)


class LogPageQuery(LogQuery):
    limit = QueryInteger(low=1, cap=LOG_PAGE, load_default=LOG_PAGE)


class ExecutionPage(PageHandler):
    executions: ExecutionService

    def execution_id(self, text: str) -> str:
        return self.path_id(text, "Execution")

    async def execution(self, text: str) -> Execution:
        return await self.executions.get(self.caller.org_id, self.execution_id(text))

    async def show_execution(self, execution: Execution, query: dict[str, Any]) -> None:
        (run,) = runs_of([execution])
        narrowed = {"level": query["level"], "device_id": query["device_id"]}
        lines = []
        if not self.by_itself:  # a page that looks for news asks for lines by their numbers
            lines = await self.executions.newest_log(execution, SHOWN_LINES, **narrowed)
        requester = await self.executions.requester(execution)
        self.show(
            "runs/execution.html",
            title=f"Execution of {execution.task_name}",
            execution=execution,
            run=run,
            requester=requester,
            canceller=await self._name(execution.cancelled_by),
            answer=answer_of(execution),
            output=output_text(execution),
            results=await self._results(execution, query),
            approval=WaitingApproval(execution=execution, requester=requester),
            barred=BY_OTHERS if execution.needs_another_approver(self.caller.user_id) else "",
            lines=lines,
            after=lines[-1].seq if lines else 0,
            levels=LEVELS,
            request_text=json_text(execution.approval_request),
        )

    async def _name(self, user_id: str | None) -> str | None:
        return None if user_id is None else await self.executions.name_of_user(user_id)

    async def _results(self, execution: Execution, query: dict[str, Any]) -> ResultsView:
        page = Page(limit=query["limit"], offset=query["offset"])
        narrowed = {name: query[name] for name in ("success", "error_kind")}
        listed, counts = await self.executions.results(self.caller.org_id, execution.id, page, **narrowed)
        return ResultsView(listed=listed, counts=counts, advice_on=advice_on)


class OneExecutionPage(ExecutionPage):
    @requires(OPERATOR, query=ExecutionPageQuery)
    async def get(self, execution_id: str) -> None:
        """Show an execution, its results and the end of its log."""
        await self.show_execution(await self.execution(execution_id), self.query)


class LogPage(ExecutionPage):
    large = True

    @requires(OPERATOR, query=LogPageQuery)
    async def get(self, execution_id: str) -> None:
        """Show the lines of the log after a number; a live page gets the lines without the page
        around them.
        """
        execution, query = await self.execution(execution_id), self.query
        lines, complete = await self.executions.log(
            self.caller.org_id,
            execution.id,
            query["after_seq"],
            query["limit"],
            level=query["level"],
            device_id=query["device_id"],
        )
        self.show(
            "runs/log_lines.html" if self.by_itself else "runs/log.html",
            title=f"Log of {execution.task_name}",
            execution=execution,
            lines=lines,
            after=lines[-1].seq if lines else query["after_seq"],
            complete=complete,
            more=len(lines) == query["limit"],
            levels=LEVELS,
        )


class CancelForm(ExecutionPage):
    @requires(OPERATOR, consumes=FORM, grows=False)
    async def post(self, execution_id: str) -> None:
        """Cancel an execution."""
        execution = await self.execution(execution_id)
        await self.submit(self._cancel(execution), again=lambda: show_again(self, execution.id))

    async def _cancel(self, execution: Execution) -> str:
        await self.executions.cancel(self.caller, execution.id)
        self.set_notice("The execution was cancelled.")
        return f"/executions/{execution.id}"


class RetryFailedForm(ExecutionPage):
    subset_runs: DeviceSubsetRuns

    @requires(OPERATOR, consumes=FORM)
    async def post(self, execution_id: str) -> None:
        """Run the task again for the devices that failed, and show the new execution."""
        execution = await self.execution(execution_id)
        await self.submit(self._retry(execution), again=lambda: show_again(self, execution.id))

    async def _retry(self, execution: Execution) -> str:
        again = await self.subset_runs.retry_failed(self.caller, execution.id)
        devices = counted(len(again.device_subset or ()), "failed device")
        self.set_notice(f"This execution visits {devices} again.")
        return f"/executions/{again.id}"


async def show_again(page: ExecutionPage, execution_id: str) -> None:
    """Show the present page of an execution below the error of an action."""
    execution = await page.execution(execution_id)
    await page.show_execution(execution, ExecutionPageQuery().load({}))


PAGES = (
    Route(path="/executions/:id", handler=OneExecutionPage),
    Route(path="/executions/:id/log", handler=LogPage),
    Route(path="/executions/:id/cancel", handler=CancelForm),
    Route(path="/executions/:id/retry-failed", handler=RetryFailedForm),
)
