"""The page that the search box leads to: where an address is, and what has the text in its name."""

from collections.abc import Sequence
from dataclasses import dataclass

from netautod.automation.tasks.models import Task
from netautod.automation.tasks.service import TaskService
from netautod.console.base.pages import PageHandler
from netautod.console.find.query import Asked, asked_for
from netautod.core.pages import Page
from netautod.core.schema.bases import Query
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
    """`devices_total`: how many devices have it in their name or address."""

    asked: Asked
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
        """What there is under this text."""
        text = self.query["q"]
        found = None if text is None else await self._found(asked_for(text))
        self.show("find/find.html", title="Find", found=found, most=MOST)

    async def _found(self, asked: Asked) -> FoundView:
        org_id = self.caller.org_id
        text = asked.ip or asked.text
        first = Page(limit=MOST)
        devices = await self.devices.page(org_id, DeviceFilter(q=text), first)
        documents = await self.documents.page(org_id, DocumentFilter(q=asked.text), first)
        may_run = self.caller.can(RUNS)
        return FoundView(
            asked=asked,
            where=await self._where(asked),
            devices=devices.items,
            devices_total=devices.total,
            tasks=(await self.tasks.narrowed(org_id, {"q": asked.text}, first)).items if may_run else [],
            documents=[shown.document for shown in documents.items],
        )

    async def _where(self, asked: Asked) -> Whereabouts:
        org_id = self.caller.org_id
        if asked.ip is not None:
            return await self.places.of(org_id, ip=asked.ip)
        return NOWHERE if asked.mac is None else await self.places.of(org_id, mac=asked.mac)


PAGES = (Route(path="/find", handler=FindPage),)
