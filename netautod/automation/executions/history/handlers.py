"""The routes of the search and of the history of agents."""

from netautod.automation.executions.handlers import ADMIN, ExecutionHandler, history_item
from netautod.automation.executions.history.schemas import (
    AgentRunAnswer,
    AgentRunsQuery,
    AgentSearchQuery,
    SearchQuery,
)
from netautod.automation.executions.history.service import ExecutionHistory
from netautod.automation.executions.models import Execution
from netautod.automation.executions.schemas import ExecutionListAnswer, HistoryAnswer, HistoryListAnswer
from netautod.core.pages import Page
from netautod.http.access import requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route

OPERATOR = "tasks.operate"


class HistoryHandler(JsonHandler):
    history: ExecutionHistory


class SearchHandler(HistoryHandler):
    @requires(OPERATOR, query=SearchQuery, answer=ExecutionListAnswer, name="search_executions")
    async def get(self) -> None:
        """Search executions for a text in the task's name or the error, newest first."""
        page = Page(limit=self.query.pop("limit"), offset=self.query.pop("offset"))
        text = self.query.pop("q")
        found = await self.history.search(self.caller.org_id, self.query, text, page)
        self.answer(found.to_json("executions", Execution.to_list_item))


class AgentRunsHandler(HistoryHandler):
    @requires(OPERATOR, query=AgentRunsQuery, answer=AgentRunAnswer, name="list_agent_runs")
    async def get(self) -> None:
        """List the runs of agent tasks, newest first."""
        found = await self.history.agent_runs(self.caller.org_id, self.query["limit"])
        self.answer([run.to_json() for run in found])


class AgentSearchHandler(HistoryHandler):
    @requires(ADMIN, query=AgentSearchQuery, answer=HistoryListAnswer, name="search_agent_executions")
    async def get(self) -> None:
        """Search the executions of agent tasks for a text in the task's name or the error, newest first."""
        page = Page(limit=self.query.pop("limit"), offset=self.query.pop("offset"))
        text = self.query.pop("q")
        found, prompts = await self.history.search_agents(self.caller.org_id, self.query, text, page)
        self.answer(found.to_json("executions", lambda item: history_item(item, prompts[item.id])))


class AgentHistoryEntryHandler(ExecutionHandler):
    history: ExecutionHistory

    @requires(ADMIN, answer=HistoryAnswer, name="get_agent_execution")
    async def get(self, execution_id: str) -> None:
        """Read one execution of an agent task, with its transcript."""
        execution = await self.executions.agent_execution(self.caller.org_id, self.execution_id(execution_id))
        transcript = await self.history.transcript(execution)
        prompt = execution.parameters.get("prompt")
        self.answer({**await self.whole(execution), "prompt": prompt, "transcript": transcript})


ROUTES = (
    Route(path="/api/tasks/history/search", handler=SearchHandler),
    Route(path="/api/agents/executions", handler=AgentRunsHandler),
    Route(path="/api/admin/agent-tasks/history/search", handler=AgentSearchHandler),
    Route(path="/api/admin/agent-tasks/history/:execution_id", handler=AgentHistoryEntryHandler),
)
