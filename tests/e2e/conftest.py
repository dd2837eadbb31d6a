"""One service for all tests that only read and add, and the task of every minute that they wait for."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest

from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.programs.service import Service, serving
from tests.support.temporary import LASTING

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class EveryMinute:
    """A backup task with the cron expression `* * * * *` of one simulated switch."""

    switch: SimulatedDevice
    device_id: str
    task_id: str


@pytest.fixture(scope="package")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with serving(tmp_path_factory.mktemp(f"{LASTING}e2e") / "data") as running:
        yield running


@pytest.fixture(scope="package")
async def console(service: Service) -> Console:
    return Console(client=await service.client())


@pytest.fixture(scope="package", autouse=True)
async def every_minute(console: Console) -> AsyncIterator[EveryMinute]:
    """Made before the first test, so that its minute comes while the others run."""
    async with SimulatedDevice(hostname="every-minute") as switch:
        credential = await console.credential("every minute")
        device = await console.device("every-minute", switch.port, default_credential_id=credential)
        task = await console.backup("every minute", "every-minute", cron_expression="* * * * *")
        yield EveryMinute(switch=switch, device_id=device, task_id=task)


@pytest.fixture
def say(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Say:
    """Prints a measured line among the results, whether the test passes or not."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")

    def line(text: str) -> None:
        with capsys.disabled():
            if reporter is not None:
                reporter.ensure_newline()
                reporter.write_line(text)

    return line
