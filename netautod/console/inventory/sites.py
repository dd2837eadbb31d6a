"""The sites of devices: the list, the form of one, the deletion of one that nothing uses."""

from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.core.json.values import to_text
from netautod.core.pages import Page
from netautod.core.schema.bases import PageQuery
from netautod.http.access import requires
from netautod.http.routing.routes import Route
from netautod.network.sites.models import Site
from netautod.network.sites.schemas import SiteRequest
from netautod.network.sites.service import SiteService

SEE, MANAGE = "devices.access", "devices.manage"
PATH = "/sites"


class SitePage(PageHandler):
    sites: SiteService

    async def site(self, site_id: str) -> Site:
        return await self.sites.get(self.caller.org_id, self.path_id(site_id, "Site"))

    async def site_page(self, site_id: str) -> None:
        """Show the site with its uses, and the form if the caller may change it."""
        site = await self.site(site_id)
        self.show(
            "inventory/site.html",
            title=site.name,
            site=site,
            uses=await self.sites.references.users(self.caller.org_id, site.id),
            tag=to_text(site.updated_at),
        )


class SitesPage(SitePage):
    @requires(SEE, query=PageQuery)
    async def get(self) -> None:
        """Show the sites by name."""
        listed = await self.sites.page(self.caller.org_id, Page(**self.query))
        self.show("inventory/sites.html", title="Sites", listed=listed)


class NewSitePage(SitePage):
    @requires(MANAGE)
    async def get(self) -> None:
        """Show the form of a new site."""
        await self._form()

    @requires(MANAGE, consumes=FORM)
    async def post(self) -> None:
        """Create a site."""
        await self.submit(self._save(), again=self._form)

    async def _save(self) -> str:
        site = await self.sites.create(self.caller, self.form.values(SiteRequest()))
        self.set_notice(f"The site {site.name} was created.")
        return PATH

    async def _form(self) -> None:
        self.show("inventory/site.html", title="New site", site=None, uses=(), tag="")


class OneSitePage(SitePage):
    @requires(SEE)
    async def get(self, site_id: str) -> None:
        """Show a site and the form to change it."""
        await self.site_page(site_id)

    @requires(MANAGE, consumes=FORM)
    async def post(self, site_id: str) -> None:
        """Change a site; a new name reaches its devices before the answer."""
        await self.submit(self._save(site_id), again=lambda: self.site_page(site_id))

    async def _save(self, site_id: str) -> str:
        site = await self.site(site_id)
        self.require_unchanged(to_text(site.updated_at))
        sent = self.form.values(SiteRequest(), partial=True)
        fields = {name: value for name, value in sent.items() if value != getattr(site, name)}
        saved = await self.sites.update(self.caller, site.id, fields)
        self.set_notice(f"The site {saved.name} was saved.")
        return f"{PATH}/{site.id}"


class DeleteSitePage(SitePage):
    @requires(MANAGE, consumes=FORM)
    async def post(self, site_id: str) -> None:
        """Delete a site that no device refers to."""
        await self.submit(self._delete(site_id), again=lambda: self.site_page(site_id))

    async def _delete(self, site_id: str) -> str:
        site = await self.site(site_id)
        await self.sites.delete(self.caller, site.id)
        self.set_notice(f"The site {site.name} was deleted.")
        return PATH


PAGES = (
    Route(path=PATH, handler=SitesPage),
    Route(path=f"{PATH}/new", handler=NewSitePage),
    Route(path=f"{PATH}/:id", handler=OneSitePage),
    Route(path=f"{PATH}/:id/delete", handler=DeleteSitePage),
)
