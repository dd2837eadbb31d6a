"""Sessions on devices: turns, credentials, host keys, leases between nodes, and the guard."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from netautod.core.errors import NotFound
from netautod.core.work.guard import LeaseLostError
from netautod.network.devices.sessions.login_limits import MOST_REFUSALS
from netautod.network.devices.sessions.service import SessionScope
from netautod.testing import Faults
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.failures import DeviceFailed
from tests.network.configs.fleet import Fleet
from tests.network.devices.inventory import ABSENT_ID


async def failure(scope: SessionScope, device_id: str, **options: Any) -> DeviceFailed:
    with pytest.raises(DeviceFailed) as caught:
        async with scope.open(device_id, **options):
            pass
    return caught.value


async def test_a_session_reads_the_device_and_says_which_credential_it_used(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch, connect_commands=["show version"])
    async with fleet.scope().open(device_id) as opened:
        assert (await capture(opened.session)).raw.endswith("end\n")
        assert opened.device.id == device_id
        assert opened.credential_id == fleet.credential_id
    await switch.wait_until(lambda device: device.open_connections == 0)
    assert switch.commands[2:] == ["show version", "show running-config"]


@pytest.mark.parametrize(
    ("override", "own", "used"),
    [
        pytest.param(True, True, "override", id="the override wins"),
        pytest.param(False, True, "own", id="then the device's own"),
        pytest.param(False, False, "default", id="then the organization's default"),
    ],
)
async def test_the_credential_is_chosen_in_order(fleet: Fleet, override: bool, own: bool, used: str) -> None:
    ids = {"default": fleet.credential_id}
    for name in ("override", "own"):
        ids[name] = await fleet.credential(name)
    fields = {"default_credential_id": ids["own"]} if own else {}
    device_id = await fleet.device(fleet.simulated(), **fields)
    wanted = ids["override"] if override else None
    async with fleet.scope().open(device_id, credential_id=wanted) as opened:
        assert opened.credential_id == ids[used]


async def test_without_a_usable_credential_nothing_is_sent(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    refused = await failure(fleet.scope(), device_id, credential_id=ABSENT_ID)
    assert (refused.kind, refused.final, refused.credential_id) == ("credential", True, None)
    elsewhere = await fleet.credential("elsewhere", allowed_hosts=["10.0.0.0/8"])
    refused = await failure(fleet.scope(), device_id, credential_id=elsewhere)
    assert (refused.kind, refused.text) == ("credential", "credential not allowed for this host")
    assert switch.login_attempts == []
    with pytest.raises(NotFound):
        await failure(fleet.scope(), ABSENT_ID)


async def test_the_first_key_is_pinned_and_another_one_never_gets_the_password(fleet: Fleet) -> None:
    switch = fleet.simulated(host_key=None)
    device_id = await fleet.device(switch)
    async with fleet.scope().open(device_id):
        shown = (await fleet.api.get(f"/api/devices/{device_id}")).json["host_key_fingerprint"]
        assert shown == switch.fingerprint
    switch.change_host_key()
    changed = await failure(fleet.scope(), device_id)
    assert (changed.kind, changed.final) == ("host_key", True)
    assert "host key changed" in changed.text
    assert len(switch.login_attempts) == 1


async def test_the_keys_of_jump_devices_are_pinned_too(fleet: Fleet) -> None:
    jump = fleet.simulated("jump")
    jump_id = await fleet.device(jump)
    inner_id = await fleet.device(fleet.simulated("inner"), jump_device_id=jump_id)
    async with fleet.scope().open(inner_id) as opened:
        assert opened.session.prompt == "inner#"
        assert jump.open_connections == 1
    for device_id in (jump_id, inner_id):
        device = (await fleet.api.get(f"/api/devices/{device_id}")).json
        assert device["host_key_fingerprint"] == jump.fingerprint


async def test_the_use_of_a_credential_is_audited_once_per_run(fleet: Fleet) -> None:
    ids = [await fleet.device(fleet.simulated(f"sw{number}")) for number in range(3)]
    run = fleet.scope(bulk=True, execution_id=ABSENT_ID)

    async def visit(device_id: str) -> None:
        async with run.open(device_id):
            pass

    await asyncio.gather(*(visit(device_id) for device_id in ids * 2))
    async with fleet.scope().open(ids[0]):
        pass
    events = await fleet.audited("credential.use")
    assert [event["resource_id"] for event in events] == [fleet.credential_id] * 2
    assert events[0]["details"] == {"execution_id": ABSENT_ID}


async def test_a_refused_login_is_final_and_after_five_nobody_else_is_asked(fleet: Fleet) -> None:
    wrong = await fleet.credential("wrong", secret="not-the-password")
    switches = [fleet.simulated(f"sw{number}") for number in range(20)]
    ids = [await fleet.device(switch) for switch in switches]
    run = fleet.scope(bulk=True)
    failures = await asyncio.gather(*(failure(run, device_id, credential_id=wrong) for device_id in ids))
    assert {(found.kind, found.final) for found in failures} == {("auth", True)}
    assert sum(len(switch.login_attempts) for switch in switches) == MOST_REFUSALS
    assert sum("not visited" in found.text for found in failures) == len(ids) - MOST_REFUSALS
    async with run.open(ids[0]):  # another credential is not affected
        pass


async def test_a_refusing_jump_device_is_held_against_its_own_credential(fleet: Fleet) -> None:
    own = await fleet.credential("jump", secret="not-the-password")
    jump = fleet.simulated("jump")
    jump_id = await fleet.device(jump, default_credential_id=own)
    ids = [await fleet.device(fleet.simulated(f"sw{n}"), jump_device_id=jump_id) for n in range(8)]
    direct = await fleet.device(fleet.simulated("direct"))
    run = fleet.scope(bulk=True)
    found = await asyncio.gather(*(failure(run, device_id) for device_id in ids))
    assert {one.kind for one in found} == {"auth"}
    assert sum("the jump device jump refused its login" in one.text for one in found) == len(ids) - 1
    assert len(jump.login_attempts) == 1
    async with run.open(direct):
        pass


async def test_two_nodes_never_have_two_sessions_on_one_device(fleet: Fleet) -> None:
    switch = fleet.simulated(latency=0.02)
    device_id = await fleet.device(switch)
    most = visits = 0
    async with AsyncExitStack() as stack:
        nodes = [fleet.sessions]
        nodes.append(await stack.enter_async_context(fleet.another_node()))

        async def visit(node: Any) -> None:
            nonlocal most, visits
            async with node.scope(fleet.work()).open(device_id) as opened:
                most = max(most, switch.open_connections)
                await opened.session.run("show version")
                most = max(most, switch.open_connections)
                visits += 1

        await asyncio.gather(*(visit(node) for node in nodes * 3))
    assert (most, visits) == (1, 6)


async def test_a_device_that_stays_busy_is_a_failure_that_may_be_retried(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated())
    async with (
        fleet.another_node(busy_seconds=0.2) as other,
        fleet.scope().open(device_id),
    ):
        busy = await failure(other.scope(fleet.work()), device_id)
    assert (busy.kind, busy.final) == ("busy", False)
    assert "another session" in busy.text


async def test_a_session_that_gives_way_ends_for_another_one(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    begun = asyncio.Event()

    async def poll() -> None:
        scope = fleet.sessions.scope(fleet.work(bulk=True), gives_way=True)
        async with scope.open(device_id):
            begun.set()
            await asyncio.Event().wait()

    async with fleet.another_node() as other:
        for node in (fleet.sessions, other):
            begun.clear()
            polling = asyncio.create_task(poll())
            await begun.wait()
            async with node.scope(fleet.work()).open(device_id) as opened:
                await opened.session.run("show version")
            with pytest.raises(DeviceFailed) as caught:
                await polling
            assert (caught.value.kind, caught.value.text) == (
                "busy",
                "gave way to another session on the device",
            )


async def test_a_session_that_gives_way_takes_none_from_another_one_like_it(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated())
    work = fleet.work(bulk=True)
    async with fleet.sessions.scope(work, gives_way=True).open(device_id) as opened:
        second = fleet.sessions.scope(work, gives_way=True, patience=0.3)
        assert (await failure(second, device_id)).kind == "busy"
        await opened.session.run("show version")


async def test_a_lost_device_lease_closes_the_session(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    leases = fleet.database.collection("leases")

    async def visit() -> None:
        async with fleet.scope().open(device_id):
            await leases.update({"_id": f"device:{device_id}"}, {"$set": {"owner": "another"}})
            await asyncio.Event().wait()

    with pytest.raises(DeviceFailed) as caught:
        await visit()
    assert (caught.value.kind, caught.value.final) == ("lost", False)
    await switch.wait_until(lambda device: device.open_connections == 0)


async def test_what_the_guard_of_the_run_raises_ends_the_session_unchanged(fleet: Fleet) -> None:
    switch = fleet.simulated()
    device_id = await fleet.device(switch)
    lost = False

    def guard() -> None:
        if lost:
            raise LeaseLostError("the run is somebody else's")

    async def visit() -> None:
        nonlocal lost
        async with fleet.scope(guard=guard).open(device_id) as opened:
            lost = True
            await opened.session.run("show version")

    with pytest.raises(LeaseLostError):
        await visit()
    assert "show version" not in switch.commands
    await switch.wait_until(lambda device: device.open_connections == 0)


async def test_a_cancelled_session_is_closed_at_once_and_frees_the_device(fleet: Fleet) -> None:
    switch = fleet.simulated(faults=Faults(stop_after=100))
    device_id = await fleet.device(switch)

    async def read() -> None:
        async with fleet.scope().open(device_id) as opened:
            await opened.session.run("show running-config")

    reading = asyncio.create_task(read())
    await switch.wait_until(lambda device: "show running-config" in device.commands)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await switch.wait_until(lambda device: device.open_connections == 0)
    assert await fleet.database.collection("leases").find({}) == []
