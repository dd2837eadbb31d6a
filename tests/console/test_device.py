"""One device: what is known of it, what is done with it, and who may."""

from typing import Any
from uuid import uuid4

import pytest

from netautod.core.clock import SystemClock
from netautod.plugin_api import Collected
from netautod.plugin_api.discovery.rows import ArpEntry, DeviceFacts, Interface, MacEntry, Neighbor, Vlan
from netautod.testing import SimulatedDevice, ios_config
from tests.console.seeds import device, polled
from tests.console.site import Site
from tests.support.databases import PATIENT_SECONDS
from tests.support.execution import eventually
from tests.support.pages import LoadedPage

PASSWORD = "simulated-pa55word"
HOSTILE = "<img src=x onerror=alert(1)>"


async def filled(site: Site, name: str) -> str:
    made = await device(site, name, description=HOSTILE, metadata={"rack": HOSTILE})
    macs = [MacEntry(mac_address=f"02:00:00:00:01:{n:02x}", vlan_id=7, interface="Gi0/2") for n in range(70)]
    found = Collected(
        status=DeviceFacts(sys_name=HOSTILE, model="C9300", uptime_seconds=93_784),
        interfaces=[Interface(name="Gi0/1", description=HOSTILE, oper_status="up")],
        neighbors=[Neighbor(local_interface="Gi0/1", protocol="lldp", remote_system_name=HOSTILE)],
        mac=macs,
        arp=[ArpEntry(ip_address="10.9.9.9", mac_address="02:00:00:00:01:00", interface="Vlan7")],
        vlans=[Vlan(vlan_id=7, name=HOSTILE, untagged_interfaces=("Gi0/2",))],
    )
    await polled(site, made, found, state="partial", error=f"cli: {HOSTILE}")
    return made


async def test_a_device_with_all_that_polls_found(site: Site) -> None:
    made = await filled(site, "switch-1")
    browser = site.browser("devices.access")
    page = await browser.get(f"/devices/{made}")
    assert page.heading == "switch-1"
    assert {"reachable", "Never backed up"} <= {badge.text for badge in page.all("span") if badge.text}
    assert "1 d 2 h" in page.text
    assert page.text.count(HOSTILE) >= 3  # of the record, of the status and of the poll
    assert f"Last poll partly failed: cli: {HOSTILE}" in page.text
    assert page.all("img") == []
    assert page.controls == {"Poll", "Test", "Log out"}
    for tab, row in (
        ("interfaces", ["Gi0/1", HOSTILE, "up"]),
        ("neighbors", ["Gi0/1", HOSTILE, "lldp"]),
        ("vlans", ["7", HOSTILE, "Gi0/2"]),
    ):
        page = await browser.get(f"/devices/{made}?tab={tab}")
        assert page.rows == [row], tab
        assert page.all("img") == []
        assert "1 row, read" in page.text


async def test_tables_are_paged_and_narrowed(site: Site) -> None:
    made = await filled(site, "switch-2")
    browser, own = site.browser("devices.access"), f"/devices/{made}"
    page = await browser.get(f"{own}?tab=mac")
    assert (len(page.rows), page.links["Next"]) == (50, f"{own}?tab=mac&offset=50")
    page = await browser.get(page.links["Next"])
    assert [row[0] for row in page.rows] == [f"02:00:00:00:01:{n:02x}" for n in range(50, 70)]
    page = await browser.get(f"{own}?tab=mac&q=0200.0000.0145")
    assert [row[:3] for row in page.rows] == [["02:00:00:00:01:45", "7", "Gi0/2"]]
    assert (await browser.get(f"{own}?tab=mac&q=nothing")).links["Show all rows"] == f"{own}?tab=mac"
    await browser.get(f"{own}?tab=passwords", status=400)
    page = await browser.get(f"/devices/{await device(site, 'new')}?tab=arp")
    assert "No poll has read this table yet" in page.text


async def test_what_a_device_answers(site: Site) -> None:
    (await site.api().post("/api/credentials", _credential("lab"))).expect(201)
    async with SimulatedDevice(hostname="answers", password=PASSWORD) as simulated:
        fields = {"host": "127.0.0.1", "port": simulated.port}
        browser = site.browser("*")
        typed = {"name": "answers", "device_type": "cisco_ios", "default_credential": "lab", **fields}
        own = (await browser.post("/devices/new", typed)).headers["Location"]
        made = own.rpartition("/")[2]
        page = await browser.post(f"{own}/test", status=200)
        assert "Test: login succeeded (127.0.0.1 port" in page.text
        assert (await browser.post(f"{own}/pull")).headers["Location"] == own
        page = await browser.get(own)
        assert page.rows[0][0] == "1"
        assert page.links["1"] == f"/configs/{made}/1"
        simulated.config = ios_config("answers", community="new")
        await browser.post(f"{own}/pull")
        page = await browser.get(own)
        assert page.links["Diff"] == f"/configs/{made}/diff?old_version=1&new_version=2"
        assert "SHA256:" in page.text
        simulated.responses["show <b>"] = HOSTILE
        page = await browser.post(f"{own}/command", {"command": "show <b>"}, status=200)
        assert HOSTILE in page.all("pre")[0].text
        assert page.all("img") == []
        page = await browser.get("/")
        assert page.links["version 2"] == f"/configs/{made}/diff?old_version=1&new_version=2"
        assert page.links["version 1"] == f"/configs/{made}/1"


