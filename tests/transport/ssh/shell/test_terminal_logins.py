"""Devices that ask for a login on their terminal as well: answered once, with the same credential."""

from pathlib import Path

import pytest

from netautod.testing import CliScript, Faults, LoginStep, ScriptedCommand, SimulatedDevice
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits, Target

_TOML = """
name = "acme_os"
channel = "shell"
sources = ["a made-up vendor"]
[prompts]
exec = '(?P<host>[\\w-]+)> ?$'
[session]
questions = ['(?i:password|login): ?$']
[login]
user_prompt = '^Login: ?$'
password_prompt = '^Password: ?$'
[capture]
items = [{ command = "show config" }]
"""
_NAME = LoginStep(text="Login: ", wait="user")
_PASSWORD = LoginStep(text="Password: ", wait="password")
_BANNER = LoginStep(text="Your password: never tell it\nLogin: is for staff\n")


@pytest.fixture
def acme(tmp_path: Path) -> Platform:
    path = tmp_path / "acme_os.toml"
    path.write_text(_TOML)
    return PlatformRegistry().register(path)


def device(*steps: LoginStep, **fields: object) -> SimulatedDevice:
    script = CliScript(
        prompts={"exec": "{host}> "},
        mode="exec",
        login=steps,
        commands=(ScriptedCommand(command="show clock", output="06:44:12\n"),),
    )
    return SimulatedDevice(platform="acme_os", script=script, **fields)  # type: ignore[arg-type]


async def opened(simulated: SimulatedDevice, platform: Platform, login: Login, limits: SessionLimits) -> str:
    target = Target(host=simulated.host, port=simulated.port, platform=platform)
    async with open_session(target, login, limits=limits) as session:
        return await session.run("show clock")


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((), id="a device of the platform that does not ask"),
        pytest.param((_PASSWORD,), id="the password"),
        pytest.param((_NAME, _PASSWORD), id="the name and the password"),
        pytest.param((_BANNER, _NAME, _PASSWORD, LoginStep(text="Welcome\n")), id="among banners"),
    ],
)
async def test_it_is_answered(
    acme: Platform, login: Login, limits: SessionLimits, steps: tuple[LoginStep, ...]
) -> None:
    async with device(*steps) as simulated:
        assert await opened(simulated, acme, login, limits) == "06:44:12"
        assert simulated.commands == ["show clock"]


@pytest.mark.parametrize(
    ("steps", "fields", "kind", "words"),
    [
        pytest.param(
            (_PASSWORD,),
            {"terminal_password": "another"},
            "auth",
            "refused the login",
            id="a refused password",
        ),
        pytest.param(
            (_NAME, _PASSWORD),
            {"terminal_password": "another"},
            "auth",
            "refused the login",
            id="a refused password after the name",
        ),
        pytest.param((_PASSWORD, _PASSWORD), {}, "auth", "refused the login", id="a second question"),
        pytest.param((_NAME, _NAME), {}, "auth", "refused the login", id="a name that is asked for again"),
        pytest.param(
            (),
            {"faults": Faults(question="Password: ")},
            "auth",
            "hung up",
            id="a hang-up on the password",
        ),
    ],
)
async def test_a_refusal_is_a_refused_login(
    acme: Platform,
    login: Login,
    limits: SessionLimits,
    steps: tuple[LoginStep, ...],
    fields: dict[str, object],
    kind: str,
    words: str,
) -> None:
    async with device(*steps, **fields) as simulated:
        with pytest.raises(DeviceFailed, match=words) as caught:
            await opened(simulated, acme, login, limits)
        assert caught.value.kind == kind
        assert "simulated" not in caught.value.text


async def test_an_answer_is_sent_once(acme: Platform, login: Login, limits: SessionLimits) -> None:
    async with device(_PASSWORD, terminal_password="another") as simulated:
        with pytest.raises(DeviceFailed):
            await opened(simulated, acme, login, limits)
        await simulated.wait_until(lambda one: one.open_connections == 0)
        assert [(one.method, one.accepted) for one in simulated.login_attempts] == [
            ("password", True),
            ("terminal", False),
        ]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((_PASSWORD,), id="a password"),
        pytest.param((_NAME, _PASSWORD), id="a name"),
        pytest.param((LoginStep(text="Username: ", wait="user"), _PASSWORD), id="a user name"),
    ],
)
async def test_what_ssh_accepted_goes_to_no_unknown_question(
    platforms: PlatformRegistry, login: Login, limits: SessionLimits, steps: tuple[LoginStep, ...]
) -> None:
    async with device(*steps) as simulated:
        with pytest.raises(DeviceFailed, match="a person has to answer") as caught:
            await opened(simulated, platforms.get("generic"), login, limits)
        assert caught.value.kind == "prompt"
        assert [one.method for one in simulated.login_attempts] == ["password"]
