"""The runs of a node that its watchdog gave up: the one that blocked fails, the others go on elsewhere."""

import asyncio
from typing import Any

import pytest

from netautod.automation.executions.abandoned.models import Blocked, GivenUp
from netautod.automation.executions.models import Execution
from netautod.plugin_api import ExecutionFailed, NeedsApproval, RunContext
from tests.support.execution import Body, Does, DoesOnce, World, eventually, task

NODE = "node that was given up"
TEXT = "the run blocked its node for 20 seconds in the plugin acme"


async def _waits(context: RunContext) -> Any:
    await asyncio.Event().wait()


def _given_up(culprit: Execution | None, epoch: int = 1) -> GivenUp:
    blocked = None if culprit is None else Blocked(execution_id=culprit.id, epoch=epoch, text=TEXT)
    return GivenUp(node_id=NODE, by=blocked)


async def _settle(world: World, *given_up: GivenUp) -> None:
    await world.aftermath.settle(given_up)


@pytest.mark.parametrize("known", [True, False], ids=["the culprit is known", "it could be any of them"])
async def test_what_becomes_of_the_runs(world: World, known: bool) -> None:
    culprit = await world.run(task(max_retries=3))
    other = await world.run(task(max_retries=3))
    once = await world.run(task(task_type="agent_task"))
    async with world.node(Does(_waits), DoesOnce(_waits), node_id=NODE):
        for run in (culprit, other, once):
            await world.until(run, "running")
        await _settle(world, _given_up(culprit if known else None))
        found = [await world.get(run) for run in (culprit, other, once)]
    outcomes = [(run.attempts[0].outcome, run.retry_count, run.error_message) for run in found]
    if known:
        assert found[0].state == "failed"
        assert outcomes == [("failed", 0, TEXT), ("returned", 0, None), ("failed", 0, "the node was stopped")]
        assert {one.id for one in world.finished} >= {culprit.id, once.id}
        assert await _last_line(world, culprit) == TEXT
        assert await _last_line(world, once) == "the node was stopped"
    else:
        lost = ("lost", 1, "node lost")
        assert outcomes == [lost, lost, ("failed", 0, "node lost")]


async def _last_line(world: World, run: Execution) -> str:
    lines = await world.stores.execution_logs.read(run.org_id, run.id, 0, 50)
    return lines[-1].message


async def test_it_ends_the_culprit_on_the_node_that_has_claimed_it_meanwhile(world: World) -> None:
    culprit = await world.run(task(max_retries=3))
    async with world.node(Does(_waits), node_id="another node"):
        await world.until(culprit, "running")
        await _settle(world, _given_up(culprit, epoch=0))
        ended = await world.get(culprit)
        assert (ended.state, ended.retry_count, ended.error_message) == ("failed", 0, TEXT)
        # That node learns of it, and ends the log when its executor has ended.
        await eventually(lambda: _is_closed(world, culprit))
    assert await _last_line(world, culprit) == TEXT


async def _is_closed(world: World, run: Execution) -> bool:
    return (await world.get(run)).closing is None


async def _parks(context: RunContext) -> Any:
    raise NeedsApproval({"may it": "go on"})


async def _fails(context: RunContext) -> Any:
    raise ExecutionFailed("again, please")


@pytest.mark.parametrize(
    ("work", "state"),
    [
        pytest.param(_fails, "pending", id="it waits for its next attempt"),
        pytest.param(_parks, "approval_pending", id="it waits for an approval"),
    ],
)
async def test_it_ends_the_culprit_that_no_node_has_any_more(world: World, work: Body, state: str) -> None:
    """Deliver the verdict late: other nodes have taken the run over and would be blocked in turn."""
    culprit = await world.run(task(max_retries=3, retry_delay_seconds=3600))
    async with world.node(Does(work), node_id="another node"):
        waiting = await eventually(lambda: _tried(world, culprit, state))
        await _settle(world, _given_up(culprit))
        ended = await world.get(culprit)
    assert (ended.state, ended.error_message, ended.completed_at is None) == ("failed", TEXT, False)
    assert ended.attempts == waiting.attempts
    assert await world.executions.claimable(10) == []
    assert await _last_line(world, culprit) == TEXT
    assert [one.state for one in world.finished] == ["failed"]


async def _tried(world: World, run: Execution, state: str) -> Execution | None:
    found = await world.get(run)
    return found if found.state == state and found.attempts else None


async def test_one_that_was_not_claimed_by_then_is_left_alone(world: World) -> None:
    """Check that the claim counts: after a restore the id may stand for an earlier state."""
    run = await world.run(task())
    await _settle(world, _given_up(run))
    assert (await world.get(run)).state == "pending"


async def test_what_has_ended_is_left_alone_and_twice_is_as_once(world: World) -> None:
    culprit = await world.run(task())
    async with world.node(Does(_waits), node_id=NODE):
        await world.until(culprit, "running")
        assert await world.executions.cancel(culprit.org_id, culprit.id, by="somebody")
        for _ in range(2):
            await _settle(world, _given_up(culprit))
        ended = await world.get(culprit)
    assert (ended.state, ended.cancelled_by) == ("cancelled", "somebody")
