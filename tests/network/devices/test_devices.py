"""Devices over HTTP: fields, validation, uniqueness, organizations, deletion, concurrent changes."""

import asyncio
from typing import Any

import pytest

from netautod.store.scoped import scoped
from tests.network.devices.inventory import ABSENT_ID, DEVICE, EMPTY, FULL, Inventory
from tests.support.client import assert_error


async def test_a_device_has_its_defaults_and_every_field_is_kept(inventory: Inventory) -> None:
    device = await inventory.device()
    assert {**device, **DEVICE, **EMPTY, "org_id": inventory.org_id} == device
    assert device["created_at"] == device["updated_at"]
    full = await inventory.device(**FULL)
    assert {**full, **FULL} == full
    for made in (device, full):
        assert (await inventory.api.get(f"/api/devices/{made['id'].upper()}")).json == made


async def test_a_client_may_send_back_what_it_read(inventory: Inventory) -> None:
    site = await inventory.site("Berlin")
    credential = await inventory.credential("ssh")
    device = await inventory.device(site_id=site["id"], default_credential_id=credential["id"])
    plain_user = inventory.with_permissions("devices.manage")
    response = await plain_user.put(f"/api/devices/{device['id']}", device)
    assert (response.status, {**response.json, "updated_at": device["updated_at"]}) == (200, device)


async def test_a_transport_must_be_served_unless_the_device_has_it_already(inventory: Inventory) -> None:
    text = "automation_transport: Must be one of: cli, eapi, netconf, snmp"
    body = {**DEVICE, "automation_transport": "restconf"}
    assert_error(await inventory.api.post("/api/devices", body), 400, text)
    device = await inventory.device(automation_transport="eapi")
    path = f"/api/devices/{device['id']}"
    assert_error(await inventory.api.put(path, {"automation_transport": "restconf"}), 400, text)
    gone = {"$set": {"automation_transport": "restconf"}}
    await scoped(inventory.database, "devices").update(inventory.org_id, {"_id": device["id"]}, gone)
    held = (await inventory.api.get(path)).expect()
    assert (await inventory.api.put(path, {**held, "description": "x"})).expect()["description"] == "x"
    assert_error(await inventory.api.put(path, {"automation_transport": "gnmi"}), 400, text)
    assert (await inventory.api.put(path, {"automation_transport": None})).status == 200
    assert_error(await inventory.api.put(path, {"automation_transport": "restconf"}), 400, text)


