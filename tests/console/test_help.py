"""The manual in the console: for anyone, with links between its pages, a search, and a "?" on every page."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from netautod.console.help.markdown import MarkdownRenderer
from netautod.console.help.pages import ManualPages
from netautod.console.routes import CHAPTERS, PAGES, chapters
from netautod.console.settings import ConsoleSettings
from netautod.core.errors import Unavailable
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.http.context import HttpContext
from netautod.manual.library import Manual
from netautod.manual.page import Page
from netautod.store.client import Database
from tests.console.site import Site, open_site
from tests.support.pages import Browser, LoadedPage
from tests.support.tables import over

MANUAL = Manual.installed()
HOSTILE = """# Title <b>

[relative](../use/events.md#events-of-the-stream) [own](#next) [index](../index.md) [file](../pictures/a.png)
[outside](https://example.com/x) [script](javascript:alert(1)) <script>alert(1)</script>

## Next <i>

```sh
echo "<script>" # not a heading
```

| A | B |
| --- | --- |
| <img src=x> | `a < b` |

![A picture](../pictures/a.png)
"""


def anyone(site: Site) -> Browser:
    """Return a browser without a session."""
    return replace(site.browser(), cookie="")


def rendered(text: str) -> LoadedPage:
    html = MarkdownRenderer().render(Page("operate/mine", text))
    return LoadedPage(status=200, headers=cast("object", None), html=f"<body>{html}</body>")  # type: ignore[arg-type]


def test_links_lead_to_pages_of_the_console() -> None:
    assert rendered(HOSTILE).links == {
        "relative": "/help/use/events#events-of-the-stream",
        "own": "#next",
        "index": "/help",
        "file": "/help/pictures/a.png",
        "outside": "https://example.com/x",
    }


def test_nothing_of_a_page_is_raw_html() -> None:
    page = rendered(HOSTILE)
    assert page.all("script") == []
    assert page.all("b") == page.all("i") == []
    assert [image.attributes for image in page.all("img")] == [
        {"src": "/help/pictures/a.png", "alt": "A picture"}
    ]
    assert page.all("pre")[0].text == 'echo "<script>" # not a heading'
    assert page.rows == [["<img src=x>", "a < b"]]
    assert "<script>alert(1)</script>" in page.text


def test_what_scrolls_can_take_the_focus_and_has_a_name() -> None:
    page = rendered(HOSTILE)
    assert page.all("pre")[0].attributes == {"tabindex": "0"}
    assert page.all("div")[0].attributes == {
        "class": "scroll",
        "role": "region",
        "tabindex": "0",
        "aria-label": "Table 1: Next <i>",
    }


@over("name", list(MANUAL.pages))
def test_headings_have_the_anchors_that_links_name(name: str) -> None:
    page = MANUAL.pages[name]
    html = rendered(page.text)
    ids = [each.attributes["id"] for each in html.elements if each.tag in ("h2", "h3", "h4", "h5")]
    assert ids == [section.anchor for section in page.sections[1:]]
    assert html.all("h1") == []


async def test_the_index_and_a_page_need_no_session(site: Site) -> None:
    browser = anyone(site)
    index = await browser.get("/help")
    assert index.heading == MANUAL.pages["index"].title
    assert index.all("nav") == []
    page = await browser.get(index.links["Style"])
    assert page.heading == MANUAL.pages["develop/style"].title
    assert page.links["Give reasons in comments"] == "#give-reasons-in-comments"
    assert page.all("h2", id="give-reasons-in-comments")


async def test_a_page_leads_to_the_one_before_and_after_it(site: Site) -> None:
    browser, listed = anyone(site), list(MANUAL.pages.values())
    page = await browser.get(f"/help/{listed[1].name}")
    [before], [after] = page.all("a", rel="prev"), page.all("a", rel="next")
    assert (before.text, before.attributes["href"]) == (f"Previous: {listed[0].title}", "/help")
    assert (after.text, after.attributes["href"]) == (f"Next: {listed[2].title}", f"/help/{listed[2].name}")
    last = await browser.get(f"/help/{listed[-1].name}")
    assert last.all("a", rel="next") == []


async def test_with_a_session_the_navigation_stays(site: Site) -> None:
    page = await site.browser("devices.access").get("/help/develop/style")
    assert len(page.all("nav")) == 1
    assert page.links["Devices"] == "/devices"


async def test_an_ended_session_and_a_database_that_is_away_do_not_matter(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await replace(site.browser(), cookie="ended").get("/help")).all("nav") == []

    async def unavailable(cookie: str, info: RequestInfo, by_person: bool) -> Caller:
        raise Unavailable("the database does not answer")

    settings = site.service.application.settings
    context = replace(cast(HttpContext, settings["context"]), page_caller=unavailable)
    monkeypatch.setitem(settings, "context", context)
    assert (await site.browser("*").get("/help/develop/style")).all("nav") == []


@pytest.mark.parametrize(
    ("path", "address"),
    [
        pytest.param("/help/style", "/help/develop/style", id="without its folder"),
        pytest.param("/help/develop/Style.md", "/help/develop/style", id="as a file"),
        pytest.param("/help/index", "/help", id="the index"),
    ],
)
async def test_other_names_lead_to_the_page(site: Site, path: str, address: str) -> None:
    assert (await anyone(site).get(path, status=303)).headers["Location"] == address


@pytest.mark.parametrize(
    "path",
    ["/help/nowhere", "/help/develop/nowhere", "/help/develop/..%2fstyle", "/help/pictures/..%2fpage.py"],
)
async def test_what_the_manual_lacks_is_a_page_of_its_own(site: Site, path: str) -> None:
    assert (await anyone(site).get(path, status=404)).heading == "Not Found"


async def test_a_search_finds_sections(site: Site) -> None:
    page = await anyone(site).get("/help?q=give+REASONS")
    assert page.links["Give reasons in comments"] == "/help/develop/style#give-reasons-in-comments"
    [field] = page.all("input", id="help-search")
    assert field.attributes["value"] == "give REASONS"


async def test_a_search_without_a_match_names_pages_like_it(site: Site) -> None:
    page = await anyone(site).get("/help?q=styel")
    assert "No section of the manual has “styel”." in page.text
    assert page.links[MANUAL.pages["develop/style"].title] == "/help/develop/style"


async def test_a_hostile_search_is_text(site: Site) -> None:
    page = await anyone(site).get("/help?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert [
        each.attributes.get("src", "") for each in page.all("script") if "src" not in each.attributes
    ] == []
    assert '“"><script>alert(1)</script>”' in page.text
    await anyone(site).get(f"/help?q={'x' * 256}", status=400)
    assert (await anyone(site).get("/help?q=%20")).heading == MANUAL.pages["index"].title


async def test_pages_have_a_link_to_their_chapter(site: Site) -> None:
    browser = site.browser("*")
    for path, wanted in (
        ("/devices", "use/devices"),
        ("/executions", "use/tasks"),
        ("/audit", "operate/audit"),
    ):
        assert chapter_of(await browser.get(path)) == f"/help/{wanted}"
    assert chapter_of(await browser.get("/devices/none", status=404)) == "/help/use/devices"
    assert chapter_of(await browser.get("/nowhere", status=404)) == "/help"
    assert chapter_of(await anyone(site).get("/login")) == "/help/use/console"


def chapter_of(page: LoadedPage) -> str:
    [link] = page.all("a", aria_label="Help")
    return link.attributes["href"]


def test_every_page_has_a_chapter() -> None:
    own = {"/help", "/help/:page", "/help/:folder/:page", "/help/pictures/:name", "/static/:name"}
    assert {route.path for route in PAGES} - chapters().keys() == own


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_is_a_page_of_the_manual_or_a_section_of_one(chapter: str) -> None:
    name, _, anchor = chapter.partition("#")
    anchors = {section.anchor for section in MANUAL.pages[name].sections}
    assert not anchor or anchor in anchors


async def test_without_the_console_there_is_no_manual(database: Database, tmp_path: Path) -> None:
    async with open_site(database, tmp_path, console=ConsoleSettings(enabled=False)) as site:
        answer = await site.api().get("/help")
        assert (answer.status, answer.json) == (404, {"error": "Not found"})


async def test_a_page_is_rendered_once() -> None:
    pages = ManualPages(MANUAL)
    page = MANUAL.pages["develop/style"]
    assert await pages.html(page) is await pages.html(page)
