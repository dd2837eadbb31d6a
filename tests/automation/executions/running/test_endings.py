"""The ends of logs: lines of a cancelled executor are kept, and the last line names who ended the run."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from netautod.automation.executions.models import Execution
from netautod.automation.executions.running.node import ExecutionNode
from netautod.plugin_api import NeedsApproval, RunContext
from tests.automation.tasks.conftest import SCHEDULES, Tasks
from tests.support.client import ApiClient
from tests.support.execution import FAST, Does, World, eventually, manual_run, nothing, task

EXECUTIONS = "/api/tasks/executions"
LOG = "netautod.automation.executions.running.cancellation"


class Closing:
    """An executor that says what it does while it is cancelled, and ends when it may."""

    def __init__(self, *, swallows: bool = False, lines: int = 1) -> None:
        self.started, self.cancelled, self.may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._swallows = swallows
        self._lines = lines

    async def __call__(self, context: RunContext) -> Any:
        await context.log("info", "working")
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            await self.may_end.wait()
            for number in range(self._lines):
                await context.log("info", f"closing session {number}")
            if not self._swallows:
                raise
        return "went on"


async def log_of(client: ApiClient, execution: Execution) -> dict[str, Any]:
    answer: dict[str, Any] = (await client.get(f"{EXECUTIONS}/{execution.id}/log?limit=100")).expect()
    return answer


async def complete_log(client: ApiClient, execution: Execution) -> list[str]:
    async def complete() -> Any:
        answer = await log_of(client, execution)
        return answer if answer["complete"] else None

    entries = (await eventually(complete))["entries"]
    assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
    return [entry["message"] for entry in entries]


def user(tasks: Tasks, execution: Execution) -> tuple[ApiClient, str]:
    client, caller = tasks.served.client("tasks.operate", "config.deploy", org_id=execution.org_id)
    return client, caller.username


async def cancel(client: ApiClient, execution: Execution) -> None:
    assert (await client.post(f"{EXECUTIONS}/{execution.id}/cancel")).status == 204


async def test_lines_of_a_cancelled_run_are_kept_and_the_last_one_names_the_user(
    tasks: Tasks, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    closing = Closing(lines=300)  # more than are written at a time
    execution = await world.run(task())
    client, name = user(tasks, execution)
    async with world.node(Does(closing), runs=replace(FAST, cancel_grace_seconds=30)):
        await asyncio.wait_for(closing.started.wait(), 10)
        await cancel(client, execution)  # on a node that does not run it
        await asyncio.wait_for(closing.cancelled.wait(), 10)
        assert not (await log_of(client, execution))["complete"]
        closing.may_end.set()
        await eventually(lambda: _ended(world, execution))
    texts = [line["message"] for line in await _lines(world, execution)]
    assert texts[0] == "attempt 1 started"
    assert texts[1:] == [
        "working",
        *(f"closing session {number}" for number in range(300)),
        f"cancelled by {name}",
    ]
    assert world.metrics.value("executions_abandoned") == 0
    assert [record for record in caplog.records if record.name == LOG] == []


async def _ended(world: World, execution: Execution) -> bool:
    return (await world.get(execution)).log_ended


async def _lines(world: World, execution: Execution) -> list[Any]:
    where = {"execution_id": execution.id}
    return await world.database.collection("execution_log").find(where, sort=[("seq", 1)])


async def test_one_that_swallows_its_cancellation_is_named_with_its_seconds(
    tasks: Tasks, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    closing = Closing(swallows=True)
    execution = await world.run(task(name="nightly"))
    client, name = user(tasks, execution)
    async with world.node(Does(closing), runs=replace(FAST, cancel_grace_seconds=30)):
        await asyncio.wait_for(closing.started.wait(), 10)
        await cancel(client, execution)
        await asyncio.wait_for(closing.cancelled.wait(), 10)
        closing.may_end.set()
        texts = await complete_log(client, execution)
    assert texts[-3] == "closing session 0"
    assert "swallowed its cancellation and went on for" in texts[-2]
    assert texts[-1] == f"cancelled by {name}"
    [record] = [record for record in caplog.records if record.name == LOG]
    for part in ("'nightly'", "backup of tests", execution.id, "went on for 0.", " s"):
        assert part in record.getMessage()


@pytest.mark.parametrize(
    ("swallows", "logged"),
    [(False, "ended "), (True, "swallowed its cancellation and went on for ")],
    ids=["it was only slow", "it swallowed it"],
)
async def test_one_that_is_left_behind_is_judged_when_it_ends(
    tasks: Tasks, world: World, caplog: pytest.LogCaptureFixture, swallows: bool, logged: str
) -> None:
    closing = Closing(swallows=swallows)
    execution = await world.run(task())
    client, name = user(tasks, execution)
    async with world.node(Does(closing), runs=replace(FAST, cancel_grace_seconds=0.05)):
        await asyncio.wait_for(closing.started.wait(), 10)
        await cancel(client, execution)
        texts = await complete_log(client, execution)
        assert texts[-2] == "the executor has not ended 0.05 s after its cancellation and is left behind"
        assert texts[-1] == f"cancelled by {name}"
        assert "swallowed" not in caplog.text
        closing.may_end.set()
        await eventually(lambda: _is_logged(caplog, logged))
    assert world.metrics.value("executions_abandoned") == 1
    assert await complete_log(client, execution) == texts  # nothing comes behind the last line


async def test_an_executor_that_raises_while_it_is_cancelled_is_logged_with_its_stack(
    tasks: Tasks, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    started = asyncio.Event()

    async def work(context: RunContext) -> Any:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("the session was gone already")

    execution = await world.run(task(name="nightly"))
    client, name = user(tasks, execution)
    async with world.node(Does(work), runs=replace(FAST, cancel_grace_seconds=30)):
        await asyncio.wait_for(started.wait(), 10)
        await cancel(client, execution)
        assert (await complete_log(client, execution))[-1] == f"cancelled by {name}"
    [record] = [record for record in caplog.records if record.name == LOG]
    run_name = f"task 'nightly' (backup of tests), execution {execution.id}"
    assert record.getMessage() == f"{run_name} raised while it was cancelled"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "the session was gone already"


async def _is_logged(caplog: pytest.LogCaptureFixture, text: str) -> bool:
    return any(record.name == LOG and text in record.getMessage() for record in caplog.records[1:])


async def test_the_lines_of_a_cancelled_run_end_even_if_its_node_died(tasks: Tasks, world: World) -> None:
    closing = Closing()
    execution = await world.run(task())
    client, name = user(tasks, execution)
    doomed = world.node(Does(closing))
    await doomed.__aenter__()
    await asyncio.wait_for(closing.started.wait(), 10)
    await eventually(lambda: _written(world, execution, 2))
    await world.rows.update({"_id": execution.id}, {"$set": {"owner": "a dead node"}})
    await cancel(client, execution)
    closing.may_end.set()
    await doomed.__aexit__()
    assert not (await log_of(client, execution))["complete"]
    await world.rows.update(
        {"_id": execution.id}, [{"$set": {"closing.since": {"$subtract": ["$$NOW", 3_600_000]}}}]
    )
    async with world.node(Does(nothing)):
        assert (await complete_log(client, execution))[-1] == f"cancelled by {name}"


async def _written(world: World, execution: Execution, count: int) -> bool:
    return len(await _lines(world, execution)) >= count


async def test_a_node_that_died_between_the_line_and_its_note_leaves_one_line(
    tasks: Tasks, world: World
) -> None:
    execution = await world.run(task())
    client, name = user(tasks, execution)
    await cancel(client, execution)
    left = {"level": "warning", "text": f"cancelled by {name}", "node": None, "since": execution.created_at}
    left["since"] = execution.created_at.replace(year=2020)
    await world.rows.update({"_id": execution.id}, {"$set": {"closing": left}})
    async with world.node(Does(nothing)):
        assert await complete_log(client, execution) == [f"cancelled by {name}"]


async def pending(world: World) -> Execution:
    return await world.run(task())


async def waiting_for_its_retry(world: World) -> Execution:
    async def fails(context: RunContext) -> Any:
        raise ValueError("no")

    execution = await world.run(task(max_retries=1, retry_delay_seconds=3600))
    async with world.node(Does(fails)):
        await eventually(lambda: _retrying(world, execution))
    return execution


async def _retrying(world: World, execution: Execution) -> bool:
    return (await world.get(execution)).retry_count == 1


async def waiting_for_an_approval(world: World) -> Execution:
    async def requests_approval(context: RunContext) -> Any:
        raise NeedsApproval({})

    execution = await world.run(task())
    async with world.node(Does(requests_approval)):
        return await world.until(execution, "approval_pending")


async def by_cancel(client: ApiClient, execution: Execution) -> None:
    await cancel(client, execution)
    assert (await client.post(f"{EXECUTIONS}/{execution.id}/cancel")).status == 409


async def by_deletion(client: ApiClient, execution: Execution) -> None:
    assert (await client.delete(f"{SCHEDULES}/{execution.task_id}")).status == 204


@pytest.mark.parametrize("waits", [pending, waiting_for_its_retry, waiting_for_an_approval])
@pytest.mark.parametrize(
    ("end", "line"),
    [(by_cancel, "cancelled by {}"), (by_deletion, "cancelled by {}: the task was deleted")],
    ids=["cancelled", "its task is deleted"],
)
async def test_the_log_of_one_that_waits_ends_at_once(
    tasks: Tasks,
    world: World,
    waits: Callable[[World], Awaitable[Execution]],
    end: Callable[[ApiClient, Execution], Awaitable[None]],
    line: str,
) -> None:
    execution = await waits(world)
    client, name = user(tasks, execution)
    await end(client, execution)
    answer = await log_of(client, execution)
    assert answer["complete"]
    assert answer["entries"][-1]["message"] == line.format(name)
    assert (await world.get(execution)).cancelled_by is not None


async def test_a_full_log_has_its_last_line_all_the_same(tasks: Tasks, world: World) -> None:
    closing = Closing(lines=20)
    execution = await world.run(task())
    client, name = user(tasks, execution)
    async with world.node(Does(closing), runs=replace(FAST, log_lines=5, cancel_grace_seconds=30)):
        await asyncio.wait_for(closing.started.wait(), 10)
        await cancel(client, execution)
        closing.may_end.set()
        texts = await complete_log(client, execution)
    assert len(texts) == 5 + 2
    assert texts[-2:] == ["the log is full; further lines are dropped", f"cancelled by {name}"]


async def test_a_scheduled_run_of_a_disabled_task_says_why_it_was_cancelled(
    tasks: Tasks, world: World
) -> None:
    disabled = task(enabled=False)
    await world.add(disabled)
    made = manual_run(disabled)
    scheduled = replace(made, triggered_by="schedule", scheduled_for=made.created_at)
    await world.executions.insert(scheduled)
    client, _ = user(tasks, scheduled)
    async with world.node(Does(nothing)):
        assert await complete_log(client, scheduled) == ["cancelled by the service: the task was disabled"]


async def test_a_timeout_has_the_same_courtesy(tasks: Tasks, world: World) -> None:
    closing = Closing()
    execution = await world.run(task(timeout_seconds=1))
    client, _ = user(tasks, execution)
    async with world.node(Does(closing), runs=replace(FAST, cancel_grace_seconds=30)):
        await world.until(execution, "timeout")
        assert not (await log_of(client, execution))["complete"]
        closing.may_end.set()
        texts = await complete_log(client, execution)
    assert texts[-2:] == ["closing session 0", "the run took longer than 1 seconds"]
    assert texts.count("the run took longer than 1 seconds") == 1


async def test_lines_of_a_draining_node_are_kept(tasks: Tasks, world: World) -> None:
    closing = Closing()
    closing.may_end.set()
    execution = await world.run(task())
    client, _ = user(tasks, execution)
    node: ExecutionNode
    async with world.node(Does(closing)) as node:
        await asyncio.wait_for(closing.started.wait(), 10)
        await node.drain(0)
    assert (await world.get(execution)).state == "pending"
    async with world.node(Does(nothing)):
        texts = await complete_log(client, execution)
    assert texts == [
        "attempt 1 started",
        "working",
        "the node stops: the attempt is ended",
        "closing session 0",
        "attempt 2 of 2 started",
    ]
