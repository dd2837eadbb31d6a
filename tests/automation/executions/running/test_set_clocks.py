"""The due scan when the database's clock is set: what goes on by the new time, what fires twice."""

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from netautod.automation.executions.models import Execution, new_execution, scheduled_id
from netautod.automation.executions.records.documents import to_document
from netautod.automation.executions.running.clock_alignment import OtherAlignments
from netautod.automation.executions.running.node import ExecutionNode
from netautod.automation.tasks.models import Task
from netautod.core.errors import Unavailable
from netautod.store.client import Database
from tests.support.clock import SetClocks
from tests.support.execution import Does, World, due_task, hourly_due_task, manual_run, nothing, task

MINUTE = timedelta(minutes=1)
BACK = timedelta(minutes=10)


def minute() -> datetime:
    return datetime.now(UTC).replace(second=0, microsecond=0)


class Stage(World):
    """A world whose nodes see the database's clock set back by `BACK` after `set_back`."""

    def __init__(self, database: Database) -> None:
        self.clocks = SetClocks()
        super().__init__(database=database, clock=self.clocks.of(database))

    async def scanning(self) -> ExecutionNode:
        """A node that has seen the clock before it is set."""
        node = self.node(Does(nothing))
        await node.scheduler.scan()
        return node

    def set_back(self) -> None:
        self.clocks.database = -BACK.total_seconds()

    async def fired(self, of: Task, tick: datetime, **values: Any) -> Execution:
        """An execution of a tick, which has completed unless `values` say otherwise."""
        made = new_execution(
            of, execution_id=scheduled_id(of.id, tick), scheduled_for=tick, created_at=tick - BACK
        )
        ended = replace(made, **{"state": "completed", **values})
        await self.rows.insert(to_document(ended))
        return ended

    async def next_tick(self, of: Task) -> datetime:
        found = await self.tasks.get(of.org_id, of.id)
        assert found is not None
        return found.next_run_at


@pytest.fixture
def stage(indexed: Database) -> Stage:
    return Stage(indexed)


def daily_at(tick: datetime, **values: Any) -> Task:
    """A task of one fixed time of day, whose tick of today is decided."""
    expression = f"{tick.minute} {tick.hour} * * *"
    return task(cron_expression=expression, next_run_at=tick + timedelta(days=1), **values)


async def test_after_a_step_back_each_schedule_goes_on_as_debians_cron_has_it(stage: Stage) -> None:
    now = minute()
    in_five, ahead = now + 5 * MINUTE, now + BACK + MINUTE
    every_minute = task(cron_expression="* * * * *", next_run_at=ahead)
    disabled = task(cron_expression="* * * * *", next_run_at=ahead, enabled=False)
    hourly = task(cron_expression=f"{in_five.minute} * * * *", next_run_at=in_five + timedelta(hours=1))
    fired, unfired = daily_at(in_five), daily_at(in_five)
    broken = task(cron_expression="* * * * *", timezone="Old/Name", next_run_at=ahead)
    await stage.add(every_minute, disabled, hourly, fired, unfired, broken)
    await stage.fired(hourly, in_five)
    await stage.fired(fired, in_five)
    node = await stage.scanning()
    stage.set_back()
    await node.scheduler.scan()
    # A minute may have begun since `now`.
    assert await stage.next_tick(every_minute) in (now + MINUTE, now + 2 * MINUTE)
    assert await stage.next_tick(disabled) in (now + MINUTE, now + 2 * MINUTE)
    assert await stage.next_tick(hourly) == in_five
    assert await stage.next_tick(fired) == in_five + timedelta(days=1)
    assert await stage.next_tick(unfired) == in_five
    assert await stage.next_tick(broken) == ahead
    assert (await stage.steps.look()).aligned


async def test_a_step_forward_moves_nothing(stage: Stage) -> None:
    waiting = task(cron_expression="* * * * *", next_run_at=minute() + BACK)
    await stage.add(waiting)
    node = await stage.scanning()
    stage.clocks.database = BACK.total_seconds()
    await node.scheduler.scan()
    assert await stage.next_tick(waiting) == waiting.next_run_at
    assert stage.metrics.value("scheduler_fired") == 0


@pytest.mark.parametrize(
    ("seconds", "fires"),
    [pytest.param(-600, 2, id="ten minutes"), pytest.param(-4, 1, id="four seconds: no step")],
)
async def test_a_tick_that_the_clock_shows_again_is_a_run_of_its_own(
    stage: Stage, seconds: float, fires: int
) -> None:
    repeated = hourly_due_task()
    await stage.add(repeated)
    first = await stage.fired(repeated, repeated.next_run_at)
    node = await stage.scanning()  # which finds that the tick has fired, and moves on
    stage.clocks.database = seconds
    await node.scheduler.scan()
    await stage.database.collection("tasks").update(
        {"_id": repeated.id}, {"$set": {"next_run_at": repeated.next_run_at}}
    )
    await asyncio.gather(node.scheduler.scan(), stage.node(Does(nothing)).scheduler.scan())
    rows = await stage.all(task_id=repeated.id)
    assert {row["scheduled_for"] for row in rows} == {repeated.next_run_at}
    assert len(rows) == fires
    again = {scheduled_id(repeated.id, repeated.next_run_at, 1)} if fires == 2 else set()
    assert {row["_id"] for row in rows} == {first.id} | again
    assert {row["clock_step"] for row in rows} == ({None, 1} if fires == 2 else {None})


