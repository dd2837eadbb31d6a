"""The route of the summary."""

from netautod.automation.summary.schemas import SummaryAnswer
from netautod.automation.summary.service import Summaries
from netautod.http.access import requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route


class SummaryHandler(JsonHandler):
    summaries: Summaries

    @requires("devices.access", answer=SummaryAnswer, name="get_summary")
    async def get(self) -> None:
        """Read the state of devices, backups and runs, and what changed lately."""
        self.answer((await self.summaries.of(self.caller)).to_json())


ROUTES = (Route(path="/api/summary", handler=SummaryHandler),)
