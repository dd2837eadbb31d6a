"""Captures over SSH from a simulated device of every platform: complete ones, and each rule broken."""

import asyncssh
import pytest

from netautod.testing import Faults, SimulatedDevice
from netautod.transport.ssh.capture.configuration import Capture, capture, suspicious
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits, Target
from tests.support.platform_fixtures import PAGED, PlatformFixture, lines_per_page, load_all

_REGISTRY = PlatformRegistry()
_LOGIN = Login(username="admin", password="simulated", enable_secret="en4ble")
_LIMITS = SessionLimits(
    login_seconds=10, prompt_seconds=5, command_seconds=5, capture_seconds=10, quiet_seconds=0.15
)
_IMPATIENT = SessionLimits(
    login_seconds=10, prompt_seconds=5, command_seconds=5, capture_seconds=0.7, quiet_seconds=0.15
)
_ALL = load_all()
_SHELLS = [fixture for fixture in _ALL if fixture.script is not None]


def params(fixtures: list[PlatformFixture]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("fixture", [pytest.param(one, id=one.id) for one in fixtures])


def has_end_marker(fixture: PlatformFixture) -> bool:
    return platform_of(fixture).end_marker is not None


def platform_of(fixture: PlatformFixture) -> Platform:
    return _REGISTRY.get(fixture.platform)


@pytest.fixture(scope="module")
def host_key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519")


async def taken(
    fixture: PlatformFixture,
    host_key: asyncssh.SSHKey,
    *,
    text: str | None = None,
    limits: SessionLimits = _LIMITS,
    login: Login = _LOGIN,
    during: Faults | None = None,
    **fields: object,
) -> tuple[Capture, SimulatedDevice]:
    """Capture the device; `during` are faults that begin after the login."""
    platform = platform_of(fixture)
    async with fixture.device(platform, text=text, host_key=host_key, **fields) as device:
        target = Target(host=device.host, port=device.port, platform=platform)
        async with open_session(target, login, limits=limits) as session:
            device.faults = device.faults if during is None else during
            return await capture(session), device


async def failure(fixture: PlatformFixture, host_key: asyncssh.SSHKey, **fields: object) -> DeviceFailed:
    with pytest.raises(DeviceFailed) as caught:
        await taken(fixture, host_key, limits=_IMPATIENT, **fields)  # type: ignore[arg-type]  # as in taken
    return caught.value


def without_trailing_blanks(text: str) -> list[str]:
    """Strip lines: on a screen blanks cannot be told from what an erased pager leaves behind."""
    return [line.rstrip() for line in text.split("\n")]


def as_captured(text: str) -> str:
    return text.rstrip("\n") + "\n"


@params(_ALL)
async def test_a_capture_is_the_text(fixture: PlatformFixture, host_key: asyncssh.SSHKey) -> None:
    found, _ = await taken(fixture, host_key)
    assert found.raw == as_captured(fixture.first)


@params([fixture for fixture in _SHELLS if lines_per_page(fixture.script)])
async def test_a_pager_that_cannot_be_turned_off_changes_nothing(
    fixture: PlatformFixture, host_key: asyncssh.SSHKey
) -> None:
    assert fixture.first.count("\n") > lines_per_page(fixture.script), "the fixture fits on one page"
    found, _ = await taken(fixture, host_key, faults=PAGED)
    assert without_trailing_blanks(found.raw) == without_trailing_blanks(as_captured(fixture.first))


@params([fixture for fixture in _SHELLS if fixture.script is not None and fixture.script.log_line])
async def test_log_lines_in_between_are_taken_out(
    fixture: PlatformFixture, host_key: asyncssh.SSHKey
) -> None:
    found, _ = await taken(fixture, host_key, faults=Faults(log_every=7))
    assert found.raw == as_captured(fixture.first)
    assert "log lines were taken out" in found.notes[0]


@params([fixture for fixture in _SHELLS if platform_of(fixture).enable is not None])
async def test_enable(fixture: PlatformFixture, host_key: asyncssh.SSHKey) -> None:
    found, device = await taken(fixture, host_key, enable_password="en4ble")
    assert found.raw == as_captured(fixture.first)
    assert "en4ble" not in device.commands


@params([fixture for fixture in _SHELLS if platform_of(fixture).enable is not None])
async def test_no_right_to_read(fixture: PlatformFixture, host_key: asyncssh.SSHKey) -> None:
    login = Login(username="admin", password="simulated")
    found = await failure(fixture, host_key, login=login, enable_password="en4ble")
    assert found.kind in ("enable", "refused_command")


@params(_SHELLS)
async def test_rule_1_the_prompt_must_return(fixture: PlatformFixture, host_key: asyncssh.SSHKey) -> None:
    found = await failure(fixture, host_key, during=Faults(stop_after=len(fixture.first) // 2))
    assert (found.kind, "did not come to an end" in found.text) == ("incomplete", True)


@params([fixture for fixture in _SHELLS if has_end_marker(fixture)])
async def test_rule_2_the_end_marker_must_be_there(
    fixture: PlatformFixture, host_key: asyncssh.SSHKey
) -> None:
    found = await failure(fixture, host_key, during=Faults(truncate_after=len(fixture.first) // 2))
    assert (found.kind, "instead of its end marker" in found.text) == ("incomplete", True)


@params(_SHELLS)
async def test_rule_3_no_failure_phrase(fixture: PlatformFixture, host_key: asyncssh.SSHKey) -> None:
    assert fixture.script is not None
    found = await failure(fixture, host_key, text=fixture.script.unknown)
    assert found.kind in ("refused_command", "incomplete")
    assert "refused" in found.text


@params([fixture for fixture in _SHELLS if lines_per_page(fixture.script)])
async def test_rule_4_no_text_of_a_pager(fixture: PlatformFixture, host_key: asyncssh.SSHKey) -> None:
    """Refuse a pager that was printed with a line end: it could not be told from the text any more."""
    assert fixture.script is not None
    assert fixture.script.pager is not None
    lines = fixture.first.split("\n")
    lines.insert(len(lines) // 2, fixture.script.pager.text)
    found = await failure(fixture, host_key, text="\n".join(lines))
    assert found.kind == "pager"


@params(_ALL)
async def test_rule_5_a_reading_of_under_half_the_size_is_suspicious(
    fixture: PlatformFixture, host_key: asyncssh.SSHKey
) -> None:
    """Mark the reading suspicious: where nothing marks the end, only its size shows that a text
    stops early.
    """
    lines = fixture.first.split("\n")
    short = "\n".join([*lines[: len(lines) // 4], *lines[-2:]])
    size, refusal = 0, None
    try:
        found, _ = await taken(fixture, host_key, text=short)
        size = len(found.raw)
    except DeviceFailed as exc:
        refusal = exc.kind  # it lacks what each configuration of the platform has
    assert refusal == "incomplete" or suspicious(size, len(fixture.first))


@params(_ALL)
async def test_a_connection_that_drops(fixture: PlatformFixture, host_key: asyncssh.SSHKey) -> None:
    found = await failure(fixture, host_key, during=Faults(disconnect_after=3))
    assert found.kind == "lost"
