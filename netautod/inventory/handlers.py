"""The routes of inventory sources and synchronisations."""

from typing import Any

from netautod.core.pages import Page
from netautod.http.access import requires
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route
from netautod.inventory.models import RemoteInventory
from netautod.inventory.schemas import (
    AdHocRequest,
    SourceAnswer,
    SourceDeletedAnswer,
    SourceRequest,
    SourcesAnswer,
    SourceTestAnswer,
    SourceTestRequest,
    SyncAnswer,
    SyncHistoryAnswer,
    SyncHistoryQuery,
    SyncQuery,
    SyncRequest,
)
from netautod.inventory.service import SourceService
from netautod.inventory.sync.models import SyncEntry, SyncOptions
from netautod.inventory.sync.service import SyncService

RESOURCE = "Inventory source"


def _remote(body: dict[str, Any]) -> RemoteInventory:
    return RemoteInventory(
        url=body["inventory_url"],
        token=body["token"],
        verify_ssl=body.get("verify_ssl", True),
        filters=body.get("filters", {}),
        named_now=True,
    )


class SyncHandler(JsonHandler):
    sync: SyncService
    sources: SourceService

    def options_sent(self) -> SyncOptions:
        return SyncOptions(
            dry_run=self.query["dry_run"], confirm_removals=self.body.get("confirm_removals", False)
        )


class AdHocSyncHandler(SyncHandler):
    @requires("devices.manage", query=SyncQuery, body=AdHocRequest, answer=SyncAnswer)
    async def post(self) -> None:
        """Synchronises with an inventory that the request names; removes nothing."""
        result = await self.sync.sync(self.caller, _remote(self.body), self.options_sent())
        self.answer(result.to_json())


class AdHocTestHandler(SyncHandler):
    @requires("devices.manage", body=AdHocRequest, answer=SourceTestAnswer)
    async def post(self) -> None:
        """Tests address and token, and counts the devices that match."""
        self.answer((await self.sync.test(self.caller, _remote(self.body))).to_json())


class HistoryHandler(SyncHandler):
    @requires("devices.access", query=SyncHistoryQuery, answer=SyncHistoryAnswer)
    async def get(self) -> None:
        """Lists synchronisations, the newest first."""
        page = Page(limit=self.query["limit"], offset=self.query["offset"])
        found = await self.sync.history(self.caller.org_id, page, self.query.get("source_id"))
        self.answer(found.to_json("history", SyncEntry.to_json))


class SourcesHandler(SyncHandler):
    @requires("devices.access", answer=SourcesAnswer)
    async def get(self) -> None:
        """Lists the saved sources by name."""
        found = await self.sources.all(self.caller.org_id)
        self.answer({"sources": [source.to_json() for source in found]})

    @requires("devices.manage", body=SourceRequest, answer=SourceAnswer, status=201)
    async def post(self) -> None:
        """Saves a source."""
        self.answer((await self.sources.create(self.caller, self.body)).to_json())


class OneSourceHandler(SyncHandler):
    @requires("devices.access", answer=SourceAnswer)
    async def get(self, source_id: str) -> None:
        """Reads a saved source."""
        found = await self.sources.get(self.caller.org_id, self.path_id(source_id, RESOURCE))
        self.answer(found.to_json())

    @requires("devices.manage", body=SourceRequest, partial=True, answer=SourceAnswer)
    async def put(self, source_id: str) -> None:
        """Changes a saved source; a url on another server needs the token again."""
        wanted = self.path_id(source_id, RESOURCE)
        self.answer((await self.sources.update(self.caller, wanted, self.body)).to_json())

    @requires("devices.manage", answer=SourceDeletedAnswer)
    async def delete(self, source_id: str) -> None:
        """Deletes a saved source; its devices stay."""
        await self.sources.delete(self.caller, self.path_id(source_id, RESOURCE))
        self.answer({"message": "Inventory source deleted; its devices stay"})


class SourceSyncHandler(SyncHandler):
    @requires("devices.manage", query=SyncQuery, body=SyncRequest, answer=SyncAnswer)
    async def post(self, source_id: str) -> None:
        """Synchronises with a saved source."""
        wanted = self.path_id(source_id, RESOURCE)
        self.answer((await self.sync.sync_source(self.caller, wanted, self.options_sent())).to_json())


class SourceTestHandler(SyncHandler):
    @requires("devices.manage", body=SourceTestRequest, answer=SourceTestAnswer)
    async def post(self, source_id: str) -> None:
        """Counts the devices of a saved source that match; never imports."""
        wanted = self.path_id(source_id, RESOURCE)
        self.answer((await self.sync.test_source(self.caller, wanted)).to_json())


ROUTES = (
    Route(path="/api/devices/sync/inventory", handler=AdHocSyncHandler),
    Route(path="/api/devices/sync/inventory/test", handler=AdHocTestHandler),
    Route(path="/api/devices/sync/history", handler=HistoryHandler),
    Route(path="/api/devices/sources/inventory", handler=SourcesHandler),
    Route(path="/api/devices/sources/inventory/:source_id", handler=OneSourceHandler),
    Route(path="/api/devices/sources/inventory/:source_id/sync", handler=SourceSyncHandler),
    Route(path="/api/devices/sources/inventory/:source_id/test", handler=SourceTestHandler),
)
