"""The due scan: one execution per task and tick, whoever scans and wherever a node dies."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from netautod.automation.executions.models import scheduled_id
from netautod.automation.executions.records.documents import to_document
from netautod.automation.tasks.models import Task
from netautod.store.client import Database
from tests.support.disk import Disk
from tests.support.execution import (
    FAST_SCAN,
    Does,
    World,
    due_task,
    eventually,
    hourly_due_task,
    manual_run,
    nothing,
)


async def _fired(world: World, count: int) -> bool:
    return world.metrics.value("scheduler_fired") >= count


async def _advanced(world: World, task: Task) -> Task | None:
    found = await world.tasks.get(task.org_id, task.id)
    return found if found is not None and found.next_run_at > task.next_run_at else None


async def test_a_due_task_fires_once_and_moves_on(world: World) -> None:
    task = hourly_due_task()
    await world.add(task)
    async with world.node(Does(nothing)):
        moved = await eventually(lambda: _advanced(world, task))
        rows = await world.all(task_id=task.id)
        await eventually(lambda: _completed(world, task))
    assert [(row["scheduled_for"], row["triggered_by"]) for row in rows] == [(task.next_run_at, "schedule")]
    assert moved.next_run_at == task.next_run_at + timedelta(hours=1)


async def _completed(world: World, task: Task) -> bool:
    return bool(await world.all(task_id=task.id, state="completed"))


async def test_three_nodes_fire_each_tick_once(world: World) -> None:
    tasks = [hourly_due_task(name=f"task {number}") for number in range(150)]
    await world.add(*tasks)
    nodes = [world.node(Does(nothing)) for _ in range(3)]
    await asyncio.gather(*(node.scheduler.scan() for node in nodes))
    rows = await world.all()
    assert len(rows) == 150
    assert {row["_id"] for row in rows} == {scheduled_id(task.id, task.next_run_at) for task in tasks}
    assert world.metrics.value("scheduler_fired") == 150


async def test_a_crash_between_insert_and_advance_fires_once(world: World) -> None:
    task = hourly_due_task()
    await world.add(task)
    node = world.node(Does(nothing))
    died = manual_run(task)
    await world.rows.insert(
        {
            **to_document(died),
            "_id": scheduled_id(task.id, task.next_run_at),
            "scheduled_for": task.next_run_at,
        }
    )
    await node.scheduler.scan()
    assert len(await world.all()) == 1
    assert await _advanced(world, task) is not None
    assert world.metrics.value("scheduler_skipped") == 0


async def test_a_tick_is_skipped_while_the_previous_run_is_active(world: World) -> None:
    task = due_task()
    await world.add(task)
    await world.executions.insert(manual_run(task))
    await world.node(Does(nothing)).scheduler.scan()
    assert len(await world.all()) == 1
    assert world.metrics.value("scheduler_skipped") == 1
    assert await _advanced(world, task) is not None


@pytest.mark.parametrize("state", ["disabled", "deleted"])
async def test_a_tick_of_a_task_whose_owner_is_gone_is_not_run(world: World, state: str) -> None:
    blocked, fine = due_task(), due_task()
    if state == "disabled":
        world.owners.disabled.add(blocked.owner_id)
    else:
        world.owners[blocked.owner_id] = None
    await world.add(blocked, fine)
    await world.node(Does(nothing)).scheduler.scan()
    assert [row["task_id"] for row in await world.all()] == [fine.id]
    assert await _advanced(world, blocked) is not None


@pytest.mark.parametrize(
    ("minutes", "fires", "missed"),
    [
        pytest.param(30, 1, 30, id="inside the window: the newest tick alone"),
        pytest.param(0, 1, 0, id="on time"),
    ],
)
async def test_missed_ticks_are_coalesced(world: World, minutes: int, fires: int, missed: int) -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    task = due_task(next_run_at=now - timedelta(minutes=minutes))
    await world.add(task)
    await world.node(Does(nothing)).scheduler.scan()
    rows = await world.all()
    assert len(rows) == fires
    assert rows[0]["scheduled_for"] >= now
    # A minute may have passed between the two readings of the clock.
    assert world.metrics.value("scheduler_missed") - missed in (0, 1)


async def test_a_tick_older_than_the_window_gets_no_run(world: World) -> None:
    now = datetime.now(UTC)
    task = due_task(
        cron_expression=f"{now.minute} {(now.hour - 3) % 24} * * *",
        next_run_at=(now - timedelta(hours=3)).replace(second=0, microsecond=0),
    )
    await world.add(task)
    await world.node(Does(nothing)).scheduler.scan()
    assert await world.all() == []
    assert world.metrics.value("scheduler_missed") == 1
    assert await _advanced(world, task) is not None


async def test_disabled_and_future_tasks_do_not_fire(world: World) -> None:
    await world.add(due_task(enabled=False), due_task(next_run_at=datetime.now(UTC) + timedelta(minutes=5)))
    await world.node(Does(nothing)).scheduler.scan()
    assert await world.all() == []


async def test_a_schedule_that_is_no_longer_valid_is_disabled_and_blocks_nothing(world: World) -> None:
    broken = due_task(timezone="Mars/Olympus")
    fine = due_task()
    await world.add(broken, fine)
    await world.node(Does(nothing)).scheduler.scan()
    assert [row["task_id"] for row in await world.all()] == [fine.id]
    stored = await world.tasks.get(broken.org_id, broken.id)
    assert stored is not None
    assert not stored.enabled


@pytest.mark.parametrize("batch", [1, 10, 24, 25, 26], ids=lambda batch: f"by {batch}")
async def test_more_due_tasks_than_a_batch_all_fire(world: World, batch: int) -> None:
    """Use batches of one, more of them than one reading takes."""
    tasks = [due_task(name=f"task {number}") for number in range(25)]
    await world.add(*tasks)
    await world.node(Does(nothing), schedule=replace(FAST_SCAN, batch=batch)).scheduler.scan()
    assert sorted(row["task_id"] for row in await world.all()) == sorted(task.id for task in tasks)
    assert all([await _advanced(world, task) for task in tasks])


async def test_the_due_scan_uses_its_index(world: World) -> None:
    plan = await world.database._raw.command(
        {
            "explain": {
                "find": "tasks",
                "filter": {"enabled": True, "$expr": {"$lte": ["$next_run_at", "$$NOW"]}},
                "sort": {"next_run_at": 1},
            },
            "verbosity": "queryPlanner",
        }
    )
    text = str(plan["queryPlanner"]["winningPlan"])
    assert "IXSCAN" in text
    assert "SORT'" not in text
    assert "'next_run_at': ['[MinKey, MaxKey]']" not in text


async def test_a_full_disk_lets_no_task_fire_and_its_ticks_are_judged_when_there_is_room(
    indexed: Database,
) -> None:
    disk, task = Disk(free=100), hourly_due_task()
    room = disk.under(indexed)
    world = World(database=indexed)
    await world.add(task)
    async with room:
        scheduler = world.node(Does(nothing)).scheduler
        await scheduler.scan()
        assert (await world.all(), await _advanced(world, task)) == ([], None)
        disk.free = 900
        await room.look()
        await scheduler.scan()
    assert [row["scheduled_for"] for row in await world.all()] == [task.next_run_at]
