"""Scan cost: what a scan with nothing due takes with many schedules and with few."""

import time

from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.running.scheduler import Scheduler
from tests.bench.measured.schedules import idle_tasks, store
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.report import Report
from tests.support.execution import World

FEW, MANY = 1_000, 100_000
ROUNDS = 9
SCANS = 200


async def run(report: Report) -> None:
    """Rounds of many scans on either database in turn."""
    report.parameter("rounds", f"{ROUNDS} of {SCANS} scans on either side")
    costs: dict[int, list[float]] = {FEW: [], MANY: []}
    async with (
        private_mongod() as uri,
        fresh_database(uri, INDEXES) as few,
        fresh_database(uri, INDEXES) as many,
    ):
        schedulers: dict[int, Scheduler] = {}
        for count, database in ((FEW, few), (MANY, many)):
            await store(database, idle_tasks(count))
            schedulers[count] = World(database=database).node().scheduler
            await _scan(schedulers[count])
        for _ in range(ROUNDS):
            for count, scheduler in schedulers.items():
                costs[count].append(await _scan(scheduler))
    small = report.raw(f"with_{FEW}", costs[FEW], "ms")
    large = report.raw(f"with_{MANY}", costs[MANY], "ms")
    report.wanted("growth", large / small, "times", "at most", 1.3)


async def _scan(scheduler: Scheduler) -> float:
    """Milliseconds of one scan, averaged over the round."""
    started = time.perf_counter()
    for _ in range(SCANS):
        await scheduler.scan()
    return (time.perf_counter() - started) / SCANS * 1000