async def test_a_fixed_time_fires_once_under_any_number(stage: Stage) -> None:
    tick = minute() - MINUTE
    once = replace(daily_at(tick), next_run_at=tick)
    await stage.add(once)
    await stage.fired(once, tick)
    node = await stage.scanning()
    stage.set_back()
    await node.scheduler.scan()
    await stage.database.collection("tasks").update({"_id": once.id}, {"$set": {"next_run_at": tick}})
    await node.scheduler.scan()
    assert len(await stage.all(task_id=once.id)) == 1
    assert await stage.next_tick(once) == tick + timedelta(days=1)


async def test_a_run_from_before_the_step_that_has_not_ended_is_the_previous_one(stage: Stage) -> None:
    """Its tick, and one later than that, are earlier ones."""
    busy = hourly_due_task()
    await stage.add(replace(busy, next_run_at=busy.next_run_at + timedelta(hours=1)))
    await stage.fired(busy, busy.next_run_at, state="running")
    node = await stage.scanning()
    stage.set_back()
    await node.scheduler.scan()
    await stage.database.collection("tasks").update(
        {"_id": busy.id}, {"$set": {"next_run_at": busy.next_run_at}}
    )
    await node.scheduler.scan()
    assert len(await stage.all(task_id=busy.id)) == 1
    assert stage.metrics.value("scheduler_skipped") == 1


