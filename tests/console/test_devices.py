"""The list of devices: filters, order, CSV, and what is done with those that are ticked."""

import csv
from datetime import timedelta
from io import StringIO

from netautod.plugin_api import Collected
from tests.console.seeds import device, noted, polled
from tests.console.site import Site

HOSTILE = "edge-<b>1</b>"
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\uff1d1")


async def names(site: Site, path: str) -> list[str]:
    return [row[1] for row in (await site.browser("devices.access").get(path)).rows]


async def test_devices_are_listed_and_filtered(site: Site) -> None:
    await device(site, "core-1", site="Berlin", tags=["lab"])
    failed = await device(site, HOSTILE)
    await noted(site, failed, kind="host_key", ago=timedelta(hours=3))
    await noted(site, await device(site, "good", host="192.0.2.77"), kind=None)
    page = await site.browser("devices.access").get("/devices")
    assert page.heading == "Devices"
    assert [row[1] for row in page.rows] == ["core-1", HOSTILE, "good"]
    assert [row[5] for row in page.rows][:2] == ["Never backed up", "Host key changed 3 h"]
    assert page.rows[2][5].startswith("Backed up ")
    assert page.links[HOSTILE] == f"/devices/{failed}"
    for query, found in (
        ("q=core&site=&device_type=&error_kind=", ["core-1"]),
        ("q=192.0.2.77", ["good"]),
        ("site=Berlin", ["core-1"]),
        ("tag=lab", ["core-1"]),
        ("source=csv", []),
        ("status=failed", [HOSTILE]),
        ("status=success", ["good"]),
        ("status=never", ["core-1"]),
        ("error_kind=host_key", [HOSTILE]),
        ("error_kind=timeout", []),
        ("credential_state=usable", ["core-1", HOSTILE, "good"]),
        ("older_than_hours=2", []),
        ("sort=last_backup_at", ["core-1", HOSTILE, "good"]),
        ("sort=status", [HOSTILE, "core-1", "good"]),
        ("limit=1&offset=1", [HOSTILE]),
    ):
        assert await names(site, f"/devices?{query}") == found, query
    page = await site.browser("devices.access").get("/devices?source=csv")
    assert page.links["Show all devices"] == "/devices"
    assert page.links["0 failed"] == "/devices?source=csv&status=failed"


async def test_numbers_above_the_list_keep_its_filters(site: Site) -> None:
    page = await site.browser("devices.access").get("/devices?q=e&offset=0")
    assert page.links["1 failed"] == "/devices?q=e&status=failed"
    page = await site.browser("devices.access").get("/devices?q=e&status=failed")
    assert page.links["Host key changed 1"] == "/devices?q=e&status=failed&error_kind=host_key"
    await site.browser("devices.access").get("/devices?status=broken", status=400)


async def test_whoever_may_not_sees_an_error_as_a_page(site: Site) -> None:
    page = await site.browser().get("/devices", status=403)
    assert "Insufficient permissions" in page.text
    assert page.headers["X-Request-Id"] in page.text
    assert "Devices" not in page.links
    await site.browser().get("/devices.csv", status=403)


async def test_the_list_as_csv(site: Site) -> None:
    browser = site.browser("devices.access")
    for number, formula in enumerate(FORMULAS):
        await device(site, f"{formula} {number}".strip(), site=formula, tags=["formula"])
    page = await browser.get("/devices?tag=formula")
    answer = await browser.get(page.links["CSV"])
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["Content-Disposition"]
    header, *rows = list(csv.reader(StringIO(answer.html)))
    assert len(rows) == len(FORMULAS)
    assert {row[0] for row in rows} == {f"'{f.strip()} {n}" for n, f in enumerate(FORMULAS)}
    assert {row[header.index("site")] for row in rows} == {f"'{f.strip()}" for f in FORMULAS}
    failed = list(csv.DictReader(StringIO((await browser.get("/devices.csv?status=failed")).html)))
    assert [(row["name"], row["error_kind"], row["port"]) for row in failed] == [(HOSTILE, "host_key", "22")]
    whole = list(csv.DictReader(StringIO((await browser.get("/devices.csv?limit=1&offset=2")).html)))
    assert len(whole) == 3 + len(FORMULAS)


async def test_what_is_ticked_is_pulled(site: Site) -> None:
    ids = {name: await device(site, name, tags=["bulk"]) for name in ("bulk-1", "bulk-2", "bulk-3")}
    manager = site.browser("devices.access", "devices.manage")
    page = await manager.post("/devices/pull?tag=bulk", status=400)
    assert "Select at least one device" in page.text
    assert [row[1] for row in page.rows] == list(ids)
    answer = await manager.post("/devices/pull?tag=bulk", {"device_ids": [ids["bulk-1"], ids["bulk-2"]]})
    assert answer.headers["Location"] == "/devices?tag=bulk"
    operator = site.browser("devices.access", "devices.manage", "tasks.operate")
    path = (await operator.post("/devices/pull?tag=bulk", {"all": "on"})).headers["Location"]
    execution = path.removeprefix("/executions/")
    stored = await site.installation.stores.executions.get(site.admin.org_id, execution)
    assert stored is not None
    assert stored.device_subset == list(ids.values())
    await manager.post("/devices/pull", {"device_ids": "no id"}, status=400)
    await site.browser("devices.access").post("/devices/pull", {"all": "on"}, status=403)


async def test_what_is_ticked_is_polled_tested_and_vouched_for(site: Site) -> None:
    maker = site.browser("devices.access", "devices.manage")
    body = {"name": "doubtful", "host": "192.0.2.50", "device_type": "cisco_ios"}
    made = (await site.api(maker).post("/api/devices", body)).expect(201)["id"]
    await polled(site, made, Collected())
    viewer = site.browser("devices.access")
    assert (await viewer.get("/devices?q=doubtful")).rows[0][1] == "doubtful waits for approval"
    await viewer.post("/devices/poll", {"device_ids": made})
    assert (await viewer.get(f"/devices/{made}?tab=polls")).rows[0][1] in ("queued", "running", "failed")
    page = await viewer.post("/devices/test", {"device_ids": made}, status=200)
    assert page.rows[0][0] == "doubtful"
    assert "0 of 1 login succeeded" in page.text
    await viewer.post("/devices/test", status=400)
    await viewer.post("/devices/vouch", {"device_ids": made}, status=403)
    await site.browser("devices.access", "credentials.manage").post("/devices/vouch", {"device_ids": made})
    assert (await viewer.get("/devices?q=doubtful")).rows[0][1] == "doubtful"


async def test_controls_are_those_of_the_caller(site: Site) -> None:
    viewer, manager = site.browser("devices.access"), site.browser("devices.access", "devices.manage")
    assert (await viewer.get("/devices")).controls == {"Filter", "Poll", "Test", "Log out"}
    page = await manager.get("/devices")
    assert "Pull config" in page.controls
    assert page.links["New device"] == "/devices/new"
    assert "New device" not in (await viewer.get("/devices")).links
