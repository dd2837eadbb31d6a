"""The scenario of a node that is paused for longer than its lease, and then goes on."""

import asyncio
from datetime import UTC, datetime

from netautod.automation.executions.models import Execution
from netautod.automation.executions.settings import ExecutionSettings
from tests.faults.nodes import NodeProcess, Stand
from tests.support.execution import eventually, task


async def pause_the_owner(stand: Stand, *, pause_seconds: float, runs: ExecutionSettings) -> None:
    """The lease must be over, and its runs on another node, well before the pause ends.

    Two runs: one would command its device long after the pause, one ends during it and comes late.
    """
    world = stand.world
    sending = await world.run(
        task(task_type="send", parameters={"seconds": pause_seconds * 3, "pause": 0.2}, max_retries=1)
    )
    ending = await world.run(task(task_type="slow", parameters={"seconds": 2}, max_retries=1))
    paused = await stand.start(runs=runs)
    await eventually(lambda: _both_run(stand))
    before = len(await stand.sent())
    # Right after a command: a pause may fall between guard and wire otherwise, where no guard can help.
    await eventually(lambda: _more_sent(stand, before))
    paused.pause()
    started = asyncio.get_running_loop().time()
    other = await stand.start(runs=runs)
    done = await world.until(ending, "completed", seconds=pause_seconds)
    assert [attempt.outcome for attempt in done.attempts] == ["lost", "completed"]
    assert (done.retry_count, done.output) == (1, {"node": other.id})
    written = await _all_of(stand, ending)
    await asyncio.sleep(max(0.0, started + pause_seconds - asyncio.get_running_loop().time()))
    resumed_at = datetime.now(UTC)
    paused.resume()
    # Time for everything that was due during the pause: two heartbeats.
    await asyncio.sleep(runs.heartbeat_seconds * 2)
    metrics = await paused.stop()
    assert metrics["executions_fenced"] == 2
    assert metrics["executions_running"] == 0
    assert await _all_of(stand, ending) == written
    assert await stand.sent(node=paused.id, at={"$gt": resumed_at}) == []
    await _goes_on_elsewhere(stand, sending, other)
    await stand.no_forbidden_moves()


async def _both_run(stand: Stand) -> bool:
    return len(await stand.world.all(state="running")) == 2


async def _more_sent(stand: Stand, before: int) -> bool:
    return len(await stand.sent()) > before


async def _all_of(stand: Stand, execution: Execution) -> object:
    """The execution and its log, as they are stored."""
    lines = stand.world.database.collection("execution_log")
    return await stand.world.all(_id=execution.id), await lines.find({"execution_id": execution.id})


async def _goes_on_elsewhere(stand: Stand, sending: Execution, other: NodeProcess) -> None:
    [row] = await stand.world.all(_id=sending.id)
    assert (row["state"], row["owner"], row["retry_count"]) == ("running", other.id, 1)
    sent = await stand.sent(execution=sending.id)
    attempts = [command["attempt"] for command in sent]
    assert attempts == sorted(attempts)
    assert {command["node"] for command in sent if command["attempt"] == 2} == {other.id}
    assert await stand.world.executions.cancel(sending.org_id, sending.id, by=None)
