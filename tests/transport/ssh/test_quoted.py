"""The text that failures quote of a device: never the secrets that stand in it."""

import pytest

from netautod.testing import Faults, SimulatedDevice
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits

from .conftest import MakeTarget

LINE = "snmp-server community hunter2 RO"


def showing(config: str) -> SimulatedDevice:
    return SimulatedDevice(config=f"Building configuration...\n{config}\n")


@pytest.mark.parametrize(
    ("device", "words"),
    [
        pytest.param(SimulatedDevice(faults=Faults(question=LINE)), "the last line", id="no prompt"),
        pytest.param(SimulatedDevice(faults=Faults(question=f"{LINE} [confirm]")), "asks", id="a question"),
        pytest.param(showing(f"% Authorization failed {LINE}\nend"), "was refused", id="a refusal"),
        pytest.param(showing(LINE), "instead of its end marker", id="an end that is none"),
    ],
)
async def test_a_failure_quotes_no_secret(
    make_target: MakeTarget, login: Login, limits: SessionLimits, device: SimulatedDevice, words: str
) -> None:
    async with device:
        with pytest.raises(DeviceFailed, match=words) as caught:
            async with open_session(make_target(device), login, limits=limits) as session:
                await capture(session)
    assert "<hidden>" in caught.value.text
    assert "hunter2" not in caught.value.text


async def test_a_refused_connect_command_quotes_no_secret(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice(responses={LINE: f"% Authorization failed {LINE}\n"}) as device:
        target = make_target(device, connect_commands=(LINE,))
        with pytest.raises(DeviceFailed, match="was refused") as caught:
            async with open_session(target, login, limits=limits):
                pass
    assert caught.value.text.count("<hidden>") == 2
    assert "hunter2" not in caught.value.text
