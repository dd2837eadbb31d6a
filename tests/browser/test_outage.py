"""A log that is followed over an outage, at whose end another node answers."""

import asyncio
import re
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.people import log_in
from tests.browser.rules import headers_of_the_console
from tests.browser.watching import Browsing, browsing_of
from tests.browser.world import OPERATOR, World
from tests.support.programs.cut_line import CutLine, cut_line
from tests.support.programs.service import serving

pytestmark = pytest.mark.slow
OUTAGE_SECONDS = 10.0
TOLD_MS = 10_000  # a request that hangs fails after 3 s, and 5 s later it is told at the latest
STALE = re.compile(r"^not updated since \d\d:\d\d$")


@pytest.fixture
async def other_port(world: World, tmp_path: Path) -> AsyncIterator[int]:
    """A second node of the same database."""
    two = tmp_path / "two"
    two.mkdir()
    shutil.copy(world.folder / "data" / "master.key", two / "master.key")
    async with serving(two, variables=world.variables) as service:
        yield port_of(service.url)


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


@pytest.fixture
async def line(world: World, other_port: int) -> AsyncIterator[CutLine]:
    """To the first node; the other one outlives it."""
    async with cut_line(port_of(world.url)) as made:
        yield made


@pytest.fixture
async def there(browser: Browser, line: CutLine) -> AsyncIterator[Browsing]:
    """The console at the other end of the line."""
    url = f"http://127.0.0.1:{line.port}"
    async with browsing_of(browser, url, [headers_of_the_console]) as made:
        yield made


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"written line (\d+)", text)]


async def shown(page: Page) -> list[int]:
    return numbers(await page.inner_text("main"))


@pytest.mark.timeout(180)
async def test_a_log_is_complete_after_an_outage(
    there: Browsing, line: CutLine, other_port: int, world: World
) -> None:
    """Lines are written before it, during it and after it; none is missing, none is shown twice."""
    path = world.script("outage.script", *lines(0, 20))
    task = await world.admin.task("outage", "writes", parameters={"file": str(path)})
    execution = await world.admin.start(task)
    page = await there.page()
    await page.goto(f"/executions/{execution}")
    await log_in(page, OPERATOR)
    await expect(page.get_by_text("written line 19", exact=False)).to_be_visible()
    status = page.get_by_role("status")
    await expect(status).to_be_empty()

    with there.faults.expected("net::ERR_"):
        began = time.monotonic()
        line.hold()
        world.script(path.name, *lines(20, 30))
        await expect(status).to_have_text(STALE, timeout=TOLD_MS)
        await line.cut()
        world.script(path.name, *lines(30, 40))
        await asyncio.sleep(began + OUTAGE_SECONDS - time.monotonic())
        await expect(status).to_have_text(STALE)
        line.target = other_port
        await line.mend()
        await expect(page.get_by_text("written line 39", exact=False)).to_be_visible()
        await expect(status).to_be_empty()
    world.script(path.name, *lines(40, 50))
    await expect(page.get_by_text("written line 49", exact=False)).to_be_visible()
    assert await shown(page) == list(range(50))


def lines(first: int, behind: int) -> list[str]:
    return [f"written line {number}" for number in range(first, behind)]
