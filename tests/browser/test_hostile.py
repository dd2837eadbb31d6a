"""Names, banners, neighbors, config lines and notes that want to break out of a page stay text on it."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page

from netautod.core.text.printable import printable
from tests.browser.crawling import UUID, Crawl, Met
from tests.browser.hostile import KINDS, NAMES, TEXTS, OddWorld, odd_switch, populate_oddly, word
from tests.browser.people import People
from tests.browser.world import ODD, World

ELEMENTS = {"a", "button", "form", "input", "link", "script", "table", "time"}
ADDRESSES = ("href", "src", "action", "formaction", "data", "xlink:href")
# What stands in each page of a kind, else it would not be known that the page shows the name at all.
LISTS = {
    "device": "/devices",
    "site": "/sites",
    "task": "/tasks",
    "document": "/documents",
    "credential": "/credentials",
    "role": "/roles",
    "webhook": "/webhooks",
    "token": "/account",
}
FOREIGN = """() => [...document.querySelectorAll("*")].flatMap((each) => [
    ...(["SCRIPT", "IFRAME", "OBJECT", "EMBED", "BASE", "META"].includes(each.tagName) && each.closest("body")
        ? [each.outerHTML] : []),
    ...[...each.attributes].filter(({ name, value }) =>
        name.startsWith("on") || name === "style" || name === "autofocus" && each.closest("table")
        || /^\\s*(javascript|data|vbscript):/i.test(value) && ["href", "src", "action"].includes(name),
    ).map(({ name, value }) => `${each.tagName} ${name}=${value}`),
])"""


@pytest.fixture(scope="module")
async def odd(world: World) -> AsyncIterator[OddWorld]:
    async with odd_switch() as switch:
        yield await populate_oddly(world, switch)


def test_most_names_are_taken(odd: OddWorld) -> None:
    """Otherwise there is little to see."""
    for kind in KINDS:
        assert len(odd.accepted[kind]) > len(NAMES) // 2, kind


async def test_hostile_texts_stay_text(people: People, odd: OddWorld) -> None:
    """All pages over HTTP; of each form of address the first one in the browser as well."""
    crawl = await Crawl(visitor=await people.visitor(ODD)).run()
    assert [str(met) for met in crawl.met if met.status not in (200, 302, 303)] == []
    pages = [met for met in crawl.met if met.page is not None]
    assert [line for met in pages for line in foreign_in(met)] == []
    assert missing(pages, odd) == {}
    window = await people.page(ODD)
    seen, wrong = set[str](), dict[str, object]()
    for met in pages:
        form = UUID.sub(":", met.path.partition("?")[0])
        if form not in seen:
            seen.add(form)
            await window.goto(met.path)
            found = await window.evaluate(FOREIGN)
            if found:
                wrong[met.path] = found
    assert wrong == {}
    await told_by_the_switch(window, odd)


def foreign_in(met: Met) -> list[str]:
    """What only a text that became markup can have brought: handlers, styles, scripts and odd addresses."""
    assert met.page is not None
    found = []
    for element in met.page.elements:
        for name, value in element.attributes.items():
            scheme = value.strip().lower().partition(":")[0]
            if (
                name.startswith("on")
                or name == "style"
                or (name in ADDRESSES and scheme in ("javascript", "data"))
            ):
                found.append(f"{met}: {element.tag} {name}={value}")
        if element.tag == "script" and not element.attributes.get("src", "").startswith("/static/"):
            found.append(f"{met}: a script {element.texts}")
    return found


def missing(pages: list[Met], odd: OddWorld) -> dict[str, set[str]]:
    """Names that their list does not show letter by letter, with escapes for what hides in them."""
    wrong = {}
    for kind, path in LISTS.items():
        shown = " ".join(met.page.text for met in pages if met.page and met.path.partition("?")[0] == path)
        lost = {text for text in odd.accepted[kind] if " ".join(printable(text).split()) not in shown}
        if lost:
            wrong[kind] = lost
    return wrong


async def told_by_the_switch(window: Page, odd: OddWorld) -> None:
    """Its lines as it wrote them, on the page of the config, of the diff and of the neighbors."""
    switch = odd.ids["switch"]
    for path, texts in ((f"/configs/{switch}/2", TEXTS), (f"/devices/{switch}?tab=neighbors", NAMES)):
        await window.goto(path)
        shown = await window.inner_text("main")
        assert [name for name, text in texts.items() if word(text) not in shown] == [], path
