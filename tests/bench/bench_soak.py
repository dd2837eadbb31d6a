"""A soak: everyday work and faults for half an hour, and whether memory and descriptors stay flat.

`BENCH_SOAK_MINUTES=5` makes it shorter.
"""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from statistics import median
from urllib.parse import urlsplit

from tests.bench.measured.fleet import add_devices, fleet
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.processor import children_of, tree_descriptors, tree_pss_megabytes
from tests.bench.measuring.report import Report
from tests.bench.measuring.service import running_service
from tests.support.client import ApiClient

MINUTES = "BENCH_SOAK_MINUTES"
DEVICES, FARMS = 40, 2
LOOK_SECONDS = 5.0
FAULT_SECONDS = 60.0
HANG_SECONDS = 2.0  # less than the database may keep a request waiting
PULL_SECONDS = 3.0
READ_SECONDS = 0.2
WARM_UP = 0.25  # of the time: caches fill, pools grow
SAMPLE = 0.25  # of the time, at the beginning behind the warm-up and at the end
READS = (
    "/api/devices",
    "/api/devices/with-backup-info",
    "/api/tasks/schedules",
    "/api/tasks/executions",
    "/api/config/search?q=interface",
    "/api/auth/me",
    "/health",
)


@dataclass(kw_only=True)
class _Seen:
    megabytes: list[float] = field(default_factory=list)
    descriptors: list[float] = field(default_factory=list)
    answers: dict[int, int] = field(default_factory=dict)
    faults: int = 0

    def count(self, status: int) -> None:
        self.answers[status] = self.answers.get(status, 0) + 1


async def run(report: Report) -> None:
    minutes = float(os.environ.get(MINUTES, "30"))
    report.parameter("minutes", f"{minutes:g}")
    report.parameter("devices", f"{DEVICES} in {FARMS} processes; all backed up every minute")
    report.parameter("a fault each", f"{FAULT_SECONDS:g} s: the database or devices hang, clients go away")
    seen = _Seen()
    async with (
        fleet(DEVICES, FARMS, interfaces=24, latency_ms=20) as ports,
        private_mongod() as uri,
        running_service(uri) as (service, client),
    ):
        await add_devices(client, ports)
        await _back_up_every_minute(client)
        ids = [row["id"] for row in (await client.get("/api/devices?limit=100")).expect()["devices"]]
        hanging = [pid for pid in children_of(os.getpid()) if pid != service.process.pid]
        async with (
            _repeated(READ_SECONDS, lambda: _read(client, seen)),
            _repeated(PULL_SECONDS, lambda: _pull(client, random.choice(ids), seen)),
            _repeated(FAULT_SECONDS, lambda: _fault(service.url, hanging, seen)),
        ):
            for _ in range(int(minutes * 60 / LOOK_SECONDS)):
                await asyncio.sleep(LOOK_SECONDS)
                seen.megabytes.append(tree_pss_megabytes(service.process.pid))
                seen.descriptors.append(tree_descriptors(service.process.pid))
    _tell(report, seen)


def _tell(report: Report, seen: _Seen) -> None:
    report.parameter("answers by status", dict(sorted(seen.answers.items())))
    report.parameter("faults", seen.faults)
    for name, values, unit, most in (
        ("memory", seen.megabytes, "MB", 10.0),
        ("descriptors", seen.descriptors, "descriptors", 10.0),
    ):
        size, skipped = max(1, int(len(values) * SAMPLE)), int(len(values) * WARM_UP)
        before, after = median(values[skipped : skipped + size]), median(values[-size:])
        report.value(f"{name}_before", before, unit)
        report.value(f"{name}_after", after, unit)
        report.wanted(f"{name}_growth", after - before, unit, "at most", most)
    unexpected = sum(seen.answers[status] for status in _unexpected(seen))
    report.wanted("unexpected_answers", unexpected, "answers", "at most", 0)


def _unexpected(seen: _Seen) -> list[int]:
    """409: the device is in use by another pull. 502 to 504: a fault."""
    return [status for status in seen.answers if status not in (200, 201, 409, 502, 503, 504)]


@asynccontextmanager
async def _repeated(seconds: float, work: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    async def forever() -> None:
        while True:
            await asyncio.sleep(seconds)
            with suppress(OSError, TimeoutError):
                await work()

    task = asyncio.create_task(forever())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _back_up_every_minute(client: ApiClient) -> None:
    task = {"name": "all", "task_type": "backup", "cron_expression": "* * * * *", "timezone": "UTC"}
    (await client.post("/api/tasks/schedules", {**task, "parameters": {}})).expect(201)


async def _read(client: ApiClient, seen: _Seen) -> None:
    seen.count((await client.get(random.choice(READS))).status)


async def _pull(client: ApiClient, device_id: str, seen: _Seen) -> None:
    seen.count((await client.post(f"/api/config/devices/{device_id}/pull")).status)


async def _fault(url: str, pids: list[int], seen: _Seen) -> None:
    """The database or a process of devices hangs, and clients leave in the middle of a request."""
    seen.faults += 1
    pid = pids[seen.faults % len(pids)]
    os.kill(pid, signal.SIGSTOP)
    try:
        await _leave(url)
        await asyncio.sleep(HANG_SECONDS)
    finally:
        os.kill(pid, signal.SIGCONT)


async def _leave(url: str) -> None:
    where = urlsplit(url)
    for _ in range(20):
        _, writer = await asyncio.open_connection(where.hostname, where.port)
        writer.write(b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        await writer.drain()
        writer.transport.abort()
