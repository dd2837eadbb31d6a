"""Faults that take real minutes: ticks, wrong clocks, edits at a tick, a long outage, the default leases.

The scenarios wait at the same time, each in a database of its own.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from netautod.automation.executions.settings import SchedulerSettings
from netautod.automation.tasks.models import Task
from netautod.core.identity.caller import OrgId
from tests.faults.clocks import can_fake_clocks
from tests.faults.conftest import Scenario, Together
from tests.faults.nodes import DEFAULT_RUNS, SCHEDULES, Stand, served
from tests.faults.pausing import pause_the_owner
from tests.support.client import ApiClient
from tests.support.execution import FAST, due_task, eventually, task

MINUTE = timedelta(minutes=1)
SCAN = SchedulerSettings()
WRONG_BY = 300
# Around the tick: the earliest edits come before it, the latest when its runs have ended.
FROM_SECONDS, TO_SECONDS = -0.4, 1.2
GRACE = timedelta(seconds=1)
# The runs of the tick wait for a slot for some seconds: many of them when their task is edited.
FEW_SLOTS = replace(FAST, slots=4)
# A heartbeat may be late by some seconds without losing the lease, as it is on a busy machine.
CALM = replace(FAST, lease_seconds=9.0, heartbeat_seconds=3.0, abandon_seconds=6.0)
NEW_YEAR = "0 0 1 1 *"


def next_minute() -> datetime:
    """The next tick that leaves time to start the nodes before it."""
    soon = datetime.now(UTC) + timedelta(seconds=15)
    return soon.replace(second=0, microsecond=0) + MINUTE


async def until(moment: datetime) -> None:
    await asyncio.sleep(max(0.0, (moment - datetime.now(UTC)).total_seconds()))


def every_minute(count: int, **values: Any) -> list[Task]:
    first = next_minute()
    return [
        task(task_type="noop", cron_expression="* * * * *", next_run_at=first, **values) for _ in range(count)
    ]


async def completed_at(stand: Stand, tick: datetime, count: int, seconds: float) -> None:
    """Returns when the executions of this tick have completed."""

    async def look() -> bool:
        return len(await stand.world.all(scheduled_for=tick, state="completed")) >= count

    await eventually(look, seconds=seconds)


async def assert_each_tick_once(stand: Stand, tasks: list[Task], ticks: int) -> list[dict[str, Any]]:
    rows = await stand.world.all()
    first = tasks[0].next_run_at
    wanted = {(one.id, first + MINUTE * number) for one in tasks for number in range(ticks)}
    assert {(row["task_id"], row["scheduled_for"]) for row in rows} == wanted
    assert len(rows) == len(wanted)
    # A node that is starved of its processor hands its runs over: that is an attempt more, and no retry.
    assert {(row["state"], row["retry_count"]) for row in rows} == {("completed", 0)}
    assert {row["attempts"][-1]["outcome"] for row in rows} == {"completed"}
    await stand.nothing_broken()
    return rows


async def three_nodes_fire_each_tick_once(stand: Stand) -> None:
    ticks = 3
    tasks = every_minute(300)
    await stand.world.add(*tasks)
    nodes = await stand.start_many(3, schedule=SCAN)
    last = tasks[0].next_run_at + MINUTE * (ticks - 1)
    await until(last)
    await completed_at(stand, last, len(tasks), seconds=40)
    ends = [await node.stop() for node in nodes]
    rows = await assert_each_tick_once(stand, tasks, ticks)
    assert sum(end["scheduler_fired"] for end in ends) == len(tasks) * ticks
    assert sum(end["scheduler_missed"] + end["scheduler_skipped"] for end in ends) == 0
    # Every start is an attempt that a row names: one that a starved node handed over counts again.
    started = sum(end["executions_started"] for end in ends)
    assert len(rows) <= started <= sum(len(row["attempts"]) for row in rows)


async def wrong_clocks_neither_double_nor_misfire(stand: Stand) -> None:
    ticks = 2
    tasks = every_minute(60)
    await stand.world.add(*tasks)
    long = await stand.world.run(task(task_type="slow", parameters={"seconds": 25}))
    fast, slow = await asyncio.gather(
        stand.start(runs=CALM, schedule=SCAN, clock_seconds=WRONG_BY),
        stand.start(runs=CALM, schedule=SCAN, clock_seconds=-WRONG_BY),
    )
    assert abs(fast.clock_error - WRONG_BY) < 5
    assert abs(slow.clock_error + WRONG_BY) < 5
    await until(tasks[0].next_run_at + MINUTE * (ticks - 1))
    await completed_at(stand, tasks[0].next_run_at + MINUTE * (ticks - 1), len(tasks), seconds=40)
    ends = [await node.stop() for node in (fast, slow)]
    # A lease judged by the node's own clock would have been taken over, or never renewed.
    done = await stand.world.get(long)
    ended = (done.state, done.error_message, [attempt.outcome for attempt in done.attempts])
    assert ended == ("completed", None, ["completed"])
    await stand.world.rows.delete({"_id": long.id})
    rows = await assert_each_tick_once(stand, tasks, ticks)
    early = min(row["started_at"] - row["scheduled_for"] for row in rows)
    late = max(row["started_at"] - row["scheduled_for"] for row in rows)
    assert early > timedelta(seconds=-1)
    assert late < timedelta(seconds=20)
    assert sum(end["scheduler_fired"] for end in ends) == len(rows)


async def an_outage_of_all_nodes_gives_one_run(stand: Stand) -> None:
    """Nobody is there for three ticks; the newest of `inside` and none of `outside` lies in the window."""
    first = next_minute()
    inside = due_task(task_type="noop")
    outside = task(
        task_type="noop",
        cron_expression=f"{first.minute} {first.hour} * * *",
        next_run_at=first,
    )
    await stand.world.add(inside, outside)
    before = await stand.start(schedule=SCAN)
    await eventually(lambda: stand.world.all(task_id=inside.id, state="completed"))
    await before.kill()
    fired_before = await stand.world.all(task_id=inside.id)
    newest = max(row["scheduled_for"] for row in fired_before)
    back_at = max(newest + MINUTE * 3, first + MINUTE * 2)
    await until(back_at + timedelta(seconds=1))
    after = await stand.start(schedule=replace(SCAN, catch_up_seconds=60))
    await completed_at(stand, back_at, 1, seconds=15)
    metrics = await after.stop()
    rows = await stand.world.all(scheduled_for={"$gt": newest})
    assert [(row["task_id"], row["scheduled_for"]) for row in rows] == [(inside.id, back_at)]
    # The older ones of `inside` were coalesced into its newest, the only one of `outside` came too late.
    missed = (back_at - newest) // MINUTE - 1 + 1
    assert (metrics["scheduler_fired"], metrics["scheduler_missed"]) == (1, missed)
    moved = await stand.world.tasks.get(outside.org_id, outside.id)
    assert moved is not None
    assert moved.next_run_at == first + timedelta(days=1)
    await stand.nothing_broken()


async def the_default_takeover_is_in_time(stand: Stand) -> None:
    execution = await stand.world.run(task(task_type="send", parameters={"seconds": 300}, max_retries=1))
    owner = await stand.start(runs=DEFAULT_RUNS, schedule=SCAN)
    await stand.world.until(execution, "running")
    await stand.start(runs=DEFAULT_RUNS, schedule=SCAN)
    killed_at = datetime.now(UTC)
    await owner.kill()
    found = await eventually(
        lambda: stand.world.all(_id=execution.id, state="running", retry_count=1), seconds=60
    )
    assert found[0]["attempt"]["started_at"] - killed_at < timedelta(seconds=45)
    assert await stand.world.executions.cancel(execution.org_id, execution.id, by=None)
    await stand.nothing_broken()


async def a_minute_of_sigstop_at_the_defaults(stand: Stand) -> None:
    await pause_the_owner(stand, pause_seconds=60, runs=DEFAULT_RUNS)


async def edits_beat_the_scheduler(stand: Stand) -> None:
    await edit_while_firing(stand, tasks=200, seed=random.randrange(1_000_000))


SCENARIOS: tuple[Scenario, ...] = (
    three_nodes_fire_each_tick_once,
    an_outage_of_all_nodes_gives_one_run,
    the_default_takeover_is_in_time,
    a_minute_of_sigstop_at_the_defaults,
    edits_beat_the_scheduler,
    *((wrong_clocks_neither_double_nor_misfire,) if can_fake_clocks() else ()),
)


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One edit and the moment of its reply."""

    task_id: str
    kind: str
    replied_at: datetime


