"""The dialogs around a command line: prompts of a login, prompts of two lines, pagers that end."""

from pathlib import Path

import pytest

from netautod.testing import CliScript, Faults, LoginStep, PagerScript, ScriptedCommand, SimulatedDevice
from netautod.transport.ssh.capture.configuration import capture
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
exec = '(?P<host>[\\w-]+)(?P<moving>\\.\\d+)?> ?$'
[session]
log_lines = ['\\*\\d\\d:\\d\\d:\\d\\d: %']
prompt_heads = ['\\[edit.*\\]$', '\\{(?:master|backup)\\}$']
pager = ['^lines \\d+-\\d+\\s*$']
pager_end = ['\\(END\\)\\s*$']
login_answers = [
  { pattern = 'Press any key', answer = " " },
  { pattern = 'license\\? \\[y/n\\]', answer = "n\\n" },
]
questions = ['\\[y/n\\]\\s*$']
[capture]
items = [{ command = "show config", alternatives = ["display config"] }]
failures = ['^unknown command']
"""
_TEXT = "".join(f"line {number}\n" for number in range(1, 101))


@pytest.fixture
def acme(tmp_path: Path) -> Platform:
    path = tmp_path / "acme_os.toml"
    path.write_text(_TOML)
    return PlatformRegistry().register(path)


def script(**fields: object) -> CliScript:
    known: dict[str, object] = {
        "prompts": {"exec": "{host}> "},
        "mode": "exec",
        "unknown": "unknown command\n",
        "commands": (ScriptedCommand(command="show config"),),
    }
    return CliScript(**{**known, **fields})  # type: ignore[arg-type]  # a test names the fields it needs


def target(device: SimulatedDevice, platform: Platform) -> Target:
    return Target(host=device.host, port=device.port, platform=platform)


@pytest.mark.parametrize(
    "played",
    [
        pytest.param(script(prompts={"exec": "\n{master}\n{host}> "}), id="a line above the prompt"),
        pytest.param(script(prompts={"exec": "\n[edit system]\n{host}> "}), id="an edit line"),
        pytest.param(script(login=(LoginStep(text="Press any key", wait="key"),)), id="press any key"),
        pytest.param(
            script(login=(LoginStep(text="Show the license? [y/n]", wait="line"),)), id="a license to see"
        ),
        pytest.param(
            script(
                login=(
                    LoginStep(text="Welcome\n"),
                    LoginStep(text="Press any key", wait="key"),
                    LoginStep(text="\nShow the license? [y/n]", wait="line"),
                )
            ),
            id="both, one after the other",
        ),
        pytest.param(
            script(
                pager=PagerScript(
                    text="\x1b[7mlines 1-23\x1b[0m",
                    erase="\r\x1b[K",
                    end_text="\x1b[7mlines 88-100 (END)\x1b[0m",
                )
            ),
            id="a pager that waits at the end",
        ),
        pytest.param(script(line_end="\n\r"), id="LF CR"),
        pytest.param(script(line_end="\r\r\n"), id="CR CR LF"),
        pytest.param(script(line_end="\x1bE"), id="next line (NEL)"),
        pytest.param(
            script(commands=(ScriptedCommand(command="display config"),)), id="the command of another release"
        ),
    ],
)
async def test_a_capture_is_the_text(
    acme: Platform, login: Login, limits: SessionLimits, played: CliScript
) -> None:
    async with (
        SimulatedDevice(platform="acme_os", script=played, config=_TEXT) as device,
        open_session(target(device, acme), login, limits=limits) as session,
    ):
        assert (await capture(session)).raw == _TEXT


@pytest.mark.parametrize("faults", [Faults(), Faults(log_after_prompt=True)], ids=["quiet", "log lines"])
async def test_a_prompt_that_counts(
    acme: Platform, login: Login, limits: SessionLimits, faults: Faults
) -> None:
    played = script(prompts={"exec": "{host}.{count}> "}, log_line="*06:45:01: %A-3-B: down\n")
    async with (
        SimulatedDevice(platform="acme_os", script=played, config=_TEXT, faults=faults) as device,
        open_session(target(device, acme), login, limits=limits) as session,
    ):
        assert session.prompt == "sw1.0>"
        for number in (1, 2):
            assert (await capture(session)).raw == _TEXT
            assert session.prompt == f"sw1.{number}>"


async def test_a_question_that_no_answer_is_known_for(
    acme: Platform, login: Login, limits: SessionLimits
) -> None:
    played = script(login=(LoginStep(text="Erase the flash? [y/n]", wait="line"),))
    async with SimulatedDevice(platform="acme_os", script=played) as device:
        with pytest.raises(DeviceFailed, match="a person has to answer") as caught:
            async with open_session(target(device, acme), login, limits=limits):
                pass
        assert caught.value.kind == "prompt"


async def test_a_known_question_is_answered_twice_at_most(
    acme: Platform, login: Login, limits: SessionLimits
) -> None:
    """Answer twice: the first one was perhaps a line of the banner."""
    step = LoginStep(text="Show the license? [y/n]", wait="line")
    async with SimulatedDevice(platform="acme_os", script=script(login=(step,) * 3)) as device:
        with pytest.raises(DeviceFailed, match="a person has to answer"):
            async with open_session(target(device, acme), login, limits=limits):
                pass


async def test_a_refusal_of_all_commands(acme: Platform, login: Login, limits: SessionLimits) -> None:
    async with SimulatedDevice(platform="acme_os", script=script(commands=())) as device:
        async with open_session(target(device, acme), login, limits=limits) as session:
            with pytest.raises(DeviceFailed, match="show config was refused") as caught:
                await capture(session)
        assert caught.value.kind == "refused_command"
        assert device.commands == ["show config", "display config"]


async def test_no_prompt_at_the_end_of_a_pager(acme: Platform, login: Login, limits: SessionLimits) -> None:
    pager = PagerScript(text="lines 1-23", erase="\r          \r")
    played = script(pager=pager)
    async with SimulatedDevice(platform="acme_os", script=played, faults=Faults(stop_after=400)) as device:
        device.config = _TEXT
        with pytest.raises(DeviceFailed, match="did not come to an end"):
            async with open_session(target(device, acme), login, limits=limits) as session:
                await capture(session)
