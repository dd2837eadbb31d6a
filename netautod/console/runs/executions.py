"""The list of executions, and the cancel of many."""

from datetime import UTC, datetime, timedelta
from typing import Any

from netautod.automation.executions.history.schemas import SearchQuery
from netautod.automation.executions.history.service import ExecutionHistory
from netautod.automation.executions.service import ExecutionService
from netautod.automation.executions.transitions import STATES
from netautod.automation.tasks.service import TaskService
from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.console.base.rendering import with_query
from netautod.console.base.words import counted
from netautod.console.runs.views import runs_of
from netautod.core.errors import Conflict, InvalidInput, NotFound
from netautod.core.json.values import to_text
from netautod.core.pages import Page
from netautod.http.access import requires
from netautod.http.routing.routes import Route

OPERATOR = "tasks.operate"
SPANS = (
    ("last hour", timedelta(hours=1)),
    ("last day", timedelta(days=1)),
    ("last 7 days", timedelta(days=7)),
)


class ExecutionsPage(PageHandler):
    history: ExecutionHistory
    tasks: TaskService

    @requires(OPERATOR, query=SearchQuery)
    async def get(self) -> None:
        """Show the executions, newest first."""
        filters: dict[str, Any] = dict(self.query)
        page = Page(limit=filters.pop("limit"), offset=filters.pop("offset"))
        text, now = filters.pop("q"), datetime.now(UTC)
        listed = await self.history.search(self.caller.org_id, filters, text, page)
        self.show(
            "runs/executions.html",
            title="Executions",
            listed=listed,
            runs=runs_of(listed.items),
            types=[(name, name) for name in sorted(self.tasks.types())],
            states=STATES,
            spans=[(text, to_text(now - span)) for text, span in SPANS],
        )


class CancelManyForm(PageHandler):
    executions: ExecutionService

    @requires(OPERATOR, consumes=FORM, grows=False)
    async def post(self) -> None:
        """Cancel the selected executions; those that have ended meanwhile stay as they are."""
        cancelled = left = 0
        selected = dict.fromkeys(self.form.all("execution_id"))
        if not selected:
            raise InvalidInput("execution_id: Select at least one execution")
        for one in selected:
            try:
                await self.executions.cancel(self.caller, self.path_id(one, "Execution"))
                cancelled += 1
            except (Conflict, NotFound):
                left += 1
        if not cancelled:
            raise Conflict("All of the selected executions had ended before, or are gone")
        self.set_notice(_notice(cancelled, left))
        self.redirect_to(with_query("/executions", self.query_texts()))


def _notice(cancelled: int, left: int) -> str:
    done = f"{counted(cancelled, 'execution')} cancelled."
    return f"{done} {left} had ended before, or {'is' if left == 1 else 'are'} gone." if left else done


PAGES = (
    Route(path="/executions", handler=ExecutionsPage),
    Route(path="/executions/cancel", handler=CancelManyForm),
)
