"""The fixtures of the tests of the CLI engine: platforms, quick limits, and a target for a simulated
device.
"""

from collections.abc import Callable

import pytest

from netautod.testing import SimulatedDevice
from netautod.transport.ssh.platform.registry import PlatformRegistry
from netautod.transport.ssh.target import Login, SessionLimits, Target

MakeTarget = Callable[..., Target]


@pytest.fixture(scope="session")
def platforms() -> PlatformRegistry:
    return PlatformRegistry()


@pytest.fixture
def make_target(platforms: PlatformRegistry) -> MakeTarget:
    """Return `make_target(device, platform=..., **fields of Target)`."""

    def make(device: SimulatedDevice, platform: str | None = None, **fields: object) -> Target:
        known: dict[str, object] = {
            "host": device.host,
            "port": device.port,
            "platform": platforms.get(platform or device.platform),
        }
        return Target(**{**known, **fields})  # type: ignore[arg-type]  # a test names the fields it needs

    return make


@pytest.fixture
def limits() -> SessionLimits:
    """Return limits so short that a test of a silent device takes a second."""
    return SessionLimits(
        login_seconds=5, prompt_seconds=1, command_seconds=1.5, capture_seconds=1.5, quiet_seconds=0.1
    )


@pytest.fixture
def login() -> Login:
    return Login(username="admin", password="simulated")
