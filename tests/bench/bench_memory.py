"""Memory: how much a node with 20 slots grows while 10,000 executions are recorded, wait and run."""

import asyncio
import signal
from dataclasses import replace
from datetime import UTC, datetime

from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.store import COLLECTION
from netautod.store.client import Database
from tests.bench.measured.schedules import store
from tests.bench.measuring.children import child
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.processor import reset_peak, tree_megabytes
from tests.bench.measuring.report import Report
from tests.support.execution import due_task, eventually

PENDING = 10_000
SLOTS = 20
WARM_UP = 500
# What the node does while nothing ends: it looks for work once a second, and its heartbeat goes.
WAIT_SECONDS = 12.0
DRAIN_SECONDS = 20.0
FIRE_SECONDS = 60.0


async def run(report: Report) -> None:
    """The growth is that of the highest resident size, over the size after a warm-up of the same work."""
    report.parameter("pending", PENDING)
    report.parameter("slots", SLOTS)
    report.parameter("warm_up", f"{WARM_UP} executions")
    async with (
        private_mongod() as uri,
        fresh_database(uri, INDEXES) as database,
        child("measured.pending_node", uri, database.name, str(SLOTS)) as node,
    ):
        await _fire(database, WARM_UP, hold=False)
        await _reached(database, WARM_UP, state="completed")
        reset_peak(node.process.pid)
        before = tree_megabytes(node.process.pid, "VmRSS")
        await _fire(database, PENDING, hold=True)
        await _reached(database, PENDING - SLOTS, state="pending")
        await asyncio.sleep(WAIT_SECONDS)
        waiting = tree_megabytes(node.process.pid, "VmHWM")
        node.process.send_signal(signal.SIGUSR1)
        await asyncio.sleep(DRAIN_SECONDS)
        draining = tree_megabytes(node.process.pid, "VmHWM")
        done = await _count(database, "completed") - WARM_UP
    report.value("resident_before", before, "MB")
    report.value("peak_while_pending", waiting, "MB")
    report.wanted("growth", waiting - before, "MB", "at most", 50)
    report.value("ran_afterwards", done, f"executions_in_{DRAIN_SECONDS:g}_s")
    report.value("growth_while_they_ran", draining - before, "MB")


async def _fire(database: Database, count: int, *, hold: bool) -> None:
    """Due tasks; the node's own scan records their executions."""
    first = due_task()
    tick = datetime.now(UTC).replace(second=0, microsecond=0)
    kind = "held" if hold else "warm-up"
    base = replace(
        first,
        # Once a day, so that no second tick of theirs comes into the measure.
        cron_expression=f"{tick.minute} {tick.hour} * * *",
        next_run_at=tick,
        parameters={"hold": hold},
        timeout_seconds=600,
    )
    await store(
        database,
        [replace(base, id=due_task().id, name=f"{kind} {number}") for number in range(count)],
    )


async def _reached(database: Database, count: int, *, state: str) -> None:
    async def reached() -> bool:
        return await _count(database, state) >= count

    await eventually(reached, seconds=FIRE_SECONDS)


async def _count(database: Database, state: str) -> int:
    return await database.collection(COLLECTION).count({"state": state})
