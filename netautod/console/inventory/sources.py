"""Saved sources: the list, one of them with its history, and the history of all."""

from netautod.console.base.pages import PageHandler
from netautod.console.inventory.views import (
    ShownEntry,
    filter_texts,
    preview_of,
    state_of,
    state_of_source,
)
from netautod.core.pages import Page, PageOf
from netautod.core.schema.bases import PageQuery
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.inventory.models import SavedSource
from netautod.network.inventory.service import SourceService
from netautod.network.inventory.sync.models import SourceTest, SyncResult
from netautod.network.inventory.sync.schemas import SyncHistoryQuery
from netautod.network.inventory.sync.service import SyncService

SEE = "devices.access"
PATH = "/inventory"
RESOURCE = "Inventory source"
RECENT = Page(limit=10)


class SourcePage(PageHandler):
    """The base of all pages of sources."""

    sources: SourceService
    sync: SyncService

    async def source(self, source_id: str) -> SavedSource:
        return await self.sources.get(self.caller.org_id, self.path_id(source_id, RESOURCE))

    async def history(self, page: Page, source_id: str | None) -> PageOf[ShownEntry]:
        found = await self.sync.history(self.caller.org_id, page, source_id)
        known = {source.id for source in await self.sources.all(self.caller.org_id)}
        shown = [
            ShownEntry(
                entry=one,
                state=state_of(one, running=self.sync.may_be_running(one)),
                has_source=one.source_id in known,
            )
            for one in found.items
        ]
        return PageOf(items=shown, total=found.total, page=page)


class SourcesPage(SourcePage):
    @requires(SEE)
    async def get(self) -> None:
        """Show the saved sources by name, and the last synchronisations."""
        found = await self.sources.all(self.caller.org_id)
        self.show(
            "inventory/list.html",
            title="Inventory",
            sources=[(source, state_of_source(source)) for source in found],
            recent=await self.history(RECENT, None),
        )


class HistoryPage(SourcePage):
    @requires(SEE, query=SyncHistoryQuery)
    async def get(self) -> None:
        """Show the synchronisations, newest first."""
        page = Page(limit=self.query["limit"], offset=self.query["offset"])
        listed = await self.history(page, self.query.get("source_id"))
        self.show("inventory/history.html", title="History of synchronisations", listed=listed)


class OneSourcePage(SourcePage):
    """The page of a source, and the base of the actions on it, which show their result there.

    Each address of an action shows the page when a browser loads it again.
    """

    @requires(SEE, query=PageQuery)
    async def get(self, source_id: str) -> None:
        """Show a source with its history."""
        await self.source_page(await self.source(source_id), Page(**self.query))

    async def source_page(
        self,
        source: SavedSource,
        page: Page = RECENT,
        *,
        tested: SourceTest | None = None,
        preview: SyncResult | None = None,
    ) -> None:
        filters = filter_texts(source.device_filters)
        self.show(
            "inventory/source.html",
            title=source.name,
            source=source,
            state=state_of_source(source),
            filters={name: text for name, text in filters.items() if text},
            listed=await self.history(page, source.id),
            tested=tested,
            preview=None if preview is None else preview_of(preview),
        )


PAGES = (
    Route(path=PATH, handler=SourcesPage),
    Route(path=f"{PATH}/history", handler=HistoryPage),
    Route(path=f"{PATH}/sources/:source_id", handler=OneSourcePage),
)
