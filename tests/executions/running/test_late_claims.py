"""A claim whose acknowledgement comes late, or never: the run begins with most of its lease left, once."""

from typing import Any

import pytest

from netautod.core.errors import UnknownOutcome
from netautod.executions.running.node import ExecutionNode
from netautod.executions.settings import ExecutionSettings
from netautod.plugin_api import RunContext
from tests.store.leases.test_leases import SettableClock
from tests.support.execution import Does, World, eventually, nothing, task

LONG = ExecutionSettings(lease_seconds=600, heartbeat_seconds=300, abandon_seconds=500)


async def test_a_run_is_not_begun_on_an_old_lease(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_a_run_whose_claim_nobody_acknowledged_is_begun_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left alone it would be taken for one of a dead node: a retry less, or the end of an agent."""
    execution = await world.run(task(max_retries=0))
    executor = Does(nothing)
    node = world.node(executor, runs=LONG)
    _unanswered_once(node, monkeypatch)
    async with node:
        done = await world.until(execution, "completed")
        await eventually(lambda: _idle(node))
    assert (len(done.attempts), done.retry_count, executor.runs) == (1, 0, 1)


def _unanswered_once(node: ExecutionNode, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = node._keeper.collection.find_and_update

    async def unanswered(*args: Any, **options: Any) -> Any:
        row = await claim(*args, **options)
        if row is None:  # not ours: the reaper looks for approvals in this way
            return row
        monkeypatch.undo()
        raise UnknownOutcome("away")

    monkeypatch.setattr(node._keeper.collection, "find_and_update", unanswered)


async def _idle(node: ExecutionNode) -> bool:
    return node.runner.running == 0
