"""A primary that hangs: the gap without good answers, the slowest answer, and what comes of runs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncssh
from tornado.httpclient import AsyncHTTPClient

from netautod.core.work.deadlines import REQUEST_SECONDS
from netautod.testing import Faults, SimulatedDevice
from tests.bench.measured.device_farm import PASSWORD, USERNAME
from tests.bench.measured.fleet import add_backup, add_devices
from tests.bench.measuring.report import BenchmarkError, Report
from tests.bench.measuring.service import running_service
from tests.support.client import ApiClient
from tests.support.execution import eventually
from tests.support.programs.replica_set import replica_set

READERS, RUNS = 16, 20
# MongoDB's own default: so long the others wait for a sign of life before they elect a new primary.
ELECTION_MILLIS = 10_000
# What a loaded machine may add to an answer that is due after 3.5 s.
SLOWEST_SECONDS = REQUEST_SECONDS + 1.0
GAP_SECONDS = ELECTION_MILLIS / 1000 + REQUEST_SECONDS
LONGEST_SECONDS = 120.0
READ = "show running-config"
# Between 40 bytes of a config of some thousand: it is not over before it is let go.
SLOW = 1.0
PATIENT = {"NETAUTOD_DEVICES_COMMAND_SECONDS": "600"}
SCHEDULES = "/api/tasks/schedules"
EXECUTIONS = "/api/tasks/executions"


class Readers:
    """Ask without a break; `good` are the moments of good answers, `slowest` is the longest of all."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client
        self._clock = asyncio.get_running_loop().time
        self.statuses: Counter[int] = Counter()
        self.slowest = 0.0
        self.good: list[float] = []
        self.home_time = False
        self._news = asyncio.Event()

    async def go_on(self) -> None:
        while not self.home_time:
            began = self._clock()
            response = await self._client.get(f"{SCHEDULES}?limit=5")
            now = self._clock()
            self.slowest = max(self.slowest, now - began)
            self.statuses[response.status] += 1
            if response.status == 200:
                self.good.append(now)
                self._news.set()
            await asyncio.sleep(0.05)

    async def good_again(self, count: int) -> None:
        async with asyncio.timeout(LONGEST_SECONDS):
            while len(self.good) < count:
                self._news.clear()
                await self._news.wait()

    @property
    def gap(self) -> float:
        return max(after - before for before, after in zip(self.good, self.good[1:], strict=False))


@asynccontextmanager
async def slow_fleet() -> AsyncIterator[list[SimulatedDevice]]:
    """One device for each run; each is in the middle of its config until its faults are taken away."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                SimulatedDevice(
                    hostname=f"slow{number}",
                    username=USERNAME,
                    password=PASSWORD,
                    host_key=key,
                    faults=Faults(slow=SLOW),
                )
            )
            for number in range(RUNS)
        ]


async def run(report: Report) -> None:
    AsyncHTTPClient.configure(None, max_clients=1000)  # with its own 10, requests would wait in this process
    report.parameter("readers", READERS)
    report.parameter(
        "runs", f"{RUNS}, each in the middle of reading a device from before the fault until after"
    )
    report.parameter("members", f"3, electionTimeoutMillis {ELECTION_MILLIS}, the default of MongoDB")
    report.parameter("fault", "SIGSTOP on the primary")
    with TemporaryDirectory(prefix="netautod-bench-") as folder:
        async with (
            replica_set(Path(folder), election_millis=ELECTION_MILLIS) as members,
            slow_fleet() as devices,
            running_service(members.uri, PATIENT) as (_, client),
        ):
            readers = Readers(client)
            async with asyncio.TaskGroup() as going:
                for _ in range(READERS):
                    going.create_task(readers.go_on())
                ids = await _begun(client, devices)
                await readers.good_again(READERS * 5)
                hanging = await members.hang_primary()
                await members.primary()
                await readers.good_again(len(readers.good) + READERS * 5)
                under_way = [device for device in devices if device.open_sessions]
                for device in devices:
                    device.faults = Faults()
                ended = await _ended(client, ids)
                readers.home_time = True
            members.wake(hanging)
    report.wanted("runs_under_way", len(under_way), "runs at the end of the gap", "at least", RUNS)
    _tell(report, readers, ended, devices)


def _tell(
    report: Report, readers: Readers, ended: list[dict[str, Any]], devices: Sequence[SimulatedDevice]
) -> None:
    report.parameter("answers", dict(readers.statuses))
    report.wanted("gap", readers.gap, "s without a good answer", "at most", GAP_SECONDS)
    report.wanted("slowest", readers.slowest, "s", "at most", SLOWEST_SECONDS)
    attempts = [len(run["attempts"]) for run in ended]
    reads = [device.commands.count(READ) for device in devices]
    succeeded = [run for run in ended if run["state"] == "completed" and run["output"]["succeeded"] == 1]
    report.parameter("attempts", sum(attempts))
    report.parameter("reads of devices", sum(reads))
    report.wanted("runs_lost", RUNS - len(succeeded), "runs", "at most", 0)
    report.wanted("runs_doubled", sum(count > 1 for count in attempts), "runs", "at most", 0)
    report.wanted("devices_read_twice", sum(count > 1 for count in reads), "devices", "at most", 0)


async def _begun(client: ApiClient, devices: Sequence[SimulatedDevice]) -> list[str]:
    """The ids of the runs, once each of them reads its device."""
    ports = {device.hostname: device.port for device in devices}
    await add_devices(client, ports)
    begun: list[str] = []
    for name in ports:
        task_id = await add_backup(client, name, {"device_filter": {"site": name}})
        run = await client.post(f"{SCHEDULES}/{task_id}/run")
        if run.status != 202:
            raise BenchmarkError(f"a run did not begin: {run.content!r}")
        begun.append(str(run.json["id"]))
    await eventually(lambda: _all_read(devices), seconds=LONGEST_SECONDS)
    return begun


async def _all_read(devices: Sequence[SimulatedDevice]) -> bool:
    return all(READ in device.commands for device in devices)


async def _ended(client: ApiClient, ids: list[str]) -> list[dict[str, Any]]:
    """All of them, once they have."""
    async with asyncio.timeout(LONGEST_SECONDS):
        while True:
            answers = [await client.get(f"{EXECUTIONS}/{one}") for one in ids]
            runs = [answer.json for answer in answers if answer.status == 200]
            if len(runs) == len(ids) and all(run["state"] not in ("pending", "running") for run in runs):
                return runs
            await asyncio.sleep(0.5)
