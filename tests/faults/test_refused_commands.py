"""The database refuses single commands at the worst moment; the node runs in the test's process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.models import Execution, scheduled_id
from netautod.automation.executions.settings import SchedulerSettings
from netautod.plugin_api import RunContext
from netautod.store.connection import connect
from netautod.store.indexes import create_indexes
from tests.support.execution import FAST, Does, World, eventually, hourly_due_task, manual_run, nothing, task
from tests.support.programs.replica_set import ReplicaSet

SELDOM = SchedulerSettings(scan_seconds=60.0)
# The driver does not repeat an update of many documents, which a heartbeat is.
ONCE = {"times": 1}


@pytest.fixture
async def world(replica_set: ReplicaSet) -> AsyncIterator[World]:
    database = connect(replica_set.uri, f"r{uuid4().hex[:20]}")
    await create_indexes(database, INDEXES)
    yield World(database=database)
    await replica_set.fail_no_more()
    await database.drop()
    database.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "collection", "mode"),
    [
        pytest.param("findAndModify", "executions", {"skip": 3}, id="some claims, after others"),
        pytest.param("find", "tasks", "alwaysOn", id="the look at the tasks after the claim"),
        pytest.param("update", "tasks", "alwaysOn", id="the note of the start in the task"),
        pytest.param("insert", "execution_log", "alwaysOn", id="the log"),
        pytest.param("update", "executions", "alwaysOn", id="the end of the run"),
    ],
)
async def test_runs_survive_a_refusal(
    world: World, replica_set: ReplicaSet, command: str, collection: str, mode: Any
) -> None:
    """Nothing that was claimed is forgotten: all complete once the database answers again."""
    executions = [manual_run(task(max_retries=1)) for _ in range(5)]
    for one in executions:
        await world.add(task(id=one.task_id, org_id=one.org_id))
    namespace = f"{world.database.name}.{collection}"
    await replica_set.fail(command, mode=mode, namespace=namespace)
    await world.executions.insert_many(executions)
    async with world.node(Does(nothing), schedule=SELDOM):
        await asyncio.sleep(1.5)
        await replica_set.fail_no_more()
        for one in executions:
            await world.until(one, "completed", seconds=15)


@pytest.mark.slow
async def test_one_lost_heartbeat_does_not_end_a_run(world: World, replica_set: ReplicaSet) -> None:
    async def work(context: RunContext) -> Any:
        await asyncio.sleep(FAST.lease_seconds + FAST.heartbeat_seconds)

    execution = await world.run(task(max_retries=1))
    async with world.node(Does(work), schedule=SELDOM):
        await world.until(execution, "running")
        claimed = (await world.all(_id=execution.id))[0]["lease_until"]
        await eventually(lambda: world.all(_id=execution.id, lease_until={"$gt": claimed}))
        await replica_set.fail("update", mode=ONCE, namespace=f"{world.database.name}.executions")
        done = await world.until(execution, "completed")
    assert [attempt.outcome for attempt in done.attempts] == ["completed"]
    assert world.metrics.value("executions_fenced") == 0


@pytest.mark.slow
async def test_the_timeout_ends_the_work_though_it_cannot_be_written(
    world: World, replica_set: ReplicaSet
) -> None:
    ended = asyncio.Event()

    async def work(context: RunContext) -> Any:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()

    execution = await world.run(task(timeout_seconds=1))
    async with world.node(Does(work), schedule=SELDOM, runs=replace(FAST, abandon_seconds=2.9)):
        await world.until(execution, "running")
        await replica_set.fail("update", namespace=f"{world.database.name}.executions")
        await asyncio.wait_for(ended.wait(), 1.5)
        assert (await world.get(execution)).state == "running"
        await replica_set.fail_no_more()
        await world.until(execution, "timeout", "failed")


@pytest.mark.slow
async def test_a_run_claimed_again_on_its_node_is_kept_track_of(world: World) -> None:
    """The lease is taken away while the executor ignores its cancellation; the node claims the row again."""
    starts: list[asyncio.Event] = [asyncio.Event(), asyncio.Event()]
    may_end = asyncio.Event()

    async def work(context: RunContext) -> Any:
        starts[context.execution.attempt - 1].set()
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                if context.execution.attempt > 1:
                    raise

    execution = await world.run(task(max_retries=3))
    runs = replace(FAST, cancel_grace_seconds=2.5)
    async with AsyncExitStack() as stack:
        node = await stack.enter_async_context(world.node(Does(work), schedule=SELDOM, runs=runs))
        stack.callback(may_end.set)
        await asyncio.wait_for(starts[0].wait(), 5)
        row = (await world.all(_id=execution.id))[0]
        lost = {**row["attempt"], "completed_at": row["started_at"], "outcome": "lost"}
        taken = {"state": "pending", "owner": None, "attempt": None, "retry_count": 1, "attempts": [lost]}
        await world.rows.update({"_id": execution.id}, {"$set": taken})
        node.runner.kick()  # before the next heartbeat can tell it
        await asyncio.wait_for(starts[1].wait(), 5)
        await eventually(lambda: _abandoned(world))
        await eventually(lambda: _one_attempt_left(execution))
        assert node.runner.running == 1
        may_end.set()
        await world.until(execution, "completed")


async def _abandoned(world: World) -> bool:
    return world.metrics.value("executions_abandoned") == 1


async def _one_attempt_left(execution: Execution) -> bool:
    """The runner has done everything for the abandoned one, which is more than its count in the metrics."""
    return [one.get_name() for one in asyncio.all_tasks()].count(f"attempt {execution.id}") == 1


@pytest.mark.slow
async def test_a_stop_during_a_claim_leaves_nothing_claimed(world: World, replica_set: ReplicaSet) -> None:
    """The node is told to stop while its claims are under way."""
    executions = [manual_run(task(max_retries=0)) for _ in range(5)]
    for one in executions:
        await world.add(task(id=one.task_id, org_id=one.org_id))
    namespace = f"{world.database.name}.tasks"
    await replica_set.block("find", seconds=1.0, namespace=namespace)
    async with world.node(Does(nothing), schedule=SELDOM) as node:
        await asyncio.sleep(0.5)
        await world.executions.insert_many(executions)
        node.runner.kick()
        await eventually(lambda: _claimed(world, len(executions)))
        await node.drain(5)
    rows = await world.all()
    assert {row["state"] for row in rows} <= {"pending", "completed"}


async def _claimed(world: World, count: int) -> bool:
    return len(await world.all(state="running")) == count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "collection", "skip"),
    [
        pytest.param("getMore", "tasks", 0, id="the second batch"),
        pytest.param("insert", "executions", 0, id="the first insert"),
        pytest.param("insert", "executions", 2, id="an insert beside others"),
        pytest.param("update", "tasks", 1, id="a move beside inserts"),
        pytest.param("find", "executions", 1, id="the look at active executions of the second batch"),
    ],
)
async def test_a_scan_that_is_refused_in_its_middle_is_made_up_for_by_the_next(
    world: World, replica_set: ReplicaSet, command: str, collection: str, skip: int
) -> None:
    tasks = [hourly_due_task(name=f"task {number}") for number in range(700)]
    await asyncio.gather(*map(world.add, tasks))
    node = world.node(Does(nothing), schedule=replace(SELDOM, batch=600))  # in three slices
    namespace = f"{world.database.name}.{collection}"
    await replica_set.fail(command, mode={"skip": skip}, namespace=namespace)
    await node.scheduler.scan()
    assert world.metrics.value("scheduler_failures") == 1
    await replica_set.fail_no_more()
    await node.scheduler.scan()
    rows = await world.all()
    assert {row["_id"] for row in rows} == {scheduled_id(task.id, task.next_run_at) for task in tasks}
    assert len(rows) == len(tasks)
    assert [batch async for batch in world.tasks.due(1, batch=1)] == []
