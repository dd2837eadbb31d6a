"""Who may not manage credentials does not repeat refused logins, on no device and no node."""

import asyncio
from datetime import timedelta

import pytest

from netautod.network.devices.sessions.caller_suspensions import CallerSuspensions
from netautod.testing import Faults, SimulatedDevice
from tests.network.configs.fleet import PASSWORD, Fleet
from tests.support.clock import MovableClock

QUARTER = timedelta(minutes=15)


@pytest.fixture
def clock(fleet: Fleet) -> MovableClock:
    made = MovableClock()
    store = fleet.installation.stores.caller_suspensions
    fleet.sessions.caller_suspensions = CallerSuspensions(store=store, clock=made)
    return made


async def refusing(fleet: Fleet, name: str = "sw1") -> tuple[SimulatedDevice, str]:
    switch = fleet.simulated(name, faults=Faults(refuse_logins=True))
    return switch, await fleet.device(switch)


async def answered(fleet: Fleet, device_id: str, *, permission: str = "devices.access") -> str:
    path = f"/api/devices/{device_id}/test-credential"
    return str((await fleet.with_permissions(permission).post(path)).expect()["message"])


async def test_the_third_test_of_a_viewer_is_not_sent(fleet: Fleet, clock: MovableClock) -> None:
    switch, device_id = await refusing(fleet)
    messages = [await answered(fleet, device_id) for _ in range(4)]
    assert [message.split(":")[0] for message in messages] == ["login failed"] * 2 + ["suspended"] * 2
    assert "credentials.manage" in messages[2]
    assert len(switch.login_attempts) == 2


async def test_who_may_manage_credentials_goes_on(fleet: Fleet, clock: MovableClock) -> None:
    switch, device_id = await refusing(fleet)
    for _ in range(3):
        assert (await answered(fleet, device_id, permission="*")).startswith("login failed")
    assert (await answered(fleet, device_id)).startswith("suspended")
    switch.faults = Faults()
    assert await answered(fleet, device_id, permission="*") == "login succeeded"
    assert await answered(fleet, device_id) == "login succeeded"
    assert await fleet.rows("caller_suspensions") == []


async def test_it_ends_and_doubles(fleet: Fleet, clock: MovableClock) -> None:
    switch, device_id = await refusing(fleet)
    await answered(fleet, device_id)
    clock.move(QUARTER.total_seconds() + 1)
    for _ in range(2):  # the first one is forgotten
        assert (await answered(fleet, device_id)).startswith("login failed")
    for quarters in (1, 2, 4):
        clock.move((quarters * QUARTER).total_seconds() - 1)
        assert (await answered(fleet, device_id)).startswith("suspended")
        clock.move(2)
        assert (await answered(fleet, device_id)).startswith("login failed")
    assert len(switch.login_attempts) == 6


async def test_an_edit_of_the_device_does_not_end_it(fleet: Fleet, clock: MovableClock) -> None:
    switch, device_id = await refusing(fleet)
    for number in range(4):
        await answered(fleet, device_id)
        await fleet.api.put(f"/api/devices/{device_id}", {"description": str(number)})
    assert len(switch.login_attempts) == 2


async def test_a_change_of_the_credential_ends_it(fleet: Fleet, clock: MovableClock) -> None:
    _, device_id = await refusing(fleet)
    for _ in range(2):
        await answered(fleet, device_id)
    await fleet.api.put(f"/api/credentials/{fleet.credential_id}", {"secret": PASSWORD})
    assert (await answered(fleet, device_id)).startswith("login failed")


async def test_five_refusals_on_any_devices_hold_a_credential(fleet: Fleet, clock: MovableClock) -> None:
    switches = [await refusing(fleet, f"sw{number}") for number in range(8)]
    await asyncio.gather(*(answered(fleet, device_id) for _, device_id in switches))
    for _ in range(2):
        viewer = fleet.with_permissions("devices.access")
        await viewer.post("/api/devices/bulk/test-credentials", {})
    assert sum(len(switch.login_attempts) for switch, _ in switches) == 5


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/api/devices/{}/exec-command", {"command": "show version"}, id="commands"),
        pytest.param("/api/config/devices/{}/pull", None, id="pulls"),
    ],
)
async def test_commands_and_pulls_count_too(
    fleet: Fleet, clock: MovableClock, path: str, body: dict[str, str] | None
) -> None:
    switch, device_id = await refusing(fleet)
    operator = fleet.with_permissions("devices.manage")
    for _ in range(4):
        await operator.post(path.format(device_id), body)
    assert len(switch.login_attempts) == 2


async def test_another_node_knows_it(fleet: Fleet) -> None:
    _, device_id = await refusing(fleet)
    for _ in range(2):
        await answered(fleet, device_id)
    viewer = fleet.work(bulk=False)
    async with fleet.another_node() as sessions:
        legs = await sessions.scope(viewer)._paths.to(device_id, None, lambda device: device)
        known = await sessions.caller_suspensions.of(viewer, legs)
    assert [one.until is not None for one in known if one.subject.device_id == device_id] == [True]


async def test_it_goes_with_the_device(fleet: Fleet, clock: MovableClock) -> None:
    _, device_id = await refusing(fleet)
    await answered(fleet, device_id)
    await fleet.api.delete(f"/api/devices/{device_id}")
    assert [row["device_id"] for row in await fleet.rows("caller_suspensions")] == [None]
