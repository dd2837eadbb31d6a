"""A failed reading never becomes the latest, on platforms of every kind."""

import pytest

from netautod.testing import Faults
from netautod.transport.ssh.failures import DeviceFailed
from netautod.transport.ssh.platform.registry import PlatformRegistry
from tests.network.configs.fleet import PASSWORD, Fleet
from tests.support.platform_fixtures import load, show

_REGISTRY = PlatformRegistry()


@pytest.mark.parametrize(
    ("platform", "faults", "kind"),
    [
        pytest.param("cisco_ios", Faults(truncate_after=900), "incomplete", id="no end marker"),
        pytest.param("generic", Faults(disconnect_after=400), "lost", id="no end marker, and it drops"),
        pytest.param("linux", Faults(disconnect_after=3), "lost", id="exec channels, and it drops"),
    ],
)
async def test_a_failed_reading_never_becomes_the_latest(
    fleet: Fleet, platform: str, faults: Faults, kind: str
) -> None:
    fixture = load(platform)
    known = _REGISTRY.get(platform)
    device = fixture.device(known, password=PASSWORD)
    device_id = await fleet.device(device)
    first = await fleet.take(device_id)
    show(device, known, fixture.changed)
    device.faults = faults
    with pytest.raises(DeviceFailed) as caught:
        await fleet.take(device_id)
    assert caught.value.kind == kind
    device.faults = Faults()
    show(device, known, fixture.second)
    again = await fleet.take(device_id)
    assert (again.changed, again.config.id) == (False, first.config.id)
