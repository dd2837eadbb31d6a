"""The database is away for longer than a node waits for it: what is done is kept, the rest stops."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from netautod.assembly.data.stores import INDEXES
from netautod.automation.executions.models import Execution
from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.executions.settings import ExecutionSettings
from netautod.core.errors import Unavailable
from netautod.plugin_api import DeviceResult, ExecutionFailed, PermanentFailure, RunContext
from netautod.store.connection import connect
from netautod.store.embedded.mongod import EmbeddedMongo
from netautod.store.indexes import create_indexes
from tests.support.execution import Does, DoesOnce, World, eventually, task
from tests.support.programs.cut_line import CutLine, cut_line

pytestmark = pytest.mark.slow
PATIENCE = 0.7  # seconds of one call: several fail before the node's own limit


@dataclass(kw_only=True)
class Stand:
    """One mongod whose line can be cut, and what the executors of the test wait for.

    It is cut, not stopped: what is sent to a server that is stopped arrives when it goes on.
    """

    world: World  # beside the line, so that what the test reads waits for no limit of the node's
    cut_off: World
    line: CutLine
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    runs: int = 0

    async def cut_until_the_node_stops(self, node: ExecutionNode, *, done: bool) -> None:
        """Returns when the node may act no more. `done`: the executor ends when nobody can be told."""
        leases = list(node.runner._running)
        await self.line.cut()
        if done:
            self.go_on.set()
        await eventually(lambda: _silent(leases), seconds=60)
        # Whatever was asked before that has failed by the time that this has.
        with pytest.raises(Unavailable):
            await self.cut_off.database.hello()

    async def wait(self, context: RunContext) -> None:
        self.runs += 1
        self.begun.set()
        await self.go_on.wait()


async def _silent(leases: list[Any]) -> bool:
    """As both the node of today and one that knows a single kind of loss see it."""
    return all(getattr(held, "stopped", held.lost) for held in leases)


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    async with EmbeddedMongo(tmp_path) as mongo:
        socket = unquote(mongo.uri.removeprefix("mongodb://").partition("/")[0])
        async with cut_line(Path(socket)) as line:
            patient = connect(mongo.uri, "done")
            await create_indexes(patient, INDEXES)
            uri = f"mongodb://127.0.0.1:{line.port}/?directConnection=true"
            database = connect(uri, "done", timeout_seconds=PATIENCE)
            yield Stand(world=World(database=patient), cut_off=World(database=database), line=line)
            await line.mend()
            database.close()
            patient.close()


def ends(with_error: Exception | None) -> Callable[[Stand], Callable[[RunContext], Any]]:
    def of(stand: Stand) -> Callable[[RunContext], Any]:
        async def work(context: RunContext) -> Any:
            await stand.wait(context)
            if with_error is not None:
                raise with_error
            return {"done": True}

        return work

    return of


@pytest.mark.parametrize("kind", [Does, DoesOnce], ids=["idempotent", "not idempotent"])
@pytest.mark.parametrize(
    ("error", "state"),
    [
        pytest.param(None, "completed", id="a success"),
        pytest.param(PermanentFailure("no such device"), "failed", id="a failure"),
        pytest.param(ExecutionFailed("no answer"), "failed", id="a failure without a retry left"),
    ],
)
async def test_a_result_of_before_the_outage_is_written_after_it(
    stand: Stand, kind: type[Does], error: Exception | None, state: str
) -> None:
    run = await stand.world.run(task(task_type=kind.task_type, max_retries=0, timeout_seconds=3))
    async with stand.cut_off.node(kind(ends(error)(stand))) as node:
        await stand.begun.wait()
        await stand.cut_until_the_node_stops(node, done=True)
        await stand.line.mend()
        done = await stand.world.until(run, "completed", "failed", "timeout", "pending", seconds=60)
    assert (done.state, done.error_message) == (state, None if error is None else str(error))
    assert done.output == ({"done": True} if error is None else None)
    assert [attempt.outcome for attempt in done.attempts] == [state]
    assert stand.runs == 1


@pytest.mark.parametrize(
    ("kind", "outcomes", "runs"),
    [
        pytest.param(Does, ["returned", "completed"], 2, id="is handed back, which is no retry"),
        pytest.param(DoesOnce, ["failed"], 1, id="that cannot be repeated says why it was stopped"),
    ],
)
async def test_unfinished_work_stops_at_the_limit_of_its_node(
    stand: Stand, kind: type[Does], outcomes: list[str], runs: int
) -> None:
    run = await stand.world.run(task(task_type=kind.task_type, max_retries=0))
    async with stand.cut_off.node(kind(ends(None)(stand))) as node:
        await stand.begun.wait()
        await stand.cut_until_the_node_stops(node, done=False)
        stand.go_on.set()  # too late
        await stand.line.mend()
        done = await stand.world.until(run, "completed", "failed", seconds=60)
    assert [attempt.outcome for attempt in done.attempts] == outcomes
    assert (stand.runs, done.retry_count) == (runs, 0)
    if kind is DoesOnce:
        assert "the database did not answer" in (done.error_message or "")


async def test_a_result_of_a_device_that_waited_is_there_for_the_next_attempt(stand: Stand) -> None:
    settled: list[frozenset[str]] = []

    async def work(context: RunContext) -> Any:
        settled.append(await context.results.settled())
        if not settled[-1]:
            await stand.wait(context)
            await context.results.record(_success("d1"))
        return len(settled)

    run = await stand.world.run(task(max_retries=0))
    async with stand.cut_off.node(Does(work)) as node:
        await stand.begun.wait()
        await stand.cut_until_the_node_stops(node, done=True)
        await stand.line.mend()
        done = await stand.world.until(run, "completed", "failed", seconds=60)
    assert settled == [frozenset(), frozenset({"d1"})]
    assert (done.output, done.retry_count) == (2, 0)


async def test_a_short_outage_is_sat_out_by_the_run(stand: Stand) -> None:
    """Long enough for each call to fail, and too short for the node to doubt that the run is its own."""

    async def work(context: RunContext) -> Any:
        await stand.wait(context)
        await context.progress(1, 2)
        await context.results.record(_success("d1"))
        await context.log("info", "recorded")
        return (await context.results.totals()).succeeded

    run = await stand.world.run(task(max_retries=0))
    times = ExecutionSettings(lease_seconds=60, heartbeat_seconds=1, abandon_seconds=40)
    async with stand.cut_off.node(Does(work), runs=times) as node:
        await stand.begun.wait()
        await stand.line.cut()
        stand.go_on.set()
        await eventually(lambda: _failed(node), seconds=60)
        await stand.line.mend()
        done = await stand.world.until(run, "completed", "failed", seconds=60)
    assert (done.state, done.output, len(done.attempts)) == ("completed", 1, 1)


async def _failed(node: ExecutionNode) -> bool:
    """A heartbeat has been given up, as has every call before it."""
    return node._keeper.failed_at is not None


async def test_a_stop_does_not_hand_back_what_is_done(stand: Stand) -> None:
    run = await stand.world.run(task(max_retries=3))
    async with stand.cut_off.node(Does(ends(None)(stand))) as node:
        await stand.begun.wait()
        await stand.line.cut()
        stand.go_on.set()
        await eventually(lambda: _ended(node), seconds=60)
        draining = asyncio.create_task(node.drain(0.1))
        await stand.line.mend()
        await draining
    done = await stand.world.get(run)
    assert (done.state, done.output, len(done.attempts)) == ("completed", {"done": True}, 1)


async def _ended(node: ExecutionNode) -> bool:
    [running] = node.runner._running.values()
    work = running.attempt._work
    return work is not None and work.done()


async def test_a_run_that_was_cancelled_meanwhile_stays_cancelled(stand: Stand) -> None:
    """The cancel gets through first: the fence decides against the result that waits."""
    run = await stand.world.run(task(max_retries=3))
    async with stand.cut_off.node(Does(ends(None)(stand))) as node:
        await stand.begun.wait()
        leases = list(node.runner._running)
        async with _held_up(node):
            stand.go_on.set()
            await eventually(lambda: _ended(node), seconds=60)
            await _cancel(stand, run)
        await eventually(lambda: _no_longer(node, leases), seconds=60)
    done = await stand.world.get(run)
    assert (done.state, done.output) == ("cancelled", None)


@asynccontextmanager
async def _held_up(node: ExecutionNode) -> AsyncIterator[None]:
    """The writes of the node's ends do not get through, everything else does."""

    async def away(*_: object) -> bool:
        raise Unavailable("away")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(node.runner, "_write_once", away)
        yield


async def _cancel(stand: Stand, run: Execution) -> None:
    assert await stand.world.executions.cancel(run.org_id, run.id, by=None)


async def _no_longer(node: ExecutionNode, leases: list[Any]) -> bool:
    return not any(held in node.runner._running for held in leases)


def _success(device_id: str) -> DeviceResult:
    return DeviceResult(device_id=device_id, device_name=device_id, success=True, duration_ms=1)
