"""Suspended logins: when background work leaves a login alone, for how long, and what ends that."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from netautod.core.json.values import to_text
from netautod.network.devices.sessions.store import COLLECTION, LoginKey, SuspensionStore
from netautod.network.devices.sessions.suspensions import Suspensions
from netautod.plugin_api.events import CredentialSuspended
from netautod.store.scoped import scoped
from netautod.testing import Faults, SimulatedDevice
from netautod.transport.ssh.failures import DeviceFailed
from tests.network.configs.fleet import PASSWORD, Fleet
from tests.support.clock import MovableClock

QUARTER = timedelta(minutes=15)


@pytest.fixture
def clock(fleet: Fleet) -> MovableClock:
    made = MovableClock()
    fleet.sessions.suspensions = Suspensions(
        store=fleet.installation.stores.suspensions, clock=made, observers=fleet.told
    )
    return made


async def visited(fleet: Fleet, device_id: str, **options: Any) -> DeviceFailed | None:
    """How a visit by background work ended, in a run of its own."""
    try:
        async with fleet.scope(**{"bulk": True, **options}).open(device_id):
            return None
    except DeviceFailed as failure:
        return failure


async def refusing(fleet: Fleet) -> tuple[SimulatedDevice, str]:
    """A device that refused the login of background work once."""
    switch = fleet.simulated(faults=Faults(refuse_logins=True))
    device_id = await fleet.device(switch)
    failure = await visited(fleet, device_id)
    assert failure is not None
    assert failure.kind == "auth"
    return switch, device_id


async def test_background_work_does_not_repeat_a_refused_login(fleet: Fleet, clock: MovableClock) -> None:
    switch, device_id = await refusing(fleet)
    failure = await visited(fleet, device_id)
    assert failure is not None
    assert (failure.kind, failure.final, failure.credential_id) == ("suspended", True, fleet.credential_id)
    until = to_text(clock.now() + QUARTER)
    assert failure.text.startswith("sw1: the login of 'admin' was refused once")
    assert f"before {until}" in failure.text
    assert len(switch.login_attempts) == 1
    answer = (await fleet.api.post("/api/config/devices/bulk-pull", {"device_ids": [device_id]})).json
    assert until in answer["errors"][0]["error"]


async def test_the_pause_doubles_up_to_a_day(fleet: Fleet, clock: MovableClock) -> None:
    switch, device_id = await refusing(fleet)
    pauses = []
    for _ in range(9):
        row = await scoped(fleet.database, COLLECTION).find_one(fleet.org_id, {})
        assert row is not None
        pauses.append((row["until"] - clock.now()) / timedelta(minutes=1))
        clock.move((row["until"] - clock.now()).total_seconds() - 0.001)
        early = await visited(fleet, device_id)
        clock.move(0.001)
        due = await visited(fleet, device_id)
        assert (early and early.kind, due and due.kind) == ("suspended", "auth")
    assert pauses == [15, 30, 60, 120, 240, 480, 960, 1440, 1440]
    assert len(switch.login_attempts) == 10


@pytest.mark.parametrize(
    ("path", "change"),
    [
        pytest.param("/api/credentials/{credential}", {"secret": PASSWORD}, id="a new secret"),
        pytest.param("/api/devices/{device}", {"description": "unlocked"}, id="an edit of the device"),
    ],
)
async def test_a_change_ends_it_and_begins_the_count_anew(
    fleet: Fleet, clock: MovableClock, path: str, change: dict[str, Any]
) -> None:
    switch, device_id = await refusing(fleet)
    found = path.format(credential=fleet.credential_id, device=device_id)
    assert (await fleet.api.put(found, change)).status == 200
    again = await visited(fleet, device_id)
    assert again is not None
    assert again.kind == "auth"
    assert again.suspended_until == clock.now() + QUARTER
    assert len(switch.login_attempts) == 2


async def test_another_credential_or_device_is_not_affected(fleet: Fleet, clock: MovableClock) -> None:
    switch, device_id = await refusing(fleet)
    other_device = await fleet.device(fleet.simulated("other"))
    assert await visited(fleet, other_device) is None
    switch.faults = Faults()
    other = await fleet.credential("other")
    async with fleet.scope(bulk=True).open(device_id, credential_id=other):
        pass
    assert len(switch.login_attempts) == 2


async def test_a_test_tries_it_and_a_success_lifts_it(fleet: Fleet, clock: MovableClock) -> None:
    switch, device_id = await refusing(fleet)
    path = f"/api/devices/{device_id}/test-credential"
    refused = (await fleet.api.post(path)).json
    until = to_text(clock.now() + 2 * QUARTER)
    assert refused["message"].endswith(f"background work does not try it again before {until}")
    switch.faults = Faults()
    assert (await fleet.api.post(path)).json["success"] is True
    assert await visited(fleet, device_id) is None
    assert await scoped(fleet.database, COLLECTION).find(fleet.org_id, {}) == []


async def test_a_refusing_jump_device_is_suspended_itself(fleet: Fleet, clock: MovableClock) -> None:
    own = await fleet.credential("jump", secret="not-the-password")
    jump = fleet.simulated("jump")
    jump_id = await fleet.device(jump, default_credential_id=own)
    inner_id = await fleet.device(fleet.simulated("inner"), jump_device_id=jump_id)
    assert [getattr(await visited(fleet, inner_id), "kind", None) for _ in range(2)] == ["auth", "suspended"]
    (row,) = await scoped(fleet.database, COLLECTION).find(fleet.org_id, {})
    assert (row["device_id"], row["credential_id"]) == (jump_id, own)
    assert len(jump.login_attempts) == 1


async def test_suspended_devices_make_no_room_for_more_refusals(fleet: Fleet, clock: MovableClock) -> None:
    switches = [fleet.simulated(f"sw{number}", password="another") for number in range(20)]
    ids = [await fleet.device(switch) for switch in switches]
    store = SuspensionStore(fleet.database)
    for device_id in ids[:10]:
        device = await fleet.parts.devices.devices.get(fleet.org_id, device_id)
        login = LoginKey(
            device_id=device_id,
            credential_id=fleet.credential_id,
            revision=1,
            device_updated_at=device.updated_at,
        )
        await store.count(fleet.org_id, login, at=clock.now())
    run = fleet.scope(bulk=True)

    async def visit(device_id: str) -> None:
        with pytest.raises(DeviceFailed):
            async with run.open(device_id):
                pass

    await asyncio.gather(*(visit(device_id) for device_id in ids))
    assert sum(len(switch.login_attempts) for switch in switches) == 5


async def test_an_observer_is_told(fleet: Fleet, clock: MovableClock) -> None:
    _, device_id = await refusing(fleet)
    await visited(fleet, device_id)
    assert fleet.told.suspended == [
        CredentialSuspended(
            org_id=fleet.org_id,
            device_id=device_id,
            device_name="sw1",
            credential_id=fleet.credential_id,
            credential_name="default",
            failures=1,
            until=clock.now() + QUARTER,
        )
    ]


async def test_refusals_at_the_same_moment_are_all_counted(fleet: Fleet, clock: MovableClock) -> None:
    login = LoginKey(device_id="d", credential_id="c", revision=1, device_updated_at=clock.now())
    store = SuspensionStore(fleet.database)
    counted = await asyncio.gather(*(store.count(fleet.org_id, login, at=clock.now()) for _ in range(6)))
    assert sorted(suspension.refusals for suspension in counted) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("which", ["device", "credential"])
async def test_it_goes_with_the_device_and_with_the_credential(
    fleet: Fleet, clock: MovableClock, which: str
) -> None:
    own = await fleet.credential("own")
    switch = fleet.simulated(faults=Faults(refuse_logins=True))
    device_id = await fleet.device(switch, default_credential_id=own)
    await visited(fleet, device_id)
    if which == "device":
        await fleet.api.delete(f"/api/devices/{device_id}")
    else:
        await fleet.api.put(f"/api/devices/{device_id}", {"default_credential_id": None})
        await fleet.api.delete(f"/api/credentials/{own}")
    assert await scoped(fleet.database, COLLECTION).find(fleet.org_id, {}) == []