async def test_an_operator_object_is_a_400_in_every_field(inventory: Inventory) -> None:
    device = await inventory.device()
    links = {"site_id", "default_credential_id", "snmp_credential_id", "automation_credential_id"}
    for field in sorted({*FULL, *links, "jump_device_id"} - {"metadata"}):  # which is arbitrary JSON
        for wrong in ({"$ne": None}, [{"$ne": None}]):
            assert_error(await inventory.api.post("/api/devices", {**FULL, field: wrong}), 400, field)
            assert_error(await inventory.api.put(f"/api/devices/{device['id']}", {field: wrong}), 400, field)
    assert (await inventory.api.get(f"/api/devices/{device['id']}")).json == device


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"name": None}, "name: Missing", id="no name"),
        pytest.param({"host": None}, "host: Missing", id="no host"),
        pytest.param({"device_type": None}, "device_type: Missing", id="no device_type"),
        pytest.param({"name": "   "}, "name", id="blank name"),
        pytest.param({"name": "a" * 256}, "name", id="name too long"),
        pytest.param({"host": "bad host"}, "host: Must be a host name", id="space in the host"),
        pytest.param({"host": "http://core-1"}, "host: Must be a host name", id="scheme in the host"),
        pytest.param({"device_type": "Cisco IOS"}, "device_type", id="capitals in device_type"),
        pytest.param({"device_type": "cisco_ios\n"}, "device_type", id="line break in device_type"),
        pytest.param({"port": 0}, "port", id="port 0"),
        pytest.param({"port": 65536}, "port", id="port 65536"),
        pytest.param({"port": "22"}, "port", id="port as text"),
        pytest.param({"port": True}, "port", id="port true"),
        pytest.param({"protocol": "telnet"}, "protocol: telnet encrypts nothing", id="telnet, not allowed"),
        pytest.param({"protocol": "rlogin"}, "protocol", id="another protocol"),
        pytest.param({"site_id": "berlin"}, "site_id", id="site_id that is no UUID"),
        pytest.param({"site_id": ABSENT_ID}, "site_id: there is no such site", id="unknown site"),
        pytest.param({"default_credential_id": ABSENT_ID}, "default_credential_id", id="unknown credential"),
        pytest.param({"snmp_credential_id": ABSENT_ID}, "snmp_credential_id", id="unknown SNMP credential"),
        pytest.param({"automation_credential_id": ABSENT_ID}, "automation_credential_id", id="and a third"),
        pytest.param({"jump_device_id": ABSENT_ID}, "jump_device_id", id="unknown jump device"),
        pytest.param({"tags": "lab"}, "tags", id="tags as a text"),
        pytest.param({"tags": [7]}, "tags", id="a number as a tag"),
        pytest.param({"tags": [" "]}, "tags", id="a blank tag"),
        pytest.param({"metadata": [1]}, "metadata", id="metadata as an array"),
        pytest.param({"automation_port": 70000}, "automation_port", id="automation_port out of range"),
        pytest.param({"poll_enabled": "yes"}, "poll_enabled", id="poll_enabled as a text"),
        pytest.param({"poll_interval_minutes": 0}, "poll_interval_minutes", id="interval 0"),
        pytest.param({"poll_interval_minutes": 10081}, "poll_interval_minutes", id="interval over a week"),
        pytest.param({"connect_commands": "sh ver"}, "connect_commands", id="commands as a text"),
        pytest.param({"connect_commands": ["a\nreload"]}, "connect_commands", id="line break in a command"),
        pytest.param({"connect_commands": ["a\x07"]}, "connect_commands", id="control character"),
        pytest.param({"connect_commands": ["a\u2028b"]}, "connect_commands", id="line separator"),
        pytest.param({"connect_commands": [" "]}, "connect_commands", id="blank command"),
        pytest.param({"hostname": "x"}, "hostname: Unknown field", id="unknown field"),
    ],
)
async def test_bad_input_is_a_400_that_names_the_field(
    inventory: Inventory, fields: dict[str, Any], text: str
) -> None:
    assert_error(await inventory.api.post("/api/devices", {**DEVICE, **fields}), 400, text)
    assert (await inventory.api.get("/api/devices")).json["total"] == 0
    device = await inventory.device()
    refused = await inventory.api.put(f"/api/devices/{device['id']}", fields)
    assert_error(refused, 400, text.partition(":")[0])
    assert (await inventory.api.get(f"/api/devices/{device['id']}")).json == device


async def test_read_only_fields_are_ignored(inventory: Inventory) -> None:
    forged = {
        "id": ABSENT_ID,
        "org_id": ABSENT_ID,
        "source": "inventory",
        "inventory_id": 7,
        "host_key_fingerprint": "SHA256:x",
        "created_at": "2020-01-01T00:00:00.000Z",
    }
    device = await inventory.device(**forged)
    changed = (await inventory.api.put(f"/api/devices/{device['id']}", forged)).json
    assert changed == device
    assert not {name: value for name, value in forged.items() if device[name] == value}


async def test_null_clears_what_is_optional_and_only_that(inventory: Inventory) -> None:
    device = await inventory.device(**FULL)
    path = f"/api/devices/{device['id']}"
    cleared = (await inventory.api.put(path, {"description": None, "site": "", "model": " "})).json
    assert (cleared["description"], cleared["site"], cleared["model"]) == (None, None, None)
    for field in ("port", "protocol", "tags", "metadata", "poll_enabled", "connect_commands", "name"):
        assert_error(await inventory.api.put(path, {field: None}), 400, f"{field}: Field may not be null")


async def test_a_name_is_unique_in_its_organization_also_under_parallel_creates(inventory: Inventory) -> None:
    responses = await asyncio.gather(*(inventory.api.post("/api/devices", DEVICE) for _ in range(20)))
    assert sorted(response.status for response in responses) == [201] + [409] * 19
    taken = next(response for response in responses if response.status == 409)
    assert_error(taken, 409, "Device with this name already exists")
    assert (await inventory.elsewhere().post("/api/devices", DEVICE)).status == 201
    other = await inventory.device(name="CORE-1")
    assert_error(await inventory.api.put(f"/api/devices/{other['id']}", {"name": "core-1"}), 409, "name")


