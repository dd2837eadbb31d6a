"""The watched browser itself: a fault of a page fails the test that opened it; axe works under a policy."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, Response, expect
from tornado.web import Application, RequestHandler

from tests.browser.axe import COLOURS, violations
from tests.browser.watching import Browsing, Faults, browsing_of
from tests.support.servers.http import serve

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"
HEAD = '<!doctype html><html lang="en"><head><title>A page</title>'
MAIN = "<main><h1>A page</h1>{}</main></html>"
PAGES = {
    "/good": "<p>All is well.</p>",
    "/console": '<script type="module" src="/says.js"></script>',
    "/exception": '<script type="module" src="/throws.js"></script>',
    "/alert": '<script type="module" src="/alerts.js"></script>',
    "/inline-style": '<p style="color: red">Red?</p>',
    "/inline-script": "<script>document.title = 'Changed'</script>",
    "/handler": '<img alt="" src="/nothing.png" onerror="alert(1)">',
    "/elsewhere": '<img alt="" src="http://127.0.0.2:9/tracker.png">',
    "/missing-file": '<script type="module" src="/missing.js"></script>',
    "/refused-request": '<script type="module" src="/fetches.js"></script>',
    "/dropped-request": '<script type="module" src="/drops.js"></script>',
    "/unnamed-field": '<form><input name="q"></form>',
    "/pale": '<link rel="stylesheet" href="/pale.css"><p>Hard to read in the dark.</p>',
    "/small-target": '<link rel="stylesheet" href="/pale.css"><button>x</button><button>y</button>',
}
FILES = {
    "/says.js": "console.error('it went wrong')",
    "/throws.js": "throw new Error('thrown')",
    "/alerts.js": "alert('shown')",
    "/fetches.js": "await fetch('/missing'); document.title = 'Asked'",
    "/drops.js": "await fetch('/dropped').catch(() => null); document.title = 'Asked'",
    "/pale.css": "@media (prefers-color-scheme: dark) { body { background: #000; color: #222 } }"
    "button { width: 8px; height: 8px; padding: 0; border: 0; margin: 0; font-size: 6px }",
}


class Pages(RequestHandler):
    def get(self) -> None:
        path = self.request.path
        self.set_header("Content-Security-Policy", POLICY)
        if path in FILES:
            self.set_header("Content-Type", "text/css" if path.endswith("css") else "text/javascript")
            self.write(FILES[path])
        elif path in PAGES:
            self.write(HEAD + MAIN.format(PAGES[path]))
        elif path == "/dropped":
            connection: Any = self.request.connection
            connection.stream.close()
        else:
            self.set_status(404)
            self.write("There is no such page.")


@pytest.fixture(scope="module")
async def url() -> AsyncIterator[str]:
    server, url = serve(Application([(".*", Pages)]))
    yield url
    server.stop()
    await server.close_all_connections()


FAULTS = [
    pytest.param("/console", "console at .*: it went wrong", id="an error on the console"),
    pytest.param("/exception", "exception at .*: .*thrown", id="an exception"),
    pytest.param("/alert", "dialog at .*: alert shown", id="an alert"),
    pytest.param("/inline-style", "console at .*: policy: style-src-attr", id="an inline style"),
    pytest.param("/inline-script", "console at .*: policy: script-src-elem", id="an inline script"),
    pytest.param("/handler", "console at .*: policy: script-src-attr", id="a handler in an attribute"),
    pytest.param("/elsewhere", "console at .*: policy: img-src", id="an image of another origin"),
    pytest.param("/missing-file", "status at .*missing.js: GET 404", id="a file that there is not"),
    pytest.param("/refused-request", "status at .*missing: GET 404", id="a request that is refused"),
    pytest.param(
        "/dropped-request", "request at .*dropped: GET net::ERR_EMPTY_RESPONSE", id="a server that is gone"
    ),
    pytest.param("/none", "status at .*none: GET 404", id="a page that there is not"),
]


@pytest.fixture(scope="module")
async def opened(browser: Browser, url: str) -> AsyncIterator[Browsing]:
    """One context for all pages: a context takes longer than a page."""
    async with browsing_of(browser, url) as browsing:
        await browsing.page()
        yield browsing


@pytest.mark.parametrize(("path", "pattern"), FAULTS)
async def test_what_a_page_does_wrong_is_a_fault(opened: Browsing, path: str, pattern: str) -> None:
    [page] = opened.contexts[0].pages
    await page.goto(path)
    if path.endswith("request"):
        await expect(page).to_have_title("Asked")
    with pytest.raises(AssertionError, match=pattern):
        opened.faults.check()
    opened.faults.found.clear()


async def test_what_is_expected_must_come_and_nothing_else() -> None:
    faults = Faults()
    with faults.expected("status at /here: GET 403"):
        faults.add("status", "/here", "GET 403")
        faults.add("console", "/here", "an error")
    with pytest.raises(AssertionError, match="expected"), faults.expected("status"):
        pass
    with pytest.raises(AssertionError, match="console at /here: an error"):
        faults.check()


async def test_what_the_rules_and_the_watch_find_fails_the_test_that_opened_the_page(
    browser: Browser, url: str
) -> None:
    def no_styles(answer: Response) -> Iterator[str]:
        if answer.request.resource_type == "stylesheet":
            yield "a style"

    with pytest.raises(AssertionError, match=r"answer at .*pale\.css: a style"):
        async with browsing_of(browser, url, [no_styles]) as browsing:
            await (await browsing.page()).goto("/pale")


async def test_axe_sees_what_is_inaccessible(browser: Browser, url: str) -> None:
    async with browsing_of(browser, url) as browsing:
        page = await browsing.page(color_scheme="light")
        await page.goto("/good")
        assert await violations(page) == []
        await page.goto("/unnamed-field")
        [found] = await violations(page)
        assert found.startswith("label (")
        await page.goto("/small-target")
        [found] = await violations(page)
        assert found.startswith("target-size (")
        await page.goto("/pale")
        assert await violations(page) == []
        await page.emulate_media(color_scheme="dark")
        [found] = await violations(page, rules=COLOURS)
        assert found.startswith("color-contrast (")
