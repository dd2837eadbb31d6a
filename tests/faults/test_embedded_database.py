"""The mongod of a running service dies: it is started again, and given up when that does not help."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from netautod.testing import Faults, SimulatedDevice
from tests.e2e.console import Console
from tests.support.execution import eventually
from tests.support.programs.service import Service, serving

pytestmark = pytest.mark.slow
SHOW_RUN = "show running-config"
# About 20 s for a config of 4 KB: certainly under way while the database is away.
SLOW = Faults(slow=0.2)


def mongod_of(data_dir: Path) -> int:
    return int((data_dir / "mongodb" / "mongod.lock").read_text() or 0)


async def kill_mongod(service: Service, how: signal.Signals = signal.SIGKILL) -> None:
    """Returns when another one is there."""
    before = restarts(service)
    os.kill(mongod_of(service.data_dir), how)

    async def is_back() -> bool:
        return restarts(service) > before

    await eventually(is_back, seconds=60)
    await eventually(lambda: health_is(service, 200), seconds=60)


def restarts(service: Service) -> int:
    return service.log.read_text().count("embedded MongoDB is ready again")


async def health_is(service: Service, status: int) -> bool:
    return (await (await service.anonymous()).get("/health")).status == status


@pytest.mark.parametrize(
    "workers", [pytest.param("1", id="one process"), pytest.param("2", id="two workers")]
)
async def test_a_mongod_that_dies_costs_no_run_and_no_acknowledged_write(
    tmp_path: Path, workers: str
) -> None:
    async with (
        SimulatedDevice(hostname="slow") as slow,
        serving(tmp_path / "data", "--workers", workers) as service,
    ):
        console = Console(client=await service.client())
        credential = await console.credential("lab")
        slow.faults = SLOW
        device = await console.device("slow", slow.port, default_credential_id=credential)
        run = await console.start(await console.backup("slow", "slow"))
        await slow.wait_until(lambda seen: SHOW_RUN in seen.commands, seconds=60)
        for how in (signal.SIGKILL, signal.SIGTERM):
            site = f"acknowledged before {how.name}"
            await console.add("/api/sites", name=site)
            await kill_mongod(service, how)
            assert site in [found["name"] for found in (await console.read("/api/sites"))["sites"]]
        slow.faults = Faults()
        ended = await console.ended(run, seconds=120)
        assert (ended["state"], ended["retry_count"], len(ended["attempts"])) == ("completed", 0, 1)
        assert await console.versions(device) == [1]
        assert await service.stop() == 0
    log = service.log.read_text()
    assert log.count("the embedded MongoDB is started again: mongod was ended by SIGKILL") == 1
    assert log.count("the embedded MongoDB is started again: mongod was stopped from outside") == 1
    assert "Traceback" not in log


async def test_a_mongod_that_dies_for_the_fourth_time_in_ten_minutes_ends_the_service(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as service:
        for _ in range(3):
            await kill_mongod(service)
        os.kill(mongod_of(service.data_dir), signal.SIGKILL)
        async with asyncio.timeout(120):
            assert await service.process.wait() == 1
    line = (
        "netautod: the embedded MongoDB ended: mongod was ended by SIGKILL, after it was started again "
        f"3 times in 10 minutes: see {tmp_path / 'data' / 'mongod.log'}"
    )
    assert line in service.log.read_text().splitlines()
