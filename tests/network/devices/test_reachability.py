"""How a device is reached: pinned host keys, SSH profiles, jump devices; all of it over the API."""

from typing import Any

import pytest

from netautod.store.scoped import scoped
from netautod.testing import SimulatedDevice
from tests.network.configs.fleet import PASSWORD, Fleet
from tests.network.devices.inventory import ABSENT_ID
from tests.support.client import assert_error

# cryptography warns of the old exchanges that are tested here
pytestmark = pytest.mark.filterwarnings("ignore:Diffie-Hellman over finite fields")


async def message(fleet: Fleet, device_id: str) -> str:
    return str((await fleet.tested(device_id))["message"])


async def pinned(fleet: Fleet, device_id: str) -> str | None:
    found: str | None = (await fleet.api.get(f"/api/devices/{device_id}")).json["host_key_fingerprint"]
    return found


async def test_a_changed_key_is_refused_until_it_is_reset(fleet: Fleet) -> None:
    switch = fleet.simulated(host_key=None)
    device_id = await fleet.device(switch)
    assert await message(fleet, device_id) == "login succeeded"
    old = switch.fingerprint
    switch.change_host_key()
    refused = await message(fleet, device_id)
    assert refused.startswith("host key check failed: 127.0.0.1 port")
    assert f"pinned is {old}" in refused
    assert len(switch.login_attempts) == 1
    reset = await fleet.api.post(f"/api/devices/{device_id}/host-key/reset")
    assert (reset.status, reset.content) == (204, b"")
    assert await pinned(fleet, device_id) is None
    assert await message(fleet, device_id) == "login succeeded"
    assert await pinned(fleet, device_id) == switch.fingerprint
    (event,) = await fleet.audited("device.host_key_reset")
    assert event["details"] == {"name": "sw1", "fingerprint": old}


@pytest.mark.parametrize("field", ["host", "port"])
async def test_an_edited_address_keeps_the_pin(fleet: Fleet, field: str) -> None:
    first, second = fleet.simulated("first", host_key=None), fleet.simulated("second", host_key=None)
    device_id = await fleet.device(first)
    await fleet.device(second)
    assert await message(fleet, device_id) == "login succeeded"
    change: dict[str, Any] = {"port": second.port, "host": "127.0.0.2" if field == "host" else "127.0.0.1"}
    changed = (await fleet.api.put(f"/api/devices/{device_id}", change)).json
    assert changed["host_key_fingerprint"] == first.fingerprint
    if field == "port":
        assert (await message(fleet, device_id)).startswith("host key check failed: ")
        assert second.login_attempts == []


async def test_who_may_reset_a_key(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated())
    path = f"/api/devices/{device_id}/host-key/reset"
    assert await message(fleet, device_id) == "login succeeded"
    assert_error(await fleet.with_permissions("devices.access").post(path), 403)
    assert_error(await fleet.served.client("*")[0].post(path), 404, "Device not found")
    assert_error(await fleet.api.post(f"/api/devices/{ABSENT_ID}/host-key/reset"), 404)
    assert await pinned(fleet, device_id) is not None


@pytest.mark.parametrize("profile", ["compatible", "legacy"])
async def test_old_algorithms_need_the_profile_that_the_failure_names(fleet: Fleet, profile: str) -> None:
    old = SimulatedDevice(
        hostname="old",
        password=PASSWORD,
        host_key=fleet.host_key,
        algorithms="compatible" if profile == "compatible" else "legacy",
    )
    device_id = await fleet.device(old)
    refused = await message(fleet, device_id)
    assert refused.startswith("key exchange failed: ")
    assert "diffie-hellman-group" in refused
    assert refused.endswith(f"choose the SSH profile '{profile}' for this device")
    changed = (await fleet.api.put(f"/api/devices/{device_id}", {"ssh_profile": profile})).json
    assert changed["ssh_profile"] == profile
    assert await message(fleet, device_id) == "login succeeded"


async def test_the_profile_is_modern_by_default_and_no_part_of_lists(fleet: Fleet) -> None:
    device_id = await fleet.entry("sw1", 1)
    path = f"/api/devices/{device_id}"
    assert (await fleet.api.get(path)).json["ssh_profile"] == "modern"
    assert "ssh_profile" not in (await fleet.api.get("/api/devices")).json["devices"][0]
    for wrong in ("ancient", None, 7):
        assert_error(await fleet.api.put(path, {"ssh_profile": wrong}), 400, "ssh_profile")
    # As it was before there were profiles.
    await scoped(fleet.database, "devices").update(fleet.org_id, {}, {"$unset": {"ssh_profile": ""}})
    assert (await fleet.api.get(path)).json["ssh_profile"] == "modern"


async def test_a_command_goes_through_two_jump_devices(fleet: Fleet) -> None:
    jumps = [fleet.simulated("outer"), fleet.simulated("middle", algorithms="compatible")]
    outer = await fleet.device(jumps[0])
    middle = await fleet.device(jumps[1], jump_device_id=outer, ssh_profile="compatible")
    inner = await fleet.device(fleet.simulated("inner"), jump_device_id=middle)
    path = f"/api/devices/{inner}/exec-command"
    assert (await fleet.api.post(path, {"command": "show version"})).json["success"] is True
    assert [len(jump.login_attempts) for jump in jumps] == [1, 1]
    assert [jump.commands for jump in jumps] == [[], []]


@pytest.mark.parametrize(
    ("options", "fields", "expected"),
    [
        pytest.param({"password": "another"}, {}, "login failed: jump device outer: ", id="a refused login"),
        pytest.param({}, {"port": 1}, "connection failed: jump device outer: ", id="nothing listens there"),
        pytest.param(
            {"algorithms": "legacy"}, {}, "key exchange failed: jump device outer: ", id="old algorithms"
        ),
        pytest.param(
            {},
            {"host": "no-such-host.invalid"},
            "name lookup failed: jump device outer: ",
            id="no such name",
        ),
    ],
)
async def test_a_failing_jump_device_is_named(
    fleet: Fleet, options: dict[str, Any], fields: dict[str, Any], expected: str
) -> None:
    outer = await fleet.device(fleet.simulated("outer", **options))
    await fleet.api.put(f"/api/devices/{outer}", fields)
    inner = await fleet.device(fleet.simulated("inner"), jump_device_id=outer)
    assert (await message(fleet, inner)).startswith(expected)


async def test_a_circle_of_jump_devices_is_refused(fleet: Fleet) -> None:
    first = await fleet.entry("first", 1)
    second = await fleet.entry("second", 1, jump_device_id=first)
    for jump in (first, second):
        answer = await fleet.api.put(f"/api/devices/{first}", {"jump_device_id": jump})
        assert_error(answer, 400, "jump_device_id: a device cannot be reached through itself")
