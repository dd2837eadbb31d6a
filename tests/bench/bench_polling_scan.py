"""Scan cost of polls: what a look with nothing due takes with many devices that are polled, and with few."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from netautod.assembly.data.leases import named_leases
from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.clock import SystemClock
from netautod.core.metrics import Metrics
from netautod.core.work.pauses import FixedPauses
from netautod.network.devices.polls.store import DUE, DuePolls
from netautod.network.discovery.polling.poller import Poller
from netautod.network.discovery.polling.store import PollStore
from netautod.store.client import Database
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.report import Report

FEW, MANY = 1_000, 10_000
ROUNDS = 9
SCANS = 200
BATCH = 1000


async def run(report: Report) -> None:
    """Rounds of many looks on either database in turn."""
    report.parameter("rounds", f"{ROUNDS} of {SCANS} looks on either side")
    costs: dict[int, list[float]] = {FEW: [], MANY: []}
    clock, settings = SystemClock(), ExecutionSettings()
    async with (
        private_mongod() as uri,
        fresh_database(uri, INDEXES) as few,
        fresh_database(uri, INDEXES) as many,
        named_leases(database=few, node_id="few", clock=clock, settings=settings) as leases,
    ):
        pollers: dict[int, Poller] = {}
        for count, database in ((FEW, few), (MANY, many)):
            await _fill(database, count)
            pollers[count] = Poller(
                polls=PollStore(database, keep=200),
                due=DuePolls(database),
                visiting=cast(Any, None),  # nothing is due
                leases=leases,
                pauses=FixedPauses(),
                clock=clock,
                metrics=Metrics(),
                concurrency=20,
                scan_seconds=2.0,
            )
            await _look(pollers[count])
        for _ in range(ROUNDS):
            for count, poller in pollers.items():
                costs[count].append(await _look(poller))
    small = report.raw(f"with_{FEW}", costs[FEW], "ms")
    large = report.raw(f"with_{MANY}", costs[MANY], "ms")
    report.wanted("growth", large / small, "times", "at most", 1.3)


async def _fill(database: Database, count: int) -> None:
    due_at = datetime.now(UTC) + timedelta(hours=1)
    devices = [
        {
            "_id": f"device-{number}",
            "org_id": "org",
            "name": f"device-{number}",
            "live": True,
            "poll_enabled": True,
            "poll_interval_minutes": None,
            DUE: due_at + timedelta(seconds=number),
        }
        for number in range(count)
    ]
    for start in range(0, count, BATCH):
        await database.collection("devices").insert_many(devices[start : start + BATCH])


async def _look(poller: Poller) -> float:
    """Milliseconds of one look, averaged over the round."""
    started = time.perf_counter()
    for _ in range(SCANS):
        await poller.look()
    return (time.perf_counter() - started) / SCANS * 1000
