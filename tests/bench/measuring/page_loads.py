"""A page of the console as a browser loads it: bytes, requests, and when what is seen and what moves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, StorageState, async_playwright

from tests.bench.measuring.report import BenchmarkError
from tests.browser.watching import FLAGS
from tests.support.programs.started import program

# Of scripts the longest that held up a frame for more than 50 ms (Long Animation Frames API), 0 for none.
# The moment after the paint that shows the first row, in milliseconds from the start of the navigation.
WATCH = """
window.seen = { row: null, shift: 0, longest: 0 };
const look = () => document.querySelector("main tbody tr, main .card")
    ? requestAnimationFrame(() => setTimeout(() => { seen.row = performance.now(); }))
    : requestAnimationFrame(look);
look();
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
    if (!entry.hadRecentInput) seen.shift += entry.value;
})).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
    seen.longest = Math.max(seen.longest, ...entry.scripts.map((script) => script.duration));
})).observe({ type: "long-animation-frame", buffered: true });
"""
SEEN = """() => new Promise((done) => {
    const wait = () => seen.row === null ? setTimeout(wait, 5)
        : done({ ...seen, nodes: document.querySelectorAll("*").length });
    wait();
})"""


@dataclass(frozen=True, kw_only=True)
class Load:
    """`requests`: without those that the cache answers. `bytes`: on the wire, headers included."""

    requests: int
    bytes: int
    row_ms: float
    nodes: int
    shift: float
    longest_ms: float


@dataclass(kw_only=True)
class _Traffic:
    requests: set[str] = field(default_factory=set)
    bytes: int = 0
    redirects: int = 0

    def begun(self, event: dict[str, Any]) -> None:
        self.requests.add(event["requestId"])
        self.redirects += "redirectResponse" in event

    def cached(self, event: dict[str, Any]) -> None:
        self.requests.discard(event["requestId"])

    def answered(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            self.cached(event)

    def ended(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])


@asynccontextmanager
async def measuring_browser() -> AsyncIterator[Browser]:
    path = program("chromium")
    if path is None:
        raise BenchmarkError("chromium is not installed (apt-get install chromium)")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        await browser.close()


async def fresh(browser: Browser, base_url: str, state: StorageState) -> BrowserContext:
    """A browser with a session and an empty cache."""
    context = await browser.new_context(base_url=base_url, storage_state=state)
    await context.add_init_script(WATCH)
    return context


async def load(page: Page, path: str) -> Load:
    """What came up to the load event, and what was seen by then and a moment later."""
    session, traffic = await page.context.new_cdp_session(page), _Traffic()
    session.on("Network.requestWillBeSent", traffic.begun)
    session.on("Network.requestServedFromCache", traffic.cached)
    session.on("Network.responseReceived", traffic.answered)
    session.on("Network.loadingFinished", traffic.ended)
    await session.send("Network.enable")
    answer = await page.goto(path)
    requests, received = len(traffic.requests) + traffic.redirects, traffic.bytes
    if answer is None or answer.status != 200:
        raise BenchmarkError(f"{path} answered {answer and answer.status}")
    seen = await page.evaluate(SEEN)
    await session.detach()
    return Load(
        requests=requests,
        bytes=received,
        row_ms=seen["row"],
        nodes=seen["nodes"],
        shift=seen["shift"],
        longest_ms=seen["longest"],
    )
