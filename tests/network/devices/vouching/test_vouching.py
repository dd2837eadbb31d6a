"""Whose word the address of a device rests on: who sets it, who gives it, and what is shown of it."""

import asyncio
from typing import Any

import pytest

from netautod.core.work.guard import no_guard
from netautod.network.devices.vouching.upgrade import note_unvouched, vouch_for_all
from netautod.store.scoped import scoped
from tests.network.devices.inventory import ABSENT_ID, DEVICE, Inventory, created
from tests.support.client import ApiClient, assert_error

MOVER = ("devices.manage",)
HOLDER = ("devices.manage", "credentials.manage")
USABLE, WAITS = "usable", "waits_for_approval"


async def state(api: ApiClient, device: Any) -> str:
    return str((await api.get(f"/api/devices/{device['id']}")).expect()["credential_state"])


async def put(api: ApiClient, device: Any, **fields: Any) -> Any:
    return (await api.put(f"/api/devices/{device['id']}", fields)).expect()


async def pinned(inventory: Inventory, device: Any, fingerprint: str = "SHA256:x") -> str | None:
    """As after a login to the device as it is now."""
    devices = inventory.services.devices
    now = await devices.get(inventory.org_id, device["id"])
    return await devices.pin_host_key(inventory.org_id, now, fingerprint)


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        pytest.param(HOLDER, USABLE, id="by who may manage credentials"),
        pytest.param(("*",), USABLE, id="by an administrator"),
        pytest.param(MOVER, WAITS, id="by who may manage devices alone"),
    ],
)
async def test_a_device_that_is_made(inventory: Inventory, held: tuple[str, ...], shown: str) -> None:
    api = inventory.with_permissions(*held)
    made = await created(api, "/api/devices", {**DEVICE, "credential_state": "usable"})
    assert made["credential_state"] == shown
    imported = (await api.post("/api/devices/import/json", [{**DEVICE, "name": "row"}])).expect()
    assert imported["imported"] == 1
    for path, items in (("/api/devices", "devices"), ("/api/devices/browse", "items")):
        listed = (await api.get(path)).expect()[items]
        assert [each["credential_state"] for each in listed] == [shown, shown]
        other = USABLE if shown == WAITS else WAITS
        totals = [
            (await api.get(f"{path}?credential_state={wanted}")).expect()["total"]
            for wanted in (shown, other)
        ]
        assert totals == [2, 0]
    assert_error(await api.get("/api/devices?credential_state=sure"), 400, "credential_state")


@pytest.mark.parametrize(
    "field", ["host", "port", "jump_device_id", "automation_port", "automation_transport"]
)
async def test_an_edit_of_where_its_secrets_go(inventory: Inventory, field: str) -> None:
    jump = await inventory.device(name="jump")
    value = {"host": "192.0.2.9", "port": 2222, "jump_device_id": jump["id"], "automation_port": 830}
    device, mover = await inventory.device(), inventory.with_permissions(*MOVER)
    await put(mover, device, **{field: value.get(field, "netconf")})
    assert await state(mover, device) == WAITS
    await put(inventory.api, device, description="looked at", **{field: value.get(field, "netconf")})
    assert await state(mover, device) == WAITS  # nobody vouches by sending back what is there
    await put(inventory.api, device, **{field: device[field]})
    assert await state(mover, device) == USABLE
    events = await scoped(inventory.database, "audit_events").find(
        inventory.org_id, {"action": "device.update"}, sort=[("at", 1), ("_id", 1)]
    )
    told = [event["details"].get("vouched") for event in events]
    assert sorted(told, key=str) == [False, None, True]


async def test_a_credential_that_is_taken_away(inventory: Inventory) -> None:
    """Then the organization's default would be sent there."""
    credential = await inventory.credential("own")
    device = await inventory.device(default_credential_id=credential["id"])
    mover = inventory.with_permissions(*MOVER)
    await put(mover, device, default_credential_id=None)
    assert await state(mover, device) == WAITS
    await put(inventory.api, device, default_credential_id=credential["id"])
    assert await state(mover, device) == USABLE


async def test_an_edit_that_moves_nothing(inventory: Inventory) -> None:
    device, mover = await inventory.device(), inventory.with_permissions(*MOVER)
    sent_back = await put(mover, device, **{**device, "description": "rack 4", "name": "other"})
    assert sent_back["credential_state"] == USABLE
    await put(mover, device, tags=["a"], device_type="arista_eos", connect_commands=["show clock"])
    assert await state(mover, device) == USABLE


async def test_edits_at_the_same_moment_leave_no_address_with_another_one_s_word(
    inventory: Inventory,
) -> None:
    device, mover = await inventory.device(), inventory.with_permissions(*MOVER)
    for _ in range(20):
        await asyncio.gather(
            put(inventory.api, device, host="192.0.2.1"), put(mover, device, host="198.51.100.66")
        )
        now = (await mover.get(f"/api/devices/{device['id']}")).expect()
        assert (now["host"] == "198.51.100.66") == (now["credential_state"] == WAITS)


