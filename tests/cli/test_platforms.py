"""`netautod platform`: what is known, what a trial shows, and that its recording plays back."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from netautod.cli import entry as cli
from netautod.testing import CliScript, Faults, PagerScript, SimulatedDevice, read_device, read_script
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support import platform_fixtures

PASSWORD, ENABLE = "s1mulated-pa55word", "en4ble-it-now"


@dataclass(frozen=True, kw_only=True)
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Awaitable[Done]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """`done = await run("platform", "list")`: the command, in a thread with a loop of its own."""

    async def call(*arguments: str) -> Done:
        code = await asyncio.to_thread(cli.main, arguments)
        out, err = capsys.readouterr()
        return Done(code=code, out=out, err=err)

    return call


@pytest.fixture
def tried(tmp_path: Path, run: Run) -> Run:
    """`done = await tried(device, "--flag")`"""
    (tmp_path / "password").write_text(PASSWORD + "\n")
    (tmp_path / "enable").write_text(ENABLE + "\n")

    async def call(device: SimulatedDevice, *flags: str, platform: str = "cisco_ios") -> Done:
        login = ("--username", device.username, "--password-file", str(tmp_path / "password"))
        where = (device.host, "--port", str(device.port), "--platform", platform)
        done = await run("platform", "try", *where, *login, *flags)
        assert "Traceback" not in done.err
        assert PASSWORD not in done.out + done.err
        assert ENABLE not in done.out + done.err
        return done

    return call


def enabling(folder: Path) -> tuple[str, str]:
    return "--enable-password-file", str(folder / "enable")


def switch(**fields: Any) -> SimulatedDevice:
    fixture = platform_fixtures.load("cisco_ios")
    known: dict[str, Any] = {"username": "alice", "password": PASSWORD, "enable_password": ENABLE}
    platform = PlatformRegistry().get("cisco_ios")
    return fixture.device(platform, **{**known, **fields})


async def test_all_platforms_are_listed(run: Run) -> None:
    done = await run("platform", "list")
    assert done.code == 0
    names = [line.split()[0] for line in done.out.splitlines() if not line.startswith(" ")]
    assert names == list(PlatformRegistry().names())
    listed = json.loads((await run("platform", "list", "--json")).out)
    assert [item["name"] for item in listed] == names
    ios = next(item for item in listed if item["name"] == "cisco_ios")
    assert ios["capture"] == ["show running-config"]
    assert "cisco_xe" in ios["aliases"]


async def test_each_step_is_shown(tried: Run, tmp_path: Path) -> None:
    async with switch() as device:
        done = await tried(device, *enabling(tmp_path))
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[:5] == [
        f"address   127.0.0.1 port {device.port}, ssh",
        f"key       {device.fingerprint}",
        "login     prompt 'sw1>', mode exec",
        "enable    prompt 'sw1#', mode privileged",
        "command   `terminal length 0` was accepted",
    ]
    assert any(line.startswith("command   `show running-config` printed ") for line in lines)
    (complete,) = (line for line in lines if line.startswith("complete  "))
    assert "the end marker is the last line" in complete
    assert "a line of `own` is in it" in complete
    secrets = platform_fixtures.load("cisco_ios").secrets
    assert not [secret for secret in secrets if len(secret) > 4 and secret in done.out]
    (hidden,) = [line for line in lines if line.startswith("secrets")]
    assert int(hidden.split()[1]) > 5


@pytest.mark.parametrize(
    ("fields", "flags", "kind"),
    [
        pytest.param({"password": "another"}, (), "auth", id="a wrong password"),
        pytest.param({}, (), "enable", id="no enable secret"),
        pytest.param(
            {"faults": Faults(truncate_after=700), "enable_password": None},
            (),
            "incomplete",
            id="a cut reading",
        ),
        pytest.param({"algorithms": "legacy"}, (), "kex", id="old algorithms"),
    ],
)
async def test_a_failure_is_told_with_its_kind_and_a_hint(
    tried: Run, fields: dict[str, object], flags: tuple[str, ...], kind: str
) -> None:
    said = await complaints(tried, fields, flags)
    if kind == "kex":
        # The switch finds out, too, and may have hung up before its offer was read: then it was in vain.
        while said[0].startswith("netautod: lost: "):
            said = await complaints(tried, fields, flags)
    assert said[0].startswith(f"netautod: {kind}: ")
    assert said[1].startswith("netautod: hint: ")


async def complaints(tried: Run, fields: dict[str, object], flags: tuple[str, ...]) -> list[str]:
    async with switch(**fields) as device:
        done = await tried(device, *flags)
    assert done.code == 1
    return [line for line in done.err.splitlines() if line.startswith("netautod: ")]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param(("--platform", "cisco_oss"), "there is no platform 'cisco_oss'", id="no such platform"),
        pytest.param(("--platform", "cisco_ios"), "no terminal to prompt for the password", id="no terminal"),
        pytest.param(("--platform", "cisco_ios", "--port", "0"), "--port must be 1 to", id="no port"),
        pytest.param(
            ("--platform", "cisco_ios", "--protocol", "telnet"), "telnet encrypts nothing", id="telnet"
        ),
        pytest.param(
            ("--platform", "cisco_ios", "--password-file", "absent"), "absent: cannot be read", id="no file"
        ),
    ],
)
async def test_a_wrong_call(run: Run, arguments: tuple[str, ...], text: str) -> None:
    done = await run("platform", "try", "127.0.0.1", *arguments)
    assert done.code == 2
    assert text in done.err


async def test_a_recording_plays_back_without_the_secrets(tried: Run, tmp_path: Path) -> None:
    async with switch() as device:
        done = await tried(device, *enabling(tmp_path), "--record", str(tmp_path / "recorded"))
    assert done.code == 0, done.err
    folder = tmp_path / "recorded"
    kept = "".join(path.read_text() for path in sorted(folder.iterdir()))
    fixture = platform_fixtures.load("cisco_ios")
    for word in (PASSWORD, ENABLE, "alice", *(secret for secret in fixture.secrets if len(secret) > 4)):
        assert word not in kept
    script = read_script(folder / "session.toml")
    first = (folder / "first.txt").read_text().partition("\n")[2]
    assert len(first.split("\n")) == len(fixture.first.split("\n"))
    player = SimulatedDevice(
        platform="recorded", script=script, config=first, password=PASSWORD, enable_password=ENABLE
    )
    definition = Path(__file__).parents[2] / "netautod" / "transport" / "ssh" / "platforms" / "cisco_ios.toml"
    async with player:
        reading = await read_device(player, definition, enable_secret=ENABLE)
    assert reading.text == first
    assert "<hidden>" in reading.shown
    assert script.unknown.strip().startswith("^")


async def test_the_same_secret_is_the_same_word_in_a_recording(tried: Run, tmp_path: Path) -> None:
    config = (
        "hostname sw1\nsnmp-server community pl4nted-c4nary RO\nsnmp-server community oth3r-one RW\n"
        "tacacs-server key pl4nted-c4nary\nusername alice privilege 15\n" + "! a line\n" * 20 + "end\n"
    )
    script = CliScript(
        prompts={"privileged": "{host}#"},
        mode="privileged",
        ignored=(r"terminal \w+ \d+",),
        pager=PagerScript(text=" --More-- ", erase="\r         \r"),
    )
    device = SimulatedDevice(
        platform="x",
        script=script,
        responses={"show running-config": config},
        username="alice",
        password=PASSWORD,
    )
    async with device:
        done = await tried(device, "--record", str(tmp_path / "one.toml"))
    assert done.code == 0, done.err
    lines = (tmp_path / "one.txt").read_text().splitlines()
    words = {
        line.split()[-1 if "key" in line else 2] for line in lines if "community" in line or "key" in line
    }
    assert len(words) == 2
    assert "username operator privilege 15" in lines
    read_script(tmp_path / "one.toml")
