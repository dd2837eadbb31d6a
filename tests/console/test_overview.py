"""The overview: how everything stands, and where the numbers lead."""

from urllib.parse import parse_qs, urlsplit

from tests.console.seeds import device, noted
from tests.console.site import Site


async def test_nothing_yet(site: Site) -> None:
    page = await site.browser("devices.access", org_id="an empty one").get("/")
    assert page.heading == "Overview"
    assert page.links["Import or synchronise an inventory"] == "/inventory"
    assert "Runs" not in page.text


async def test_backups_lead_to_the_lists_that_they_count(site: Site) -> None:
    for name, kind in (("good", None), ("locked", "auth"), ("slow", "timeout"), ("slower", "timeout")):
        await noted(site, await device(site, name), kind=kind)
    await device(site, "never")
    browser = site.browser("devices.access")
    page = await browser.get("/")
    for text in ("1backed up", "3failed", "1never backed up", "Timed out", "Login refused"):
        path = page.links[text]
        count = {"Timed out": 2, "Login refused": 1}.get(text) or int(text[0])
        assert len((await browser.get(path)).rows) == count, text
    assert parse_qs(urlsplit(page.links["Timed out"]).query) == {
        "status": ["failed"],
        "error_kind": ["timeout"],
    }


async def test_runs_and_a_pause_are_for_operators(site: Site) -> None:
    admin = site.api()
    (await admin.post("/api/system/pause", {"reason": "<i>moving</i> the core"})).expect(200)
    page = await site.browser("devices.access", "tasks.operate").get("/")
    assert "Automation is paused: <i>moving</i> the core (by admin" in page.text
    assert page.links["0waiting for approval"] == "/approvals"
    assert page.links["0running"] == "/executions?state=running"
    page = await site.browser("devices.access").get("/")
    assert "paused" not in page.text
    assert "waiting for approval" not in page.text
    (await admin.post("/api/system/resume")).expect(200)


async def test_who_may_not_see_devices_is_led_on(site: Site) -> None:
    page = await site.browser("users.manage").get("/", status=303)
    assert page.headers["Location"] == "/users"
    page = await site.browser("tasks.operate").get("/", status=303)
    assert page.headers["Location"] == "/tasks"
