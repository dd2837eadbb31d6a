"""The page of search results: where an address is, and what has the text in its name."""

from collections.abc import Sequence
from dataclasses import dataclass

from netautod.automation.tasks.models import Task
from netautod.automation.tasks.service import TaskService
from netautod.console.base.pages import PageHandler
from netautod.console.find.query import SearchText, parse_text
from netautod.core.pages import Page
from netautod.core.schema.bases import Query
from netautod.documents.access import READ
from netautod.documents.models import Document, DocumentFilter
from netautod.documents.service import DocumentService
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.devices.models import DeviceFilter, DeviceItem
from netautod.network.devices.schemas import Label
from netautod.network.devices.service import DeviceService
from netautod.network.discovery.places.service import Places, Whereabouts

RUNS = "tasks.operate"
MOST = 10  # of each kind; the lists of each kind have the others
NOWHERE = Whereabouts()


class FindQuery(Query):
    q = Label(load_default=None)


@dataclass(frozen=True, kw_only=True)
class FoundView:
    """The results of a search; `devices_total` counts the devices with the text in their name or address."""

    wanted: SearchText
    where: Whereabouts
    devices: Sequence[DeviceItem]
    devices_total: int
    tasks: Sequence[Task]
    documents: Sequence[Document]

    def __bool__(self) -> bool:
        return bool(self.where or self.devices or self.tasks or self.documents)


class FindPage(PageHandler):
    places: Places
    devices: DeviceService
    tasks: TaskService
    documents: DocumentService

    @requires("devices.access", query=FindQuery)
    async def get(self) -> None:
        """Show the results for the text."""
        text = self.query["q"]
        found = None if text is None else await self._found(parse_text(text))
        self.show("find/find.html", title="Find", found=found, most=MOST)

    async def _found(self, wanted: SearchText) -> FoundView:
        org_id = self.caller.org_id
        text = wanted.ip or wanted.text
        first = Page(limit=MOST)
        devices = await self.devices.page(org_id, DeviceFilter(q=text), first)
        may_run = self.caller.can(RUNS)
        return FoundView(
            wanted=wanted,
            where=await self._where(wanted),
            devices=devices.items,
            devices_total=devices.total,
            tasks=(await self.tasks.narrowed(org_id, {"q": wanted.text}, first)).items if may_run else [],
            documents=await self._documents(wanted.text, first),
        )

    async def _documents(self, text: str, page: Page) -> list[Document]:
        if not self.caller.can(READ):
            return []
        found = await self.documents.page(self.caller, DocumentFilter(q=text), page)
        return [shown.document for shown in found.items]

    async def _where(self, wanted: SearchText) -> Whereabouts:
        org_id = self.caller.org_id
        if wanted.ip is not None:
            return await self.places.of(org_id, ip=wanted.ip)
        return NOWHERE if wanted.mac is None else await self.places.of(org_id, mac=wanted.mac)


PAGES = (Route(path="/find", handler=FindPage),)
