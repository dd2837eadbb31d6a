"""The executions that wait for an approval, and the decisions on them."""

from netautod.automation.executions.schemas import DecisionRequest
from netautod.automation.executions.service import BY_OTHERS, ExecutionService
from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.console.runs.execution import ExecutionPage, show_again
from netautod.console.runs.views import json_text
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import requires
from netautod.http.routing.routes import Route

OPERATOR = "tasks.operate"
APPROVER = "config.deploy"
LIST = "approvals"  # what a decision says that was made there


class ApprovalsPage(PageHandler):
    executions: ExecutionService

    @requires(OPERATOR, query=PageQuery)
    async def get(self) -> None:
        """Show what waits for an approval, in the order of expiry."""
        listed = await self.executions.approvals(self.caller.org_id, Page(**self.query), by_expiry=True)
        self.show(
            "runs/approvals.html",
            title="Approvals",
            listed=listed,
            user_id=self.caller.user_id,
            by_others=BY_OTHERS,
            json_text=json_text,
        )


class DecisionForm(ExecutionPage):
    async def decide(self, execution_id: str, decision: str) -> None:
        wanted = self.execution_id(execution_id)
        await self.submit(self._decide(wanted, decision), again=lambda: show_again(self, wanted))

    async def _decide(self, execution_id: str, decision: str) -> str:
        sent = self.form.values(DecisionRequest())
        execution = await self.executions.decide(
            self.caller,
            execution_id,
            decision,
            comment=sent.get("comment"),
            shown=sent.get("hash"),
        )
        self.set_notice(f"The request of {execution.task_name} was {decision}.")
        return "/approvals" if self.form.text("from") == LIST else f"/executions/{execution_id}"


class ApproveForm(DecisionForm):
    @requires(APPROVER, consumes=FORM, grows=False)
    async def post(self, execution_id: str) -> None:
        """Approve the request of a parked execution."""
        await self.decide(execution_id, "approved")


class RejectForm(DecisionForm):
    @requires(APPROVER, consumes=FORM, grows=False)
    async def post(self, execution_id: str) -> None:
        """Reject the request of a parked execution."""
        await self.decide(execution_id, "rejected")


PAGES = (
    Route(path="/approvals", handler=ApprovalsPage),
    Route(path="/executions/:id/approve", handler=ApproveForm),
    Route(path="/executions/:id/reject", handler=RejectForm),
)
