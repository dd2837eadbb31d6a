"""Against FRR's zebra: a second password on the terminal, enable, a real pager, config mode, and vtysh."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netautod.network.configs.texts.normalise import normalise
from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import CaptureItem
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.support.programs.frr import ENABLE_PASSWORD, NETCAT, PASSWORD, PREFIX, Frr, require, running_frr
from tests.support.programs.sshd import Sshd

_REGISTRY = PlatformRegistry()
_FRR = _REGISTRY.get("frr")
_LIMITS = SessionLimits(
    login_seconds=10, prompt_seconds=5, command_seconds=10, capture_seconds=10, quiet_seconds=0.3
)
_KEY = b"k" * 32
_PAGED = replace(_FRR, paging_off=())


@pytest.fixture
async def frr(tmp_path: Path) -> AsyncIterator[Frr]:
    require()
    async with running_frr(tmp_path) as running:
        yield running


@pytest.fixture
async def frr_behind_netcat(tmp_path: Path) -> AsyncIterator[Frr]:
    require()
    async with running_frr(tmp_path, bridge=NETCAT) as running:
        yield running


def login(frr: Frr, **fields: Any) -> Login:
    known: dict[str, Any] = {"password": PASSWORD, "enable_secret": ENABLE_PASSWORD}
    return Login(username=frr.username, **{**known, **fields})


def by_key(sshd: Sshd, **fields: Any) -> Login:
    return Login(username=sshd.username, private_key=sshd.private_key, **fields)


def target(sshd: Sshd, **fields: object) -> Target:
    known: dict[str, object] = {"host": "127.0.0.1", "port": sshd.port, "platform": _FRR}
    return Target(**{**known, **fields})  # type: ignore[arg-type]  # a test names the fields it needs


async def failed(doing: Awaitable[object]) -> DeviceFailed:
    with pytest.raises(DeviceFailed) as caught:
        await doing
    return caught.value


async def failure(at: Target, login: Login, limits: SessionLimits = _LIMITS) -> DeviceFailed:
    with pytest.raises(DeviceFailed) as caught:
        async with open_session(at, login, limits=limits) as session:
            await capture(session)
    return caught.value


async def test_the_terminal_and_enable_have_prompts_of_their_own(frr: Frr) -> None:
    async with open_session(target(frr.vty), login(frr), limits=_LIMITS) as session:
        assert (session.prompt, session.mode) == ("frr1#", "privileged")
        taken = await capture(session)
    assert taken.raw.startswith("\nCurrent configuration:\n!\nfrr version ")
    assert taken.raw.endswith("\n!\nend\n")
    assert taken.raw.count(f"\n{PREFIX}") == 40
    assert taken.notes == ()


async def test_options_of_telnet_before_the_question(frr_behind_netcat: Frr) -> None:
    """Ignore bytes that are no text, on a vty that does not know the size of the window."""
    frr = frr_behind_netcat
    async with open_session(target(frr.vty), login(frr), limits=_LIMITS) as session:
        assert (await capture(session)).raw.endswith("\nend\n")


async def test_two_readings_of_an_idle_zebra_are_equal(frr: Frr) -> None:
    readings = []
    for _ in range(2):
        async with open_session(target(frr.vty), login(frr), limits=_LIMITS) as session:
            readings.append((await capture(session)).raw)
    assert readings[0] == readings[1]


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        pytest.param("wrong", "refused the enable secret", id="a wrong one"),
        pytest.param(None, "the credential has none", id="none"),
    ],
)
async def test_an_enable_secret_that_does_not_open(frr: Frr, secret: str | None, words: str) -> None:
    found = await failure(target(frr.vty), login(frr, enable_secret=secret))
    assert (found.kind, words in found.text) == ("enable", True)


async def test_commands_of_the_unprivileged_mode_need_no_enable_secret(frr: Frr) -> None:
    async with open_session(target(frr.vty), login(frr, enable_secret=None), limits=_LIMITS) as session:
        assert (session.prompt, session.mode) == ("frr1>", "exec")
        assert (await session.run("show version")).startswith("FRRouting ")


async def test_a_password_that_the_terminal_refuses_is_a_refused_login(frr: Frr) -> None:
    """Refuse a login that sshd accepts: zebra got another password in the meantime."""
    async with open_session(target(frr.vty), login(frr), limits=_LIMITS) as session:
        for command in ("configure terminal", "password changed-meanwhile", "end"):
            assert await session.run(command) == ""
    found = await failure(target(frr.vty), login(frr))
    assert (found.kind, found.hop) == ("auth", None)
    assert "on its terminal" in found.text
    assert PASSWORD not in found.text


async def test_a_key_does_not_answer_the_password_prompt_of_the_terminal(frr: Frr) -> None:
    found = await failure(target(frr.vty), by_key(frr.vty, enable_secret=ENABLE_PASSWORD))
    assert (found.kind, "the credential has only a key" in found.text) == ("prompt", True)


async def test_the_pager_is_answered_to_the_end(frr: Frr) -> None:
    async with open_session(target(frr.vty), login(frr), limits=_LIMITS) as session:
        whole = await capture(session)
    async with open_session(target(frr.vty, platform=_PAGED), login(frr), limits=_LIMITS) as session:
        paged = await capture(session)
    assert paged.raw == whole.raw


async def test_a_long_configuration_through_the_pager(tmp_path: Path) -> None:
    """Read over a hundred pages of three lines; each line stands there once and in order."""
    require()
    async with (
        running_frr(tmp_path, prefixes=300) as frr,
        open_session(target(frr.vty, platform=_PAGED), login(frr), limits=_LIMITS) as session,
    ):
        await session.run("terminal length 4")
        taken = await capture(session)
    found = [line.split()[4] for line in taken.raw.split("\n") if line.startswith(PREFIX)]
    assert found == [str(number) for number in range(1, 301)]
    assert taken.raw.endswith("\n!\nend\n")


async def test_the_pager_is_a_real_one(frr: Frr) -> None:
    """Require an answer: without one nothing more comes."""
    unpaged = replace(_PAGED, pager=())
    limits = replace(_LIMITS, capture_seconds=1.0)
    found = await failure(target(frr.vty, platform=unpaged), login(frr), limits)
    assert found.kind == "incomplete"


async def test_the_config_mode_is_recognised_and_left(frr: Frr) -> None:
    async with open_session(target(frr.vty), login(frr), limits=_LIMITS) as session:
        before = await capture(session)
        modes = []
        for command in ("configure terminal", "interface lo", "description uplink to core", "exit", "exit"):
            assert await session.run(command) == ""
            modes.append((session.mode, session.prompt))
        after = await capture(session)
    assert modes == [
        ("config", "frr1(config)#"),
        ("config", "frr1(config-if)#"),
        ("config", "frr1(config-if)#"),
        ("config", "frr1(config)#"),
        ("privileged", "frr1#"),
    ]
    assert "\n description uplink to core\n" not in before.raw
    assert after.raw == before.raw.replace("description loopback", "description uplink to core")


@pytest.mark.parametrize("encrypted", [False, True], ids=["in clear", "encrypted"])
async def test_a_changed_password_is_an_invisible_change(frr: Frr, encrypted: bool) -> None:
    async with open_session(target(frr.vty), login(frr), limits=_LIMITS) as session:
        await session.run("configure terminal")
        if encrypted:
            await session.run("service password-encryption")
        readings = []
        for password in (ENABLE_PASSWORD, "something-else"):
            await session.run(f"enable password {password}")
            await session.run("end")
            readings += [(await capture(session)).raw, (await capture(session)).raw]
            await session.run("configure terminal")
    first, same, second, again = (normalise(text, _FRR, _KEY) for text in readings)
    assert (first == same, second == again, first == second) == (True, True, False)
    assert f"\nenable password {'8 ' if encrypted else ''}<secret:" in first
    assert not any(secret in first + second for secret in (PASSWORD, ENABLE_PASSWORD, "something-else"))


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        pytest.param("show everything", "% [ZEBRA] Unknown command: show everything", id="unknown"),
        pytest.param("show", "% Command incomplete.", id="incomplete"),
        pytest.param("show v", "% Ambiguous command.", id="ambiguous"),
    ],
)
async def test_what_zebra_refuses(frr: Frr, command: str, answer: str) -> None:
    platform = replace(_FRR, capture=(CaptureItem(command=command),))
    found = await failure(target(frr.vty, platform=platform), login(frr))
    assert (found.kind, answer in found.text) == ("refused_command", True)
    found = await failure(target(frr.vty, connect_commands=(command,)), login(frr))
    assert (found.kind, answer in found.text) == ("refused_command", True)


async def test_another_command_is_tried_where_one_is_refused(frr: Frr) -> None:
    item = CaptureItem(command="show config", alternatives=("write terminal",))
    platform = replace(_FRR, capture=(item,))
    async with open_session(target(frr.vty, platform=platform), login(frr), limits=_LIMITS) as session:
        taken = await capture(session)
    assert taken.raw.endswith("\nend\n")
    assert taken.notes[0].startswith("`write terminal` was read instead: ")


async def test_a_reading_that_zebra_does_not_finish_is_no_capture(frr: Frr) -> None:
    async with open_session(target(frr.vty), login(frr), limits=_LIMITS) as session:
        reading = asyncio.ensure_future(capture(session))
        frr.zebra.kill()
        found = await failed(reading)
    assert found.kind == "lost"


async def test_vtysh_as_a_login_shell_needs_no_enable(frr: Frr) -> None:
    async with open_session(target(frr.vtysh), by_key(frr.vtysh), limits=_LIMITS) as session:
        assert session.mode == "privileged"
        taken = await capture(session)
        assert await capture(session) == taken
        assert "% Unknown command" in await session.run("show everything")
    assert taken.raw.startswith("Building configuration...\n\nCurrent configuration:\n!\nfrr version ")
    assert taken.raw.endswith("\n!\nend\n")
    assert taken.raw.count(f"\n{PREFIX}") == 40


async def test_the_pager_of_vtysh_is_less(frr: Frr) -> None:
    """Answer `less`, which is on after this command, and waits at the end."""
    async with open_session(target(frr.vtysh), by_key(frr.vtysh), limits=_LIMITS) as session:
        whole = await capture(session)
        await session.run("terminal paginate")
        assert await capture(session) == whole
        assert await session.run("show history") != ""


async def test_vtysh_over_an_exec_channel(frr: Frr, sshd: Sshd) -> None:
    read = CaptureItem(command=f'{frr.vtysh_command} -c "show running-config"')
    platform = replace(_REGISTRY.get("linux"), capture=(read,))
    async with open_session(target(sshd, platform=platform), by_key(sshd), limits=_LIMITS) as session:
        taken = await capture(session)
        assert await capture(session) == taken
        version = await session.execute(f'{frr.vtysh_command} -c "show version"')
    assert taken.raw.endswith("\n!\nend\n")
    assert taken.raw.count(f"\n{PREFIX}") == 40
    assert (version.exit_status, version.output.startswith("FRRouting ")) == (0, True)


async def test_what_vtysh_refuses_over_an_exec_channel(frr: Frr, sshd: Sshd) -> None:
    read = CaptureItem(command=f'{frr.vtysh_command} -c "show everything"')
    platform = replace(_REGISTRY.get("linux"), capture=(read,))
    found = await failure(target(sshd, platform=platform), by_key(sshd))
    assert found.kind == "refused_command"
