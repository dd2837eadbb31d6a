"""APScheduler 3.11 with its MongoDBJobStore, firing async no-op jobs, measured against the due scan."""

import asyncio
import importlib
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from pymongo import MongoClient
from pymongo.write_concern import WriteConcern

from netautod.automation.tasks.models import Task
from tests.bench.measuring.report import BenchmarkError

NEEDED = "it needs APScheduler: pip install 'apscheduler>=3.11,<4'"
FIRE_SECONDS = 300.0


async def no_op() -> None:
    """The job. The job store keeps its name, so that it cannot be a closure."""


async def seconds_to_fire(uri: str, tasks: Sequence[Task], *, majority: bool) -> float:
    """Seconds from the wake-up until every due job was submitted and its next run time stored.

    The jobs themselves run afterwards, which is not counted. `majority` makes the writes as durable as ours;
    by itself the job store asks for `w=1`.
    """
    name = f"b{uuid4().hex[:20]}"
    store = _imported("jobstores.mongodb").MongoDBJobStore(database=name, client=MongoClient(uri, w=1))
    scheduler = _imported("schedulers.asyncio").AsyncIOScheduler(
        jobstores={"default": store},
        job_defaults={"coalesce": True, "misfire_grace_time": None},
        timezone="UTC",
    )
    scheduler.start(paused=True)
    try:
        _add(scheduler, tasks)
        if majority:
            store.collection = store.collection.with_options(write_concern=WriteConcern("majority", j=True))
        return await _fire(scheduler, len(tasks))
    finally:
        await _stop(scheduler)
        with MongoClient[dict[str, Any]](uri) as client:
            client.drop_database(name)


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(f"apscheduler.{module}")
    except ImportError as error:
        raise BenchmarkError(NEEDED) from error


async def _fire(scheduler: Any, count: int) -> float:
    events = _imported("events")
    submitted, executed = _Countdown(count), _Countdown(count)
    # Paused at the end of the round: a minute may have passed, and some are due again.
    submitted.at_zero = scheduler.pause
    scheduler.add_listener(submitted, events.EVENT_JOB_SUBMITTED)
    scheduler.add_listener(executed, events.EVENT_JOB_EXECUTED)
    started = time.perf_counter()
    scheduler.resume()
    await submitted.reached()
    await executed.reached()
    return submitted.at - started


async def _stop(scheduler: Any) -> None:
    """Its shutdown is only a callback for later, which also closes the client."""
    stopped = _Countdown(1)
    scheduler.add_listener(stopped, _imported("events").EVENT_SCHEDULER_SHUTDOWN)
    scheduler.shutdown()
    await stopped.reached()


def _add(scheduler: Any, tasks: Sequence[Task]) -> None:
    trigger = _imported("triggers.cron").CronTrigger
    for task in tasks:
        scheduler.add_job(
            no_op,
            trigger.from_crontab(task.cron_expression, timezone=task.timezone),
            id=task.id,
            next_run_time=task.next_run_at,
        )


class _Countdown:
    """A listener that knows when the last of so many events came (`at`, of perf_counter)."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._done = asyncio.Event()
        self.at = 0.0
        self.at_zero: Callable[[], None] = lambda: None

    def __call__(self, event: object) -> None:
        self._left -= 1
        if self._left == 0:
            self.at = time.perf_counter()
            self.at_zero()
            self._done.set()

    async def reached(self) -> None:
        async with asyncio.timeout(FIRE_SECONDS):
            await self._done.wait()
