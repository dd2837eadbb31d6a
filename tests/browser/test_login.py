"""Logging in and out."""

import re

from playwright.async_api import Page, expect

from tests.browser.axe import violations
from tests.browser.people import People, log_in
from tests.browser.watching import Browsing
from tests.browser.world import OPERATOR

AT_LOGIN = re.compile(r"/login(\?|$)")


async def log_out(page: Page) -> None:
    await page.get_by_role("button", name="Log out", exact=True).click()
    await expect(page).to_have_url(AT_LOGIN)


async def test_the_wanted_page_opens_after_the_login_and_none_after_the_logout(browsing: Browsing) -> None:
    page = await browsing.page()
    await page.goto("/devices?q=core")
    await expect(page).to_have_url(AT_LOGIN)
    with browsing.faults.expected("status at .*/login: POST 40"):
        await log_in(page, OPERATOR, "not the password")
        await expect(page.get_by_role("alert")).to_be_visible()
        await expect(page.get_by_label("Username")).to_have_value(OPERATOR)
        await expect(page.get_by_label("Password")).to_have_value("")
        assert await violations(page) == []
    await log_in(page, OPERATOR)
    await expect(page).to_have_url(re.compile(r"/devices\?q=core$"))
    await expect(page.get_by_role("link", name="core-1", exact=True)).to_be_visible()
    await log_out(page)
    await page.go_back()
    await page.goto("/devices")
    await expect(page).to_have_url(AT_LOGIN)


async def test_the_login_leads_to_no_other_origin(browsing: Browsing) -> None:
    for address in ("//evil.example/", "http://evil.example/", "/\\evil.example", "javascript:alert(1)"):
        page = await browsing.page()
        await page.goto(f"/login?next={address}")
        await log_in(page, OPERATOR)
        await expect(page).to_have_url(f"{browsing.base_url}/")
        await log_out(page)


async def test_a_login_makes_a_new_cookie_that_no_script_reads(browsing: Browsing) -> None:
    page, values = await browsing.page(), set[str]()
    for _ in range(2):
        await page.goto("/login")
        await log_in(page, OPERATOR)
        await expect(page).not_to_have_url(AT_LOGIN)
        [cookie] = [one for one in await page.context.cookies() if one["name"] == "netautod"]
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
        assert "netautod" not in await page.evaluate("document.cookie")
        values.add(cookie["value"])
        await log_out(page)
    assert len(values) == 2


async def test_no_cookie_is_a_token_of_the_api(people: People) -> None:
    visitor = await people.visitor(OPERATOR)
    for headers in ({}, {"Authorization": f"Bearer {visitor.cookie}"}):
        assert (await visitor.fetch("/api/devices", headers=headers)).code == 401
