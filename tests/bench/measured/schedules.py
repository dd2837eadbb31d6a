"""The schedules that the benchmarks fire: 50 expressions, each in 5 zones, in any number of tasks."""

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta

from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.models import Task
from netautod.automation.tasks.store import COLLECTION
from netautod.store.client import Database, Document
from tests.support.execution import task

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")
EXPRESSIONS = (
    *(f"*/{step} * * * *" for step in (1, 2, 3, 4, 5, 6, 10, 12, 15, 20)),
    *(f"{minute} * * * *" for minute in range(0, 60, 6)),
    *(f"{minute} */2 * * *" for minute in range(5, 55, 5)),
    *(f"30 {hour} * * *" for hour in range(0, 20, 2)),
    *(f"15,45 {hour} * * mon-fri" for hour in range(1, 21, 2)),
)
OLDEST_TICK = timedelta(days=4)
"""No newest tick of these schedules is older: Friday to Monday, and a zone's distance from UTC."""
BATCH = 5000


def due_tasks(count: int, now: datetime) -> list[Task]:
    """Tasks whose newest tick up to `now` (aware) has not been fired; all in one organization.

    Every pair of expression and zone comes equally often.
    """
    ticks = NextTicks()
    first = task()
    made = []
    for number in range(count):
        expression = EXPRESSIONS[number % len(EXPRESSIONS)]
        timezone = ZONES[number // len(EXPRESSIONS) % len(ZONES)]
        newest = ticks.last_at_or_before(ticks.schedule(expression, timezone), now)
        made.append(
            task(
                org_id=first.org_id,
                owner_id=first.owner_id,
                name=f"task {number}",
                cron_expression=expression,
                timezone=timezone,
                next_run_at=newest,
            )
        )
    return made


def idle_tasks(count: int) -> list[Task]:
    """Enabled tasks of one organization that are due in a year."""
    first = task()
    later = first.next_run_at + timedelta(days=365)
    return [
        replace(task(), org_id=first.org_id, name=f"task {number}", next_run_at=later)
        for number in range(count)
    ]


async def store(database: Database, tasks: Sequence[Task]) -> None:
    """Writes the tasks, many at a time."""
    documents = [_document(task) for task in tasks]
    for start in range(0, len(documents), BATCH):
        await database.collection(COLLECTION).insert_many(documents[start : start + BATCH])


def _document(task: Task) -> Document:
    document = {field.name: getattr(task, field.name) for field in fields(task)}
    return {"_id": document.pop("id"), **document}
