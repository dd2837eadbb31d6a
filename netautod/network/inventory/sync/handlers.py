"""The routes of synchronisations and tests of inventories, and of their history."""

from typing import Any

from netautod.core.identity.caller import OrgId
from netautod.core.pages import Page
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.inventory.models import RemoteInventory
from netautod.network.inventory.sync.models import SyncEntry, SyncOptions
from netautod.network.inventory.sync.schemas import (
    AdHocRequest,
    SourceTestAnswer,
    SourceTestRequest,
    SyncAnswer,
    SyncHistoryAnswer,
    SyncHistoryQuery,
    SyncQuery,
    SyncRequest,
)
from netautod.network.inventory.sync.service import SyncService

RESOURCE = "Inventory source"


class SyncHandler(JsonHandler):
    sync: SyncService

    def options_sent(self) -> SyncOptions:
        return SyncOptions(
            dry_run=self.query["dry_run"], confirm_removals=self.body.get("confirm_removals", False)
        )


class AdHocSyncHandler(SyncHandler):
    @requires(
        "devices.manage",
        query=SyncQuery,
        body=AdHocRequest,
        answer=SyncAnswer,
        errors=(502,),
        name="sync_inventory",
        repeat=Repeat.AGAIN,
    )
    async def post(self) -> None:
        """Synchronise with an inventory that the request names; removes nothing."""
        result = await self.sync.sync(
            self.caller, _remote(self.caller.org_id, self.body), self.options_sent()
        )
        self.answer(result.to_json())


class AdHocTestHandler(SyncHandler):
    @requires(
        "devices.manage", body=AdHocRequest, answer=SourceTestAnswer, grows=False, name="test_inventory"
    )
    async def post(self) -> None:
        """Test address and token, and count the devices that match."""
        self.answer((await self.sync.test(self.caller, _remote(self.caller.org_id, self.body))).to_json())


class SourceSyncHandler(SyncHandler):
    @requires(
        "devices.manage",
        query=SyncQuery,
        body=SyncRequest,
        answer=SyncAnswer,
        errors=(502,),
        name="sync_inventory_source",
        repeat=Repeat.AGAIN,
    )
    async def post(self, source_id: str) -> None:
        """Synchronise with a saved source."""
        wanted = self.path_id(source_id, RESOURCE)
        self.answer((await self.sync.sync_source(self.caller, wanted, self.options_sent())).to_json())


class SourceTestHandler(SyncHandler):
    @requires(
        "devices.manage",
        body=SourceTestRequest,
        answer=SourceTestAnswer,
        grows=False,
        name="test_inventory_source",
    )
    async def post(self, source_id: str) -> None:
        """Count the devices of a saved source that match; never imports."""
        wanted = self.path_id(source_id, RESOURCE)
        self.answer((await self.sync.test_source(self.caller, wanted)).to_json())


class SyncHistoryHandler(SyncHandler):
    @requires("devices.access", query=SyncHistoryQuery, answer=SyncHistoryAnswer, name="list_syncs")
    async def get(self) -> None:
        """List synchronisations, the newest first."""
        page = Page(limit=self.query["limit"], offset=self.query["offset"])
        found = await self.sync.history(self.caller.org_id, page, self.query.get("source_id"))
        self.answer(found.to_json("history", SyncEntry.to_json))


def _remote(org_id: OrgId, body: dict[str, Any]) -> RemoteInventory:
    return RemoteInventory(
        org_id=org_id,
        url=body["inventory_url"],
        token=body["token"],
        verify_ssl=body.get("verify_ssl", True),
        filters=body.get("filters", {}),
        named_now=True,
    )


ROUTES = (
    Route(path="/api/devices/sync/inventory", handler=AdHocSyncHandler),
    Route(path="/api/devices/sync/inventory/test", handler=AdHocTestHandler),
    Route(path="/api/devices/sync/history", handler=SyncHistoryHandler),
    Route(path="/api/devices/sources/inventory/:source_id/sync", handler=SourceSyncHandler),
    Route(path="/api/devices/sources/inventory/:source_id/test", handler=SourceTestHandler),
)
