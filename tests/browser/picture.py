"""`.venv/bin/python -m tests.browser.picture` takes the picture of the console that README.md shows.

It starts a demo of its own, waits until a configuration has changed, and writes
`netautod/manual/pictures/overview.png`.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Browser, ViewportSize

from tests.browser.watching import a_browser
from tests.support.programs.service import Service, first_password, serving

PICTURE = Path(__file__).parents[2] / "netautod" / "manual" / "pictures" / "overview.png"
SIZE = ViewportSize(width=1180, height=560)
CHANGE_SECONDS = 240  # the demo changes a switch within a minute, and its task reads it within another one


async def main() -> None:
    with TemporaryDirectory(prefix="netautod-picture-") as folder:
        async with a_browser() as browser, serving(Path(folder) / "data", "--demo") as service:
            PICTURE.parent.mkdir(exist_ok=True)
            PICTURE.write_bytes(await overview(browser, service))


async def overview(browser: Browser, service: Service) -> bytes:
    """Return a PNG of the overview, once it shows a third version of the first switch."""
    context = await browser.new_context(
        base_url=service.url, viewport=SIZE, timezone_id="UTC", color_scheme="light"
    )
    page = await context.new_page()
    await page.goto("/login")
    await page.get_by_label("Username").fill("admin")
    await page.get_by_label("Password").fill(first_password(service.data_dir))
    await page.get_by_role("button", name="Log in").click()
    await page.get_by_role("link", name="version 3").first.wait_for(timeout=CHANGE_SECONDS * 1000)
    return await page.screenshot()


if __name__ == "__main__":
    asyncio.run(main())