async def test_what_was_read_before_the_number_was_raised_does_not_fire(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another node raises it while this one has read what is due."""
    due = hourly_due_task()
    await stage.add(due)
    node = await stage.scanning()
    await stage.rows.delete_many({})
    await stage.database.collection("tasks").update(
        {"_id": due.id}, {"$set": {"next_run_at": due.next_run_at}}
    )
    active_of = stage.executions.active_of

    async def raised_meanwhile(task_ids: Any) -> Any:
        await stage.database.collection("clock").update({}, {"$set": {"number": 1}})
        return await active_of(task_ids)

    with monkeypatch.context() as patched:
        patched.setattr(stage.executions, "active_of", raised_meanwhile)
        await node.scheduler.scan()
    assert await stage.all() == []
    await node.scheduler.scan()
    assert [row["clock_step"] for row in await stage.all()] == [1]


async def test_the_next_node_aligns_what_a_dead_one_has_not(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = task(cron_expression="* * * * *", next_run_at=minute() + BACK)
    await stage.add(waiting)
    node = await stage.scanning()
    stage.set_back()

    async def die(*_: Any) -> int:
        raise Unavailable("gone")

    with monkeypatch.context() as patched:
        patched.setattr(stage.tasks, "advance", die)
        await node.scheduler.scan()
    assert await stage.next_tick(waiting) == waiting.next_run_at
    await stage.node(Does(nothing)).scheduler.scan()
    assert await stage.next_tick(waiting) < waiting.next_run_at


class Parts:
    """Two parts that wait for times, of which the first one is put in order only once it is `well`."""

    def __init__(self, failure: Exception | None) -> None:
        self.well, self.hanging = asyncio.Event(), failure is None
        self.failure = failure
        self.tried = asyncio.Event()
        self.aligned: list[str] = []

    async def first(self) -> None:
        self.tried.set()
        if self.hanging:
            await self.well.wait()
        elif not self.well.is_set():
            assert self.failure is not None
            raise self.failure
        self.aligned.append("first")

    async def second(self) -> None:
        self.aligned.append("second")


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(RuntimeError("a mistake"), id="a mistake"),
        pytest.param(Unavailable("timed out"), id="a query that is too slow"),
        pytest.param(None, id="a query that hangs"),
    ],
)
async def test_a_failure_of_another_part_lets_the_tasks_go_on_and_is_tried_again(
    stage: Stage, failure: Exception | None
) -> None:
    parts = Parts(failure)
    await stage.add(due := hourly_due_task())
    node = await stage.scanning()
    stage.set_back()
    others = OtherAlignments((parts.first, parts.second), stage.steps, seconds=0.01)
    node.scheduler._other_alignments = others
    await node.scheduler.scan()
    step = await stage.steps.look()
    assert (step.aligned, step.others_aligned) == (True, False)
    assert await stage.next_tick(due) > due.next_run_at
    try:
        await parts.tried.wait()
        await node.scheduler.scan()
        parts.well.set()
        async with asyncio.timeout(30):
            assert others._task is not None
            await others._task  # it ends by itself when all is in order
    finally:
        await others.stop()
    assert sorted(parts.aligned) == ["first", "second"]
    assert (await stage.steps.look()).others_aligned


async def test_the_next_node_aligns_the_other_parts_that_a_dead_one_has_not(stage: Stage) -> None:
    dead, parts = Parts(Unavailable("gone")), Parts(Unavailable("gone"))
    parts.well.set()
    node, following = await stage.scanning(), stage.node(Does(nothing))
    stage.set_back()
    node.scheduler._other_alignments = others = OtherAlignments((dead.first,), stage.steps)
    await node.scheduler.scan()
    await dead.tried.wait()
    await others.stop()
    following.scheduler._other_alignments = others = OtherAlignments((parts.first,), stage.steps)
    await following.scheduler.scan()
    await parts.tried.wait()
    await others.stop(grace=30)
    assert parts.aligned == ["first"]
    assert (await stage.steps.look()).others_aligned


async def test_nothing_fires_before_the_executions_are_aligned(stage: Stage) -> None:
    async def fail() -> None:
        raise RuntimeError("a mistake")

    await stage.add(due := hourly_due_task())
    node = await stage.scanning()
    await stage.rows.delete_many({})
    await stage.database.collection("tasks").update({}, {"$set": {"next_run_at": due.next_run_at}})
    stage.set_back()
    node.scheduler._alignment._align_executions = fail
    await node.scheduler.scan()
    assert await stage.all() == []
    assert not (await stage.steps.look()).aligned


@pytest.mark.parametrize(
    ("retries", "delay"),
    [
        pytest.param(0, 0, id="a first attempt: at once"),
        pytest.param(1, 60, id="a retry: after its delay"),
    ],
)
async def test_a_pending_run_waits_no_longer_than_from_now_on(stage: Stage, retries: int, delay: int) -> None:
    waiting = task(retry_delay_seconds=60)
    later = datetime.now(UTC) + BACK
    await stage.add(waiting)
    run = manual_run(waiting)
    row = {**to_document(run), "not_before": later, "retry_count": retries}
    await stage.rows.insert(row)
    node = await stage.scanning()
    stage.set_back()
    await node.scheduler.scan()
    found = await stage.rows.find_one({"_id": run.id})
    assert found is not None
    assert found["not_before"] <= datetime.now(UTC) + timedelta(seconds=delay + 1)
    assert found["not_before"] > datetime.now(UTC) + timedelta(seconds=delay - 30)


async def test_the_lease_of_a_dead_node_ends_in_time(stage: Stage) -> None:
    node = await stage.scanning()
    later = datetime.now(UTC) + BACK
    execution = await stage.run(task())
    lost = {"state": "running", "owner": "dead", "epoch": 1, "lease_until": later}
    await stage.rows.update({"_id": execution.id}, {"$set": lost})
    stage.set_back()
    await node.scheduler.scan()
    row = await stage.rows.find_one({"_id": execution.id})
    assert row is not None
    assert row["lease_until"] < datetime.now(UTC) + timedelta(seconds=5)  # that of FAST is 3 s


async def test_after_a_jump_living_nodes_have_a_lease_to_renew_theirs(stage: Stage) -> None:
    """A clock that is set forward makes all leases look as if they had run out."""
    node = await stage.scanning()
    execution = await stage.run(task())
    past = {"owner": "alive", "epoch": 1, "lease_until": datetime.now(UTC) - BACK}
    await stage.rows.update({"_id": execution.id}, {"$set": {"state": "running", "idempotent": True, **past}})
    stage.clocks.database = BACK.total_seconds()
    assert await node.reaper.reap() == 0
    node.reaper._keeper.times = replace(node.reaper._keeper.times, lease=0)
    assert await node.reaper.reap() == 1


async def test_a_node_whose_scan_stands_still_says_so(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage.node(Does(nothing)) as node:
        assert not node.stands_still
        still, hung = asyncio.Event(), asyncio.Event()

        async def hang() -> Any:
            hung.set()
            await still.wait()

        monkeypatch.setattr(node.scheduler._steps, "look", hang)
        await hung.wait()
        real = time.monotonic
        with monkeypatch.context() as later:
            later.setattr(time, "monotonic", lambda: real() + 31)
            assert node.stands_still
            await node._look_at_scan()
            await node._look_at_scan()
        monkeypatch.undo()
        still.set()
    assert not node.stands_still, "it is to scan no more"
    said = [record.message for record in caplog.records if "stood still" in record.message]
    assert len(said) == 1


async def test_due_tasks_of_a_new_database_fire_under_0(stage: Stage) -> None:
    await stage.add(one := due_task())
    await stage.node(Does(nothing)).scheduler.scan()
    assert [row["_id"] for row in await stage.all()] == [scheduled_id(one.id, one.next_run_at)]
