"""The owner of a run dies, hangs, or is told to stop; times at a tenth of the defaults."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.automation.executions.models import Execution, scheduled_id
from netautod.automation.tasks.models import Task
from tests.faults.conftest import Scenario, Together
from tests.faults.nodes import NodeProcess, Stand
from tests.faults.pausing import pause_the_owner
from tests.support.execution import FAST, due_task, eventually, task

KILLS = 10
# A tenth of the 45 s within which another node takes a run up.
TAKEOVER = timedelta(seconds=4.5)
ENDLESS = {"seconds": 600}


async def running(stand: Stand, execution: Execution, attempt: int = 1, seconds: float = 15) -> Any:
    """The row once this attempt is under way."""

    async def look() -> Any:
        found = await stand.world.all(_id=execution.id, state="running")
        return found[0] if found and found[0]["attempt"]["number"] == attempt else None

    return await eventually(look, seconds=seconds)


async def ten_owners_are_killed(stand: Stand) -> None:
    execution = await stand.world.run(task(task_type="send", parameters=ENDLESS, max_retries=20))
    await stand.start_many(2)
    for kill in range(1, KILLS + 1):
        owner = stand.node((await running(stand, execution, kill))["owner"])
        killed_at = datetime.now(UTC)
        await owner.kill()
        another = asyncio.create_task(stand.start())
        row = await running(stand, execution, kill + 1)
        assert row["attempt"]["started_at"] - killed_at < TAKEOVER
        assert (row["retry_count"], row["attempt"]["node"] != owner.id) == (kill, True)
        await another
    assert await stand.world.executions.cancel(execution.org_id, execution.id, by=None)
    done = await stand.world.get(execution)
    assert [attempt.outcome for attempt in done.attempts] == ["lost"] * KILLS + ["cancelled"]
    await stand.nothing_broken()
    assert_one_sender_at_a_time(await stand.sent())


def assert_one_sender_at_a_time(sent: list[dict[str, Any]]) -> None:
    """Attempts follow one another: no command of an attempt after the first one of the next."""
    attempts = [command["attempt"] for command in sent]
    assert attempts == sorted(attempts)


async def an_agent_is_not_started_twice(stand: Stand) -> None:
    execution = await stand.world.run(task(task_type="agent_task", parameters=ENDLESS, max_retries=3))
    owner = await stand.start()
    await running(stand, execution)
    await stand.start()
    killed_at = datetime.now(UTC)
    await owner.kill()
    done = await stand.world.until(execution, "failed")
    assert done.completed_at is not None
    assert done.completed_at - killed_at < TAKEOVER
    assert (done.error_message, done.retry_count, len(done.attempts)) == ("node lost", 0, 1)
    await stand.nothing_broken()


async def a_paused_owner_does_nothing_stale(stand: Stand) -> None:
    await pause_the_owner(stand, pause_seconds=10, runs=FAST)


async def a_stopped_node_hands_back_at_once(stand: Stand) -> None:
    quick = await stand.world.run(task(task_type="slow", parameters={"seconds": 1.5}))
    endless = await stand.world.run(task(task_type="send", parameters={"seconds": 600, "pause": 0.002}))
    owner = await stand.start(drain_seconds=3.0)
    await running(stand, quick)
    await running(stand, endless)
    heir = await stand.start()
    late = await stand.world.run(task(task_type="noop"))
    stopping = asyncio.create_task(owner.stop())
    await stand.world.until(late, "completed")  # by the other node
    stopped_at, metrics = await stopping, datetime.now(UTC)
    assert stopped_at["executions_running"] == 0
    row = await running(stand, endless, 2)
    # The heir looks once a second.
    assert row["attempt"]["started_at"] - metrics < timedelta(seconds=1.5)
    assert (row["owner"], row["retry_count"]) == (heir.id, 0)
    assert [attempt["outcome"] for attempt in row["attempts"]] == ["returned"]
    await assert_completed_on(stand, quick, owner)
    await stand.world.executions.cancel(endless.org_id, endless.id, by=None)
    assert_one_sender_at_a_time(await stand.sent(execution=endless.id))
    await stand.nothing_broken()


async def assert_completed_on(stand: Stand, execution: Execution, node: NodeProcess) -> None:
    done = await stand.world.get(execution)
    assert (done.state, done.output, done.retry_count) == ("completed", {"node": node.id}, 0)


def crash(step: str, outcomes: list[str]) -> Scenario:
    """A tick whose node dies before `step`; another node makes one completed execution of it."""

    async def scenario(stand: Stand) -> None:
        due = due_task(task_type="slow", parameters={"seconds": 0.2}, max_retries=2)
        await stand.world.add(due)
        doomed = await stand.start(die_at=step)
        await doomed.killed(15)
        [fired] = await stand.world.all()
        if step == "advance":
            assert fired["state"] == "pending"
            assert (await stored(stand, due)).next_run_at == due.next_run_at
        await stand.start()
        await eventually(lambda: stand.world.all(_id=fired["_id"], state="completed"))
        # Of this tick: a minute may have begun meanwhile, which has an execution of its own.
        [row] = await stand.world.all(scheduled_for=fired["scheduled_for"])
        assert row["_id"] == scheduled_id(due.id, row["scheduled_for"])
        assert [attempt["outcome"] for attempt in row["attempts"]] == outcomes
        assert (await stored(stand, due)).next_run_at > row["scheduled_for"]
        await stand.no_forbidden_moves()

    scenario.__name__ = f"crash_before_{step}"
    return scenario


async def stored(stand: Stand, one: Task) -> Task:
    found = await stand.world.tasks.get(one.org_id, one.id)
    assert found is not None
    return found


before_advance = crash("advance", ["completed"])
before_start = crash("start", ["lost", "completed"])
before_finish = crash("finish", ["lost", "completed"])

SCENARIOS = (
    ten_owners_are_killed,
    an_agent_is_not_started_twice,
    a_paused_owner_does_nothing_stale,
    a_stopped_node_hands_back_at_once,
    before_advance,
    before_start,
    before_finish,
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(ten_owners_are_killed, id="kill -9 ten times: taken over each time, one more retry"),
        pytest.param(an_agent_is_not_started_twice, id="a run that cannot be repeated fails: node lost"),
        pytest.param(
            a_paused_owner_does_nothing_stale, id="SIGSTOP, then SIGCONT: nothing stale, nothing sent"
        ),
        pytest.param(a_stopped_node_hands_back_at_once, id="SIGTERM: finishes, hands back, another starts"),
        pytest.param(before_advance, id="dies between insert and advance: one execution, moves on"),
        pytest.param(before_start, id="dies between claim and start: taken over"),
        pytest.param(before_finish, id="dies before the end is written: taken over"),
    ],
)
async def test_the_run_survives(together: Together, scenario: Scenario) -> None:
    await together.result(scenario, SCENARIOS)
