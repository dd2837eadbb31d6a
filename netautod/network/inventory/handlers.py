"""The routes of saved inventory sources."""

from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.inventory.schemas import SourceAnswer, SourceDeletedAnswer, SourceRequest, SourcesAnswer
from netautod.network.inventory.service import SourceService

RESOURCE = "Inventory source"


class SourceHandler(JsonHandler):
    sources: SourceService


class SourcesHandler(SourceHandler):
    @requires("devices.access", answer=SourcesAnswer, name="list_inventory_sources")
    async def get(self) -> None:
        """List the saved sources by name."""
        found = await self.sources.all(self.caller.org_id)
        self.answer({"sources": [source.to_json() for source in found]})

    @requires(
        "devices.manage",
        body=SourceRequest,
        answer=SourceAnswer,
        status=201,
        name="create_inventory_source",
        repeat=Repeat.AGAIN,
    )
    async def post(self) -> None:
        """Save a source."""
        self.answer((await self.sources.create(self.caller, self.body)).to_json())


class OneSourceHandler(SourceHandler):
    @requires("devices.access", answer=SourceAnswer, name="get_inventory_source")
    async def get(self, source_id: str) -> None:
        """Read a saved source."""
        found = await self.sources.get(self.caller.org_id, self.path_id(source_id, RESOURCE))
        self.answer(found.to_json())

    @requires(
        "devices.manage",
        body=SourceRequest,
        partial=True,
        answer=SourceAnswer,
        name="update_inventory_source",
    )
    async def put(self, source_id: str) -> None:
        """Change a saved source; a url on another server needs the token again."""
        wanted = self.path_id(source_id, RESOURCE)
        self.answer((await self.sources.update(self.caller, wanted, self.body)).to_json())

    @requires("devices.manage", answer=SourceDeletedAnswer, name="delete_inventory_source")
    async def delete(self, source_id: str) -> None:
        """Delete a saved source; its devices stay."""
        await self.sources.delete(self.caller, self.path_id(source_id, RESOURCE))
        self.answer({"message": "Inventory source deleted; its devices stay"})


ROUTES = (
    Route(path="/api/devices/sources/inventory", handler=SourcesHandler),
    Route(path="/api/devices/sources/inventory/:source_id", handler=OneSourceHandler),
)
