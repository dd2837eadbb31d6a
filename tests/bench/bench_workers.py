"""What a second worker brings: the rate of backups with `--workers 2`, over that with one.

On a machine with as few cores as this one may have, devices and service would take turns on the same ones.
So each process of the service gets a small share of a core and no more: the rest is the devices' and the
database's, as on a machine where they run on other cores.
"""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.bench.measured.fleet import add_backup, add_devices, fleet
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import private_mongod
from tests.bench.measuring.processor import children_of
from tests.bench.measuring.report import BenchmarkError, Report
from tests.bench.measuring.service import running_service
from tests.support.client import ApiClient

DEVICES, FARMS, TASKS = 480, 2, 24
SHARE = 0.2
INTERFACES = 210  # 30 KB
LATENCY_MS = 50
ENOUGH = 1.5
RUN_SECONDS = 600.0


async def run(report: Report) -> None:
    """Each side backs all devices up twice, in tasks that fire at once; the second time counts."""
    report.parameter("devices", f"{DEVICES}, 30 KB, {LATENCY_MS} ms before each answer, in {TASKS} tasks")
    report.parameter("share of a core", f"{SHARE} for each process of the service, none for the devices'")
    async with fleet(DEVICES, FARMS, interfaces=INTERFACES, latency_ms=LATENCY_MS) as ports:
        rates = {workers: await _rate(ports, workers) for workers in (1, 2)}
    for workers, rate in rates.items():
        report.value(f"rate_{workers}", rate, "devices/s")
    report.wanted("rate_2_over_1", rates[2] / rates[1], "times", "at least", ENOUGH)


async def _rate(ports: dict[str, int], workers: int) -> float:
    async with (
        private_mongod() as uri,
        running_service(uri, None, "--workers", str(workers)) as (service, client),
    ):
        names = list(ports)
        groups = {f"site{number}": names[number::TASKS] for number in range(TASKS)}
        site_of = {name: site for site, members in groups.items() for name in members}
        await add_devices(client, ports, site_of=site_of)
        tasks = [await add_backup(client, site, {"device_filter": {"site": site}}) for site in groups]
        await _backed_up(client, tasks)
        pids = map(str, _working(service.process.pid))
        async with child("measured.duty", str(SHARE), *pids):
            return DEVICES / await _backed_up(client, tasks)


def _working(pid: int) -> list[int]:
    """Those of the tree that serve; others watch one, or work for it and use next to no time."""
    inner = [child for child in children_of(pid) if b"serve" in _command(child)]
    return [one for child in inner for one in _working(child)] or [pid]


def _command(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


async def _backed_up(client: ApiClient, tasks: list[str]) -> float:
    """Seconds from the start of the first run to the end of the last one, by the service's own times."""
    posted = await asyncio.gather(*(client.post(f"/api/tasks/schedules/{one}/run") for one in tasks))
    async with asyncio.timeout(RUN_SECONDS):
        runs = [await _ended(client, answer.json["id"]) for answer in posted]
    started = min(datetime.fromisoformat(run["started_at"]) for run in runs)
    return (max(datetime.fromisoformat(run["completed_at"]) for run in runs) - started).total_seconds()


async def _ended(client: ApiClient, execution_id: str) -> dict[str, Any]:
    while True:
        answer = await client.get(f"/api/tasks/executions/{execution_id}")
        if answer.status == 200 and answer.json["completed_at"] is not None:
            if answer.json["state"] != "completed":
                raise BenchmarkError(f"a backup ended as {answer.json['state']}")
            found: dict[str, Any] = answer.json
            return found
        await asyncio.sleep(0.5)
