"""The overview: the state of the network and its automation, and where each number leads."""

from datetime import UTC, datetime, timedelta

from netautod.automation.summary.service import Summaries
from netautod.console.base.navigation import links_for
from netautod.console.base.pages import PageHandler
from netautod.core.json.values import to_text
from netautod.http.access import any_token
from netautod.http.routing.routes import Route

DEVICES = "devices.access"


class OverviewPage(PageHandler):
    summaries: Summaries

    @any_token()
    async def get(self) -> None:
        """Show the overview; a caller who may not see devices goes to the first page that is allowed."""
        if not self.caller.can(DEVICES):
            self.redirect_to(links_for(self.caller)[0].path)
            return
        summary = await self.summaries.of(self.caller)
        # To the hour, so that a page that renews itself keeps its links.
        since = (datetime.now(UTC) - timedelta(hours=24)).replace(minute=0, second=0, microsecond=0)
        self.show("overview/overview.html", title="Overview", summary=summary, since=to_text(since))


PAGES = (Route(path="/", handler=OverviewPage),)
