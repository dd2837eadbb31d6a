"""The runs of a node that its watchdog gave up: the one that blocked fails, the others go on elsewhere."""

import asyncio
from typing import Any

import pytest

from netautod.app.parts.executions import aftermath_of
from netautod.executions.aftermath.models import GivenUp
from netautod.executions.models import Execution
from netautod.plugin_api import RunContext
from tests.support.execution import Does, DoesOnce, World, task

NODE = "node that was given up"
TEXT = "the run blocked its node for 20 seconds in the plugin acme"


async def _waits(context: RunContext) -> Any:
    await asyncio.Event().wait()


def _given_up(culprit: Execution | None, epoch: int = 1) -> GivenUp:
    if culprit is None:
        return GivenUp(node_id=NODE, execution_id=None, epoch=None, text="")
    return GivenUp(node_id=NODE, execution_id=culprit.id, epoch=epoch, text=TEXT)


async def _settle(world: World, *given_up: GivenUp) -> None:
    aftermath = aftermath_of(
        database=world.database, stores=world.stores, observers=world.finished, clock=world.clock
    )
    await aftermath.settle(given_up)


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
        assert {told.id for told in world.finished} >= {culprit.id, once.id}
        lines = await world.stores.execution_logs.read(culprit.org_id, culprit.id, 0, 50)
        assert TEXT in [line.message for line in lines]
    else:
        lost = ("lost", 1, "node lost")
        assert outcomes == [lost, lost, ("failed", 0, "node lost")]


async def test_it_ends_the_culprit_on_the_node_that_has_claimed_it_meanwhile(world: World) -> None:
    culprit = await world.run(task(max_retries=3))
    async with world.node(Does(_waits), node_id="another node"):
        await world.until(culprit, "running")
        await _settle(world, _given_up(culprit, epoch=0))
        ended = await world.get(culprit)
    assert (ended.state, ended.retry_count, ended.error_message) == ("failed", 0, TEXT)


async def test_what_has_ended_is_left_alone_and_twice_is_as_once(world: World) -> None:
    culprit = await world.run(task())
    async with world.node(Does(_waits), node_id=NODE):
        await world.until(culprit, "running")
        assert await world.executions.cancel(culprit.org_id, culprit.id, by="somebody")
        for _ in range(2):
            await _settle(world, _given_up(culprit))
        ended = await world.get(culprit)
    assert (ended.state, ended.cancelled_by) == ("cancelled", "somebody")
