"""Captures from fakenos, which nobody here wrote, through the engine and through device sessions."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from netautod.transport.ssh.capture.configuration import capture
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.network.configs.fleet import PASSWORD, Fleet
from tests.support.platform_fixtures import load
from tests.support.programs.fakenos import FakeHost, running_hosts

_REGISTRY = PlatformRegistry()
_LIMITS = SessionLimits(
    login_seconds=15, prompt_seconds=10, command_seconds=10, capture_seconds=20, quiet_seconds=0.3
)
_LOGIN = Login(username="admin", password=PASSWORD)
_OWN = ("cisco_ios", "arista_eos")  # fakenos brings their configuration
# What stands before the > of the prompt, so that it looks like that of the platform.
_NAMES = {
    "cisco_asa": "fw1",
    "cisco_nxos": "nx1",
    "hp_comware": "<cw1",
    "hp_procurve": "pc1",
    "huawei_vrp": "<vrp1",
    "juniper_junos": "admin@mx1",
    "mikrotik_routeros": "[admin@ros1] ",
    "paloalto_panos": "admin@pa1",
    "vyatta_vyos": "admin@vy1:",
}


def text_of(device_type: str) -> str:
    return load(_REGISTRY.get(device_type).name).first


def host(device_type: str) -> FakeHost:
    """fakenos takes every line of an output for one that ends with its own line feed."""
    platform = _REGISTRY.get(device_type)
    return FakeHost(
        platform=device_type,
        name=_NAMES.get(device_type, device_type.partition("_")[0]),
        username=_LOGIN.username + platform.login_suffix,
        password=PASSWORD,
        commands=()
        if device_type in _OWN
        else ((str(platform.capture[0].command), text_of(device_type).rstrip("\n")),),
    )


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def ports() -> AsyncIterator[dict[str, int]]:
    async with running_hosts([host(name) for name in (*_OWN, *_NAMES)]) as found:
        yield found


def target(ports: dict[str, int], device_type: str, *, platform: str | None = None) -> Target:
    return Target(host="127.0.0.1", port=ports[device_type], platform=_REGISTRY.get(platform or device_type))


@pytest.mark.parametrize("device_type", _OWN)
async def test_a_configuration_that_fakenos_brings(ports: dict[str, int], device_type: str) -> None:
    async with open_session(target(ports, device_type), _LOGIN, limits=_LIMITS) as session:
        assert session.mode == "exec"
        first, second = await capture(session), await capture(session)
        assert session.mode == "privileged"
    assert first == second
    assert first.notes == ()
    assert "\nhostname " in first.raw
    assert first.raw.endswith("\nend\n")
    assert session.prompt not in first.raw


@pytest.mark.parametrize("device_type", _NAMES)
async def test_a_configuration_of_our_own(ports: dict[str, int], device_type: str) -> None:
    async with open_session(target(ports, device_type), _LOGIN, limits=_LIMITS) as session:
        found = await capture(session)
    assert found.raw == text_of(device_type).rstrip("\n") + "\n"


async def test_a_command_between_two_captures(ports: dict[str, int]) -> None:
    async with open_session(target(ports, "juniper_junos"), _LOGIN, limits=_LIMITS) as session:
        before = await capture(session)
        assert "default-switch" in await session.run("show vlans")
        assert await capture(session) == before


@pytest.mark.parametrize(
    ("login", "platform", "kind"),
    [
        pytest.param(Login(username="admin", password="wrong"), "cisco_ios", "auth", id="a wrong password"),
        pytest.param(_LOGIN, "linux", "refused_command", id="a host without exec channels"),
        pytest.param(_LOGIN, "dell_os10", "refused_command", id="a platform that it is not"),
    ],
)
async def test_failures(ports: dict[str, int], login: Login, platform: str, kind: str) -> None:
    with pytest.raises(DeviceFailed) as caught:
        async with open_session(
            target(ports, "cisco_ios", platform=platform), login, limits=_LIMITS
        ) as session:
            await capture(session)
    assert caught.value.kind == kind


@pytest.mark.parametrize("device_type", [*_OWN, "hp_procurve", "juniper_junos", "huawei_vrp"])
async def test_two_pulls_are_one_version(fleet: Fleet, ports: dict[str, int], device_type: str) -> None:
    device_id = await fleet.entry(device_type, ports[device_type], device_type=device_type)
    for changed in (True, False):
        response = await fleet.api.post(f"/api/config/devices/{device_id}/pull")
        assert response.status == 200, response.content
        assert (response.json["version"], response.json["changed"]) == (1, changed)
