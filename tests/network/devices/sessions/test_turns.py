"""Who waits for whom: interactive calls and bulk work, one device, one site."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from netautod.network.devices.sessions.session_limits import SiteSlots, Slots
from netautod.store.client import Database
from netautod.testing import Faults, SimulatedDevice
from tests.network.configs.fleet import Fleet, open_fleet
from tests.support.serving import Serve


@pytest.fixture
async def small(indexed: Database, serve: Serve, tmp_path: Path) -> AsyncIterator[Fleet]:
    """A node with six sessions, four of which are kept for interactive calls."""
    async with open_fleet(indexed, serve, tmp_path, concurrent_sessions=6) as made:
        yield made


async def read_first(mute: list[SimulatedDevice], count: int) -> None:
    """Waits until the configurations of that many of them are being read, whichever come first."""
    waiting = {
        asyncio.create_task(switch.wait_until(lambda device: "show running-config" in device.commands))
        for switch in mute
    }
    while len(waiting) > len(mute) - count:
        _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_command_answers_at_once_while_a_bulk_pull_waits_for_its_turns(small: Fleet) -> None:
    mute = [small.simulated(f"mute{number}", faults=Faults(stop_after=9)) for number in range(6)]
    ids = [await small.device(switch) for switch in mute]
    ids += [await small.entry(f"waiting{number}", 1) for number in range(50)]
    own = await small.device(small.simulated("own"))
    pulling = asyncio.create_task(small.api.post("/api/config/devices/bulk-pull", {"device_ids": ids}))
    await read_first(mute, 2)  # all that may be visited now
    answer = (await small.api.post(f"/api/devices/{own}/exec-command", {"command": "show version"})).json
    assert answer["success"] is True
    assert (await small.api.post(f"/api/devices/{own}/test-credential")).json["success"] is True
    assert (await small.api.post(f"/api/config/devices/{own}/pull")).status == 200
    assert not pulling.done()  # nothing else ends the silence of its devices
    for switch in mute:
        await switch.stop()
    assert (await pulling).json["failed"] == 56


async def test_a_command_waits_a_bounded_time_for_a_capture_of_the_same_device(fleet: Fleet) -> None:
    switch = fleet.simulated(faults=Faults(stop_after=9))
    device_id = await fleet.device(switch)
    body = {"device_ids": [device_id]}
    pulling = asyncio.create_task(fleet.api.post("/api/config/devices/bulk-pull", body))
    await switch.wait_until(lambda device: "show running-config" in device.commands)
    command = {"command": "show version", "timeout_secs": 2}
    answer = (await fleet.api.post(f"/api/devices/{device_id}/exec-command", command)).json
    assert answer["success"] is False
    assert answer["error"] == "busy: sw1: another session stayed open on the device for 1 s"
    assert "show version" not in switch.commands
    await switch.stop()
    await pulling


async def test_a_site_has_no_more_bulk_sessions_than_it_may() -> None:
    sites, under_way, most = SiteSlots(per_site=2), 0, 0

    async def visit() -> None:
        nonlocal under_way, most
        async with sites.hold(("org", "lab")):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1

    async with AsyncExitStack() as stack:
        for site in (("org", "other"), ("another org", "lab"), None, None, None):
            await stack.enter_async_context(sites.hold(site))
        await asyncio.gather(*(visit() for _ in range(7)))
    assert most == 2


async def test_one_who_stops_waiting_for_a_site_leaves_nothing_behind() -> None:
    sites = SiteSlots(per_site=1)

    async def visit() -> None:
        async with sites.hold("lab"):
            pass

    async with sites.hold("lab"):
        waiting = [asyncio.create_task(visit()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
    async with asyncio.timeout(60):
        await waiting[1]
        await visit()


async def test_the_limit_of_a_site_binds_a_bulk_pull_but_no_single_call(
    indexed: Database, serve: Serve, tmp_path: Path
) -> None:
    async with open_fleet(indexed, serve, tmp_path, sessions_per_site=1) as fleet:
        mute = [fleet.simulated(f"mute{number}", faults=Faults(stop_after=9)) for number in range(2)]
        ids = [await fleet.device(switch, site="lab") for switch in mute]
        free = await fleet.device(fleet.simulated("free"), site="other")
        body = {"device_ids": [*ids, free]}
        pulling = asyncio.create_task(fleet.api.post("/api/config/devices/bulk-pull", body))
        await read_first(mute, 1)
        (waiting,) = [number for number, switch in enumerate(mute) if not switch.commands]
        while (await fleet.api.get(f"/api/config/devices/{free}/configs")).json["total"] == 0:
            assert not pulling.done()
        assert mute[waiting].login_attempts == []
        path = f"/api/devices/{ids[waiting]}/test-credential"
        assert (await fleet.api.post(path)).json["success"] is True
        for switch in mute:
            await switch.stop()
        assert (await pulling).json["succeeded"] == 1


async def test_interactive_work_does_not_wait_behind_queued_bulk_work() -> None:
    slots, order = Slots(total=3, reserved=1), []
    release = asyncio.Event()

    async def work(name: str, *, bulk: bool) -> None:
        async with slots.hold(bulk=bulk):
            order.append(name)
            await release.wait()

    tasks = [asyncio.create_task(work(f"bulk {number}", bulk=True)) for number in range(4)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert order == ["bulk 0", "bulk 1"]
    tasks += [asyncio.create_task(work(f"interactive {number}", bulk=False)) for number in range(2)]
    for _ in range(3):
        await asyncio.sleep(0)
    assert order[2:] == ["interactive 0"]
    tasks[2].cancel()  # one that waits gives its place back
    release.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order[3:] == ["interactive 1", "bulk 3"]


async def test_a_slot_that_was_just_handed_to_a_cancelled_task_is_not_lost() -> None:
    slots = Slots(total=1, reserved=0)
    waiting: asyncio.Task[None]

    async def work() -> None:
        async with slots.hold(bulk=True):
            pass

    async with slots.hold(bulk=True):
        waiting = asyncio.create_task(work())
        await asyncio.sleep(0)
    waiting.cancel()  # it has its slot, and has not yet run
    await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(60), slots.hold(bulk=False):
        pass
