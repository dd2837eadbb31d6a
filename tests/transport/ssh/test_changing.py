"""Lines of configuration on simulated devices: their order, their mode, and what follows a refusal."""

from dataclasses import replace

import pytest

from netautod.testing import SimulatedDevice, ios_script
from netautod.transport.ssh.config_change import change
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login

from .conftest import MakeTarget

LINES = ["interface Vlan7", "description uplink"]


async def test_the_lines_are_sent_in_the_configuration_mode(make_target: MakeTarget, login: Login) -> None:
    async with (
        SimulatedDevice(takes_lines=True) as device,
        open_session(make_target(device), login) as session,
    ):
        report = await change(session, LINES, save=False)
        assert (report.refused, report.in_force, report.saved) == (None, True, False)
        assert device.commands[-4:] == ["configure terminal", *LINES, "end"]
        assert session.mode == "privileged"


async def test_it_is_saved_on_request(make_target: MakeTarget, login: Login) -> None:
    async with (
        SimulatedDevice(takes_lines=True) as device,
        open_session(make_target(device), login) as session,
    ):
        device.responses["write memory"] = "Building configuration...\n[OK]\n"
        report = await change(session, LINES, save=True)
        assert (report.refused, report.saved) == (None, True)
        assert device.commands[-1] == "write memory"


async def test_a_refused_line_ends_it(make_target: MakeTarget, login: Login) -> None:
    async with (
        SimulatedDevice(takes_lines=True) as device,
        open_session(make_target(device), login) as session,
    ):
        device.responses["ip bad"] = "% Invalid input detected at '^' marker.\n"
        report = await change(session, ["interface Vlan7", "ip bad", "shutdown"], save=True)
        assert report.refused is not None
        assert "`ip bad` was refused" in report.refused
        assert (report.in_force, report.saved) == (True, False)
        assert device.commands[-3:] == ["interface Vlan7", "ip bad", "end"]


async def test_a_line_that_leaves_the_mode_ends_it(make_target: MakeTarget, login: Login) -> None:
    async with (
        SimulatedDevice(takes_lines=True) as device,
        open_session(make_target(device), login) as session,
    ):
        report = await change(session, ["hostname sw1", "exit", "ip routing"], save=False)
        assert report.refused == "`exit` left the configuration mode."
        assert "ip routing" not in device.commands


@pytest.mark.parametrize("line", ["cop run start", "do reload", "reload", "event manager applet X"])
async def test_a_command_is_refused_before_anything_is_sent(
    make_target: MakeTarget, login: Login, line: str
) -> None:
    async with (
        SimulatedDevice(takes_lines=True) as device,
        open_session(make_target(device), login) as session,
    ):
        with pytest.raises(DeviceFailed, match="lines: line 3: ") as failed:
            await change(session, [*LINES, line], save=False)
        assert failed.value.kind == "refused_command"
        assert "configure terminal" not in device.commands
        assert not {*LINES, line} & set(device.commands)


async def test_a_device_that_refuses_the_configuration_mode(make_target: MakeTarget, login: Login) -> None:
    script = replace(ios_script(), changes=())
    async with (
        SimulatedDevice(script=script) as device,
        open_session(make_target(device), login) as session,
    ):
        with pytest.raises(DeviceFailed) as failed:
            await change(session, LINES, save=False)
        assert failed.value.kind == "refused_command"
        assert not set(LINES) & set(device.commands)


async def test_a_connection_that_breaks_in_the_middle(make_target: MakeTarget, login: Login) -> None:
    async with SimulatedDevice(takes_lines=True) as device:
        device.questions["description uplink"] = "Really? [confirm]"
        with pytest.raises(DeviceFailed) as failed:
            async with open_session(make_target(device), login) as session:
                await change(session, LINES, save=False)
        assert failed.value.kind == "prompt"
        assert device.answers == []


CHANGEABLE = [name for name in PlatformRegistry().names() if PlatformRegistry().get(name).change]


@pytest.mark.parametrize("name", CHANGEABLE)
def test_a_platform_that_can_be_changed_says_how(name: str) -> None:
    """Require the commands into the configuration mode and out again, and what becomes of a change."""
    how = PlatformRegistry().get(name).change
    assert how is not None
    assert how.enter[-1].split()[0] in ("configure", "system-view")
    assert how.leave[-1].split()[0] in ("end", "return", "exit")
    assert not (how.keeps and how.save)
    assert bool(how.apply) == bool(how.discard)


def test_the_large_platforms_can_be_changed() -> None:
    wanted = {"cisco_ios", "cisco_nxos", "cisco_xr", "arista_eos", "juniper_junos", "hp_comware", "vyos"}
    assert wanted <= set(CHANGEABLE)
