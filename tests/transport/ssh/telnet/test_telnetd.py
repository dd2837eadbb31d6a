"""Against a server that nobody here wrote: inetutils' telnetd, with a terminal behind it."""

from pathlib import Path

import pytest

from netautod.testing import SimulatedDevice, ios_config
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Hop, Login, SessionLimits, Target
from tests.support.programs.telnetd import PASSWORD, PROGRAM, USER, running_telnetd
from tests.transport.ssh.conftest import MakeTarget

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no telnetd (apt package inetutils-telnetd)")

LIMITS = SessionLimits(login_seconds=10, prompt_seconds=10, command_seconds=10, quiet_seconds=0.3)
CONFIG = ios_config("sw1")


@pytest.fixture
def login() -> Login:
    return Login(username=USER, password=PASSWORD)


def over_telnet(make_target: MakeTarget, port: int, **fields: object) -> Target:
    device = SimulatedDevice(port=port)  # never started: only its address counts
    return make_target(device, protocol="telnet", **fields)


async def test_a_configuration_comes_whole(tmp_path: Path, make_target: MakeTarget, login: Login) -> None:
    async with (
        running_telnetd(tmp_path, CONFIG) as port,
        open_session(over_telnet(make_target, port), login, limits=LIMITS) as session,
    ):
        assert (session.prompt, session.mode) == ("sw1#", "privileged")
        assert session.host_key_fingerprint is None
        assert (await capture(session)).raw == CONFIG


async def test_the_device_learns_our_window_and_terminal(
    tmp_path: Path, make_target: MakeTarget, login: Login
) -> None:
    async with (
        running_telnetd(tmp_path, CONFIG) as port,
        open_session(over_telnet(make_target, port), login, limits=LIMITS) as session,
    ):
        assert await session.run("show terminal") == "Length: 1000 lines, Width: 511 columns, Type: vt100"


async def test_a_wrong_password_is_a_refused_login(tmp_path: Path, make_target: MakeTarget) -> None:
    wrong = Login(username=USER, password="not this one")
    async with running_telnetd(tmp_path, CONFIG) as port:
        with pytest.raises(DeviceFailed, match="refused the login of 'admin'") as caught:
            async with open_session(over_telnet(make_target, port), wrong, limits=LIMITS):
                pass
    assert caught.value.kind == "auth"


async def test_through_a_jump_device(tmp_path: Path, make_target: MakeTarget, login: Login) -> None:
    """Forward a connection; what is said to the device goes through the jump device's SSH."""
    async with running_telnetd(tmp_path, CONFIG) as port, SimulatedDevice() as jump:
        hop = Hop(host=jump.host, port=jump.port, login=Login(username="admin", password="simulated"))
        target = over_telnet(make_target, port, jump=hop)
        async with open_session(target, login, limits=LIMITS) as session:
            assert session.jump_host_key_fingerprints == (jump.fingerprint,)
            assert session.host_key_fingerprint is None
            assert (await capture(session)).raw == CONFIG
        await jump.wait_until(lambda device: device.open_connections == 0)
