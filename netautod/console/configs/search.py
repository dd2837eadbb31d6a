"""The search for lines in the newest configurations of all devices."""

from netautod.console.base.pages import PageHandler
from netautod.console.configs.base import READ
from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.pages import PageOf
from netautod.http.access import Operation, requires
from netautod.http.errors import status_of
from netautod.network.configs.handlers import search_of
from netautod.network.configs.models import LineGroup, Match
from netautod.network.configs.schemas import SearchQuery
from netautod.network.configs.search import ConfigSearch


class SearchPage(PageHandler):
    search: ConfigSearch
    _is_valid = True

    async def load_request(self, operation: Operation) -> None:
        """Load the query; an error in it is shown above the form, which keeps the query."""
        try:
            await super().load_request(operation)
        except InvalidInput as error:
            self._is_valid = False
            if self.sent_query().keys() & {"q", "regex"}:
                self._refuse(error)

    @requires(READ, query=SearchQuery)
    async def get(self) -> None:
        """Show the lines that match, 50 a page, or each distinct line once."""
        matches: PageOf[Match] | None = None
        groups: PageOf[LineGroup] | None = None
        if self._is_valid:
            line_search, page = search_of(self.caller.org_id, self.query)
            try:
                if self.query["group"] is None:
                    matches = await self.while_connected(self.search.find(line_search, page))
                else:
                    groups = await self.while_connected(self.search.groups(line_search, page))
            except (InvalidInput, Unavailable) as error:
                self._refuse(error)
        self.show("configs/search.html", title="Search configs", matches=matches, groups=groups)

    def _refuse(self, error: InvalidInput | Unavailable) -> None:
        self.error, self.page_status = error.text, status_of(error)
