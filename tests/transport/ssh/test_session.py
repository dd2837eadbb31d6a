"""Sessions: what a command returns, how the pager, enable and other modes are handled, and the guard."""

import asyncio
import re
from collections.abc import Callable

import asyncssh
import pytest

from netautod.core.errors import InvalidInput
from netautod.testing import Faults, SimulatedDevice, ios_config
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits

from .conftest import MakeTarget


class LeaseLost(Exception):
    """Raised by the guard of a test."""


def _still(config: str) -> str:
    """Return the text without the number that drifts from read to read, and without the last line end."""
    return re.sub(r"clock-period \d+", "clock-period", config).rstrip("\n")


@pytest.mark.parametrize(
    ("device_fields", "faults"),
    [
        pytest.param({}, Faults(), id="a plain device"),
        pytest.param({"hostname": "x" * 200}, Faults(), id="a prompt of 200 characters"),
        pytest.param(
            {"banner": "Welcome\nAuthorized only#\nrouter#\n"}, Faults(), id="a banner like a prompt"
        ),
        pytest.param({}, Faults(ignore_paging_off=True), id="a pager that ignores terminal length 0"),
        pytest.param({}, Faults(slow=0.001), id="slow bytes"),
        pytest.param({}, Faults(ignore_paging_off=True, slow=0.001), id="slow bytes and a pager"),
        pytest.param({}, Faults(echo="none"), id="no echo"),
        pytest.param({}, Faults(log_after_prompt=True), id="log lines after every prompt"),
        pytest.param({"latency": 0.15}, Faults(), id="answers that take longer than the quiet time"),
    ],
)
async def test_a_command_returns_exactly_what_it_printed(
    make_target: MakeTarget, login: Login, device_fields: dict[str, object], faults: Faults
) -> None:
    limits = SessionLimits(prompt_seconds=5, command_seconds=10, quiet_seconds=0.1)
    async with (
        SimulatedDevice(faults=faults, **device_fields) as device,  # type: ignore[arg-type]  # parametrized
        open_session(make_target(device), login, limits=limits) as session,
    ):
        device.responses["show clock"] = "06:44:12.345 UTC Sat Nov 21 2026\n"
        assert session.prompt == f"{device.hostname}#"
        assert await session.run("show clock") == "06:44:12.345 UTC Sat Nov 21 2026"
        assert _still(await session.run("show running-config")) == _still(device.config)
        assert await session.run("show clock") == "06:44:12.345 UTC Sat Nov 21 2026"
        assert device.commands.count("show clock") == 2