async def edit_while_firing(stand: Stand, *, tasks: int, seed: int) -> None:
    """`tasks` edits, a third of each kind, at random moments around one tick; the next tick comes after."""
    chance = random.Random(seed)
    await stand.start_many(2, runs=FEW_SLOTS)
    org_id = OrgId(str(uuid4()))
    soon = datetime.now(UTC) + timedelta(seconds=10)
    tick = soon.replace(second=0, microsecond=0) + MINUTE
    made = [
        task(
            task_type="slow",
            parameters={"seconds": 0.1},
            cron_expression="* * * * *",
            next_run_at=tick,
            org_id=org_id,
            name=f"t{n}",
        )
        for n in range(tasks + 20)
    ]
    await stand.world.add(*made)
    edited, untouched = made[:tasks], made[tasks:]
    async with served(stand.world.database) as api:
        client, _ = api.client("*", org_id=org_id)
        edits = await asyncio.gather(
            *(
                _edit(client, one.id, ("toggle", "delete", "cron")[number % 3], tick, chance)
                for number, one in enumerate(edited)
            )
        )
    await asyncio.sleep((tick + MINUTE - datetime.now(UTC)).total_seconds() + 5)
    rows = await stand.world.all()
    assert_edits_held(edits, rows, seed)
    expected = {(one.id, tick + MINUTE * number) for one in untouched for number in (0, 1)}
    fired = [(row["task_id"], row["scheduled_for"]) for row in rows]
    assert expected <= set(fired), seed
    assert len(fired) == len(set(fired)), seed
    await _rescheduled_tasks_kept_their_schedule(stand, edits, tick)
    await stand.nothing_broken()


