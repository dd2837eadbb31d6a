"""What operators do in a morning: look, filter, pull, compare, search, find, run, follow, retry."""

import re
from uuid import uuid4

from playwright.async_api import expect

from netautod.testing import ios_config
from tests.browser.people import People
from tests.browser.world import BROKEN, COMMUNITY, ENABLE, OPERATOR, World

AN_EXECUTION = re.compile(r"/executions/[0-9a-f-]{36}$")


async def test_devices_are_filtered_and_the_address_is_the_filter(people: People, world: World) -> None:
    page = await people.open(OPERATOR, "/devices")
    await page.get_by_role("link", name="Next", exact=True).click()
    await expect(page).to_have_url(re.compile(r"offset=50"))
    await page.get_by_label("Site", exact=True).fill("berlin")
    await page.get_by_role("button", name="Filter", exact=True).click()
    await expect(page.get_by_role("link", name="core-1", exact=True)).to_be_visible()
    await expect(page.get_by_role("link", name="edge-001", exact=True)).to_have_count(0)
    shared = await people.open(OPERATOR, page.url)
    await expect(shared.get_by_role("link", name="core-1", exact=True)).to_be_visible()
    await expect(shared.get_by_label("Site", exact=True)).to_have_value("berlin")
    async with shared.expect_download() as begun:
        await shared.get_by_role("link", name="CSV", exact=True).click()
    text = (await (await begun.value).path()).read_text()
    assert ("core-1" in text, "edge-001" in text) == (True, False)


async def test_a_config_is_pulled_and_its_change_is_shown(people: People, world: World) -> None:
    """From the device to the diff, in one column and in two."""
    line = f"snmp-server location rack {uuid4().hex[:6]}"
    config = ios_config("access-1", community=COMMUNITY, enable_hash=ENABLE)
    world.switches["access-1"].config = config.replace("end\n", f"{line}\nend\n")
    page = await people.open(OPERATOR, "/devices?q=access-1")
    await page.get_by_role("link", name="access-1", exact=True).click()
    await page.get_by_role("button", name="Pull config", exact=True).click()
    await expect(page.get_by_role("note")).to_be_visible()
    await page.goto(f"/configs/{world.ids['access-1']}")
    await page.get_by_role("button", name="Diff", exact=True).click()
    added = page.locator("tr.added", has_text=line)
    await expect(added).to_be_visible()
    await page.get_by_role("link", name="Side by side", exact=True).click()
    await expect(page).to_have_url(re.compile("format=side_by_side"))
    await expect(page.locator("td.new", has_text=line)).to_be_visible()
    await page.emulate_media(media="print")
    await expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    await expect(page.locator("td.new", has_text=line)).to_be_visible()


async def test_a_config_line_is_searched_and_opened(people: People) -> None:
    page = await people.open(OPERATOR, "/search")
    await page.locator("main [name=q]").fill("switchport access vlan 11")
    await page.locator("main").get_by_role("button", name="Search", exact=True).click()
    await expect(page).to_have_url(re.compile(r"/search\?.*q=switchport\+access\+vlan\+11"))
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="core-1", exact=True)).first
    await expect(row).to_contain_text("switchport access vlan 11")
    await row.get_by_role("link", name="core-1", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("core-1")


async def test_an_address_is_found_by_keys_in_any_notation(people: People) -> None:
    page = await people.page(OPERATOR)
    for notation in ("0200.0000.0032", "02:00:00:00:00:32", "02-00-00-00-00-32"):
        await page.goto("/")
        await page.keyboard.press("/")
        await page.keyboard.type(notation)
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile(r"/find\?q="))
        row = page.get_by_role("row").filter(has_text="core-1").first
        await expect(row).to_contain_text("GigabitEthernet1/0/1")


async def test_the_topology_is_a_drawing_and_a_table(people: People, world: World) -> None:
    page = await people.open(OPERATOR, f"/topology?device_id={world.ids['core-1']}")
    await expect(page.locator("main svg").first).to_be_visible()
    await expect(page.get_by_role("table").first).to_contain_text("core-1")


async def test_a_task_is_made_with_a_preview_and_its_run_is_followed(people: People, world: World) -> None:
    name, script = f"written {uuid4().hex[:6]}", world.script(f"{uuid4().hex}.script", "first line")
    page = await people.open(OPERATOR, "/tasks")
    await page.get_by_role("link", name="New task", exact=True).first.click()
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_label("Task type", exact=True).select_option("writes")
    await page.get_by_label("Cron expression", exact=True).fill("30 2 * * *")
    await page.get_by_role("button", name="Preview", exact=True).click()
    preview = page.get_by_role("region", name="Next runs")
    await expect(preview.get_by_role("row").nth(10)).to_be_visible()
    await page.locator("fieldset[data-type=writes] textarea").fill(f'{{"file": "{script}"}}')
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(name)
    await page.get_by_role("button", name="Run", exact=True).click()
    await expect(page).to_have_url(AN_EXECUTION)
    log = page.get_by_role("region", name="Log")
    await expect(log.get_by_text("first line")).to_be_visible()
    await page.get_by_role("button", name="Pause", exact=True).click()
    world.script(script.name, "second line")
    for _ in range(2):  # news of the rest of the page, which come more seldom than lines
        async with page.expect_response(AN_EXECUTION):
            pass
    await expect(log.get_by_text("second line")).to_have_count(0)
    await page.get_by_role("button", name="Pause", exact=True).click()
    await expect(log.get_by_text("second line")).to_be_visible()
    await page.get_by_role("button", name="Cancel", exact=True).click()
    await expect(page.get_by_text("cancelled", exact=True).first).to_be_visible()


async def test_only_what_failed_is_run_again(people: People, world: World) -> None:
    """The failed execution says why, and its retry is one of its own with the one device."""
    page = await people.open(OPERATOR, "/executions?state=failed")
    await page.get_by_role("link", name="mixed", exact=True).last.click()
    results = page.get_by_role("region", name="Results by device")
    await expect(results).to_contain_text(BROKEN)
    await expect(page.get_by_role("region", name="Failures by kind")).to_contain_text("Login refused")
    await page.get_by_role("button", name="Retry failed", exact=True).click()
    await expect(page).to_have_url(AN_EXECUTION)
    assert not page.url.endswith(world.ids["failed"])
    await expect(results).to_contain_text(BROKEN)
    await expect(results).not_to_contain_text("lab-1")


async def test_a_cron_expression_that_is_none_keeps_the_form(people: People) -> None:
    page = await people.open(OPERATOR, "/tasks/new")
    await page.get_by_label("Name", exact=True).fill("kept name")
    await page.get_by_label("Cron expression", exact=True).fill("61 * * * *")
    with people.browsing.faults.expected("status at .*/tasks/new: POST 400"):
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_role("alert")).to_contain_text("request")
    await expect(page.get_by_label("Name", exact=True)).to_have_value("kept name")
    await expect(page.get_by_label("Cron expression", exact=True)).to_have_value("61 * * * *")