async def test_log_lines_in_between_stay_in_the_output_of_a_command(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with (
        SimulatedDevice(faults=Faults(log_every=5)) as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        lines = (await session.run("show running-config")).split("\n")
        without = [line for line in lines if "%LINK-3-UPDOWN" not in line]
        assert len(without) < len(lines)
        assert _still("\n".join(without)) == _still(device.config)


async def test_ansi_and_nul_go_and_bytes_that_are_no_utf8_stay(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with (
        SimulatedDevice(faults=Faults(dirty=True)) as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        output = await session.run("show running-config")
        assert " ÿdescription access port 1\n" in output
        assert "\x1b" not in output
        assert "\x00" not in output


async def test_enable_sends_the_secret_once(make_target: MakeTarget, limits: SessionLimits) -> None:
    async with SimulatedDevice(enable_password="3n4ble") as device:
        login = Login(username="admin", password="simulated", enable_secret="3n4ble")
        async with open_session(make_target(device), login, limits=limits) as session:
            assert (session.prompt, session.mode) == ("sw1#", "privileged")
        assert "3n4ble" not in device.commands


async def test_a_wrong_enable_secret(make_target: MakeTarget, limits: SessionLimits) -> None:
    async with SimulatedDevice(enable_password="right") as device:
        login = Login(username="admin", password="simulated", enable_secret="wr0ng")
        with pytest.raises(DeviceFailed, match="refused the enable secret") as caught:
            async with open_session(make_target(device), login, limits=limits):
                pass
        assert caught.value.kind == "enable"
        assert "wr0ng" not in caught.value.text


async def test_without_an_enable_secret_the_session_stays_unprivileged(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with (
        SimulatedDevice(enable_password="right") as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        assert session.mode == "exec"
        assert "Cisco IOS" in await session.run("show version")
        with pytest.raises(DeviceFailed, match="the credential has none") as caught:
            await session.require_mode("privileged")
        assert caught.value.kind == "enable"


async def test_connect_commands_are_sent_after_the_preparation(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice(responses={"terminal no monitor": ""}) as device:
        target = make_target(device, connect_commands=("terminal no monitor",))
        async with open_session(target, login, limits=limits):
            pass
        assert device.commands == ["terminal length 0", "terminal width 511", "terminal no monitor"]


async def test_a_refused_connect_command(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice() as device:
        with pytest.raises(DeviceFailed, match="`bogus` was refused: % Invalid input") as caught:
            async with open_session(make_target(device, connect_commands=("bogus",)), login, limits=limits):
                pass
        assert caught.value.kind == "refused_command"


async def test_an_unknown_device_type_works_through_generic(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with (
        SimulatedDevice(hostname="box-1") as device,
        open_session(make_target(device, platform="acme_os"), login, limits=limits) as session,
    ):
        assert session.platform.name == "generic"
        assert session.prompt == "box-1#"
        assert "Cisco IOS" in await session.run("show version")


async def test_a_change_of_the_prompt_between_modes_is_followed(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with (
        SimulatedDevice() as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        await session.run("disable")
        assert (session.prompt, session.mode) == ("sw1>", "exec")
        assert "Cisco IOS" in await session.run("show version")


@pytest.mark.parametrize("command", ["show run\nreload", "show run\r", "", "show\x00run", "show\x1brun"])
async def test_a_command_is_one_line(
    make_target: MakeTarget, login: Login, limits: SessionLimits, command: str
) -> None:
    async with (
        SimulatedDevice() as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        sent = len(device.commands)
        with pytest.raises(InvalidInput, match="one line"):
            await session.run(command)
        assert len(device.commands) == sent
        assert "Cisco IOS" in await session.run("show version")


def _is_idle(device: SimulatedDevice) -> bool:
    return device.open_connections == 0 and device.open_sessions == 0


def _guard_until(allowed: list[bool]) -> Callable[[], None]:
    def guard() -> None:
        if not allowed[0]:
            raise LeaseLost

    return guard


@pytest.mark.parametrize("platform", ["cisco_ios", "linux"])
async def test_no_command_is_sent_after_the_lease_is_lost(
    make_target: MakeTarget, login: Login, limits: SessionLimits, platform: str
) -> None:
    allowed = [True]
    async with SimulatedDevice(platform=platform) as device:
        device.responses["show version"] = "1\n"
        guard = _guard_until(allowed)
        async with open_session(make_target(device), login, limits=limits, guard=guard) as session:
            await session.run("show version")
            allowed[0] = False
            with pytest.raises(LeaseLost):
                await session.run("show version")
        assert device.commands.count("show version") == 1
        await device.wait_until(lambda seen: seen.open_connections == 0)


async def test_a_process_that_sleeps_while_its_channel_opens_sends_no_command(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    """Refuse the command: the guard holds when the command is given, but no more when the device has opened
    the channel.
    """
    calls: list[int] = []

    def guard() -> None:
        calls.append(1)
        if len(calls) > 3:  # connection, credential, opening; the fourth is the command itself
            raise LeaseLost

    async with SimulatedDevice(platform="linux") as device:
        with pytest.raises(LeaseLost):
            async with open_session(make_target(device), login, limits=limits, guard=guard) as session:
                await session.run("uname -srm")
        assert device.commands == []


async def test_no_credential_is_sent_after_the_lease_is_lost(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    calls: list[int] = []

    def guard() -> None:
        calls.append(1)
        if len(calls) > 1:
            raise LeaseLost

    async with SimulatedDevice() as device:
        with pytest.raises(LeaseLost):
            async with open_session(make_target(device), login, limits=limits, guard=guard):
                pass
        assert device.login_attempts == []


async def test_a_cancelled_session_is_gone_at_once(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice(faults=Faults(stop_after=100)) as device:

        async def read() -> None:
            async with open_session(make_target(device), login) as session:
                await session.run("show running-config", timeout=60)

        task = asyncio.create_task(read())
        await device.wait_until(lambda seen: "show running-config" in seen.commands)
        assert (device.open_connections, device.open_sessions) == (1, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await device.wait_until(_is_idle, seconds=1)


async def test_a_session_closes_when_its_block_ends(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice() as device:
        async with open_session(make_target(device), login, limits=limits):
            assert device.open_connections == 1
        await device.wait_until(_is_idle, seconds=1)


async def test_two_hundred_devices_in_one_process(make_target: MakeTarget, login: Login) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    config = ios_config("sw", interfaces=4)
    devices = [SimulatedDevice(hostname=f"sw{n}", host_key=key, config=config) for n in range(200)]

    async def read(device: SimulatedDevice, room: asyncio.Semaphore) -> str:
        async with room, device, open_session(make_target(device), login) as session:
            return await session.run("show running-config")

    room = asyncio.Semaphore(20)
    texts = await asyncio.gather(*(read(device, room) for device in devices))
    assert {text.splitlines()[-1] for text in texts} == {"end"}
