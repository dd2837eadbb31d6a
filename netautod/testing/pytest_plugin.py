"""Fixtures for the tests of plugins, for pytest: a service with the plugin, a client of it, a device in it.

Not loaded by itself: `pytest_plugins = ["netautod.testing.pytest_plugin"]` in the conftest.py beside
pyproject.toml asks for it. An entry point of pytest would load it in every run of every project of the
environment.
"""

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from netautod.testing.devices.device import SimulatedDevice
from netautod.testing.services.client import ServiceClient
from netautod.testing.services.inventory import DeviceUnderTest, added_device
from netautod.testing.services.project import project_in
from netautod.testing.services.service import ServiceUnderTest

__all__ = [
    "netautod_client",
    "netautod_device",
    "netautod_service",
    "netautod_settings",
    "netautod_simulated",
]

_URI = "NETAUTOD_TEST_MONGODB_URI"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("netautod").addoption(
        "--netautod-mongodb-uri",
        metavar="URI",
        default=os.environ.get(_URI),
        help=f"a MongoDB for the service under test, instead of an own one (also {_URI})",
    )


@pytest.fixture(scope="session")
def netautod_settings() -> Mapping[str, Mapping[str, Any]]:
    """Return sections of the settings of `netautod_service`; a fixture of this name in a project takes its
    place.
    """
    return {}


@pytest.fixture(scope="session")
def netautod_service(
    netautod_settings: Mapping[str, Mapping[str, Any]],
    pytestconfig: pytest.Config,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServiceUnderTest]:
    """Start a service with the plugin of this project, once for all tests of the run."""
    service = ServiceUnderTest(
        folder=tmp_path_factory.mktemp("netautod"),
        settings=netautod_settings,
        project=project_in(Path(pytestconfig.rootpath)),
        mongodb_uri=pytestconfig.getoption("--netautod-mongodb-uri"),
    )
    with service:
        yield service


@pytest.fixture
def netautod_client(netautod_service: ServiceUnderTest) -> ServiceClient:
    """Return a client logged in as the administrator of an organization that is this test's own."""
    return netautod_service.client()


@pytest.fixture
def netautod_simulated() -> SimulatedDevice:
    """Return the device that `netautod_device` starts: a Cisco IOS, if no fixture of this name takes its
    place.
    """
    return SimulatedDevice(hostname="sw1")


@pytest.fixture
def netautod_device(
    netautod_client: ServiceClient, netautod_simulated: SimulatedDevice
) -> Iterator[DeviceUnderTest]:
    """Add a simulated device to the inventory of `netautod_client`, with a login, and vouched for."""
    with _Loop() as loop:
        loop.wait(netautod_simulated.__aenter__())
        try:
            yield added_device(netautod_client, netautod_simulated)
        finally:
            loop.wait(netautod_simulated.stop())


class _Loop:
    """An event loop in a thread of its own: a test that is a plain function has none."""

    def __enter__(self) -> "_Loop":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="netautod_device", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def wait(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
