"""What a device points at: sites and their renames, jump devices, credentials, and crashes in between."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from netautod.core.identity.caller import OrgId
from netautod.network.devices.records.queries import COLLECTION
from netautod.store.scoped import scoped
from tests.network.devices.inventory import DEVICE, Inventory
from tests.support.client import assert_error


async def test_site_id_sets_the_site_and_a_free_text_leaves_it(inventory: Inventory) -> None:
    berlin, bonn = await inventory.site("Berlin"), await inventory.site("Bonn")
    device = await inventory.device(site_id=berlin["id"], site="ignored")
    path = f"/api/devices/{device['id']}"
    assert (device["site"], device["site_id"]) == ("Berlin", berlin["id"])
    for change, expected in (
        ({"site_id": bonn["id"]}, ("Bonn", bonn["id"])),
        ({"site": "Bonn"}, ("Bonn", bonn["id"])),
        ({"site": "Cologne"}, ("Cologne", None)),
        ({"site_id": berlin["id"], "site": "x"}, ("Berlin", berlin["id"])),
        ({"site_id": None}, ("Berlin", None)),
        ({"site": None}, (None, None)),
    ):
        changed = (await inventory.api.put(path, change)).json
        assert (changed["site"], changed["site_id"]) == expected


async def test_a_site_rename_reaches_its_devices(inventory: Inventory) -> None:
    site = await inventory.site("Berlin")
    device = await inventory.device(site_id=site["id"])
    await inventory.device(name="free", site="Berlin")
    renamed = await inventory.api.put(f"/api/sites/{site['id']}", {"name": "Bonn"})
    assert (renamed.status, renamed.json["name"]) == (200, "Bonn")
    assert (await inventory.api.get("/api/devices?site=Bonn")).json["devices"][0]["id"] == device["id"]
    assert (await inventory.api.get("/api/devices?site=Berlin")).json["devices"][0]["name"] == "free"


async def test_a_rename_that_a_crash_cut_off_reaches_the_devices_after_the_next_start(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = await inventory.site("Berlin")
    device = await inventory.device(site_id=site["id"])

    async def die(org_id: OrgId, site_id: str) -> None:
        raise RuntimeError("power failure")

    monkeypatch.setattr(inventory.services.sites.renamed, "notify", die)
    assert (await inventory.api.put(f"/api/sites/{site['id']}", {"name": "Bonn"})).status == 500
    assert (await inventory.api.get(f"/api/devices/{device['id']}")).json["site"] == "Berlin"
    restarted = inventory.on_another_node()
    await restarted.sites.resume()
    assert (await restarted.devices.get(inventory.org_id, device["id"])).site == "Bonn"
    left = await scoped(inventory.database, "sites").find_one(inventory.org_id, {"_id": site["id"]})
    assert left is not None
    assert left["renames"] == []


async def test_renames_and_moves_at_once_end_with_the_site_s_name(inventory: Inventory) -> None:
    site = await inventory.site("Berlin")
    made = [await inventory.device(name=f"d{number}") for number in range(8)]
    names = [f"Site {number}" for number in range(8)]
    await asyncio.gather(
        *(inventory.api.put(f"/api/sites/{site['id']}", {"name": name}) for name in names),
        *(inventory.api.put(f"/api/devices/{d['id']}", {"site_id": site["id"]}) for d in made),
    )
    final = (await inventory.api.get(f"/api/sites/{site['id']}")).json["name"]
    listed = (await inventory.api.get("/api/devices")).json["devices"]
    assert Counter(device["site"] for device in listed) == {final: 8}


async def test_a_jump_device_exists_is_no_circle_and_is_not_deleted(inventory: Inventory) -> None:
    first = await inventory.device(name="first")
    second = await inventory.device(name="second", jump_device_id=first["id"])
    third = await inventory.device(name="third", jump_device_id=second["id"])
    path = f"/api/devices/{first['id']}"
    for jump in (first, second, third):
        refused = await inventory.api.put(path, {"jump_device_id": jump["id"]})
        assert_error(refused, 400, "jump_device_id: a device cannot be reached through itself")
    assert_error(await inventory.api.delete(path), 409, "Device is in use by device second")
    await inventory.api.put(f"/api/devices/{second['id']}", {"jump_device_id": None})
    assert (await inventory.api.delete(path)).status == 204


async def test_a_chain_of_jumps_is_bounded(inventory: Inventory) -> None:
    last = await inventory.device(name="hop")
    for number in range(8):
        last = await inventory.device(name=f"hop-{number}", jump_device_id=last["id"])
    too_long = await inventory.api.post("/api/devices", {**DEVICE, "jump_device_id": last["id"]})
    assert_error(too_long, 400, "jump_device_id: more than 8 jumps")


async def test_two_devices_cannot_become_each_other_s_jump_device_at_once(inventory: Inventory) -> None:
    for attempt in range(5):
        pair = [await inventory.device(name=f"{side}{attempt}") for side in "ab"]
        await asyncio.gather(
            *(
                inventory.api.put(f"/api/devices/{one['id']}", {"jump_device_id": two["id"]})
                for one, two in (pair, reversed(pair))
            )
        )
        after = [(await inventory.api.get(f"/api/devices/{device['id']}")).json for device in pair]
        assert None in [device["jump_device_id"] for device in after]


@pytest.mark.parametrize(
    ("field", "kind", "status"),
    [
        pytest.param("default_credential_id", "ssh", 201, id="SSH for the login"),
        pytest.param("default_credential_id", "snmp", 400, id="SNMP for the login"),
        pytest.param("default_credential_id", "token", 400, id="token for the login"),
        pytest.param("snmp_credential_id", "snmp", 201, id="SNMP for SNMP"),
        pytest.param("snmp_credential_id", "ssh", 400, id="SSH for SNMP"),
        pytest.param("automation_credential_id", "ssh", 201, id="SSH for automation"),
        pytest.param("automation_credential_id", "token", 201, id="token for automation"),
        pytest.param("automation_credential_id", "snmp", 400, id="SNMP for automation"),
    ],
)
async def test_a_credential_has_to_fit_its_field(
    inventory: Inventory, field: str, kind: str, status: int
) -> None:
    types: dict[str, dict[str, Any]] = {
        "ssh": {},
        "snmp": {"credential_type": "snmp_community", "username": None},
        "token": {"credential_type": "api_token"},
    }
    credential = await inventory.credential("c", **types[kind])
    response = await inventory.api.post("/api/devices", {**DEVICE, field: credential["id"]})
    assert response.status == status, response.content
    if status == 400:
        assert_error(response, 400, f"{field}: a credential of the type")


async def test_a_credential_or_site_in_use_is_not_deleted_and_the_users_are_named(
    inventory: Inventory,
) -> None:
    credential, site = await inventory.credential("ssh"), await inventory.site("Berlin")
    links = {"default_credential_id": credential["id"], "site_id": site["id"]}
    links["automation_credential_id"] = credential["id"]
    made = [await inventory.device(name=f"d{number}", **links) for number in range(5)]
    text = "is in use by device d0, d1, d2 and 2 more"
    paths = f"/api/credentials/{credential['id']}", f"/api/sites/{site['id']}"
    for path in paths:
        assert_error(await inventory.api.delete(path), 409, text)
        assert (await inventory.api.get(path)).status == 200
    for device in made:
        await inventory.api.delete(f"/api/devices/{device['id']}")
    for path in paths:
        assert (await inventory.api.delete(path)).status == 204
        assert_error(await inventory.api.get(path), 404, "not found")
        assert_error(await inventory.api.delete(path), 404, "not found")


async def test_naming_and_deleting_at_once_never_leaves_a_dangling_link(inventory: Inventory) -> None:
    for attempt in range(10):
        credential, site = await inventory.credential(f"c{attempt}"), await inventory.site(f"s{attempt}")
        links = {"default_credential_id": credential["id"], "site_id": site["id"]}
        await asyncio.gather(
            inventory.api.post("/api/devices", {**DEVICE, "name": f"d{attempt}", **links}),
            inventory.api.delete(f"/api/credentials/{credential['id']}"),
            inventory.api.delete(f"/api/sites/{site['id']}"),
        )
    for device in (await inventory.api.get("/api/devices")).json["devices"]:
        for path in (
            f"/api/credentials/{device['default_credential_id']}",
            f"/api/sites/{device['site_id']}",
        ):
            assert (await inventory.api.get(path)).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize("link", ["default_credential_id", "site_id"])
async def test_a_record_that_is_deleted_between_the_check_and_the_write_is_not_named(
    inventory: Inventory, monkeypatch: pytest.MonkeyPatch, method: str, link: str
) -> None:
    credential, site = await inventory.credential("ssh"), await inventory.site("Berlin")
    before = await inventory.device(name="before", site="Bonn")
    targets: dict[str, tuple[Any, str, str]] = {
        "default_credential_id": (inventory.services.credentials, "types_of", credential["id"]),
        "site_id": (inventory.services.sites, "names_of", site["id"]),
    }
    service, reader, record_id = targets[link]
    read = getattr(service, reader)

    async def read_then_delete(org_id: OrgId, wanted: set[str]) -> Any:
        found = await read(org_id, wanted)
        for deleted in found:
            await service.delete(inventory.caller, deleted)
        return found

    monkeypatch.setattr(service, reader, read_then_delete)
    path = "/api/devices" if method == "POST" else f"/api/devices/{before['id']}"
    body = {**DEVICE, link: record_id} if method == "POST" else {link: record_id}
    assert_error(await inventory.api.request(method, path, body), 400, f"{link}: there is no such")
    after = (await inventory.api.get("/api/devices")).json["devices"]
    assert [(d["name"], d["site"], d[link]) for d in after] == [("before", "Bonn", None)]


async def test_a_deletion_that_a_crash_cut_off_is_cleaned_up_after_the_next_start(
    inventory: Inventory,
) -> None:
    device = await inventory.device()

    async def die(org_id: OrgId, device_id: str) -> None:
        raise RuntimeError("power failure")

    inventory.services.devices.deleted.register(die)
    assert (await inventory.api.delete(f"/api/devices/{device['id']}")).status == 500
    assert (await inventory.api.get("/api/devices")).json["total"] == 0
    restarted = inventory.on_another_node()
    cleaned: list[str] = []

    async def clean(org_id: OrgId, device_id: str) -> None:
        assert org_id == inventory.org_id
        cleaned.append(device_id)

    restarted.devices.deleted.register(clean)
    await restarted.devices.resume()
    await restarted.devices.resume()
    assert cleaned == [device["id"]]
    tomb = await scoped(inventory.database, COLLECTION).find_one(inventory.org_id, {"_id": device["id"]})
    assert tomb is not None
    assert tomb["deleted_at"] is not None


async def test_a_device_that_is_gone_is_not_pinned(inventory: Inventory) -> None:
    devices = inventory.services.devices
    gone = await devices.get(inventory.org_id, (await inventory.device())["id"])
    await devices.delete(inventory.caller, gone.id)
    assert await devices.pin_host_key(inventory.org_id, gone, "SHA256:x") is None
