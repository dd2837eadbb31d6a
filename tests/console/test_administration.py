"""Pages of administration."""

import pytest

from tests.console.site import Site
from tests.support.pages import Browser

SECRET = "very-secret-4711"


@pytest.fixture(scope="module")
async def browser(site: Site) -> Browser:
    return site.browser("*")


async def test_a_credential_is_made_changed_and_deleted_and_its_secret_never_shown(
    site: Site, browser: Browser
) -> None:
    fields = {"name": "switches", "credential_type": "ssh_password", "username": "ops"}
    page = await browser.post("/credentials/new", fields, status=400)
    assert "secret: " in page.text
    assert page.all("input", name="name")[0].attributes["value"] == "switches"
    await browser.post("/credentials/new", {**fields, "secret": SECRET, "allowed_hosts": "192.0.2.0/24\r\n"})
    page = await browser.get("/credentials")
    assert page.rows[0][:5] == ["switches", "ssh_password", "ops", "192.0.2.0/24", "nothing"]
    path = page.links["switches"]
    page = await browser.get(path)
    assert SECRET not in page.html
    tag = page.all("input", name="_tag")[0].attributes["value"]
    changed = {"name": "core", "username": "ops", "secret": "", "_tag": tag, "allowed_hosts": "192.0.2.0/24"}
    page = await browser.post(path, {**changed, "secret": SECRET, "port": "x"}, status=400)
    assert SECRET not in page.html
    await browser.post(path, changed)
    api = site.api()
    stored = (await api.get(f"/api{path}")).expect()
    assert (stored["name"], stored["has_secret"]) == ("core", True)
    page = await browser.post(path, {**changed, "name": "again"}, status=409)
    assert "was changed while the form was open" in page.text
    device = {
        "name": "c1",
        "host": "192.0.2.9",
        "device_type": "linux",
        "default_credential_id": stored["id"],
    }
    made = (await api.post("/api/devices", device)).expect(201)
    page = await browser.post(f"{path}/delete", status=409)
    assert "in use by device c1" in page.text.lower()
    await api.delete(f"/api/devices/{made['id']}")
    await browser.post(f"{path}/delete")
    await browser.get(path, status=404)
