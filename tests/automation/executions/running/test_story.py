"""The retries of a run read as one story: in its times, its attempts and its log."""

import asyncio
from datetime import datetime
from typing import Any

import pytest

from netautod.automation.executions.models import Execution
from netautod.plugin_api import ExecutionFailed, RunContext
from tests.automation.tasks.conftest import SCHEDULES, Tasks
from tests.support.execution import Does, DoesOnce, World, eventually, manual_run, nothing, task

EXECUTIONS = "/api/tasks/executions"


async def fails(context: RunContext) -> Any:
    raise ExecutionFailed("no answer")


async def _retries(world: World, execution: Execution, count: int) -> bool:
    return (await world.get(execution)).retry_count == count


async def lose_its_node(world: World, execution: Execution, executor: Does) -> None:
    """Let a node start the run, and die."""
    doomed = world.node(executor, node_id="doomed")
    await doomed.__aenter__()
    await world.until(execution, "running")
    await doomed.__aexit__()  # without drain: as after kill -9
    await world.rows.update(
        {"_id": execution.id}, [{"$set": {"lease_until": {"$subtract": ["$$NOW", 60_000]}}}]
    )


async def hangs(context: RunContext) -> Any:
    await asyncio.Event().wait()


async def test_a_run_that_fails_is_lost_and_succeeds(tasks: Tasks, world: World) -> None:
    one = task(max_retries=3)
    execution = await world.run(one)
    client, _ = tasks.served.client("tasks.operate", org_id=execution.org_id)
    path = f"{EXECUTIONS}/{execution.id}"
    ends = iter([fails, hangs])

    async def in_order(context: RunContext) -> Any:
        return await next(ends)(context)

    doomed = world.node(Does(in_order), node_id="doomed")
    await doomed.__aenter__()
    await eventually(lambda: _second_runs(world, execution))
    started = (await client.get(path)).expect()
    assert (started["retry_count"], started["error_message"]) == (1, "no answer")
    await doomed.__aexit__()
    await world.rows.update(
        {"_id": execution.id}, [{"$set": {"lease_until": {"$subtract": ["$$NOW", 60_000]}}}]
    )
    async with world.node(Does(nothing), node_id="heir"):
        await world.until(execution, "completed")
    done = (await client.get(path)).expect()
    assert (done["state"], done["retry_count"], done["error_message"]) == ("completed", 2, None)
    finished = [
        (one["number"], one["outcome"], one["error_message"], one["node"]) for one in done["attempts"]
    ]
    assert finished == [
        (1, "failed", "no answer", "doomed"),
        (2, "lost", "node lost", "doomed"),
        (3, "completed", None, "heir"),
    ]
    assert all(one["started_at"] <= one["completed_at"] for one in done["attempts"])
    assert done["started_at"] == started["started_at"] == done["attempts"][0]["started_at"]
    assert done["attempts"][0]["started_at"] < done["attempts"][2]["started_at"]
    assert (await client.get(f"{SCHEDULES}/{one.id}")).json["last_run_at"] == done["started_at"]
    log = (await client.get(f"{path}/log")).expect()
    assert [entry["message"] for entry in log["entries"]] == [
        "attempt 1 started",
        "attempt 1 failed: no answer; next in 0 s",
        "attempt 2 of 4 started",
        "attempt 2 was lost: its node doomed died",
        "attempt 3 of 4 started",
    ]
    assert log["complete"]


async def _second_runs(world: World, execution: Execution) -> bool:
    found = await world.get(execution)
    lines = await world.database.collection("execution_log").count({"execution_id": execution.id})
    return found.state == "running" and len(found.attempts) == 2 and lines == 3


async def test_the_last_failure_ends_the_log(tasks: Tasks, world: World) -> None:
    execution = await world.run(task(max_retries=1))
    client, _ = tasks.served.client("tasks.operate", org_id=execution.org_id)
    async with world.node(Does(fails)):
        await world.until(execution, "failed")
    entries = (await client.get(f"{EXECUTIONS}/{execution.id}/log")).expect()["entries"]
    assert [(entry["level"], entry["message"]) for entry in entries][-2:] == [
        ("info", "attempt 2 of 2 started"),
        ("error", "attempt 2 failed: no answer"),
    ]


async def test_a_run_that_is_lost_for_good_says_so_last(tasks: Tasks, world: World) -> None:
    execution = await world.run(task(task_type=DoesOnce.task_type, max_retries=3))
    await lose_its_node(world, execution, DoesOnce(hangs))
    async with world.node(DoesOnce(nothing)):
        await world.until(execution, "failed")
        ended = await eventually(lambda: _complete(tasks, execution))
    assert ended["entries"][-1]["message"] == "node lost"


async def _complete(tasks: Tasks, execution: Execution) -> Any:
    client, _ = tasks.served.client("tasks.operate", org_id=execution.org_id)
    answer = (await client.get(f"{EXECUTIONS}/{execution.id}/log")).expect()
    return answer if answer["complete"] else None


@pytest.mark.parametrize("deleted", [False, True], ids=["the task is disabled", "the task is deleted"])
async def test_a_retry_that_no_longer_starts_keeps_when_the_first_attempt_did(
    world: World, deleted: bool
) -> None:
    one = task(max_retries=1, retry_delay_seconds=3600)
    await world.add(one)
    made = manual_run(one)
    execution = Execution(**{**vars(made), "triggered_by": "schedule", "scheduled_for": made.created_at})
    await world.executions.insert(execution)
    async with world.node(Does(fails)):
        await eventually(lambda: _retries(world, execution, 1))
    first = (await world.get(execution)).started_at
    if deleted:
        await world.tasks.delete(one.org_id, one.id)
    else:
        await world.tasks.change(one.org_id, one.id, {}, {"enabled": False})
    await world.rows.update({"_id": execution.id}, {"$set": {"not_before": made.created_at}})
    async with world.node(Does(nothing)):
        done = await world.until(execution, "cancelled")
    assert isinstance(first, datetime)
    assert done.started_at == first
    assert [attempt.outcome for attempt in done.attempts] == ["failed"]
