"""Clocks that are set while nodes run: the database's, and those of nodes; and machines that sleep.

Run them alone (NETAUTOD_SET_CLOCKS=1): processes with a clock of their own fall behind beside other tests.
tests/automation/executions/running/test_set_clocks.py shows the same with injected clocks.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from netautod.automation.executions.settings import SchedulerSettings
from netautod.automation.tasks.models import Task
from netautod.store.embedded.mongod import EmbeddedMongo
from tests.faults.clocks import SettableClock, can_fake_clocks, mongod_with_a_clock, settable_clock
from tests.faults.nodes import NodeProcess, Stand, open_stand
from tests.support.execution import FAST, eventually, task

MINUTE = timedelta(minutes=1)
TEN_MINUTES = timedelta(minutes=10)
# The nodes start meanwhile.
BEFORE_THE_TICK = timedelta(seconds=25)
SOON = timedelta(seconds=6)
SCAN = SchedulerSettings()
CALM = replace(FAST, lease_seconds=9.0, heartbeat_seconds=3.0, abandon_seconds=6.0)
WAIT_SECONDS = 100.0  # of a hang: a loaded machine is slow
MANY = 5
DATABASE = "clocks"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not can_fake_clocks(), reason="faketime is not installed"),
    pytest.mark.skipif("NETAUTOD_SET_CLOCKS" not in os.environ, reason="NETAUTOD_SET_CLOCKS is not set"),
]


@pytest.fixture
async def shown(tmp_path: Path) -> AsyncIterator[tuple[EmbeddedMongo, SettableClock]]:
    """A database and its clock."""
    async with mongod_with_a_clock(tmp_path, DATABASE) as made:
        yield made


@pytest.fixture
async def stand(shown: tuple[EmbeddedMongo, SettableClock], tmp_path: Path) -> AsyncIterator[Stand]:
    async with open_stand(shown[0].uri, tmp_path, DATABASE) as made:
        yield made


def next_tick(clock: SettableClock) -> datetime:
    """The tick that comes `BEFORE_THE_TICK` from now by the clock, which is set so."""
    tick = datetime.now(UTC).replace(second=0, microsecond=0) + MINUTE
    clock.show(tick - BEFORE_THE_TICK)
    return tick


def every_minute(tick: datetime) -> list[Task]:
    return [task(task_type="noop", cron_expression="* * * * *", next_run_at=tick) for _ in range(MANY)]


def once_a_day(tick: datetime) -> list[Task]:
    expression = f"{tick.minute} {tick.hour} * * *"
    return [task(task_type="noop", cron_expression=expression, next_run_at=tick) for _ in range(MANY)]


async def steps_of(stand: Stand, tick: datetime, tasks: Sequence[Task]) -> dict[str, list[int]]:
    """Under which numbers each task has fired the tick."""
    rows = await stand.world.all(scheduled_for=tick, state="completed")
    return {
        one.id: sorted(row["clock_step"] or 0 for row in rows if row["task_id"] == one.id) for one in tasks
    }


async def until_fired(stand: Stand, tick: datetime, tasks: Sequence[Task], *numbers: int) -> None:
    """Returns when all tasks have fired the tick under these numbers; more would be too many."""

    async def look() -> bool:
        found = await steps_of(stand, tick, tasks)
        assert all(len(one) <= len(numbers) for one in found.values()), found
        return all(one == list(numbers) for one in found.values())

    await eventually(look, seconds=WAIT_SECONDS)


def said(stand: Stand, node: NodeProcess, text: str) -> int:
    return sum(text in line for line in stand.log_of(node))


async def test_a_clock_that_is_set_back_and_forward_again(
    stand: Stand, shown: tuple[EmbeddedMongo, SettableClock], tmp_path: Path
) -> None:
    """Two nodes, one with another clock, fire what the clock shows: a repeated tick once more, a fixed time
    not again, and what runs meanwhile stays with its node.
    """
    clock = shown[1]
    tick = next_tick(clock)
    other = await settable_clock(tmp_path / "another machine")
    other.set(300)
    nodes = [
        await stand.start(runs=CALM, schedule=SCAN),
        await stand.start(runs=CALM, schedule=SCAN, clock=other),
    ]
    wild, fixed = every_minute(tick), once_a_day(tick)
    await stand.world.add(*wild, *fixed)
    long = await stand.world.run(task(task_type="slow", parameters={"seconds": 60}, timeout_seconds=600))
    await until_fired(stand, tick, [*wild, *fixed], 0)

    clock.show(tick - TEN_MINUTES - SOON)
    await until_fired(stand, tick - TEN_MINUTES, wild, 1)

    clock.show(tick - SOON)
    await until_fired(stand, tick - MINUTE, wild, 1)  # the newest one that the clock left out
    await until_fired(stand, tick, wild, 0, 1)
    await stand.world.until(long, "completed", seconds=WAIT_SECONDS)
    for node in nodes:
        await node.stop()
    assert set(map(tuple, (await steps_of(stand, tick, fixed)).values())) == {(0,)}
    done = await stand.world.get(long)
    assert [attempt.outcome for attempt in done.attempts] == ["completed"]
    for node in nodes:
        assert said(stand, node, "the database server's clock was set back by") == 1
        assert said(stand, node, "the database server's clock was set forward by") == 1
    assert said(stand, nodes[1], "this machine's clock is +") == 1
    assert said(stand, nodes[0], "this machine's clock was set") == 0
    # Both have seen it, and one has raised the number.
    assert sum(said(stand, node, "as step 1") for node in nodes) == 1
    assert await stand.world.steps.number() == 1
    await stand.nothing_broken()


@pytest.mark.parametrize(
    ("seconds", "direction"),
    [pytest.param(-600, "back", id="back"), pytest.param(600, "forward", id="ahead")],
)
async def test_a_node_whose_clock_is_set_fires_on(
    stand: Stand,
    shown: tuple[EmbeddedMongo, SettableClock],
    tmp_path: Path,
    seconds: float,
    direction: str,
) -> None:
    tick = next_tick(shown[1])
    machine = await settable_clock(tmp_path / "the node")
    node = await stand.start(runs=CALM, schedule=SCAN, clock=machine)
    tasks = every_minute(tick)
    await stand.world.add(*tasks)
    machine.set(seconds)
    await until_fired(stand, tick, tasks, 0)
    ended = await node.stop()
    assert ended["scheduler_missed"] == 0
    assert said(stand, node, f"this machine's clock was set {direction} by 600.") == 1
    assert said(stand, node, "the database server's clock was set") == 0
    assert await stand.world.steps.number() == 0
    await stand.nothing_broken()


async def test_machines_that_sleep_over_a_tick_fire_it_late_and_once(
    stand: Stand, shown: tuple[EmbeddedMongo, SettableClock]
) -> None:
    mongo, clock = shown
    tick = next_tick(clock)
    nodes = await stand.start_many(2, runs=CALM, schedule=SCAN)
    tasks = [*every_minute(tick), *once_a_day(tick)]
    await stand.world.add(*tasks)
    await asyncio.sleep(max(0.0, (tick - clock.now()).total_seconds() - 3))
    for node in nodes:
        node.pause()
    os.kill(mongo.pid, signal.SIGSTOP)
    await asyncio.sleep(15)
    os.kill(mongo.pid, signal.SIGCONT)
    for node in nodes:
        node.resume()
    await until_fired(stand, tick, tasks, 0)
    for node in nodes:
        await node.stop()
        assert said(stand, node, "clock was set") == 0
    assert await stand.world.steps.number() == 0
    await stand.nothing_broken()
