"""The time in which a device must have spoken and accepted the login, where a person waits for it.

Every test gives it a second; without it the device would have 45.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from netautod.core.work.answers import ANSWER_SECONDS
from netautod.network.devices.sessions.answer_limit import FEW_DEVICES, AnswerLimit
from netautod.network.devices.sessions.login_limits import MOST_REFUSALS
from netautod.network.devices.sessions.service import lease_name
from netautod.testing import Faults
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.target import Step
from tests.network.configs.fleet import Fleet
from tests.support.servers.silent import HALF_A_KEXINIT, IDENTIFICATION, black_hole, speaking, undecided

BULK_PULL = "/api/config/devices/bulk-pull"
BULK_TEST = "/api/devices/bulk/test-credentials"
CONNECTED = "it accepted the connection"
Place = Callable[[Fleet, AsyncExitStack], Awaitable[int]]


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture(autouse=True)
def a_second(fleet: Fleet) -> None:
    fleet.sessions.answer_seconds = 1.0
    fleet.sessions.limits = replace(fleet.sessions.limits, login_seconds=45.0, prompt_seconds=10.0)


def says(words: bytes) -> Place:
    return lambda fleet, stack: stack.enter_async_context(speaking(words))


async def nothing_answers(fleet: Fleet, stack: AsyncExitStack) -> int:
    return stack.enter_context(black_hole())


async def never_decides(fleet: Fleet, stack: AsyncExitStack) -> int:
    return await stack.enter_async_context(undecided(fleet.host_key))


async def shows_no_prompt(fleet: Fleet, stack: AsyncExitStack) -> int:
    switch = await stack.enter_async_context(fleet.simulated(faults=Faults(silent=True)))
    return switch.port


@pytest.mark.parametrize(
    ("place", "seconds", "missing"),
    [
        pytest.param(nothing_answers, 1, "no connection", id="a black hole"),
        pytest.param(says(b""), 1, f"{CONNECTED}, but there was no key exchange", id="it says nothing"),
        pytest.param(says(IDENTIFICATION), 1, "no key exchange", id="the identification alone"),
        pytest.param(says(IDENTIFICATION + HALF_A_KEXINIT), 1, "no key exchange", id="half a key exchange"),
        pytest.param(never_decides, 4, "no answer to the login", id="a login that is never answered"),
        pytest.param(shows_no_prompt, 4, "no prompt of the command line", id="no prompt"),
    ],
)
async def test_a_silent_device_is_answered_for_in_time(
    fleet: Fleet, stack: AsyncExitStack, place: Place, seconds: int, missing: str
) -> None:
    fleet.sessions.answer_seconds = seconds
    device_id = await fleet.entry("silent", await place(fleet, stack))
    tested = await fleet.tested(device_id)
    assert tested["success"] is False
    assert tested["message"].startswith("timeout: 127.0.0.1 port ")
    assert tested["message"].endswith(f"{missing} within {seconds} s")


async def test_every_request_that_waits_for_a_device_has_the_limit(
    fleet: Fleet, stack: AsyncExitStack
) -> None:
    device_id = await fleet.entry("silent", await says(b"")(fleet, stack))
    ran = await fleet.ran(device_id, "show version", timeout_secs=300)
    assert (ran["success"], ran["error"].endswith("no key exchange within 1 s")) == (False, True)
    pulled = await fleet.api.post(f"/api/config/devices/{device_id}/pull")
    assert pulled.status == 502
    assert pulled.json["error"].endswith("no key exchange within 1 s")


async def test_a_name_that_is_never_resolved(fleet: Fleet) -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        never: asyncio.Future[Sequence[str]] = asyncio.get_running_loop().create_future()
        return await never

    fleet.sessions.reach = replace(fleet.sessions.reach, lookup=never)
    device_id = await fleet.entry("sw1", 22, host="sw1.example")
    text = "timeout: sw1.example port 22: no answer to the look-up of its name within 1 s"
    assert (await fleet.tested(device_id))["message"] == text


async def test_the_jump_device_counts_too(fleet: Fleet, stack: AsyncExitStack) -> None:
    jump_id = await fleet.entry("jump", await says(b"")(fleet, stack))
    device_id = await fleet.device(fleet.simulated(), jump_device_id=jump_id)
    message = (await fleet.tested(device_id))["message"]
    assert message.startswith(f"timeout: jump device jump: {CONNECTED}")
    assert message.endswith("within 1 s")


async def test_telnet_has_the_same_limit(fleet: Fleet, stack: AsyncExitStack) -> None:
    async with fleet.another_node(allow_telnet=True) as node:
        node.answer_seconds = 1.0
        for place, missing in (
            (nothing_answers, "no connection"),
            (says(b""), "no prompt of the command line"),
        ):
            device_id = await fleet.entry(missing, await place(fleet, stack))
            await fleet.database.collection("devices").update(
                {"_id": device_id}, {"$set": {"protocol": "telnet"}}
            )
            with pytest.raises(DeviceFailed, match=f"{missing}.* within 1 s"):
                async with node.scope(fleet.work()).open(device_id):
                    pass


async def test_the_turn_counts_too(fleet: Fleet) -> None:
    device_id = await fleet.device(fleet.simulated())
    async with fleet.scope().open(device_id):
        text = "device busy: sw1: another session on the device did not end within 1 s"
        assert (await fleet.tested(device_id))["message"] == text
    async with AsyncExitStack() as turns:
        for _ in range(fleet.sessions.settings.concurrent_sessions):
            await turns.enter_async_context(fleet.sessions.turns.session(fleet.work()))
        text = "device busy: no session of this node became free within 1 s"
        assert (await fleet.tested(device_id))["message"] == text
    assert await fleet.database.collection("leases").find({"_id": lease_name(device_id)}) == []


@pytest.mark.slow
async def test_a_few_devices_are_answered_for_together(fleet: Fleet, stack: AsyncExitStack) -> None:
    """Although the sixth login with a credential waits for the outcome of another one."""
    port = await says(b"")(fleet, stack)
    ids = [await fleet.entry(f"silent-{number}", port) for number in range(MOST_REFUSALS + 2)]
    fleet.sessions.answer_seconds = 10.0
    ids.append(await fleet.device(fleet.simulated()))
    tested = await fleet.posted(BULK_TEST, device_ids=ids)
    assert (tested["succeeded"], tested["failed"]) == (1, MOST_REFUSALS + 2)
    messages = {one["message"].partition(": ")[2] for one in tested["results"] if not one["success"]}
    assert messages <= {f"127.0.0.1 port {port}: no login within 5 s"} | {
        f"127.0.0.1 port {port}: {CONNECTED}, but there was no key exchange within 10 s"
    }
    pulled = await fleet.posted(BULK_PULL, device_ids=ids)
    assert (pulled["succeeded"], pulled["failed"]) == (1, MOST_REFUSALS + 2)


@pytest.mark.parametrize(
    ("count", "seconds"),
    [
        pytest.param(FEW_DEVICES, "0.5", id="as many as a client waits for"),
        pytest.param(FEW_DEVICES + 1, "2", id="more"),
    ],
)
async def test_many_devices_have_the_time_of_the_settings(
    fleet: Fleet, stack: AsyncExitStack, count: int, seconds: str
) -> None:
    port = await says(b"")(fleet, stack)
    ids = [await fleet.entry(f"silent-{number}", port) for number in range(count)]
    fleet.sessions.limits = replace(fleet.sessions.limits, login_seconds=2.0)
    text = f"timeout: 127.0.0.1 port {port}: no login within {seconds} s"
    for body in ({"device_ids": ids}, {}):
        tested = await fleet.posted(BULK_TEST, **body)
        assert text in {one["message"] for one in tested["results"]}
    pulled = await fleet.posted(BULK_PULL, device_ids=ids)
    assert text in {one["error"] for one in pulled["errors"]}


async def test_a_run_has_the_time_of_the_settings(fleet: Fleet, stack: AsyncExitStack) -> None:
    device_id = await fleet.entry("silent", await says(b"")(fleet, stack))
    fleet.sessions.limits = replace(fleet.sessions.limits, login_seconds=1.5)
    with pytest.raises(DeviceFailed, match=r"no login within 1\.5 s"):
        async with fleet.scope(bulk=True).open(device_id):
            pass


async def test_a_command_on_a_logged_in_device_has_its_own_time() -> None:
    async with (limit := AnswerLimit(60.0)).timeout:
        limit.on_step(Step(kind="connected", text=""))
        assert limit.timeout.when() is not None
        limit.on_step(Step(kind="logged_in", text="sw1#"))
        assert limit.timeout.when() is None


def test_clients_that_wait_for_half_a_minute_get_the_answer() -> None:
    assert ANSWER_SECONDS < 25
