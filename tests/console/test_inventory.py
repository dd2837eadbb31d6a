"""Pages of the inventory: imports with a check first, saved sources and their synchronisations."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.identity.caller import OrgId
from netautod.network.inventory.sync.models import SyncEntry
from netautod.network.inventory.sync.store import NOTHING
from tests.console.site import Site
from tests.support.pages import Browser, LoadedPage
from tests.support.servers.netbox import V1_TOKEN, NetBoxReplay, generated_devices

IMPORT = "/inventory/import"
HOSTILE = "<script>alert(1)</script>"
GOOD = "name,host,device_type\nimported-1,192.0.2.1,cisco_ios\nimported-2,192.0.2.2,cisco_ios\n"
# Too large to be carried on by the form; no row of it has an address.
LARGE = ("name,host,device_type,description\n" + f"x,,cisco_ios,{'long ' * 800}\n" * 140).encode()
BAD = f"{GOOD}{HOSTILE},,cisco_ios\n"


@pytest.fixture(scope="module", autouse=True)
async def waited_for(site: Site) -> None:
    """Each synchronisation is over when its form is answered, however slow the machine is."""
    application: Any = site.service.application
    (_, services), _ = application.table.find("/inventory/sources/x/sync")
    services["syncs"].patience = 300


@pytest.fixture
async def manager(site: Site) -> Browser:
    """Of an organization of the test's own, which has no device yet."""
    return site.browser("devices.access", "devices.manage", org_id=str(uuid4()))


@pytest.fixture
async def netbox() -> AsyncIterator[NetBoxReplay]:
    # On the loop: a server that is made beside it would be watched by a loop that never turns.
    server = NetBoxReplay(generated_devices(12))
    yield server
    server.close()


async def names(site: Site, browser: Browser) -> list[str]:
    found = (await site.api(browser).get("/api/devices")).expect()["devices"]
    return sorted(device["name"] for device in found)


def hidden(page: LoadedPage, name: str) -> str:
    return page.all("input", name=name)[0].attributes["value"]


def pasted(page: LoadedPage) -> str:
    (area,) = page.all("textarea", name="text")
    return "".join(area.texts).removeprefix("\n").replace("\r\n", "\n")


async def test_rows_are_checked_before_they_are_imported(site: Site, manager: Browser) -> None:
    page = await manager.get(IMPORT)
    assert page.controls == {"Log out", "Check"}
    page = await manager.upload(IMPORT, {"text": BAD})
    assert "2 devices would be imported, 1 row would fail" in page.text
    assert page.rows == [["3", HOSTILE, "host: Missing data for required field"]]
    assert pasted(page) == BAD
    assert await names(site, manager) == []
    checked = hidden(page, "checked")
    more = f"{BAD}imported-3,192.0.2.3,cisco_ios\n"
    page = await manager.upload(IMPORT, {"text": more, "checked": checked, "run": "import"})
    assert "not what was checked before" in page.text
    assert await names(site, manager) == []
    page = await manager.upload(IMPORT, {"text": BAD, "checked": checked, "run": "import"})
    assert "Imported: 2 devices; 1 row failed" in page.text
    assert await names(site, manager) == ["imported-1", "imported-2"]


async def test_the_check_warns_of_device_types_that_nothing_has(manager: Browser) -> None:
    rows = GOOD.replace("2,cisco_ios", "2,cisco_isos")
    page = await manager.upload(IMPORT, {"text": rows})
    text = "device_type: no platform is called cisco_isos: this row is handled as generic"
    assert page.rows == [["2", "imported-2", f"{text}; did you mean cisco_ios?"]]


async def test_a_file_with_two_marks_is_the_text_that_was_checked(manager: Browser) -> None:
    page = await manager.upload(IMPORT, {"text": ""}, {"file": b"\xef\xbb\xbf" + GOOD.encode("utf-8-sig")})
    assert pasted(page) == GOOD
    again = {"text": pasted(page), "checked": hidden(page, "checked"), "run": "import"}
    assert (await manager.upload(IMPORT, again, status=303)).headers["Location"] == "/devices"


