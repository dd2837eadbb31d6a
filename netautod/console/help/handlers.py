"""/help: the index of the manual with a search, its pages and their pictures. They need no session."""

from netautod.console.base.pages import PageHandler
from netautod.console.base.rendering import with_query
from netautod.console.help.markdown import address_of
from netautod.console.help.pages import ManualPages
from netautod.core.errors import NetautodError, NotFound
from netautod.core.schema.bases import Query
from netautod.http.access import public
from netautod.http.routing.routes import Route
from netautod.identity.auth.pages.cookie import SESSION
from netautod.manual.library import INDEX
from netautod.manual.page import Page
from netautod.network.devices.schemas import Label

MOST_MATCHES = 50
PICTURE_TYPES = {"png": "image/png", "svg": "image/svg+xml"}


class HelpQuery(Query):
    q = Label(load_default=None)


class ManualHandler(PageHandler):
    """A page that says nothing about the installation: anyone may read it, also while logins fail."""

    manual: ManualPages

    async def recognize(self) -> None:
        """Show the navigation to a user with a session; without one, or without a database, leave it out."""
        cookie = self.cookie(SESSION)
        if not cookie:
            return
        try:
            caller = await self.context.caller_of_page(cookie, self.info, by_person=not self.by_itself)
        except NetautodError:
            return
        if caller.blocked is None:
            self.caller = caller
            self.identify(caller)

    async def show_page(self, page: Page) -> None:
        before, after = self.manual.manual.neighbors(page)
        self.show(
            "help/page.html",
            title=page.title,
            content=await self.manual.html(page),
            contents=[section for section in page.sections if section.level == 2],
            before=before,
            after=after,
            address_of=address_of,
        )


class HelpPage(ManualHandler):
    large = True

    @public(query=HelpQuery)
    async def get(self) -> None:
        """Show the index of the manual, or with `q` the sections that have all the words."""
        await self.recognize()
        await self.manual.load()
        query = (self.query["q"] or "").strip()
        if not query:
            await self.show_page(self.manual.manual.pages[INDEX])
            return
        matches = await self.manual.search(query)
        self.show(
            "help/search.html",
            title="Search the manual",
            words=query,
            matches=matches[:MOST_MATCHES],
            total=len(matches),
            nearest=[] if matches else self.manual.manual.nearest(query),
            address_of=address_of,
        )


class ManualPage(ManualHandler):
    large = True

    @public()
    async def get(self, *names: str) -> None:
        """Show a page of the manual. A name without its folder leads to that page, or to a search."""
        await self.recognize()
        await self.manual.load()
        name = "/".join(names)
        found = self.manual.manual.named(name)
        if not found:
            raise NotFound("The manual has no such page")
        if len(found) > 1:
            self.redirect_to(with_query("/help", {"q": name}))
        elif found[0].name != name or name == INDEX:
            self.redirect_to(address_of(found[0].name))
        else:
            await self.show_page(found[0])


class PicturePage(ManualHandler):
    @public(produces="image/png")
    async def get(self, name: str) -> None:
        """Send a picture of the manual."""
        content = self.manual.manual.picture(name)
        if content is None:
            raise NotFound("Not found")
        self.set_header("Content-Type", PICTURE_TYPES[name.rpartition(".")[2]])
        self.finish(content)


PAGES = (
    Route(path="/help", handler=HelpPage),
    Route(path="/help/:page", handler=ManualPage),
    Route(path="/help/:folder/:page", handler=ManualPage),
    Route(path="/help/pictures/:name", handler=PicturePage),
)
