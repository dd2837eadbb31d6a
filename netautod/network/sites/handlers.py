"""The routes of sites."""

from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import Repeat, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.network.sites.models import Site
from netautod.network.sites.schemas import SiteAnswer, SiteRequest, SitesAnswer
from netautod.network.sites.service import SiteService


class SitesHandler(JsonHandler):
    sites: SiteService

    @requires("devices.access", query=PageQuery, answer=SitesAnswer)
    async def get(self) -> None:
        """List the sites by name."""
        found = await self.sites.page(self.caller.org_id, Page(**self.query))
        self.answer(found.to_json("sites", Site.to_json))

    @requires("devices.manage", body=SiteRequest, answer=SiteAnswer, status=201, repeat=Repeat.AGAIN)
    async def post(self) -> None:
        """Create a site."""
        self.answer((await self.sites.create(self.caller, self.body)).to_json())


class OneSiteHandler(JsonHandler):
    sites: SiteService

    @requires("devices.access", answer=SiteAnswer)
    async def get(self, site_id: str) -> None:
        """Read a site."""
        site = await self.sites.get(self.caller.org_id, self.path_id(site_id, "Site"))
        self.answer(site.to_json())

    @requires("devices.manage", body=SiteRequest, partial=True, answer=SiteAnswer)
    async def put(self, site_id: str) -> None:
        """Change a site; a new name reaches its devices before the answer."""
        site = await self.sites.update(self.caller, self.path_id(site_id, "Site"), self.body)
        self.answer(site.to_json())

    @requires("devices.manage", status=204)
    async def delete(self, site_id: str) -> None:
        """Delete a site that no device refers to."""
        await self.sites.delete(self.caller, self.path_id(site_id, "Site"))
        self.answer_nothing()


ROUTES = (
    Route(path="/api/sites", handler=SitesHandler),
    Route(path="/api/sites/:id", handler=OneSiteHandler),
)
