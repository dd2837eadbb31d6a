"""The routes of agents; their runs are executions like any other."""

from netautod.automation.agents.schemas import CheckAnswer, CheckRequest
from netautod.automation.agents.service import AgentService
from netautod.http.access import requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route


class CheckCommandHandler(JsonHandler):
    agents: AgentService

    @requires("tasks.operate", body=CheckRequest, answer=CheckAnswer, grows=False, name="check_agent_tool")
    async def post(self) -> None:
        """Check whether an agent may run a command on a platform, and if not, why."""
        self.answer(self.agents.check(self.body["platform"], self.body["command"]))


ROUTES = (Route(path="/api/agents/tools/check", handler=CheckCommandHandler),)