async def test_a_deleted_device_is_gone_from_every_read_and_its_name_is_free(inventory: Inventory) -> None:
    device = await inventory.device()
    path = f"/api/devices/{device['id']}"
    assert (await inventory.api.delete(path)).status == 204
    for response in (
        await inventory.api.get(path),
        await inventory.api.put(path, {"name": "x"}),
        await inventory.api.delete(path),
    ):
        assert_error(response, 404, "Device not found")
    assert (await inventory.api.get("/api/devices")).json["devices"] == []
    assert [batch async for batch in inventory.services.devices.matching(inventory.org_id)] == []
    assert await inventory.services.devices.names(inventory.org_id, [device["id"]]) == {
        device["id"]: "core-1"
    }
    assert (await inventory.device())["id"] != device["id"]


async def test_another_organization_sees_nothing(inventory: Inventory) -> None:
    site, credential, device = (
        await inventory.site("Berlin"),
        await inventory.credential("ssh"),
        await inventory.device(),
    )
    other = inventory.elsewhere()
    path = f"/api/devices/{device['id']}"
    for method in ("GET", "PUT", "DELETE"):
        assert_error(await other.request(method, path, {} if method == "PUT" else None), 404, "Device not")
    assert (await other.get("/api/devices")).json["total"] == 0
    for field, value in (
        ("site_id", site["id"]),
        ("default_credential_id", credential["id"]),
        ("jump_device_id", device["id"]),
    ):
        assert_error(await other.post("/api/devices", {**DEVICE, field: value}), 400, field)


@pytest.mark.parametrize(
    ("permissions", "reads", "writes", "names_credentials"),
    [
        pytest.param(["docs.manage"], 403, 403, 403, id="neither"),
        pytest.param(["devices.access"], 200, 403, 403, id="access"),
        pytest.param(["devices.manage"], 200, 201, 403, id="manage implies access"),
        pytest.param(["devices.manage", "credentials.manage"], 200, 201, 201, id="and credentials"),
    ],
)
async def test_permissions(
    inventory: Inventory, permissions: list[str], reads: int, writes: int, names_credentials: int
) -> None:
    credential = await inventory.credential("ssh")
    api = inventory.with_permissions(*permissions)
    assert (await api.get("/api/devices")).status == reads
    assert (await api.get("/api/devices/browse")).status == reads
    assert (await api.post("/api/devices", DEVICE)).status == writes
    named = {"default_credential_id": credential["id"]}
    assert (await api.post("/api/devices", {**DEVICE, "name": "b", **named})).status == names_credentials
    device = await inventory.device(name="c")
    expected = {201: 200}.get(names_credentials, names_credentials)
    assert (await api.put(f"/api/devices/{device['id']}", named)).status == expected


async def test_puts_of_different_fields_do_not_lose_each_other(inventory: Inventory) -> None:
    device = await inventory.device()
    path = f"/api/devices/{device['id']}"
    wanted = {name: value for name, value in FULL.items() if name not in DEVICE}
    answers = await asyncio.gather(*(inventory.api.put(path, {k: v}) for k, v in wanted.items()))
    assert {answer.status for answer in answers} == {200}
    final = (await inventory.api.get(path)).json
    assert {**final, **wanted} == final


async def test_writes_are_audited_without_values(inventory: Inventory) -> None:
    device = await inventory.device()
    await inventory.api.put(f"/api/devices/{device['id']}", {"metadata": {"note": "canary"}})
    await inventory.api.delete(f"/api/devices/{device['id']}")
    events = await scoped(inventory.database, "audit_events").find(
        inventory.org_id, {"resource_id": device["id"]}, sort=[("at", 1)]
    )
    assert [event["action"] for event in events] == ["device.create", "device.update", "device.delete"]
    assert events[1]["details"] == {"name": "core-1", "fields": ["metadata"]}
    assert events[0]["actor_id"] == inventory.caller.user_id


async def test_the_first_pinned_host_key_wins(inventory: Inventory) -> None:
    devices = inventory.services.devices
    device = await devices.get(inventory.org_id, (await inventory.device())["id"])
    keys = [f"SHA256:{number}" for number in range(10)]
    pinned = await asyncio.gather(*(devices.pin_host_key(inventory.org_id, device, key) for key in keys))
    assert len(set(pinned)) == 1
    shown = (await inventory.api.put(f"/api/devices/{device.id}", {"host": "192.0.2.2"})).json
    assert shown["host_key_fingerprint"] == pinned[0]
