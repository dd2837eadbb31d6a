"""Executors that ignore their cancellation, or take their process down."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.automation.executions.models import Execution
from tests.faults.conftest import Scenario, Together
from tests.faults.nodes import EXECUTIONS, NodeProcess, Stand, served
from tests.support.execution import FAST, eventually, task

DEAF = {"seconds": 8, "pause": 0.005}
# A command that had passed the guard may still be on its way to the database.
ON_ITS_WAY = timedelta(milliseconds=100)
# A tenth of the 15 s within which a cancelled device session is closed, on whichever node.
CANCEL = timedelta(seconds=1.5)


async def a_deaf_executor_times_out(stand: Stand) -> None:
    """One slot: the others complete only if the timeout frees it."""
    node = await stand.start(runs=replace(FAST, slots=1))
    deaf = await stand.world.run(task(task_type="deaf", parameters=DEAF, timeout_seconds=2, max_retries=3))
    await stand.world.until(deaf, "running")
    others = [await stand.world.run(task(task_type="noop")) for _ in range(5)]
    ended = await stand.world.until(deaf, "timeout")
    assert ended.started_at is not None
    assert ended.completed_at is not None
    assert timedelta(seconds=2) <= ended.completed_at - ended.started_at < timedelta(seconds=3)
    assert (ended.retry_count, len(ended.attempts)) == (0, 1)
    for other in others:
        await stand.world.until(other, "completed", seconds=4)
    assert await _last_sent(stand, deaf) < ended.completed_at + ON_ITS_WAY
    assert (await node.stop())["executions_abandoned"] == 1
    await stand.nothing_broken()


async def a_cancel_reaches_the_owner(stand: Stand) -> None:
    await stand.start()
    runs = [
        await stand.world.run(task(task_type=kind, parameters=DEAF, max_retries=3))
        for kind in ("send", "deaf")
    ]
    await eventually(lambda: _all_sending(stand, len(runs)))
    async with served(stand.world.database) as api:
        for run in runs:
            client, _ = api.client("tasks.operate", org_id=run.org_id)
            assert (await client.post(f"{EXECUTIONS}/{run.id}/cancel")).status == 204
            assert (await stand.world.get(run)).state == "cancelled"
    replied_at = datetime.now(UTC)
    await asyncio.sleep(CANCEL.total_seconds() + 0.5)
    for run in runs:
        assert await _last_sent(stand, run) < replied_at + CANCEL
    await stand.nothing_broken()


async def an_executor_kills_its_node(stand: Stand) -> None:
    """The process is started again each time it dies, as systemd would."""
    killer = await stand.world.run(task(task_type="killer", parameters={"seconds": 0.5}, max_retries=2))
    neighbours = [
        await stand.world.run(task(task_type="slow", parameters={"seconds": 1}, max_retries=5))
        for _ in range(10)
    ]
    supervising = asyncio.create_task(_supervise(stand))
    ended = await stand.world.until(killer, "failed", seconds=60)
    assert [attempt.outcome for attempt in ended.attempts] == ["lost", "lost", "failed"]
    assert (ended.retry_count, ended.error_message) == (2, "node lost")
    for neighbour in neighbours:
        await stand.world.until(neighbour, "completed", seconds=15)
    supervising.cancel()
    await asyncio.gather(supervising, return_exceptions=True)
    assert len([node for node in stand.nodes if not node.alive]) == 3
    await stand.nothing_broken()


async def _supervise(stand: Stand) -> None:
    while True:
        node: NodeProcess = await stand.start()
        await node.process.wait()


async def _all_sending(stand: Stand, count: int) -> bool:
    return len({command["execution"] for command in await stand.sent()}) == count


async def _last_sent(stand: Stand, execution: Execution) -> Any:
    return (await stand.sent(execution=execution.id))[-1]["at"]


SCENARIOS = (a_deaf_executor_times_out, a_cancel_reaches_the_owner, an_executor_kills_its_node)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(a_deaf_executor_times_out, id="ignores its cancellation: timeout in time, slot freed"),
        pytest.param(a_cancel_reaches_the_owner, id="a cancel silences the session on another node"),
        pytest.param(
            an_executor_kills_its_node, id="kills its process: max_retries + 1 attempts, others complete"
        ),
    ],
)
async def test_the_node_copes(together: Together, scenario: Scenario) -> None:
    await together.result(scenario, SCENARIOS)
