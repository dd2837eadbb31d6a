"""A line of a configuration that equals the prompt, at every place and on every platform: it ends nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import asyncssh
import pytest

from netautod.testing import Faults
from netautod.testing.devices.echo import EchoForm
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import CliSession, open_session
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.support.platform_fixtures import PlatformFixture, load_all, show

_REGISTRY = PlatformRegistry()
_LOGIN = Login(username="admin", password="simulated", enable_secret="en4ble")
_LIMITS = SessionLimits(
    login_seconds=30, prompt_seconds=30, command_seconds=60, capture_seconds=60, quiet_seconds=0.05
)
_REST = 3 * _LIMITS.quiet_seconds
_SAMPLE = ("cisco_ios", "juniper_junos", "mikrotik_routeros", "hp_procurve", "fortinet", "generic")
_FIXTURES = {one.platform: one for one in load_all() if one.script is not None}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A text with the prompt in it, and where the device pauses until something is typed, or for a while."""

    text: str
    pauses: tuple[int, ...]
    late_echo: bool


def plain_text(fixture: PlatformFixture) -> list[str]:
    """Return the head and the end of a configuration."""
    lines = fixture.first.rstrip("\n").split("\n")
    return [*lines[:2], *lines[-2:]]


def cases(fixture: PlatformFixture, prompt: str) -> Iterator[Case]:
    """Yield cases with the prompt as each line; a pause behind it, and behind its line end."""
    lines = plain_text(fixture)
    last = len(lines) if _REGISTRY.get(fixture.platform).end_marker is None else len(lines) - 1
    for place in range(1, last + 1):
        for blank in ("", " "):
            text = "\n".join([*lines[:place], prompt + blank, *lines[place:]]) + "\n"
            behind = len("\n".join([*lines[:place], prompt + blank]))
            for pauses in ((behind,), (behind + 1,)):
                for late in (True, False):
                    yield Case(text=text, pauses=pauses, late_echo=late)


async def read(session: CliSession) -> str:
    platform = session.platform
    result = await session.read(platform.capture[0].command or "", end_marker=platform.end_marker)
    return result.output.rstrip("\n")


# The simulated device puts their texts together from several commands.
_PUT_TOGETHER = {"a10", "sophos_sfos"}
# Draws the answer to an empty line over the prompt: nothing tells a last line that equals it from that one.
_DRAWN_OVER = {"hp_procurve"}


async def wrong_readings(fixture: PlatformFixture, every: int) -> list[tuple[Case, str]]:
    """Return each of the cases (or one in `every` cases) that is not read as it is."""
    platform = _REGISTRY.get(fixture.platform)
    plain = "\n".join(plain_text(fixture)) + "\n"
    key = asyncssh.generate_private_key("ssh-ed25519")
    wrong: list[tuple[Case, str]] = []
    async with fixture.device(platform, text=plain, host_key=key) as device:
        assert device.script is not None
        device.script = replace(device.script, drifting="")
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, _LOGIN, limits=_LIMITS) as session:
            if platform.capture_mode is not None:
                await session.require_mode(platform.capture_mode)
            around = (await read(session)).split(plain.rstrip("\n"))
            assert len(around) == 2
            before = len(device.script.before_output)
            for case in list(cases(fixture, session.prompt))[::every]:
                last = case.text.rstrip().endswith(session.prompt)
                if platform.name in _DRAWN_OVER and last and not case.late_echo:
                    continue
                show(device, platform, case.text)
                places = tuple(before + at for at in case.pauses)
                echo: EchoForm = "late" if case.late_echo else "typed"
                device.faults = Faults(hold_at=places, rest=_REST, echo=echo)
                found = await read(session)
                if found != case.text.rstrip("\n").join(around).rstrip("\n"):
                    wrong.append((case, found))
    return wrong


@pytest.mark.parametrize("platform", _SAMPLE)
async def test_a_sample_of_them(platform: str) -> None:
    assert await wrong_readings(_FIXTURES[platform], every=5) == []


@pytest.mark.slow
@pytest.mark.parametrize("platform", sorted(_FIXTURES.keys() - _PUT_TOGETHER))
async def test_every_platform(platform: str) -> None:
    """Run every seventh case: each has eight forms, so all of them come, at different lines."""
    assert await wrong_readings(_FIXTURES[platform], every=7) == []
