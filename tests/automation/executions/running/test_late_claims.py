"""A claim whose acknowledgement comes late, or never: the run begins with most of its lease left, once."""

from typing import Any

import pytest

from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.errors import UnknownOutcome
from netautod.plugin_api import RunContext
from tests.store.leases.test_leases import SettableClock
from tests.support.execution import Does, DoesOnce, World, eventually, nothing, task

LONG = ExecutionSettings(lease_seconds=600, heartbeat_seconds=300, abandon_seconds=500)


async def test_a_run_does_not_start_on_an_old_lease(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ages: list[float] = []
    clock = SettableClock()
    world.clock = clock

    async def work(context: RunContext) -> Any:
        [held] = node.runner._running
        ages.append(clock.monotonic() - held.acknowledged_at)

    execution = await world.run(task())
    node = world.node(Does(work), runs=LONG)
    claim = node._keeper.collection.find_and_update

    async def late(*args: Any, **options: Any) -> Any:
        row = await claim(*args, **options)
        clock.ahead += 0 if row is None else LONG.lease_seconds / 2
        return row

    monkeypatch.setattr(node._keeper.collection, "find_and_update", late)
    async with node:
        done = await world.until(execution, "completed")
    assert len(done.attempts) == 1
    assert ages[0] < LONG.lease_seconds / 3


@pytest.mark.parametrize("arrives", ["at once", "when nobody waits for it", "never"])
@pytest.mark.parametrize("executor", [Does, DoesOnce], ids=["could run again", "may run once"])
async def test_a_run_with_an_unacknowledged_claim_starts_once(
    world: World, monkeypatch: pytest.MonkeyPatch, executor: type[Does], arrives: str
) -> None:
    """Check a run that would count as one of a dead node: a retry less, or the end of an agent."""
    execution = await world.run(task(task_type=executor.task_type, max_retries=0))
    counting = executor(nothing)
    node = world.node(counting, runs=LONG)
    _unanswered_once(node, monkeypatch, arrives)
    async with node:
        done = await world.until(execution, "completed")
        await eventually(lambda: _idle(node))
    assert (len(done.attempts), done.retry_count, counting.runs) == (1, 0, 1)


def _unanswered_once(node: ExecutionNode, monkeypatch: pytest.MonkeyPatch, arrives: str) -> None:
    """Give the first claim no answer; it reaches the database just before the next claim."""
    leased = node._keeper.collection
    send, sent = leased.find_and_update, list[Any]()

    async def unanswered(*claim: Any) -> Any:
        if sent:
            monkeypatch.undo()
            if arrives == "when nobody waits for it":
                await send(*sent)
            return await send(*claim)
        sent.extend(claim)
        if arrives == "at once":
            await send(*claim)
            monkeypatch.undo()
        raise UnknownOutcome("away")

    monkeypatch.setattr(leased, "find_and_update", unanswered)


async def _idle(node: ExecutionNode) -> bool:
    return node.runner.running == 0
