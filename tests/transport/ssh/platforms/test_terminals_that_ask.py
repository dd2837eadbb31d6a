"""Devices whose SSH asks for nothing, so that the terminal does; and logins that take their time."""

import asyncio
from dataclasses import replace

import asyncssh
import pytest

from netautod.testing import Faults, LoginStep
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.support.platform_fixtures import PlatformFixture, load_all

_REGISTRY = PlatformRegistry()
_LOGIN = Login(username="admin", password="simulated")
_LIMITS = SessionLimits(login_seconds=30, prompt_seconds=30, quiet_seconds=0.1)
_FIXTURES = {
    one.platform: one
    for one in load_all()
    if one.script is not None and _REGISTRY.get(one.platform).channel == "shell"
}
_SAMPLE = ("cisco_ios", "hp_procurve", "juniper_junos", "fortinet", "generic", "mikrotik_routeros")
_NAMES = ("Username: ", "login: ", "User Name:", "User:", "sw1 login: ")


async def prompt_of(
    fixture: PlatformFixture, steps: tuple[LoginStep, ...], *, limits: SessionLimits, faults: Faults
) -> tuple[str, list[bool]]:
    """Return the prompt, and whether the device accepted each password that it was given."""
    platform = _REGISTRY.get(fixture.platform)
    key = asyncssh.generate_private_key("ssh-ed25519")
    async with fixture.device(platform, text=fixture.first, host_key=key) as device:
        assert device.script is not None
        device.script = replace(device.script, login=(*steps, *device.script.login) if steps else ())
        device.faults = faults
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, _LOGIN, limits=limits) as session:
            return session.prompt, [attempt.accepted for attempt in device.login_attempts]


async def log_in_by_every_dialog(fixture: PlatformFixture) -> None:
    known = (
        any(step.wait in ("user", "password") for step in fixture.script.login) if fixture.script else True
    )
    for name in _NAMES if not known else ():
        steps = (LoginStep(text=name, wait="user"), LoginStep(text="Password: ", wait="password"))
        found = await prompt_of(fixture, steps, limits=_LIMITS, faults=Faults(open_to_all=True))
        assert (bool(found[0]), found[1]) == (True, [True]), name


@pytest.mark.parametrize("platform", _SAMPLE)
async def test_name_and_password_are_given_once(platform: str) -> None:
    await log_in_by_every_dialog(_FIXTURES[platform])


@pytest.mark.slow
@pytest.mark.parametrize("platform", sorted(set(_FIXTURES) - set(_SAMPLE)))
async def test_on_every_platform(platform: str) -> None:
    await log_in_by_every_dialog(_FIXTURES[platform])


async def test_a_login_may_take_longer_than_the_prompt_behind_it() -> None:
    comes = asyncio.Event()
    asyncio.get_running_loop().call_later(1.0, comes.set)
    limits = replace(_LIMITS, prompt_seconds=0.2)
    found = await prompt_of(_FIXTURES["cisco_ios"], (), limits=limits, faults=Faults(held=comes))
    assert found == ("sw1#", [True])


async def test_a_terminal_may_take_as_long_before_its_prompt() -> None:
    comes = asyncio.Event()
    asyncio.get_running_loop().call_later(1.0, comes.set)
    steps = (LoginStep(text="Username: ", wait="user"), LoginStep(text="Password: ", wait="password"))
    limits, faults = replace(_LIMITS, prompt_seconds=0.2), Faults(held=comes, open_to_all=True)
    found = await prompt_of(_FIXTURES["cisco_ios"], steps, limits=limits, faults=faults)
    assert found == ("sw1#", [True])
