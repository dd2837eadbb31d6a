"""Against fake-switches, which nobody here wrote: an enable password, config modes, Dell's pager."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.support.programs.fake_switches import USERNAME, running_switches

_REGISTRY = PlatformRegistry()
_PASSWORD = "simulated-pa55word"
_LIMITS = SessionLimits(
    login_seconds=15, prompt_seconds=5, command_seconds=10, capture_seconds=10, quiet_seconds=0.3
)
_VLANS = range(2, 45)


def login(enable_secret: str | None = _PASSWORD) -> Login:
    return Login(username=USERNAME, password=_PASSWORD, enable_secret=enable_secret)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ports() -> AsyncIterator[dict[str, int]]:
    async with running_switches(("cisco_generic", "dell_generic"), _PASSWORD) as found:
        yield found


def target(ports: dict[str, int], model: str, platform: str) -> Target:
    return Target(host="127.0.0.1", port=ports[model], platform=_REGISTRY.get(platform), ssh_profile="legacy")


async def test_ios_is_captured_in_the_privileged_mode(ports: dict[str, int]) -> None:
    async with open_session(target(ports, "cisco_generic", "cisco_ios"), login(), limits=_LIMITS) as session:
        assert (session.prompt, session.mode) == ("sw1#", "privileged")
        found = await capture(session)
        assert await capture(session) == found
    assert found.raw.startswith("Building configuration...\n")
    assert found.raw.endswith("\nend\n")
    assert "\nhostname sw1\n" in found.raw


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        pytest.param("wrong", "refused the enable secret", id="a wrong one"),
        pytest.param(None, "the credential has none", id="none"),
    ],
)
async def test_an_enable_secret_that_does_not_open(
    ports: dict[str, int], secret: str | None, words: str
) -> None:
    with pytest.raises(DeviceFailed, match=words) as caught:
        async with open_session(
            target(ports, "cisco_generic", "cisco_ios"), login(secret), limits=_LIMITS
        ) as session:
            await capture(session)
    assert caught.value.kind == "enable"


async def test_a_change_through_the_config_mode_is_in_the_next_capture(ports: dict[str, int]) -> None:
    async with open_session(target(ports, "cisco_generic", "cisco_ios"), login(), limits=_LIMITS) as session:
        before = await capture(session)
        await session.run("configure terminal")
        assert session.mode == "config"
        for command in ("interface FastEthernet0/1", "description uplink to core", "exit", "exit"):
            await session.run(command)
        assert session.mode == "privileged"
        after = await capture(session)
    assert "\n description uplink to core\n" not in before.raw
    assert "\n description uplink to core\n" in after.raw


async def test_the_pager_of_dell_is_answered_to_the_end(ports: dict[str, int]) -> None:
    """Answer 18 lines a page; the command that would turn it off is unknown to this switch."""
    async with open_session(target(ports, "dell_generic", "generic"), login(), limits=_LIMITS) as session:
        for command in ("configure", "vlan database", *(f"vlan {number}" for number in _VLANS)):
            await session.run(command)
        assert session.prompt == "sw1(config-vlan)#"
        for command in ("exit", "exit"):
            await session.run(command)
        listed = await session.run("show vlan")
        assert "--More--" not in listed
        assert [line.split()[0] for line in listed.split("\n") if line[:1].isdigit()] == [
            str(number) for number in (1, *_VLANS)
        ]
        found = await capture(session)
    assert found.raw.startswith("!Current Configuration:\n")
    assert ",43,44," in found.raw
