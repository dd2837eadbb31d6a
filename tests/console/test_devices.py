"""The list of devices."""

from tests.console.site import Site


async def test_devices_are_listed_and_filtered(site: Site) -> None:
    for name in ("core-1", "edge-<b>1</b>"):
        body = {"name": name, "host": "192.0.2.1", "device_type": "cisco_ios"}
        (await site.api().post("/api/devices", body)).expect(201)
    browser = site.browser("devices.access")
    page = await browser.get("/devices")
    assert [row[0] for row in page.rows] == ["core-1", "edge-<b>1</b>"]
    assert page.heading == "Devices"
    page = await browser.get("/devices?q=core&site=&device_type=")
    assert [row[0] for row in page.rows] == ["core-1"]


async def test_whoever_may_not_sees_an_error_as_a_page(site: Site) -> None:
    page = await site.browser().get("/devices", status=403)
    assert "Insufficient permissions" in page.text
    assert page.headers["X-Request-Id"] in page.text
    assert "Devices" not in page.links