async def _edit(client: ApiClient, task_id: str, kind: str, tick: datetime, chance: random.Random) -> Edit:
    moment = tick + timedelta(seconds=chance.uniform(FROM_SECONDS, TO_SECONDS))
    await asyncio.sleep((moment - datetime.now(UTC)).total_seconds())
    path = f"{SCHEDULES}/{task_id}"
    if kind == "toggle":
        response = await client.post(f"{path}/toggle", {"enabled": False})
    elif kind == "delete":
        response = await client.delete(path)
    else:
        response = await client.put(path, {"cron_expression": NEW_YEAR})
    assert response.status in (200, 204), response
    return Edit(task_id=task_id, kind=kind, replied_at=datetime.now(UTC))


def assert_edits_held(edits: Sequence[Edit], rows: Sequence[dict[str, Any]], seed: int) -> None:
    by_task = {edit.task_id: edit for edit in edits}
    for row in rows:
        edit = by_task.get(row["task_id"])
        if edit is None:
            continue
        assert row["scheduled_for"] <= edit.replied_at, (seed, edit, row)
        if edit.kind in ("toggle", "delete") and row["started_at"] is not None:
            assert row["started_at"] <= edit.replied_at + GRACE, (seed, edit, row)
    # Otherwise the edits all came too early or too late, and nothing was tested.
    fired = {row["task_id"] for row in rows}
    for kind in ("toggle", "delete", "cron"):
        hit = sum(edit.kind == kind and edit.task_id in fired for edit in edits)
        assert 0 < hit < sum(edit.kind == kind for edit in edits), (seed, kind, hit)


async def _rescheduled_tasks_kept_their_schedule(stand: Stand, edits: Sequence[Edit], tick: datetime) -> None:
    new_year = datetime(tick.year + 1, 1, 1, tzinfo=UTC)
    tasks = stand.world.database.collection("tasks")
    for edit in edits:
        found = await tasks.find_one({"_id": edit.task_id})
        if edit.kind == "delete":
            assert found is None
        elif edit.kind == "cron":
            assert found is not None
            assert found["next_run_at"] == new_year


@pytest.mark.slow
@pytest.mark.timeout(360)
@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(three_nodes_fire_each_tick_once, id="3 nodes, 300 tasks, 3 minutes: each tick once"),
        pytest.param(
            wrong_clocks_neither_double_nor_misfire,
            id="clocks 5 minutes ahead and behind: no double, none early",
            marks=pytest.mark.skipif(not can_fake_clocks(), reason="faketime is not installed"),
        ),
        pytest.param(edits_beat_the_scheduler, id="200 edits at a tick: nothing fires after the reply"),
        pytest.param(an_outage_of_all_nodes_gives_one_run, id="all nodes down: one run if young, else none"),
        pytest.param(the_default_takeover_is_in_time, id="kill -9 at the default times: within 45 s"),
        pytest.param(a_minute_of_sigstop_at_the_defaults, id="SIGSTOP for 60 s at the default times"),
    ],
)
async def test_over_minutes(together: Together, scenario: Scenario) -> None:
    await together.result(scenario, SCENARIOS)
