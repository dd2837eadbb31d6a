"""The routes of the system."""

from netautod.automation.system.schemas import PausedAnswer, PauseRequest, SystemStatusAnswer
from netautod.automation.system.service import SystemService
from netautod.http.access import requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route


class SystemHandler(JsonHandler):
    system: SystemService


class SystemStatusHandler(SystemHandler):
    @requires("system.manage", answer=SystemStatusAnswer)
    async def get(self) -> None:
        """Report the state of nodes, database, plugins and queues."""
        self.answer((await self.system.status(self.caller.org_id)).to_json())


class PauseSystemHandler(SystemHandler):
    @requires("system.manage", body=PauseRequest, answer=PausedAnswer, grows=False)
    async def post(self) -> None:
        """Pause tasks, polls and syncs until they are resumed; what runs may finish."""
        pause = await self.system.pause(self.caller, self.body["reason"])
        self.answer({"paused": pause.to_json()})


class ResumeSystemHandler(SystemHandler):
    @requires("system.manage", answer=PausedAnswer, grows=False)
    async def post(self) -> None:
        """End the pause."""
        await self.system.resume(self.caller)
        self.answer({"paused": None})


ROUTES = (
    Route(path="/api/system/status", handler=SystemStatusHandler),
    Route(path="/api/system/pause", handler=PauseSystemHandler),
    Route(path="/api/system/resume", handler=ResumeSystemHandler),
)
