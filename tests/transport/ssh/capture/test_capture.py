"""Captures: complete configurations, and for each completeness rule a device that breaks it."""

import pytest

from netautod.testing import Faults, SimulatedDevice
from netautod.transport.ssh.capture.configuration import capture, suspicious
from netautod.transport.ssh.failures import DeviceFailed, FailureKind
from netautod.transport.ssh.session import open_session
from netautod.transport.ssh.target import Login, SessionLimits
from tests.transport.ssh.conftest import MakeTarget


async def test_a_complete_configuration(make_target: MakeTarget, login: Login, limits: SessionLimits) -> None:
    async with (
        SimulatedDevice() as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        taken = await capture(session)
        assert taken.raw.startswith("Building configuration...\n")
        assert taken.raw.endswith("\nend\n")
        assert taken.notes == ()


async def test_log_lines_are_taken_out_with_a_note(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice() as device:
        async with open_session(make_target(device), login, limits=limits) as session:
            undisturbed = await capture(session)
        device.faults = Faults(log_every=20)
        async with open_session(make_target(device), login, limits=limits) as session:
            disturbed = await capture(session)
        assert "%LINK" not in disturbed.raw
        assert len(disturbed.raw) == len(undisturbed.raw)
        assert "log lines were taken out" in disturbed.notes[0]


async def test_an_unprivileged_login_is_enabled_first(make_target: MakeTarget, limits: SessionLimits) -> None:
    login = Login(username="admin", password="simulated", enable_secret="en")
    async with (
        SimulatedDevice(enable_password="en") as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        assert (await capture(session)).raw.endswith("\nend\n")


@pytest.mark.parametrize(
    ("device_fields", "faults", "kind", "words"),
    [
        pytest.param({}, Faults(stop_after=900), "incomplete", "did not come to an end", id="no prompt"),
        pytest.param({}, Faults(disconnect_after=900), "lost", "dropped", id="a dropped connection"),
        pytest.param({}, Faults(truncate_after=900), "incomplete", "its end marker", id="no end marker"),
        pytest.param(
            {"config": "Building configuration...\n% Invalid input detected at '^' marker.\nend\n"},
            Faults(),
            "refused_command",
            "% Invalid input",
            id="a failure phrase",
        ),
        pytest.param(
            {"config": "hostname sw1\n --More-- \nend\n"},
            Faults(),
            "pager",
            "--More--",
            id="text of a pager",
        ),
        pytest.param({"config": "\n"}, Faults(), "incomplete", "printed nothing", id="an empty answer"),
        pytest.param({"enable_password": "x"}, Faults(), "enable", "has none", id="no right to read it"),
    ],
)
async def test_a_broken_rule_has_its_reason(
    make_target: MakeTarget,
    login: Login,
    limits: SessionLimits,
    device_fields: dict[str, str],
    faults: Faults,
    kind: FailureKind,
    words: str,
) -> None:
    async with (
        SimulatedDevice(faults=faults, **device_fields) as device,  # type: ignore[arg-type]  # parametrized
        open_session(make_target(device), login, limits=limits) as session,
    ):
        with pytest.raises(DeviceFailed) as caught:
            await capture(session)
        assert caught.value.kind == kind
        assert words in caught.value.text


@pytest.mark.parametrize(
    ("size", "last_good", "expected"),
    [
        pytest.param(10, None, False, id="the first one"),
        pytest.param(499, 1000, True, id="under half"),
        pytest.param(500, 1000, False, id="half"),
        pytest.param(5000, 1000, False, id="larger"),
        pytest.param(0, 1, True, id="nothing left"),
    ],
)
def test_the_size_guard(size: int, last_good: int | None, expected: bool) -> None:
    assert suspicious(size, last_good) is expected


async def test_linux_reads_what_there_is(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with (
        SimulatedDevice(platform="linux") as device,
        open_session(make_target(device), login, limits=limits) as session,
    ):
        taken = await capture(session)
        assert taken.raw.startswith("### file /etc/hostname\nhost1\n\n### file /etc/hosts\n")
        assert "### command uname -srm\nLinux 6.1.0-28-amd64 x86_64\n" in taken.raw
        assert "file /etc/group skipped: it does not exist" in taken.notes
        assert "command dpkg-query -W skipped: the command is not installed" in taken.notes
        assert not any("shadow" in command for command in device.commands)


async def test_linux_with_nothing_to_read(
    make_target: MakeTarget, login: Login, limits: SessionLimits
) -> None:
    async with SimulatedDevice(platform="linux") as device:
        device.files.clear()
        device.responses.clear()
        async with open_session(make_target(device), login, limits=limits) as session:
            with pytest.raises(DeviceFailed, match="nothing could be read") as caught:
                await capture(session)
        assert caught.value.kind == "incomplete"