async def test_a_file_comes_back_as_a_text_unless_it_is_large(site: Site, manager: Browser) -> None:
    file = GOOD.replace("\n", "\r\n").encode("utf-8-sig")
    page = await manager.upload(IMPORT, {"text": ""}, {"file": file})
    assert pasted(page) == GOOD
    again = {"text": pasted(page), "checked": hidden(page, "checked"), "run": "import"}
    page = await manager.upload(IMPORT, again, status=303)
    assert page.headers["Location"] == "/devices"
    assert await names(site, manager) == ["imported-1", "imported-2"]
    page = await manager.upload(IMPORT, {"text": ""}, {"file": LARGE})
    assert pasted(page) == ""
    assert "select it again" in page.text
    assert len(page.rows) == 50
    assert "The first 50 of 140 are shown" in page.text
    (rest,) = page.all("textarea", aria_label="Errors as CSV")
    assert len("".join(rest.texts).strip().splitlines()) == 141


async def test_what_cannot_be_read_keeps_the_form(manager: Browser) -> None:
    page = await manager.upload(IMPORT, {"text": 'name,host\n"', "format": "csv"}, status=400)
    assert pasted(page) == 'name,host\n"'
    assert page.headers["X-Request-Id"] in page.text
    page = await manager.upload(IMPORT, {"text": ""}, {"file": b"name,host\n"}, status=400)
    assert "lacks device_type" in page.text
    assert pasted(page) == "name,host\n"
    page = await manager.upload(IMPORT, {"text": " "}, status=400)
    assert "Paste the rows" in page.text
    page = await manager.upload(IMPORT, {"text": '[{"name": "x"}]'})
    assert "1 row would fail" in page.text
    await manager.upload(IMPORT, {"text": GOOD, "format": "xml"}, status=400)


async def test_who_may_only_look_finds_no_control(site: Site) -> None:
    viewer = site.browser("devices.access")
    page = await viewer.get("/inventory")
    assert not page.controls - {"Log out"}
    assert not {"Import devices", "New source", "Import"} & set(page.links)
    await viewer.get(IMPORT, status=403)
    await viewer.get("/inventory/sources/new", status=403)
    await viewer.upload(IMPORT, {"text": GOOD}, status=403)
    await site.browser().get("/inventory", status=403)


async def made_source(manager: Browser, netbox: NetBoxReplay, **more: str) -> str:
    fields = {"name": HOSTILE, "url": netbox.url, "token": V1_TOKEN, "verify_ssl": "", **more}
    page = await manager.post("/inventory/sources/new", fields)
    return page.headers["Location"]


async def test_a_source_is_made_and_changed(manager: Browser, netbox: NetBoxReplay) -> None:
    fields = {"name": "lab", "url": "ftp://x", "token": "secret-4711", "filter_sites": "berlin, hamburg"}
    page = await manager.post("/inventory/sources/new", fields, status=400)
    assert "url: " in page.text
    assert hidden(page, "filter_sites") == "berlin, hamburg"
    assert "secret-4711" not in page.html
    path = await made_source(manager, netbox, filter_sites="berlin, hamburg")
    page = await manager.get(path)
    assert page.heading == HOSTILE
    assert "berlin, hamburg" in page.text
    assert V1_TOKEN not in page.html
    page = await manager.get("/inventory")
    assert page.links[HOSTILE] == path
    page = await manager.get(f"{path}/edit")
    form = {"_tag": hidden(page, "_tag"), "name": "lab", "url": netbox.url, "token": "", "filter_sites": ""}
    page = await manager.post(f"{path}/edit", {**form, "name": " "}, status=400)
    assert "name: " in page.text
    await manager.post(f"{path}/edit", form)
    page = await manager.get(path)
    assert page.heading == "lab"
    assert "berlin" not in page.text
    page = await manager.post(f"{path}/edit", form, status=409)
    assert "was changed while the form was open" in page.text


async def test_a_synchronisation_shows_first_what_it_would_do(
    site: Site, manager: Browser, netbox: NetBoxReplay
) -> None:
    path = await made_source(manager, netbox)
    page = await manager.post(f"{path}/test", status=200)
    assert "12 devices match" in page.text
    assert "Synchronise" not in page.controls
    page = await manager.post(f"{path}/sync", status=200)
    assert "Synchronise" in page.controls
    assert ["device-000001"] in page.rows
    assert await names(site, manager) == []
    await manager.post(f"{path}/sync", {"run": "sync"})
    page = await manager.get(path)
    assert page.rows[0][2:8] == ["succeeded", "12", "0", "0", "0", "0"]
    assert len(await names(site, manager)) == 12


