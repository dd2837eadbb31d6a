"""The fixtures of every platform: noise is no change, each real change is one, and no secret is shown."""

import os
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from netautod.network.configs.texts.normalise import normalise
from netautod.transport.ssh.platform.model import Platform
from netautod.transport.ssh.platform.redact import redact
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.support.platform_fixtures import PlatformFixture, load_all, load_recorded, names, recordings
from tests.support.recorded_fixtures import NotInstalled

_KEY = b"k" * 32
_REGISTRY = PlatformRegistry()
each_fixture = pytest.mark.parametrize("fixture", [pytest.param(one, id=one.id) for one in load_all()])


def platform_of(fixture: PlatformFixture) -> Platform:
    return _REGISTRY.get(fixture.platform)


def has_noise(platform: Platform) -> bool:
    """Return whether anything is known to change by itself; some platforms have no such lines."""
    resalted = any(secret.shown == "resalted" for secret in platform.secrets)
    return bool(platform.noise_lines or platform.noise_parts or platform.log_lines or resalted)


def one_by_one(fixture: PlatformFixture) -> list[str]:
    """Return the first reading with one of the changes of `changed` at a time."""
    old, new = fixture.first.split("\n"), fixture.changed.split("\n")
    steps = SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    return [
        "\n".join([*old[:start], *new[new_start:new_end], *old[end:]])
        for step, start, end, new_start, new_end in steps
        if step != "equal"
    ]


def differing(fixture: PlatformFixture, text: str) -> set[str]:
    """Return the normalised lines that the first reading and the text do not share."""
    platform = platform_of(fixture)
    first, other = (normalise(reading, platform, _KEY).split("\n") for reading in (fixture.first, text))
    return set(first) ^ set(other)


def test_every_shipped_platform_has_a_fixture() -> None:
    assert names() == sorted(_REGISTRY.names())


@pytest.mark.parametrize("path", [pytest.param(path, id=path.parent.name) for path in recordings()])
def test_the_recordings_are_there(path: Path) -> None:
    try:
        assert load_recorded(path).origin.startswith("recorded, ")
    except NotInstalled as exc:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the package {exc} is not installed")


@each_fixture
def test_two_readings_of_an_idle_device_are_equal(fixture: PlatformFixture) -> None:
    platform = platform_of(fixture)
    assert fixture.first != fixture.second or not has_noise(platform), "the fixture shows no noise"
    first, second = (
        normalise(undisturbed(text, platform), platform, _KEY) for text in (fixture.first, fixture.second)
    )
    assert first.split("\n") == second.split("\n")


def undisturbed(text: str, platform: Platform) -> str:
    """Return the text without the log lines that the device printed, which the engine removes while
    it reads.
    """
    return "\n".join(line for line in text.split("\n") if not platform.is_log_line(line))


@each_fixture
def test_each_change_alone_is_a_change(fixture: PlatformFixture) -> None:
    """Require that one is a secret, unless the platform never shows it the same twice, and one is not."""
    changes = one_by_one(fixture)
    assert len(changes) >= 2
    differences = [differing(fixture, text) for text in changes]
    assert all(differences), "a change of the fixture is taken for noise"
    secret = [any("<secret:" in line for line in lines) for lines in differences]
    assert False in secret
    if any(item.shown == "stable" for item in platform_of(fixture).secrets):
        assert True in secret


@each_fixture
def test_normalising_twice_changes_nothing(fixture: PlatformFixture) -> None:
    once = normalise(fixture.first, platform_of(fixture), _KEY)
    assert normalise(once, platform_of(fixture), _KEY) == once


@each_fixture
def test_no_secret_is_shown(fixture: PlatformFixture) -> None:
    """Hide secrets both in what people read and in what is compared."""
    platform = platform_of(fixture)
    readings = (fixture.first, fixture.second, fixture.changed)
    assert fixture.secrets
    for secret in fixture.secrets:
        assert any(secret in text for text in readings), f"{secret!r} is in none of the readings"
    for text in readings:
        for shown in (redact(text, platform), normalise(text, platform, _KEY)):
            assert [secret for secret in fixture.secrets if secret in shown] == []


@each_fixture
def test_the_configuration_itself_stays(fixture: PlatformFixture) -> None:
    """Fail for a pattern that takes half of the text for noise or a secret: it would pass the tests above."""
    platform = platform_of(fixture)
    lines = fixture.first.count("\n")
    normal = normalise(fixture.first, platform, _KEY)
    assert normal.count("\n") >= lines * 0.6
    assert normal.count("<secret") <= lines * 0.5
