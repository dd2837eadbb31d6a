"""Lag: from the minute for which 1,000 tasks are scheduled to the start of each, on one node."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.settings import ExecutionSettings, SchedulerSettings
from tests.bench.measured.schedules import store
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.report import Report, percentile
from tests.support.execution import Does, World, eventually, nothing, task

TASKS = 1000
SLOTS = 200
# The node is up and has scanned a few times before the minute comes.
HEAD_START = timedelta(seconds=5)
FINISH_SECONDS = 60.0


async def run(report: Report) -> None:
    """One round: it waits for a whole minute of the clock, as the tasks do."""
    report.parameter("tasks", f"{TASKS}, all due in the same minute, with a no-op executor")
    report.parameter("slots", SLOTS)
    report.parameter("scan_seconds", SchedulerSettings().scan_seconds)
    async with private_mongod() as uri, fresh_database(uri, INDEXES) as database:
        rows = await _started(World(database=database))
    lags = [(row["started_at"] - row["scheduled_for"]).total_seconds() for row in rows]
    took = [(row["completed_at"] - row["scheduled_for"]).total_seconds() for row in rows]
    # `created_at` is the server's time of the scan that found the task due.
    noticed = max((row["created_at"] - row["scheduled_for"]).total_seconds() for row in rows)
    report.value("started", len(lags), "executions")
    report.value("noticed", noticed, "s")
    report.value("first", min(lags), "s")
    report.wanted("p50", percentile(lags, 0.50), "s", "at most", 1)
    report.wanted("p99", percentile(lags, 0.99), "s", "at most", 2.5)
    report.value("last", max(lags), "s")
    report.value("last_completed", max(took), "s")


async def _started(world: World) -> list[dict[str, Any]]:
    """The executions of the minute, once all of them have completed."""
    minute = _next_minute(datetime.now(UTC))
    tasks = [
        task(name=f"task {number}", cron_expression="* * * * *", next_run_at=minute)
        for number in range(TASKS)
    ]
    await store(world.database, tasks)
    runs = ExecutionSettings(slots=SLOTS)

    async def completed() -> list[dict[str, Any]] | None:
        done = await world.rows.count({"scheduled_for": minute, "state": "completed"})
        return await world.all(scheduled_for=minute) if done == TASKS else None

    async with world.node(Does(nothing), runs=runs, schedule=SchedulerSettings()):
        await asyncio.sleep((minute - datetime.now(UTC)).total_seconds())
        # Nothing is asked of the database until the work should be over: the question would slow it down.
        await _quiet(world)
        found: list[dict[str, Any]] = await eventually(completed, seconds=FINISH_SECONDS)
    return found


async def _quiet(world: World) -> None:
    """Until the node has finished as many executions as there are tasks, by its own counters."""

    async def finished() -> bool:
        return world.metrics.value("executions_finished") >= TASKS

    await eventually(finished, seconds=FINISH_SECONDS)


def _next_minute(now: datetime) -> datetime:
    return (now + HEAD_START).replace(second=0, microsecond=0) + timedelta(minutes=1)