async def test_a_device_is_vouched_for(inventory: Inventory) -> None:
    mover = inventory.with_permissions(*MOVER)
    device = await created(mover, "/api/devices", DEVICE)
    path = f"/api/devices/{device['id']}/vouch"
    assert_error(await mover.post(path), 403)
    vouched = (await inventory.api.post(path)).expect()
    assert (vouched["credential_state"], vouched["id"]) == (USABLE, device["id"])
    assert vouched["updated_at"] >= device["updated_at"]
    assert (await inventory.api.post(path)).expect() == vouched
    for absent in (ABSENT_ID, "x"):
        assert_error(await inventory.api.post(f"/api/devices/{absent}/vouch"), 404, "Device not found")
    stranger = inventory.elsewhere()
    assert_error(await stranger.post(path), 404, "Device not found")
    events = await scoped(inventory.database, "audit_events").find(
        inventory.org_id, {"action": "device.vouch"}
    )
    assert [(event["resource_id"], event["details"]["host"]) for event in events] == [
        (device["id"], DEVICE["host"])
    ]


async def test_many_devices_are_vouched_for(inventory: Inventory) -> None:
    mover = inventory.with_permissions(*MOVER)
    rows = [{**DEVICE, "name": f"sw{number:03}"} for number in range(300)]
    (await mover.post("/api/devices/import/json", rows)).expect()
    listed = (await mover.get("/api/devices/browse?limit=1000")).expect()["items"]
    ids = [device["id"] for device in listed]
    assert_error(await mover.post("/api/devices/vouch", {"device_ids": ids}), 403)
    body = {"device_ids": [*ids, ids[0], ABSENT_ID]}
    answer = (await inventory.api.post("/api/devices/vouch", body)).expect()
    errors = [{"device_id": ABSENT_ID, "error": "Device not found"}]
    assert answer == {"vouched": 300, "failed": 1, "errors": errors}
    waiting = (await mover.get(f"/api/devices?credential_state={WAITS}")).expect()
    assert waiting["total"] == 0
    too_many = {"device_ids": [ABSENT_ID] * 10_001}
    for wrong in ({}, {"device_ids": "x"}, {"device_ids": [7]}, {"device_ids": None}, too_many):
        assert_error(await inventory.api.post("/api/devices/vouch", wrong), 400, "device_ids")


async def test_a_pinned_host_key_stands_for_the_device_wherever_it_is(inventory: Inventory) -> None:
    device, mover = await inventory.device(), inventory.with_permissions(*MOVER)
    assert await pinned(inventory, device) == "SHA256:x"
    await put(mover, device, host="192.0.2.77")
    assert await state(mover, device) == USABLE
    reset = f"/api/devices/{device['id']}/host-key/reset"
    assert_error(await mover.post(reset), 403)
    assert (await inventory.api.post(reset)).status == 204
    assert await state(mover, device) == WAITS
    listed = (await mover.get(f"/api/devices?credential_state={WAITS}")).expect()
    assert [each["id"] for each in listed["devices"]] == [device["id"]]


async def test_nothing_is_pinned_for_a_device_that_waits_or_was_moved(inventory: Inventory) -> None:
    mover, devices = inventory.with_permissions(*MOVER), inventory.services.devices
    device = await created(mover, "/api/devices", DEVICE)
    assert await pinned(inventory, device) is None
    (await inventory.api.post(f"/api/devices/{device['id']}/vouch")).expect()
    visited = await devices.get(inventory.org_id, device["id"])
    await put(inventory.api, device, host="192.0.2.2")  # by who may, but the login was at the old address
    assert await devices.pin_host_key(inventory.org_id, visited, "SHA256:x") is None
    assert await pinned(inventory, device) == "SHA256:x"


async def test_what_was_there_before_the_rule_is_vouched_for_once(inventory: Inventory) -> None:
    old, collection = await inventory.device(name="old"), scoped(inventory.database, "devices")
    waiting = await created(inventory.with_permissions(*MOVER), "/api/devices", DEVICE)
    await collection.update(inventory.org_id, {"_id": old["id"]}, {"$unset": {"vouched": ""}})
    assert await state(inventory.api, old) == WAITS
    await asyncio.gather(*(vouch_for_all(inventory.database, ["devices"], no_guard) for _ in range(3)))
    assert [await state(inventory.api, each) for each in (old, waiting)] == [USABLE, WAITS]
    await collection.update(inventory.org_id, {"_id": old["id"]}, {"$unset": {"vouched": ""}})
    await note_unvouched(inventory.database, ["devices"], no_guard)  # an older node wrote it
    assert await state(inventory.api, old) == WAITS
    listed = (await inventory.api.get(f"/api/devices?credential_state={WAITS}")).expect()
    assert listed["total"] == 2