async def test_runs_that_visited_it(site: Site) -> None:
    made, other = await device(site, "visited"), await device(site, "never visited")
    api = site.api()

    async def pulled(device_id: str) -> str:
        begun = await api.post("/api/config/devices/bulk-pull?background=true", {"device_ids": [device_id]})
        execution = str(begun.expect(202)["id"])

        async def ended() -> bool:
            state = (await api.get(f"/api/tasks/executions/{execution}")).expect()["state"]
            return state not in ("pending", "running")

        await eventually(ended, seconds=PATIENT_SECONDS)
        return execution

    execution, _ = await pulled(made), await pulled(await device(site, "visited by another run"))
    operator = site.browser("devices.access", "tasks.operate")
    page = await operator.get(f"/devices/{made}?tab=runs")
    assert page.links["bulk pull"] == f"/executions/{execution}"
    assert [row[3] for row in page.rows] == ["Credential missing"]
    assert "1 to 1 of 1" in page.text
    assert "No run has visited this device yet" in (await operator.get(f"/devices/{other}?tab=runs")).text
    viewer = site.browser("devices.access")
    assert "Runs" not in (await viewer.get(f"/devices/{made}")).links
    await viewer.get(f"/devices/{made}?tab=runs", status=403)


async def test_another_host_key_is_decided_about(site: Site) -> None:
    made = await device(site, "moved")
    service, keys = site.service.devices.devices, site.installation.stores.host_keys
    org_id = site.admin.org_id
    await service.pin_host_key(org_id, await service.get(org_id, made), "SHA256:old")

    async def shown(key: str) -> LoadedPage:
        visited = await service.get(org_id, made)
        await keys.seen(org_id, visited, key, trusted=True, by_hand=True, at=SystemClock().now())
        return await keeper.get(f"/devices/{made}")

    keeper, viewer = site.browser("devices.access", "credentials.manage"), site.browser("devices.access")
    page = await shown("SHA256:new")
    assert [each.text for each in page.all("code")][:2] == ["SHA256:old", "SHA256:new"]
    seen = _prompt(page)
    assert {"Approve", "Reject"} <= page.controls
    page = await viewer.get(f"/devices/{made}")
    assert "SHA256:new" in page.text
    assert not {"Approve", "Reject"} & page.controls
    await shown("SHA256:newer")
    page = await keeper.post(f"/devices/{made}/host-key/approve", {"prompt_id": seen}, status=409)
    assert "SHA256:newer" in page.text
    await keeper.post(f"/devices/{made}/host-key/reject", {"prompt_id": _prompt(page)})
    assert "shows another" not in (await keeper.get(f"/devices/{made}")).text
    page = await shown("SHA256:third")
    await keeper.post(f"/devices/{made}/host-key/approve", {"prompt_id": _prompt(page)})
    assert (await service.get(org_id, made)).host_key_fingerprint == "SHA256:third"
    await keeper.post(f"/devices/{made}/host-key/reset")
    assert (await service.get(org_id, made)).host_key_fingerprint is None


@pytest.mark.parametrize(
    ("path", "permission"),
    [
        ("pull", "devices.manage"),
        ("command", "devices.manage"),
        ("edit", "devices.manage"),
        ("delete", "devices.manage"),
        ("noise/forget", "devices.manage"),
        ("vouch", "credentials.manage"),
        ("host-key/approve", "credentials.manage"),
        ("host-key/reject", "credentials.manage"),
        ("host-key/reset", "credentials.manage"),
    ],
)
async def test_actions_are_for_those_who_may(site: Site, path: str, permission: str) -> None:
    others = {"devices.access", "devices.manage", "credentials.manage", "tasks.operate"} - {permission}
    made = (await site.browser(*others).get("/devices?q=switch-1")).links["switch-1"]
    await site.browser(*others).post(f"{made}/{path}", status=403)
    stranger = site.browser("*", org_id=str(uuid4()))
    await stranger.post(f"{made}/{path}", {"command": "show version"}, status=404)


async def test_a_device_of_others_is_not_found(site: Site) -> None:
    made = await device(site, "ours")
    stranger = site.browser("*", org_id=str(uuid4()))
    for path in ("", "?tab=mac", "?tab=runs", "/edit", "/delete", "/command"):
        await stranger.get(f"/devices/{made}{path}", status=404)
    await stranger.get("/devices/no-id", status=404)


