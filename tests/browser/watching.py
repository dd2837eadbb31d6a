"""A browser that is watched: whatever a page does wrong is a fault of the test that opened it.

Faults are errors on the console, exceptions, violations of the content security policy, requests that fail,
answers of 400 and more, dialogs that show a text, and what the rules for answers say. Pages come from
`Browsing` only, so that no test can forget to look.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    Response,
    WebError,
    async_playwright,
    expect,
)

from tests.support.programs.started import not_installed, program

# The sandbox of Chromium wants a user other than root or namespaces, neither of which CI has.
FLAGS = ("--no-sandbox", "--disable-dev-shm-usage")
# What is waited for comes at once on an idle machine.
ACTION_SECONDS = 30
AnswerRule = Callable[[Response], Iterator[str]]
# The violations of a policy are on the console too, but not which element and which directive.
POLICY_WATCH = """
document.addEventListener("securitypolicyviolation", (event) => console.error(
    `policy: ${event.violatedDirective} refuses ${event.blockedURI} ${event.sample} ${event.sourceFile}`));
"""
TOLD_AS_STATUS = "Failed to load resource: the server responded with a status of"
# A page that is left, and a download, end requests.
LEFT = ("net::ERR_ABORTED",)


@dataclass(frozen=True, kw_only=True)
class Fault:
    kind: str
    page: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.page}: {self.text}"


@dataclass(kw_only=True)
class Faults:
    """Those found so far, but for those that somebody expects."""

    found: list[Fault] = field(default_factory=list)

    def add(self, kind: str, page: str, text: str) -> None:
        self.found.append(Fault(kind=kind, page=page, text=text))

    @contextmanager
    def expected(self, *patterns: str) -> Iterator[None]:
        """Each of the patterns must be met in the block; what matches none of them stays a fault."""
        before, self.found = self.found, []
        try:
            yield
        finally:
            new, self.found = self.found, before
            self.found += [fault for fault in new if not _met(fault, patterns)]
        missing = [one for one in patterns if not any(_met(fault, [one]) for fault in new)]
        assert not missing, f"expected {missing}, found {[str(fault) for fault in new]}"

    def check(self) -> None:
        found = "\n".join(map(str, self.found))
        assert not self.found, found


def _met(fault: Fault, patterns: Sequence[str]) -> bool:
    return any(re.search(pattern, str(fault)) for pattern in patterns)


@dataclass(kw_only=True)
class Browsing:
    """Opens watched contexts in a browser; `rules` look at every answer."""

    browser: Browser
    base_url: str
    rules: Sequence[AnswerRule] = ()
    faults: Faults = field(default_factory=Faults)
    contexts: list[BrowserContext] = field(default_factory=list)

    async def context(self, **options: Any) -> BrowserContext:
        """A browser of its own: with no cookies unless `storage_state` has some."""
        made = await self.browser.new_context(**{"base_url": self.base_url, "timezone_id": "UTC", **options})
        self.contexts.append(made)
        made.set_default_timeout(ACTION_SECONDS * 1000)
        await made.add_init_script(POLICY_WATCH)
        made.on("console", self._console)
        made.on("weberror", self._exception)
        made.on("requestfailed", self._failed)
        made.on("response", self._answer)
        made.on("dialog", self._dialog)
        return made

    async def page(self, **options: Any) -> Page:
        return await (await self.context(**options)).new_page()

    async def close(self) -> None:
        """Ends the pages; what they told until then has arrived."""
        while self.contexts:
            await self.contexts.pop().close()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert") and not message.text.startswith(TOLD_AS_STATUS):
            self.faults.add("console", _url(message.page), message.text)

    def _exception(self, error: WebError) -> None:
        self.faults.add("exception", _url(error.page), str(error.error))

    def _failed(self, request: Request) -> None:
        if request.failure not in LEFT:
            self.faults.add("request", request.url, f"{request.method} {request.failure}")

    def _answer(self, answer: Response) -> None:
        if answer.status >= 400:
            self.faults.add("status", answer.url, f"{answer.request.method} {answer.status}")
        for rule in self.rules:
            for sentence in rule(answer):
                self.faults.add("answer", answer.url, sentence)

    async def _dialog(self, dialog: Dialog) -> None:
        """A question is answered with yes; a text that only script can show is a fault."""
        if dialog.type in ("alert", "prompt"):
            self.faults.add("dialog", _url(dialog.page), f"{dialog.type} {dialog.message}")
        await dialog.accept()


def _url(page: Page | None) -> str:
    return "" if page is None else page.url


@asynccontextmanager
async def a_browser() -> AsyncIterator[Browser]:
    """Debian's Chromium; nothing is downloaded."""
    path = program("chromium")
    if path is None:
        not_installed("Chromium is not installed (apt-get install chromium)")
    expect.set_options(timeout=ACTION_SECONDS * 1000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def browsing_of(
    browser: Browser, base_url: str, rules: Sequence[AnswerRule] = ()
) -> AsyncIterator[Browsing]:
    """For one test: at its end no fault may have been found, unless it failed anyway."""
    made = Browsing(browser=browser, base_url=base_url, rules=rules)
    try:
        yield made
    finally:
        await made.close()
    made.faults.check()