async def test_most_devices_go_only_if_that_is_confirmed(
    site: Site, manager: Browser, netbox: NetBoxReplay
) -> None:
    path = await made_source(manager, netbox)
    await manager.post(f"{path}/sync", {"run": "sync"})
    netbox.rows = netbox.rows[:2]
    page = await manager.post(f"{path}/sync", status=200)
    assert "10 of the 12 devices of this source are missing" in page.text
    await manager.post(f"{path}/sync", {"run": "sync"})
    assert len(await names(site, manager)) == 12
    assert "removals to confirm" in (await manager.get("/inventory")).text
    page = await manager.get(path)
    assert "10 devices to be removed, once you confirm it" in page.text
    assert {"Show removals", "Confirm removals"} <= set(page.controls)
    page = await manager.post(f"{path}/sync", {"confirm_removals": "on"}, status=200)
    assert "10 devices would be removed" in page.text
    (tick,) = page.all("input", name="confirm_removals", type="checkbox")
    assert "checked" in tick.attributes
    await manager.post(f"{path}/sync", {"run": "sync", "confirm_removals": "on"})
    assert len(await names(site, manager)) == 2
    assert "once you confirm it" not in (await manager.get(path)).text


async def test_failures_are_in_the_history_by_device(manager: Browser, netbox: NetBoxReplay) -> None:
    netbox.rows[0] = {**netbox.rows[0], "name": None}
    path = await made_source(manager, netbox)
    await manager.post(f"{path}/sync", {"run": "sync"})
    netbox.authorized = set()
    page = await manager.post(f"{path}/sync", {"run": "sync"}, status=502)
    (error,) = page.all("p", class_="error")
    assert "(request" in error.text
    page = await manager.get("/inventory/history")
    assert [row[3] for row in page.rows] == ["failed", "partly failed"]
    assert "(1): the device has no name" in page.all("pre")[0].text
    page = await manager.get(f"/inventory/history?source_id={path.rpartition('/')[2]}&limit=1&offset=1")
    assert [row[3] for row in page.rows] == ["partly failed"]
    assert page.links["Previous"].startswith("/inventory/history?source_id=")


async def test_what_runs_is_shown_until_its_node_must_be_dead(
    site: Site, manager: Browser, netbox: NetBoxReplay
) -> None:
    path = await made_source(manager, netbox)
    entry: Any = SyncEntry(
        id=str(uuid4()),
        source_id=path.rpartition("/")[2],
        source_name="lab",
        inventory_url=netbox.url,
        triggered_by="manual",
        result=NOTHING,
        started_at=datetime.now(UTC) - timedelta(minutes=5),
    )
    history = site.installation.stores.sync_history
    await history.begin(OrgId(manager.caller.org_id), entry, "a key")
    long_ago = replace(entry, id=str(uuid4()), started_at=entry.started_at - timedelta(hours=1))
    await history.begin(OrgId(manager.caller.org_id), long_ago, "another key")
    page = await manager.get(path)
    assert [row[2] for row in page.rows] == ["running", "no end known"]
    assert {each.attributes["id"] for each in page.all("div", data_live="")} == {"source", "history"}


async def test_a_deleted_source_leaves_its_devices(
    site: Site, manager: Browser, netbox: NetBoxReplay
) -> None:
    path = await made_source(manager, netbox)
    await manager.post(f"{path}/sync", {"run": "sync"})
    stranger = site.browser("devices.access", "devices.manage", org_id=str(uuid4()))
    for action in ("delete", "sync", "test", "edit"):
        await stranger.post(f"{path}/{action}", status=404)
    await stranger.get(path, status=404)
    viewer = site.browser("devices.access", org_id=manager.caller.org_id)
    assert not (await viewer.get(path)).controls - {"Log out"}
    await viewer.post(f"{path}/delete", status=403)
    assert (await manager.get("/inventory/history")).links[HOSTILE] == path
    await manager.post(f"{path}/delete")
    await manager.get(path, status=404)
    page = await manager.get("/inventory/history")
    assert page.rows[0][1] == HOSTILE
    assert HOSTILE not in page.links
    assert len(await names(site, manager)) == 12
