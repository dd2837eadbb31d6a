"""People at the console: they log in with the form, and keep their session from one test to the next."""

from dataclasses import dataclass
from typing import Any

from playwright.async_api import Page, StorageState, expect

from netautod.identity.auth.pages.cookie import SESSION
from tests.browser.crawling import Visitor
from tests.browser.watching import Browsing
from tests.browser.world import PASSWORD


async def log_in(page: Page, username: str, password: str = PASSWORD) -> None:
    """With the form of the page that is open."""
    await page.get_by_label("Username").fill(username)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Log in", exact=True).click()


@dataclass(frozen=True, kw_only=True)
class People:
    """`logins`: what the browser of somebody who has logged in before keeps."""

    browsing: Browsing
    logins: dict[str, StorageState]

    async def page(self, username: str, **options: Any) -> Page:
        """An empty window of somebody with a session; `options` are those of a context."""
        return await self.browsing.page(storage_state=await self._state(username), **options)

    async def open(self, username: str, path: str, **options: Any) -> Page:
        page = await self.page(username, **options)
        await page.goto(path)
        return page

    async def visitor(self, username: str) -> Visitor:
        """The same session without a browser."""
        cookies = (await self._state(username))["cookies"]
        [value] = [cookie["value"] for cookie in cookies if cookie["name"] == SESSION]
        return Visitor(base_url=self.browsing.base_url, cookie=value)

    async def _state(self, username: str) -> StorageState:
        if username not in self.logins:
            self.logins[username] = await self._logged_in(username)
        return self.logins[username]

    async def _logged_in(self, username: str) -> StorageState:
        """A session that no test may end."""
        page = await self.browsing.page()
        await page.goto("/login?next=/devices")
        await log_in(page, username)
        await expect(page.get_by_role("button", name="Log out")).to_be_visible()
        return await page.context.storage_state()