async def test_a_failure_of_the_device_is_shown_on_its_page(site: Site) -> None:
    made = await device(site, "bare")
    browser = site.browser("devices.access", "devices.manage")
    page = await browser.post(f"/devices/{made}/pull", status=409)
    assert page.heading == "bare"
    (error,) = page.all("p", class_="error")
    assert "credential" in error.text
    assert page.headers["X-Request-Id"] in error.text
    page = await browser.post(f"/devices/{made}/test", status=200)
    assert page.all("p", class_="error")[0].text.startswith("Test: ")
    page = await browser.post(f"/devices/{made}/command", {"command": "show <b>clock</b>"}, status=200)
    assert "credential" in page.all("p", class_="error")[0].text
    page = await browser.post(f"/devices/{made}/command", {"command": " "}, status=400)
    assert "command" in page.all("p", class_="error")[0].text


async def test_a_poll_is_queued_by_hand(site: Site) -> None:
    made = await device(site, "to poll")
    browser = site.browser("devices.access")
    page = await browser.post(f"/devices/{made}/poll")
    assert page.headers["Location"] == f"/devices/{made}?tab=polls"
    page = await browser.get(page.headers["Location"])
    assert page.rows[0][2] == browser.caller.username


async def test_a_new_device_and_its_changes(site: Site) -> None:
    for path, body in (("sites", {"name": "Berlin"}), ("credentials", _credential("office"))):
        (await site.api().post(f"/api/{path}", body)).expect(201)
    browser = site.browser("devices.access", "devices.manage", "credentials.manage")
    typed: dict[str, Any] = {"name": "made", "host": "no host", "device_type": "cisco_ios", "tags": "a\r\nb"}
    page = await browser.post("/devices/new", typed, status=400)
    assert "host: Must be a host name" in page.text
    assert page.all("input", name="name")[0].attributes["value"] == "made"
    typed |= {"host": "192.0.2.7", "site": "Berlin", "default_credential": "office", "jump_device": "nobody"}
    page = await browser.post("/devices/new", typed, status=400)
    assert "jump_device: Nothing has this name" in page.text
    jump = await device(site, "jump")
    path = (await browser.post("/devices/new", {**typed, "jump_device": "jump"})).headers["Location"]
    api = site.api()
    stored = (await api.get(f"/api{path}")).expect()
    assert (stored["site"], stored["tags"], stored["jump_device_id"]) == ("Berlin", ["a", "b"], jump)
    assert stored["site_id"] is not None
    assert stored["default_credential_id"] is not None
    page = await browser.get(f"{path}/edit")
    sent = _form(page)
    assert sent["default_credential"] == "office"
    sent |= {"site": "", "jump_device": "", "description": "new", "metadata": '{"rack": 4}'}
    await browser.post(f"{path}/edit", sent)
    changed = (await api.get(f"/api{path}")).expect()
    assert (changed["site"], changed["site_id"], changed["jump_device_id"]) == (None, None, None)
    assert (changed["description"], changed["metadata"], changed["tags"]) == ("new", {"rack": 4}, ["a", "b"])
    assert changed["default_credential_id"] == stored["default_credential_id"]
    # Somebody else has changed it since the page was loaded.
    page = await browser.post(f"{path}/edit", {**sent, "description": "mine"}, status=412)
    assert page.links["Load the device again"] == f"{path}/edit"
    assert "mine" in page.all("textarea", name="description")[0].text
    await browser.post(f"{path}/delete", {"_tag": sent["_tag"]}, status=412)
    fresh = _form(await browser.get(f"{path}/delete"))
    assert (await browser.post(f"{path}/delete", fresh)).headers["Location"] == "/devices"
    await browser.get(path, status=404)


async def test_who_may_not_manage_credentials_names_none(site: Site) -> None:
    browser = site.browser("devices.access", "devices.manage")
    assert (await browser.get("/devices/new")).all("input", name="default_credential") == []
    typed = {"name": "n", "host": "192.0.2.8", "device_type": "cisco_ios"}
    page = await browser.post("/devices/new", {**typed, "default_credential": "unheard of"}, status=403)
    assert "Insufficient permissions" in page.text
    made = (await browser.post("/devices/new", typed)).headers["Location"]
    page = await browser.get(made)
    assert "Credentials wait until a user" in page.text
    assert "Vouch" not in page.controls
    keeper = site.browser("devices.access", "credentials.manage")
    assert "Vouch" in (await keeper.get(made)).controls
    await keeper.post(f"{made}/vouch")
    page = await keeper.get(made)
    assert "Credentials wait until a user" not in page.text


def _prompt(page: LoadedPage) -> str:
    return page.all("input", name="prompt_id")[0].attributes["value"]


def _credential(name: str) -> dict[str, Any]:
    return {"name": name, "credential_type": "ssh_password", "username": "admin", "secret": PASSWORD}


def _form(page: LoadedPage) -> dict[str, str]:
    """As a browser sends it back."""
    sent = [
        each.attributes
        for each in page.all("input")
        if each.attributes.get("name", "q") not in ("q", "_xsrf")
        and (each.attributes.get("type") != "checkbox" or "checked" in each.attributes)
    ]
    found = {each["name"]: each.get("value", "") for each in sent}
    return found | {each.attributes["name"]: "".join(each.texts).strip() for each in page.all("textarea")}
