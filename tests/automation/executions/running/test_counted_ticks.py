"""The counts of the due scan: each tick counts once, whatever number of nodes decides about it."""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest

from netautod.automation.tasks.models import Task
from netautod.core.errors import Unavailable
from netautod.core.metrics import Observed
from netautod.store.client import InsertManyResult
from tests.support.execution import Does, World, hourly_due_task, manual_run, nothing
from tests.support.observed import observed

NODES, TASKS, MISSED = 3, 10, 30
YEAR = timedelta(days=365)


def late_tasks() -> list[Task]:
    """Return hourly tasks that have missed so many ticks because no node ran."""
    first = hourly_due_task()
    start = first.next_run_at - timedelta(hours=MISSED)
    return [hourly_due_task(name=f"task {number}", next_run_at=start) for number in range(TASKS)]


def counted(world: World) -> dict[str, int]:
    names = ("scheduler_fired", "scheduler_missed", "scheduler_skipped", "scheduler_blocked")
    values = {name.removeprefix("scheduler_"): world.metrics.value(name) for name in names}
    blocked = values.pop("blocked")
    return {**values, "blocked": blocked} if blocked else values


def lags(world: World) -> Observed:
    return observed(world.metrics, "scheduler_lag_seconds")


async def scan_together(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all nodes decide before any of them advances a task."""
    advance, decisions_made = world.tasks.advance, asyncio.Barrier(NODES)

    async def together(moves: Iterable[tuple[Task, datetime]]) -> int:
        await decisions_made.wait()
        return await advance(moves)

    monkeypatch.setattr(world.tasks, "advance", together)
    nodes = [world.node(Does(nothing)) for _ in range(NODES)]
    await asyncio.gather(*(node.scheduler.scan() for node in nodes))


async def test_ticks_that_fire_count_for_the_node_that_inserts_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.add(*late_tasks())
    await scan_together(world, monkeypatch)
    assert counted(world) == {"fired": TASKS, "missed": TASKS * MISSED, "skipped": 0}
    assert sum(lags(world).counts) == TASKS


@pytest.mark.parametrize(
    ("first", "counts"),
    [
        pytest.param("late", {"missed": TASKS * MISSED, "skipped": TASKS}, id="the previous run is active"),
        pytest.param("too late", {"missed": TASKS, "skipped": 0}, id="older than the window"),
        pytest.param(
            "blocked", {"missed": TASKS * MISSED, "skipped": 0, "blocked": TASKS}, id="the owner is deleted"
        ),
    ],
)
async def test_ticks_without_a_run_count_for_the_node_that_moves_the_task_on(
    world: World, monkeypatch: pytest.MonkeyPatch, first: str, counts: dict[str, int]
) -> None:
    tasks = [a_tick_of_hours_ago(number) for number in range(TASKS)] if first == "too late" else late_tasks()
    await world.add(*tasks)
    if first == "late":
        await world.executions.insert_many([manual_run(task) for task in tasks])
    if first == "blocked":
        world.owners |= dict.fromkeys(task.owner_id for task in tasks)
    await scan_together(world, monkeypatch)
    assert counted(world) == {"fired": 0, **counts}


def a_tick_of_hours_ago(number: int) -> Task:
    tick = hourly_due_task().next_run_at - timedelta(hours=3)
    daily = f"{tick.minute} {tick.hour} * * *"
    return hourly_due_task(name=f"task {number}", cron_expression=daily, next_run_at=tick)


async def test_tasks_that_leave_out_different_numbers_of_ticks_are_counted_each(world: World) -> None:
    newest = hourly_due_task().next_run_at
    tasks = [
        hourly_due_task(name=f"task {hours}", next_run_at=newest - timedelta(hours=hours))
        for hours in (0, 0, 1, 2, 5)
    ]
    tasks = [*tasks[1:], hourly_due_task(name="fires")]
    await world.add(*tasks)
    await world.executions.insert_many([manual_run(task) for task in tasks[:-1]])
    await world.node(Does(nothing)).scheduler.scan()
    assert counted(world) == {"fired": 1, "missed": 1 + 2 + 5, "skipped": 4}


async def test_a_scan_that_cannot_insert_counts_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.add(*late_tasks())
    scheduler, insert_many = world.node(Does(nothing)).scheduler, world.executions.insert_many

    async def refused(executions: object) -> InsertManyResult:
        raise Unavailable("a test")

    monkeypatch.setattr(world.executions, "insert_many", refused)
    for _ in range(5):
        await scheduler.scan()
    assert counted(world) == {"fired": 0, "missed": 0, "skipped": 0}
    assert world.metrics.value("scheduler_failures") == 5
    monkeypatch.setattr(world.executions, "insert_many", insert_many)
    await scheduler.scan()
    assert counted(world) == {"fired": TASKS, "missed": TASKS * MISSED, "skipped": 0}


async def test_a_scan_that_cannot_move_its_tasks_on_counts_its_executions_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.add(*late_tasks())
    scheduler, advance = world.node(Does(nothing)).scheduler, world.tasks.advance

    async def refused(moves: object) -> int:
        raise Unavailable("a test")

    monkeypatch.setattr(world.tasks, "advance", refused)
    for _ in range(5):
        await scheduler.scan()
    monkeypatch.setattr(world.tasks, "advance", advance)
    await scheduler.scan()
    assert counted(world) == {"fired": TASKS, "missed": TASKS * MISSED, "skipped": 0}
    assert sum(lags(world).counts) == TASKS


async def test_the_lag_lasts_until_the_execution_is_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Move the clock of the loop for an insert that takes a year."""
    await world.add(hourly_due_task())
    insert_many, loop = world.executions.insert_many, asyncio.get_running_loop()
    scheduler, clock = world.node(Does(nothing)).scheduler, loop.time

    async def slow(executions: list[object]) -> InsertManyResult:
        result = await insert_many(executions)  # type: ignore[arg-type]
        monkeypatch.setattr(loop, "time", lambda: clock() + YEAR.total_seconds())
        return result

    monkeypatch.setattr(world.executions, "insert_many", slow)
    await scheduler.scan()
    monkeypatch.undo()
    assert lags(world).total >= YEAR.total_seconds()
