"""Other ways to use the console: by keys alone, without scripts, in another zone."""

import re
from uuid import uuid4

from playwright.async_api import expect

from tests.browser.people import People, log_in
from tests.browser.watching import Browsing
from tests.browser.world import APPROVER, OPERATOR, World, asking

MOST_TABS = 60


async def test_a_device_is_reached_by_keys_alone(people: People) -> None:
    """Past the navigation, by the search box, by the palette, and by the focus that can be seen."""
    page = await people.open(OPERATOR, "/devices")
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    await expect(skip).to_be_focused()
    await page.keyboard.press("Enter")
    for _ in range(MOST_TABS):
        await page.keyboard.press("Tab")
        focused = page.locator(":focus")
        assert await focused.evaluate("(one) => one.closest('main') !== null"), "the focus left the content"
        assert await focused.evaluate("(one) => getComputedStyle(one).outlineStyle !== 'none'"), (
            await focused.evaluate("(one) => one.outerHTML.slice(0, 200)")
        )
        if await focused.inner_text() == "access-1":
            break
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("access-1")
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    await page.keyboard.type("core-1")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(r"/find\?q=core-1"))


async def test_the_palette_leads_to_pages_and_devices(people: People) -> None:
    page = await people.open(OPERATOR, "/")
    await page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog")
    await expect(palette).to_be_visible()
    await page.keyboard.type("topo")
    await expect(palette.get_by_text("Topology").first).to_be_visible()
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("/topology"))
    await page.keyboard.press("Control+k")
    await page.keyboard.type("access-1")
    await expect(palette.get_by_text("access-1").first).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(palette).to_be_hidden()


async def test_times_are_in_the_zone_of_the_browser_with_utc_at_hand(people: People, world: World) -> None:
    page = await people.open(OPERATOR, f"/executions/{world.ids['completed']}", timezone_id="Australia/Eucla")
    found = await world.admin.read(f"/api/tasks/executions/{world.ids['completed']}")
    time = page.locator(f"main time[datetime^='{found['completed_at'][:19]}']").first
    title = f"{found['completed_at'][:19].replace('T', ' ')} UTC"
    await expect(time).to_have_attribute("title", title)
    text = await time.inner_text()
    # 8 hours and 45 minutes before UTC all year.
    minutes = (int(title[11:13]) * 60 + int(title[14:16]) + 8 * 60 + 45) % (24 * 60)
    assert f"{minutes // 60:02}:{minutes % 60:02}" in text
    await expect(page.locator("[data-zone]").first).to_have_text("Australia/Eucla")


async def test_the_console_works_without_scripts(browsing: Browsing, world: World) -> None:
    """Log in, list, filter, compare and run; times are in UTC."""
    page = await browsing.page(java_script_enabled=False)
    await page.goto("/devices")
    await log_in(page, OPERATOR)
    await page.get_by_label("Site", exact=True).fill("berlin")
    await page.get_by_role("button", name="Filter", exact=True).click()
    await page.get_by_role("link", name="core-1", exact=True).click()
    await page.goto(f"/configs/{world.ids['core-1']}")
    await page.get_by_role("button", name="Diff", exact=True).click()
    await expect(page.locator("tr.added").first).to_be_visible()
    await expect(page.locator("main time").first).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d"))
    await page.get_by_role("searchbox", name="Search").fill("core-1")
    await page.get_by_role("searchbox", name="Search").press("Enter")
    await expect(page).to_have_url(re.compile(r"/find\?q=core-1"))
    await page.goto(f"/tasks/{world.ids['nightly']}")
    await page.get_by_role("button", name="Run", exact=True).click()
    await expect(page).to_have_url(re.compile("/executions/"))
    await world.admin.ended(page.url.rpartition("/")[2], seconds=60)
    await page.reload()
    await expect(page.get_by_text("completed", exact=True).first).to_be_visible()
    await page.get_by_role("button", name="Log out", exact=True).click()
    await expect(page).to_have_url(re.compile("/login"))


async def test_a_change_is_approved_without_scripts(people: People, world: World) -> None:
    name = f"plain {uuid4().hex[:6]}"
    execution = await asking(world, name)
    page = await people.open(APPROVER, f"/executions/{execution}", java_script_enabled=False)
    await page.get_by_label("Comment", exact=True).fill("seen")
    await page.get_by_role("button", name="Approve", exact=True).click()
    ended = await world.admin.ended(execution, seconds=60)
    assert ended["output"] == {"decision": "approved", "comment": "seen"}
