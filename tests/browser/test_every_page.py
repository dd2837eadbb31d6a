"""Every page as it is seen: accessible, in both colours, on a phone; with pictures if somebody wants to look.

`CONSOLE_PICTURES=FOLDER` keeps a picture of each page in light, in dark and 360 pixels wide.
"""

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, StorageState, ViewportSize

from tests.browser.axe import COLOURS, violations
from tests.browser.crawling import Crawls
from tests.browser.people import People
from tests.browser.rules import headers_of_the_console
from tests.browser.visits import NOBODY, OF_THE_MANUAL, UNKNOWN, VISITS, Visit, form_of, pages_of_the_console
from tests.browser.watching import browsing_of
from tests.browser.world import ADMINISTRATOR, World

PICTURES = os.environ.get("CONSOLE_PICTURES")
WIDE, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=360, height=740)
MOST_NODES = 3000
# Pages that lead on to a provider, or are seen once only.
REDIRECTS = {"/login/:"}
# What stands only once on a page, and what is too wide for the window without being scrolled in itself.
LOOK = """() => ({
    headings: document.querySelectorAll("h1").length,
    mains: document.querySelectorAll("main").length,
    navigations: document.querySelectorAll("nav").length,
    nodes: document.querySelectorAll("*").length,
    title: document.title,
})"""
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll("body *")]
        .filter((each) => each.getBoundingClientRect().right > innerWidth
            && (!each.closest(".scroll") || getComputedStyle(each).position === "absolute"))
        .map((each) => `${each.tagName} ${each.className} ${each.textContent.trim().slice(0, 40)}`)
        .slice(0, 5).concat(`${document.documentElement.scrollWidth} pixels`)"""


@pytest.fixture(scope="module")
async def shared(browser: Browser, world: World, logins: dict[str, StorageState]) -> AsyncIterator[People]:
    """Windows that stay open: a context takes longer than a page."""
    async with browsing_of(browser, world.url, [headers_of_the_console]) as browsing:
        yield People(browsing=browsing, logins=logins)


@pytest.fixture(scope="module")
def windows() -> dict[str, Page]:
    return {}


async def opened(shared: People, windows: dict[str, Page], world: World, visit: Visit) -> Page:
    """The page in the window of whoever visits it."""
    if visit.who not in windows:
        options = {"viewport": WIDE, "color_scheme": "light", "reduced_motion": "reduce"}
        windows[visit.who] = await (
            shared.page(visit.who, **options) if visit.who != NOBODY else shared.browsing.page(**options)
        )
    page = windows[visit.who]
    await page.set_viewport_size(WIDE)
    await page.emulate_media(color_scheme="light")
    answer = await page.goto(visit.path.format_map(world.ids))
    assert answer is not None
    assert answer.status == visit.status, await page.inner_text("body")
    return page


@pytest.mark.parametrize(
    "visit",
    [*VISITS, *(pytest.param(visit, marks=pytest.mark.slow) for visit in OF_THE_MANUAL)],
    ids=lambda visit: visit.id,
)
async def test_a_page_can_be_used_by_everybody(
    shared: People, windows: dict[str, Page], world: World, visit: Visit
) -> None:
    faults = shared.browsing.faults
    faults.found.clear()
    wanted = [f"status at .*: GET {visit.status}$"] if visit.status >= 400 else []
    with faults.expected(*wanted):
        wrong = await looked_at(shared, windows, world, visit)
    assert not wrong, "\n".join(wrong)
    faults.check()


@pytest.mark.timeout(300)
async def test_pages_further_down_can_be_used_by_everybody(
    shared: People, windows: dict[str, Page], world: World, crawls: Crawls
) -> None:
    """Those that a crawl of the administrator finds beside the visits: no page of the console is left out."""
    shared.browsing.faults.found.clear()
    crawl = await crawls.of(ADMINISTRATOR, shared)
    pages = pages_of_the_console()
    answered = {pages[form_of(visit.path.format_map(world.ids))] for visit in VISITS if visit.path != UNKNOWN}
    wrong = {}
    for met in crawl.met:
        form = form_of(met.path)
        if met.status == 200 and form in pages and pages[form] not in answered:
            answered.add(pages[form])
            found = await looked_at(shared, windows, world, Visit(path=met.path))
            if found:
                wrong[form] = found
    assert wrong == {}
    left_out = {form for form, answers in pages.items() if answers not in answered}
    assert left_out == REDIRECTS
    shared.browsing.faults.check()


async def looked_at(shared: People, windows: dict[str, Page], world: World, visit: Visit) -> list[str]:
    """What is wrong with the page in either colour and on a phone."""
    page = await opened(shared, windows, world, visit)
    wrong = [*await what_is_wrong(page, visit), *await violations(page)]
    await picture(page, visit, "light")
    await page.emulate_media(color_scheme="dark")
    wrong += [f"dark: {line}" for line in await violations(page, rules=COLOURS)]
    await picture(page, visit, "dark")
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size(PHONE)
    wrong += [f"360 pixels: {line}" for line in await page.evaluate(TOO_WIDE)]
    await picture(page, visit, "360")
    return wrong


async def what_is_wrong(page: Page, visit: Visit) -> list[str]:
    """Beyond what axe sees: the frame that all pages have, and their size."""
    seen = await page.evaluate(LOOK)
    wanted = {"headings": 1, "mains": 1, "navigations": 0 if nobody_is_known(visit) else 1}
    wrong = [f"{name}: {seen[name]}" for name, count in wanted.items() if seen[name] != count]
    if seen["nodes"] > MOST_NODES:
        wrong.append(f"{seen['nodes']} elements")
    if not re.fullmatch(r".+ - .+", seen["title"]):
        wrong.append(f"its title is {seen['title']!r}")
    if visit.status >= 400 and not re.search(r"[Rr]equest", await page.inner_text("main")):
        wrong.append("the request id is not shown")
    return wrong


def nobody_is_known(visit: Visit) -> bool:
    """Without a session, or at an address of no page, for which no session is looked up."""
    return visit.who == NOBODY or visit.path == UNKNOWN


async def picture(page: Page, visit: Visit, look: str) -> None:
    """Outside of the repository, for whoever wants to see it."""
    if PICTURES:
        path = Path(PICTURES) / f"{visit.file_name}.{visit.who or 'nobody'}.{look}.png"
        await page.screenshot(path=path, full_page=True)
