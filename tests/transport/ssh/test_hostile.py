"""Devices that stall, flood, hang up or ask: each ends in its kind of failure, in time, and closed."""

from dataclasses import replace

import pytest

from netautod.testing import Faults, SimulatedDevice
from netautod.transport.ssh.failures import DeviceFailed, FailureKind
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits

from .conftest import MakeTarget


@pytest.mark.parametrize(
    ("faults", "kind", "words"),
    [
        pytest.param(Faults(silent=True), "prompt", "the device printed nothing", id="never a prompt"),
        pytest.param(
            Faults(question="Choose a menu entry"),
            "prompt",
            "last line is 'Choose a menu entry'",
            id="another line instead of a prompt",
        ),
        pytest.param(
            Faults(question="Do you accept the terms? [yes/no]: "),
            "prompt",
            "a person has to answer",
            id="a yes/no question",
        ),
        pytest.param(
            Faults(question="Your password has expired.\nNew password: "),
            "prompt",
            "asks 'New password:'",
            id="a password change",
        ),
        pytest.param(Faults(question="Reload? [confirm]"), "prompt", "[confirm]", id="a confirmation"),
    ],
)
async def test_no_prompt_after_the_login(
    make_target: MakeTarget,
    login: Login,
    limits: SessionLimits,
    faults: Faults,
    kind: FailureKind,
    words: str,
) -> None:
    async with SimulatedDevice(faults=faults) as device:
        with pytest.raises(DeviceFailed) as caught:
            async with open_session(make_target(device), login, limits=replace(limits, login_seconds=2)):
                pass
        assert caught.value.kind == kind
        assert words in caught.value.text
        assert device.commands == []
        await device.wait_until(lambda seen: seen.open_connections == 0)


@pytest.mark.parametrize(
    ("faults", "kind", "words"),
    [
        pytest.param(
            Faults(stop_after=500), "timeout", "no prompt within 1.5 s", id="the prompt never comes"
        ),
        pytest.param(Faults(disconnect_after=500), "lost", "dropped after `show run", id="TCP is cut"),
        pytest.param(Faults(flood=True), "flood", "more than 100000 bytes", id="output without end"),
    ],
)
async def test_a_command_that_does_not_end(
    make_target: MakeTarget,
    login: Login,
    limits: SessionLimits,
    faults: Faults,
    kind: FailureKind,
    words: str,
) -> None:
    async with SimulatedDevice(faults=faults) as device:
        async with open_session(make_target(device), login, limits=limits) as session:
            with pytest.raises(DeviceFailed) as caught:
                await session.run("show running-config", max_bytes=100_000)
            with pytest.raises(DeviceFailed, match="given up"):
                await session.run("show version")
        assert caught.value.kind == kind
        assert words in caught.value.text
        assert caught.value.partial.startswith("Building configuration")
        assert len(caught.value.partial) <= 100_000
        assert "show version" not in device.commands


async def test_a_question_after_a_command_is_not_answered(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with (
        SimulatedDevice(responses={"reload": "Proceed with reload? [confirm]"}) as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        device.faults = Faults(stop_after=1000)
        with pytest.raises(DeviceFailed, match=r"asks 'Proceed with reload\?.*after `reload`") as caught:
            await session.run("reload")
        assert caught.value.kind == "prompt"
        assert device.commands[-1] == "reload"


async def test_a_reload_in_the_middle(make_target: MakeTarget, login: Login, limits: SessionLimits) -> None:
    async with SimulatedDevice() as device:
        async with open_session(make_target(device), login, limits=limits) as session:
            device.cut_connections()
            with pytest.raises(DeviceFailed) as caught:
                await session.run("show version")
        assert caught.value.kind == "lost"


@pytest.mark.parametrize(
    ("faults", "seconds", "kind"),
    [
        pytest.param(Faults(silent=True), 0.3, "timeout", id="a command that hangs"),
        pytest.param(Faults(flood=True), 10.0, "flood", id="output without end"),
        pytest.param(Faults(disconnect_after=3), 10.0, "lost", id="TCP is cut"),
    ],
)
async def test_exec_channels(
    make_target: MakeTarget,
    login: Login,
    limits: SessionLimits,
    faults: Faults,
    seconds: float,
    kind: FailureKind,
) -> None:
    async with SimulatedDevice(platform="linux", faults=faults) as device:
        async with open_session(make_target(device), login, limits=limits) as session:
            with pytest.raises(DeviceFailed) as caught:
                await session.run("uname -srm", timeout=seconds, max_bytes=50_000)
        assert caught.value.kind == kind
        await device.wait_until(lambda seen: seen.open_connections == 0)


async def test_a_device_without_exec_channels(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with (
        SimulatedDevice() as device,
        open_session(make_target(device, platform="linux"), login, limits=limits) as session,
    ):
        with pytest.raises(DeviceFailed, match="does not run `uname`") as caught:
            await session.run("uname")
        assert caught.value.kind == "refused_command"


async def test_a_device_without_a_shell(make_target: MakeTarget, login: Login, limits: SessionLimits) -> None:
    async with SimulatedDevice(platform="linux") as device:
        with pytest.raises(DeviceFailed, match="does not run a shell"):
            async with open_session(make_target(device, platform="cisco_ios"), login, limits=limits):
                pass
