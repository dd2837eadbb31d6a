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
    assert page.rows[0][:5] == ["switches", "SSH password", "ops", "192.0.2.0/24", "Nothing"]
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


async def test_a_user_is_made_changed_and_deleted(site: Site, browser: Browser) -> None:
    fields = {"username": "ada", "password": "short", "roles": ["", "viewer"], "is_active": ["", "on"]}
    page = await browser.post("/users/new", fields, status=400)
    assert "password" in page.text
    assert "short" not in page.html
    ticked = [
        each.attributes["value"] for each in page.all("input", name="roles") if "checked" in each.attributes
    ]
    assert ticked == ["viewer"]
    password = " correct horse battery staple "
    page = await browser.post("/users/new", {**fields, "password": password})
    path = page.headers["Location"]
    page = await browser.get("/users")
    assert [row[0] for row in page.rows] == ["ada", "admin"]
    page = await browser.get(path)
    assert "devices.access" in page.text
    body = {"provider": "local", "username": "ada", "password": password}
    login = (await site.api().with_token(None).post("/api/auth/login", body)).expect()
    tag = page.all("input", name="_tag")[0].attributes["value"]
    change = {"_tag": tag, "display_name": "Ada <L>", "roles": ["", "viewer", "operator"], "is_active": ""}
    await browser.post(path, change)
    stored = (await site.api().get(f"/api{path}")).expect()
    assert (stored["display_name"], stored["roles"], stored["is_active"]) == (
        "Ada <L>",
        ["operator", "viewer"],
        False,
    )
    assert login["access_token"]
    await browser.post(f"{path}/sessions")
    page = await browser.post(f"{path}/otp", status=404)
    await browser.post(f"{path}/delete")
    assert [row[0] for row in (await browser.get("/users")).rows] == ["admin"]
    page = await browser.post(f"/users/{site.admin.user_id}/delete", status=409)
    assert "admin" in page.text


async def test_a_role_is_made_of_what_its_maker_holds(site: Site, browser: Browser) -> None:
    fields = {"name": "auditors", "permissions": ["", "system.manage", "devices.manage"]}
    page = await site.browser("users.manage").post("/roles/new", fields, status=403)
    assert page.all("input", name="name")[0].attributes["value"] == "auditors"
    path = (await browser.post("/roles/new", fields)).headers["Location"]
    page = await browser.get(path)
    assert "devices.access" in page.all("dd")[0].text  # it is implied
    tag = page.all("input", name="_tag")[0].attributes["value"]
    await browser.post(path, {"_tag": tag, "name": "auditors", "permissions": ["", "system.manage"]})
    assert [row for row in (await browser.get("/roles")).rows if row[0] == "auditors"] == [
        ["auditors", "", "system.manage", "system.manage"]
    ]
    builtin = (await browser.get("/roles")).links["viewer"]
    assert "Save" not in (await browser.get(builtin)).controls
    await browser.post(f"{path}/delete")


async def test_the_service_is_paused_and_resumed(browser: Browser) -> None:
    page = await browser.post("/nodes/pause", {"reason": " "}, status=400)
    assert "reason: " in page.text
    await browser.post("/nodes/pause", {"reason": "<b>window</b>"})
    page = await browser.get("/nodes")
    assert "<b>window</b>" in page.text
    assert "Resume" in page.controls
    await browser.post("/nodes/resume")
    page = await browser.get("/nodes")
    assert "Pause the service" in page.controls
    assert len((await browser.get("/plugins")).rows) > 5


async def test_a_webhook_is_made_tried_and_changed(site: Site, browser: Browser) -> None:
    fields = {"name": "chat", "url": "http://127.0.0.1:1/x", "events": ["", "execution_finished"]}
    page = await browser.post("/webhooks/new", {**fields, "secret": "short"}, status=400)
    assert "secret: " in page.text
    path = (await browser.post("/webhooks/new", {**fields, "secret": SECRET})).headers["Location"]
    page = await browser.post(f"{path}/test", status=200)
    assert page.all("p", class_="error")
    page = await browser.get(path)
    assert SECRET not in page.html
    tag = page.all("input", name="_tag")[0].attributes["value"]
    await browser.post(path, {**fields, "_tag": tag, "secret": "", "enabled": ""})
    stored = (await site.api().get(f"/api{path}")).expect()
    assert (stored["has_secret"], stored["enabled"]) == (True, False)
    await browser.post(f"{path}/delete")
    assert "There is no webhook yet" in (await browser.get("/webhooks")).text


async def test_the_audit_is_filtered_by_a_link(browser: Browser) -> None:
    await browser.post("/nodes/pause", {"reason": "audit"})
    await browser.post("/nodes/resume")
    page = await browser.get("/audit?action=system.resume&since=&actor_id=")
    assert {row[2] for row in page.rows} == {"system.resume"}
    page = await browser.get("/audit?since=yesterday", status=400)
    assert "since: Not an ISO 8601 date and time" in page.text


@pytest.mark.parametrize(
    "path", ["/credentials", "/users", "/users/new", "/roles", "/audit", "/nodes", "/plugins", "/webhooks"]
)
async def test_administration_is_for_those_who_may(site: Site, path: str) -> None:
    viewer = site.browser("devices.access")
    page = await viewer.get(path, status=403)
    assert path.partition("/new")[0] not in page.links.values()


@pytest.mark.parametrize("kind", ["credentials", "users", "roles", "webhooks"])
async def test_records_of_others_are_not_there(site: Site, kind: str) -> None:
    stranger = site.browser("*", org_id="00000000-0000-4000-8000-00000000000f")
    if kind == "users":
        await stranger.get(f"/users/{site.admin.user_id}", status=404)
    await stranger.get(f"/{kind}/00000000-0000-4000-8000-000000000001", status=404)
    await stranger.get(f"/{kind}/nothing", status=404)


async def test_a_user_whose_roles_do_not_follow_the_directory_has_a_warning(site: Site) -> None:
    body = {"username": "grace", "auth_provider": "oidc", "roles": ["viewer"]}
    made = (await site.api().post("/api/users", body)).expect(201)
    browser = site.browser("users.manage")
    assert "stay as they are" not in (await browser.get(f"/users/{made['id']}")).text
    users = site.installation.people.users
    user = await users.get(site.admin.org_id, made["id"])
    assert await users.set_group_warning(user, "<i>no claim</i>: the roles stay as they are")
    assert "<i>no claim</i>: the roles stay as they are" in (await browser.get(f"/users/{made['id']}")).text
    assert (await site.api().delete(f"/api/users/{made['id']}")).status == 204
