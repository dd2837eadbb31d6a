"""Firing: how many due tasks become recorded executions per second, against APScheduler and a floor."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.running.clock_alignment import OtherAlignments
from netautod.automation.executions.running.scheduler import Scheduler
from netautod.automation.executions.settings import SchedulerSettings
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.models import Task
from netautod.automation.tasks.owners.service import TaskOwners
from netautod.automation.tasks.store import TaskStore
from netautod.core.clock import SystemClock
from netautod.core.metrics import Metrics
from netautod.core.work.pauses import FixedPauses
from netautod.store.client import Database
from netautod.store.clock.server_clock import ServerClock
from netautod.store.clock.steps import ClockSteps
from tests.bench.measured import apscheduler_side, batched_loop
from tests.bench.measured.schedules import EXPRESSIONS, OLDEST_TICK, ZONES, due_tasks, store
from tests.bench.measuring.databases import fresh_database, private_mongod
from tests.bench.measuring.report import BenchmarkError, Report
from tests.support.execution import Owners

TASKS = 10_000
ROUNDS = 3
BATCH = SchedulerSettings().batch
UNIT = "executions/s"
Side = Callable[[str, list[Task]], Awaitable[float]]


async def run(report: Report) -> None:
    """Rounds of all sides in turn, each with its own fresh database and the same schedules."""
    sides: dict[str, Side] = {"netautod": _scan, "apscheduler": _apscheduler, "batched_loop": _loop}
    report.parameter("tasks", TASKS)
    report.parameter("schedules", f"{len(EXPRESSIONS)} expressions, each in {len(ZONES)} zones")
    report.parameter("rounds", ROUNDS)
    report.parameter("batch", f"{BATCH} (netautod and batched_loop)")
    report.parameter("durability", "majority and journaled; apscheduler w=1, the default of its job store")
    rates: dict[str, list[float]] = {side: [] for side in sides}
    async with private_mongod() as uri:
        for _ in range(ROUNDS):
            for name, side in sides.items():
                rates[name].append(await _rate(uri, side))
        # Once is enough for a side that nothing is wanted of.
        rates["apscheduler_majority"] = [await _rate(uri, _apscheduler_majority)]
    middle = {name: report.raw(name, found, UNIT) for name, found in rates.items()}
    ours = middle["netautod"]
    report.wanted("over_apscheduler", ours / middle["apscheduler"], "times", "at least", 5)
    report.value("over_apscheduler_majority", ours / middle["apscheduler_majority"], "times")
    report.wanted("over_batched_loop", ours / middle["batched_loop"], "times", "at least", 0.9)


async def _rate(uri: str, side: Side) -> float:
    return TASKS / await side(uri, due_tasks(TASKS, datetime.now(UTC)))


async def _scan(uri: str, tasks: list[Task]) -> float:
    async with fresh_database(uri, INDEXES) as database:
        await store(database, tasks)
        scheduler = _scheduler(database)
        started = time.perf_counter()
        await scheduler.scan()
        seconds = time.perf_counter() - started
        await _check(database, tasks)
        return seconds


def _scheduler(database: Database) -> Scheduler:
    """A new one each time: it remembers no tick yet."""
    steps = ClockSteps(database, ServerClock(database))
    return Scheduler(
        tasks=TaskStore(database),
        executions=ExecutionStore(database),
        ticks=NextTicks(),
        metrics=Metrics(),
        settings=SchedulerSettings(catch_up_seconds=OLDEST_TICK.total_seconds(), batch=BATCH),
        kick=lambda: None,
        pauses=FixedPauses(),
        owners=TaskOwners(users=Owners(), clock=SystemClock()),
        steps=steps,
        align_executions=_no_step,
        other_alignments=OtherAlignments((), steps),
    )


async def _no_step() -> None:
    raise AssertionError("nobody sets the clock")


async def _loop(uri: str, tasks: list[Task]) -> float:
    async with fresh_database(uri, INDEXES) as database:
        await store(database, tasks)
        seconds = await batched_loop.seconds_to_record(uri, database.name, BATCH)
        await _check(database, tasks)
        return seconds


async def _check(database: Database, tasks: list[Task]) -> None:
    """One execution per task at least: a minute may have passed during the scan."""
    recorded = len(await database.collection("executions").distinct("task_id", {}))
    if recorded != len(tasks):
        raise BenchmarkError(f"{recorded} of {len(tasks)} tasks were fired")


async def _apscheduler(uri: str, tasks: list[Task]) -> float:
    return await apscheduler_side.seconds_to_fire(uri, tasks, majority=False)


async def _apscheduler_majority(uri: str, tasks: list[Task]) -> float:
    return await apscheduler_side.seconds_to_fire(uri, tasks, majority=True)
