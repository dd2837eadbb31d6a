"""Notifications of observers: each ended execution, however it ended, and whether its task has recovered."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from netautod.automation.executions.events.notifier import FinishNotifier
from netautod.plugin_api import ExecutionFailed, NeedsApproval, RunContext
from tests.support.execution import FAST, Does, DoesOnce, World, eventually, manual_run, nothing, task

Notified = list[tuple[str, str | None, bool]]


def finished(world: World) -> Notified:
    return [(one.state, one.error_message, one.recovered) for one in world.finished]


async def until_notified(world: World, count: int) -> Notified:
    async def look() -> bool:
        return len(world.finished) >= count

    await eventually(look)
    return finished(world)


async def fails(context: RunContext) -> Any:
    raise ExecutionFailed("no luck")


async def hangs(context: RunContext) -> Any:
    await asyncio.Event().wait()


async def requests_approval(context: RunContext) -> Any:
    raise NeedsApproval({"command": "reload"})


@pytest.mark.parametrize(
    ("before", "recovered"),
    [
        pytest.param([], False, id="the first run"),
        pytest.param(["completed"], False, id="after a success"),
        pytest.param(["failed"], True, id="after a failure"),
        pytest.param(["timeout"], True, id="after a time-out"),
        pytest.param(["failed", "cancelled"], True, id="a cancelled run says nothing"),
        pytest.param(["failed", "completed"], False, id="after a success that had recovered"),
        pytest.param(["pending"], False, id="another run waits"),
    ],
)
async def test_a_success_after_a_failure_is_a_recovery(
    world: World, before: list[str], recovered: bool
) -> None:
    of = task()
    await world.add(of)
    runs = [manual_run(of) for _ in [*before, "this"]]
    for age, (run, state) in enumerate(zip(runs, [*before, "running"], strict=True)):
        await world.executions.insert(run)
        ended = {"state": state, "created_at": run.created_at + timedelta(seconds=age)}
        await world.rows.update({"_id": run.id}, {"$set": ended})
    notifier = FinishNotifier(store=world.executions, observers=world.finished)
    await notifier.notify(runs[-1], "completed", None)
    await notifier.notify(runs[-1], "failed", "x")
    assert finished(world) == [("completed", None, recovered), ("failed", "x", False)]


async def test_an_end_without_observers_is_not_reported(world: World) -> None:
    world.finished.deaf = True
    unobserved = FinishNotifier(store=world.executions, observers=world.finished)
    await unobserved.notify(manual_run(task()), "completed", None)
    assert finished(world) == []


async def test_a_run_that_is_tried_again_has_not_ended(world: World) -> None:
    async with world.node(Does(fails)):
        execution = await world.run(task(max_retries=1))
        assert await until_notified(world, 1) == [("failed", "no luck", False)]
        assert (await world.get(execution)).retry_count == 1


async def test_a_time_out_and_the_recovery_after_it(world: World) -> None:
    of = task(timeout_seconds=1)
    async with world.node(Does(hangs)):
        await world.run(of)
        await until_notified(world, 1)
    async with world.node(Does(nothing)):
        await world.executions.insert(manual_run(of))
        await until_notified(world, 2)
    text = "the run took longer than 1 seconds"
    assert finished(world) == [("timeout", text, False), ("completed", None, True)]


async def test_the_run_of_a_dead_node_is_reported_by_the_node_that_notices(world: World) -> None:
    dying = world.node(DoesOnce(hangs))
    async with dying:
        execution = await world.run(task(task_type="agent_task"))
        await world.until(execution, "running")
    async with world.node(DoesOnce(nothing)):
        assert await until_notified(world, 1) == [("failed", "node lost", False)]


async def test_a_node_that_stops_reports_what_it_gives_up(world: World) -> None:
    node = world.node(DoesOnce(hangs))
    async with node:
        execution = await world.run(task(task_type="agent_task"))
        await world.until(execution, "running")
        await node.drain(0)
    assert finished(world) == [("failed", "the node was stopped", False)]


async def test_an_approval_that_expires(world: World) -> None:
    async with world.node(Does(requests_approval), runs=replace(FAST, approval_hours=0.2 / 3600)):
        await world.run(task())
        assert await until_notified(world, 1) == [("failed", "approval expired", False)]


async def test_a_run_of_a_task_that_is_gone(world: World) -> None:
    async with world.node(Does(nothing)):
        await world.executions.insert(manual_run(task()))
        assert await until_notified(world, 1) == [("cancelled", "the task was deleted", False)]
