"""Runs on one node: completion, failure, retry, timeout, cancel, lease loss, drain."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from netautod.automation.executions.models import Execution
from netautod.automation.executions.records.outcome import UNEXPECTED
from netautod.automation.executions.records.result_store import DeviceResultStore
from netautod.automation.executions.running.environment import RunActing
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.tasks.store import TaskStore
from netautod.core.errors import Forbidden, Unavailable
from netautod.core.identity.caller import Caller
from netautod.core.work.context import Work
from netautod.core.work.guard import LeaseLostError
from netautod.core.work.pauses import FixedPauses
from netautod.plugin_api import DeviceResult, ExecutionFailed, NeedsApproval, PermanentFailure, RunContext
from tests.support.execution import FAST, Does, DoesOnce, World, eventually, no_acting, nothing, task


def failing(error: BaseException) -> Does:
    async def work(context: RunContext) -> Any:
        raise error

    return Does(work)


async def test_a_manual_run_completes_with_its_output(world: World) -> None:
    execution = await world.run(task())
    async with world.node(Does(nothing)):
        done = await world.until(execution, "completed")
        await eventually(lambda: _finished(world))
    assert world.metrics.value("executions_started") == 1
    assert world.metrics.value("executions_finished") == 1
    assert world.metrics.value("executions_ended", "completed") == 1
    assert done.output == {"done": True}
    assert (done.retry_count, done.error_message, done.triggered_by) == (0, None, "manual")
    assert [(a.number, a.outcome) for a in done.attempts] == [(1, "completed")]
    assert done.started_at is not None
    assert done.completed_at is not None
    assert done.started_at <= done.completed_at
    stored = await world.tasks.get(execution.org_id, execution.task_id)
    assert stored is not None
    assert stored.last_run_at == done.started_at
    assert [(one.id, one.state) for one in world.finished] == [(execution.id, "completed")]


async def _finished(world: World) -> bool:
    return bool(world.finished)


@pytest.mark.parametrize(
    ("error", "message", "runs"),
    [
        pytest.param(ExecutionFailed("no answer"), "no answer", 3, id="a failure is retried"),
        pytest.param(PermanentFailure("never"), "never", 1, id="a permanent failure is not"),
        pytest.param(RuntimeError("secret detail"), UNEXPECTED, 3, id="an unknown error hides its text"),
        pytest.param(Forbidden("Insufficient permissions"), "Insufficient", 1, id="a refusal is final"),
        pytest.param(Unavailable("database away"), "database away", 3, id="an outage is retried"),
    ],
)
async def test_failures(world: World, error: Exception, message: str, runs: int) -> None:
    execution = await world.run(task(max_retries=2))
    executor = failing(error)
    async with world.node(executor):
        done = await world.until(execution, "failed")
    assert executor.runs == runs
    assert message in (done.error_message or "")
    assert done.retry_count == runs - 1
    assert [attempt.outcome for attempt in done.attempts] == ["failed"] * runs


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        pytest.param(RuntimeError("secret detail"), True, id="what nobody expected"),
        pytest.param(Unavailable("database away"), True, id="an outage"),
        pytest.param(ExecutionFailed("no answer"), False, id="a failure that the run tells itself"),
        pytest.param(NeedsApproval({"command": "reload"}), False, id="a question"),
    ],
)
async def test_the_service_log_has_the_stack_of_what_an_executor_did_not_mean_to_raise(
    world: World, caplog: pytest.LogCaptureFixture, error: Exception, logged: bool
) -> None:
    execution = await world.run(task())
    async with world.node(failing(error)):
        await world.until(execution, "failed", "approval_pending")
    stacks = [record.exc_info[1] for record in caplog.records if record.exc_info is not None]
    assert stacks == ([error] if logged else [])
    assert (f"the executor of {execution.id} raised" in caplog.text) is logged


async def test_a_retry_waits_its_delay_and_keeps_the_output(world: World) -> None:
    calls: list[float] = []

    async def work(context: RunContext) -> Any:
        calls.append(asyncio.get_running_loop().time())
        if len(calls) == 1:
            raise ExecutionFailed("1 of 2 devices failed", output={"failed": 1})
        return {"failed": 0}

    execution = await world.run(task(max_retries=1, retry_delay_seconds=1))
    async with world.node(Does(work)):
        waiting = await eventually(lambda: _retrying(world, execution))
        assert (waiting.retry_count, waiting.error_message) == (1, "1 of 2 devices failed")
        assert waiting.output == {"failed": 1}
        done = await world.until(execution, "completed")
    assert calls[1] - calls[0] >= 1.0
    assert done.output == {"failed": 0}


async def _retrying(world: World, execution: Any) -> Any:
    found = await world.get(execution)
    return found if found.state == "pending" and found.retry_count else None


@pytest.mark.parametrize(
    "error",
    [
        *(SystemExit, KeyboardInterrupt, MemoryError, RecursionError),
        *(GeneratorExit, StopAsyncIteration, asyncio.CancelledError),
    ],
)
async def test_whatever_an_executor_raises_fails_its_run_alone(
    world: World, error: type[BaseException]
) -> None:
    async with world.node(failing(error()), DoesOnce(nothing)):
        failed, beside = await world.run(task()), await world.run(task(task_type="agent_task"))
        ended = await world.until(failed, "failed")
        await world.until(beside, "completed")
    assert (ended.error_message, len(ended.attempts)) == (UNEXPECTED, 1)


async def test_output_that_is_no_json_fails_the_run(world: World) -> None:
    async def work(context: RunContext) -> Any:
        return {"bad": object()}

    execution = await world.run(task())
    async with world.node(Does(work)):
        done = await world.until(execution, "failed")
    assert "not a JSON value" in (done.error_message or "")


async def test_dollar_texts_are_stored_as_they_are(world: World) -> None:
    async def work(context: RunContext) -> Any:
        return {"$set": "$state", "a.b": "$$NOW"}

    execution = await world.run(task())
    async with world.node(Does(work)):
        done = await world.until(execution, "completed")
    assert done.output == {"$set": "$state", "a.b": "$$NOW"}


@pytest.mark.parametrize("stubborn", [False, True], ids=["a polite executor", "one that ignores cancel"])
async def test_timeout_ends_the_attempt_and_frees_the_slot(world: World, stubborn: bool) -> None:
    async def work(context: RunContext) -> Any:
        if context.execution.task_name == "quick":
            return 1
        while True:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                if not stubborn:
                    raise
                if stubborn_until.is_set():
                    raise

    stubborn_until = asyncio.Event()
    execution = await world.run(task(timeout_seconds=1, max_retries=3))
    async with world.node(Does(work), runs=replace(FAST, slots=1)):
        done = await world.until(execution, "timeout")
        quick = await world.run(task(name="quick"))
        await world.until(quick, "completed")
        stubborn_until.set()
    assert done.retry_count == 0
    assert "longer than 1 seconds" in (done.error_message or "")
    assert world.metrics.value("executions_abandoned") == int(stubborn)
    for leftover in asyncio.all_tasks():
        if leftover.get_name() == f"run {execution.id}":
            leftover.cancel()


async def test_cancel_on_another_node_stops_the_executor_within_a_heartbeat(world: World) -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def work(context: RunContext) -> Any:
        started.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    execution = await world.run(task())
    async with world.node(Does(work)):
        await asyncio.wait_for(started.wait(), 5)
        assert world.metrics.value("executions_running") == 1
        assert await world.executions.cancel(execution.org_id, execution.id, by=execution.owner_id)
        await asyncio.wait_for(cancelled.wait(), FAST.heartbeat_seconds * 3)
        await eventually(lambda: _lost(world))
    done = await world.get(execution)
    assert (done.state, done.cancelled_by) == ("cancelled", execution.owner_id)
    assert [attempt.outcome for attempt in done.attempts] == ["cancelled"]


async def _lost(world: World) -> bool:
    value = world.metrics.value
    return (value("executions_leases_lost"), value("executions_running")) == (1, 0)


async def test_one_task_runs_once_at_a_time_and_the_next_waits(world: World) -> None:
    running = 0
    most = 0

    async def work(context: RunContext) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.05)
        running -= 1
        return None

    one = task()
    first = await world.run(one)
    others = [replace(first, id=str(i) * 8 + first.id[8:]) for i in range(1, 5)]
    for other in others:
        await world.executions.insert(other)
    async with world.node(Does(work)), world.node(Does(work)):
        for execution in (first, *others):
            await world.until(execution, "completed")
    assert most == 1


async def test_a_missing_owner_or_executor_fails_without_retry(world: World) -> None:
    gone = await world.run(task(max_retries=3))
    world.owners[gone.owner_id] = None
    unknown = await world.run(task(task_type="telepathy", max_retries=3))
    async with world.node(Does(nothing)):
        assert "owner" in ((await world.until(gone, "failed")).error_message or "")
        assert "telepathy" in ((await world.until(unknown, "failed")).error_message or "")


async def test_a_run_does_no_more_than_its_scope_and_no_more_than_its_owner(world: World) -> None:
    seen: list[frozenset[str]] = []

    def acting(work: Work, execution: Execution) -> RunActing:
        seen.append(work.caller.permissions)
        return no_acting(work, execution)

    world.acting = acting
    runs = [await world.run(task(scope=scope)) for scope in (None, ["tasks.operate"], ["users.manage"])]
    for run in runs:
        permissions = frozenset({"tasks.operate", "devices.*"})
        world.owners[run.owner_id] = Caller(
            user_id=run.owner_id, org_id=run.org_id, username="owner", permissions=permissions
        )
    async with world.node(Does(nothing)):
        for run in runs:
            await world.until(run, "completed")
    expected = [{"tasks.operate", "devices.*"}, {"tasks.operate"}, set()]
    assert sorted(map(sorted, seen)) == sorted(map(sorted, expected))


async def test_what_a_run_does_is_bulk_work_of_its_execution_and_over_with_it(world: World) -> None:
    seen: list[Work] = []

    def acting(work: Work, execution: Execution) -> RunActing:
        seen.append(work)
        return no_acting(work, execution)

    async def work(context: RunContext) -> Any:
        seen[0].guard()  # while it runs, it may

    world.acting = acting
    execution = await world.run(task())
    async with world.node(Does(work)):
        await world.until(execution, "completed")
        with pytest.raises(LeaseLostError):
            seen[0].guard()
    [found] = seen
    assert (found.bulk, found.execution_id, found.org_id) == (True, execution.id, execution.org_id)
    assert found.audit_details == {"execution_id": execution.id}
    assert found.caller.user_id == execution.owner_id


async def test_progress_is_shown_and_each_attempt_begins_without_any(world: World) -> None:
    began: list[Any] = []

    async def work(context: RunContext) -> Any:
        began.append((await world.get(execution)).progress)
        await context.progress(1, 2)
        began.append((await world.get(execution)).progress)
        if context.execution.attempt == 1:
            raise ExecutionFailed("again")

    execution = await world.run(task(max_retries=1))
    async with world.node(Does(work)):
        done = await world.until(execution, "completed")
    assert began == [None, {"done": 1, "total": 2}] * 2
    assert done.progress == {"done": 1, "total": 2}


async def test_runs_of_a_paused_organization_wait_and_those_of_others_do_not(world: World) -> None:
    paused, other = await world.run(task()), await world.run(task())
    one_slot = replace(FAST, slots=1)  # the older one would be first
    async with world.node(Does(nothing), runs=one_slot, pauses=FixedPauses(frozenset({paused.org_id}))):
        await world.until(other, "completed")
        assert (await world.get(paused)).state == "pending"
    async with world.node(Does(nothing), runs=one_slot):
        await world.until(paused, "completed")


async def test_results_and_log_survive_attempts(world: World) -> None:
    async def work(context: RunContext) -> Any:
        settled = await context.results.settled()
        await context.log("info", f"{len(settled)} settled", "device-1")
        for number in (1, 2, 3):
            if f"d{number}" not in settled:
                ok = number != 3 or context.execution.attempt == 2
                await context.results.record(
                    DeviceResult(
                        device_id=f"d{number}",
                        device_name=f"sw{number}",
                        success=ok,
                        changed=ok or None,
                        duration_ms=5,
                    )
                )
        totals = await context.results.totals()
        if totals.failed:
            raise ExecutionFailed("1 of 3 devices failed")
        return {"succeeded": totals.succeeded, "changed": totals.changed}

    execution = await world.run(task(max_retries=1))
    async with world.node(Does(work)):
        done = await world.until(execution, "completed")
    assert done.output == {"succeeded": 3, "changed": 3}
    lines = await world.database.collection("execution_log").find({}, sort=[("seq", 1)])
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert [line["message"] for line in lines if line["device_id"]] == ["0 settled", "2 settled"]
    found = await DeviceResultStore(world.database).totals(execution.org_id, execution.id)
    assert (found.devices_total, found.failed) == (3, 0)


async def test_a_full_log_ends_with_a_marker(world: World) -> None:
    async def work(context: RunContext) -> Any:
        for number in range(50):
            await context.log("info", f"line {number}")
        return None

    execution = await world.run(task())
    async with world.node(Does(work), runs=replace(FAST, log_lines=10)):
        await world.until(execution, "completed")
    lines = await world.database.collection("execution_log").find({}, sort=[("seq", 1)])
    assert len(lines) == 11
    assert "full" in lines[-1]["message"]


@pytest.mark.parametrize("idempotent", [True, False], ids=["idempotent", "not idempotent"])
async def test_a_drained_node_hands_back_what_does_not_finish(world: World, idempotent: bool) -> None:
    started = asyncio.Event()

    async def work(context: RunContext) -> Any:
        started.set()
        await asyncio.sleep(30)

    kind = Does if idempotent else DoesOnce
    execution = await world.run(task(task_type=kind.task_type, max_retries=3))
    async with world.node(kind(work)) as node:
        await asyncio.wait_for(started.wait(), 5)
        await node.drain(0.1)
    done = await world.get(execution)
    if idempotent:
        assert (done.state, done.retry_count) == ("pending", 0)
        async with world.node(kind(nothing)):
            assert (await world.until(execution, "completed")).retry_count == 0
    else:
        assert (done.state, done.error_message) == ("failed", "the node was stopped")


async def test_drain_lets_runs_finish(world: World) -> None:
    started, may_end = asyncio.Event(), asyncio.Event()

    async def work(context: RunContext) -> Any:
        started.set()
        await may_end.wait()
        return "finished"

    execution = await world.run(task())
    async with world.node(Does(work)) as node:
        await asyncio.wait_for(started.wait(), 5)
        draining = asyncio.create_task(node.drain(20))
        may_end.set()
        await draining
        later = await world.run(task())
    assert (await world.get(execution)).output == "finished"
    assert (await world.get(later)).state == "pending"


async def test_approval_parks_and_resumes(world: World) -> None:
    async def work(context: RunContext) -> Any:
        if context.approval is None:
            raise NeedsApproval({"command": "reload"}, state={"step": 2})
        return {"resumed": context.resume, "by": context.approval.by}

    from netautod.core.clock import SystemClock
    from netautod.plugin_api import ApprovalDecision

    execution = await world.run(task())
    async with world.node(Does(work)):
        parked = await world.until(execution, "approval_pending")
        assert parked.approval_request == {"command": "reload"}
        decision = ApprovalDecision(decision="approved", by="ann", comment=None, at=SystemClock().now())
        assert await world.executions.decide_approval(execution.org_id, execution.id, decision)
        assert await world.executions.decide_approval(execution.org_id, execution.id, decision) is None
        done = await world.until(execution, "completed")
    assert done.output == {"resumed": {"step": 2}, "by": "ann"}


async def test_an_approval_expires(world: World) -> None:
    async def work(context: RunContext) -> Any:
        raise NeedsApproval({"command": "reload"})

    execution = await world.run(task())
    async with world.node(Does(work), runs=replace(FAST, approval_hours=0.2 / 3600)):
        done = await world.until(execution, "failed")
    assert done.error_message == "approval expired"


async def test_a_dead_nodes_run_is_taken_over(world: World) -> None:
    execution = await world.run(task(max_retries=2))
    agent = await world.run(task(task_type="agent_task", max_retries=2))
    started = asyncio.Event()

    async def work(context: RunContext) -> Any:
        started.set()
        await asyncio.sleep(60)

    doomed = world.node(Does(work), DoesOnce(work))
    await doomed.__aenter__()
    await world.until(execution, "running")
    await world.until(agent, "running")
    await doomed.__aexit__()  # without drain: what it ran keeps its lease, like after kill -9
    async with world.node(Does(nothing), DoesOnce(nothing)):
        done = await world.until(execution, "completed", seconds=15)
        failed = await world.until(agent, "failed", seconds=15)
    assert done.retry_count == 1
    assert [attempt.outcome for attempt in done.attempts] == ["lost", "completed"]
    assert failed.error_message == "node lost"
    assert world.metrics.value("executions_taken_over") == 2


@pytest.mark.parametrize(
    ("store", "method", "text"),
    [
        pytest.param(
            TaskStore, "enabled_states", "claimed executions cannot be started yet", id="before the start"
        ),
        pytest.param(
            ExecutionStore, "end_attempt", "the end of an execution cannot be written yet", id="at the end"
        ),
    ],
)
async def test_an_absent_database_is_queried_again_after_a_pause(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    store: type[Any],
    method: str,
    text: str,
) -> None:
    queried, away = asyncio.Event(), True
    tries = 0
    real = getattr(store, method)

    async def flaky(self: Any, *args: Any) -> Any:
        nonlocal tries
        tries += 1
        queried.set()
        if away:
            raise Unavailable("no primary")
        return await real(self, *args)

    monkeypatch.setattr(store, method, flaky)
    execution = await world.run(task())
    async with world.node(Does(nothing)):
        await asyncio.wait_for(queried.wait(), 10)
        for _ in range(2000):  # the event loop is free: only a pause keeps the node from asking
            await asyncio.sleep(0)
        assert tries < 100
        away = False
        await world.until(execution, "completed")
    assert f"{text}: " in caplog.text
    assert "no primary" in caplog.text


async def test_a_node_that_is_left_ends_its_executors_first(world: World) -> None:
    started, cancelled, may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work(context: RunContext) -> Any:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
            await may_end.wait()

    await world.run(task())
    node = world.node(Does(work), runs=replace(FAST, cancel_grace_seconds=30))
    await node.__aenter__()
    await asyncio.wait_for(started.wait(), 10)
    leaving = asyncio.create_task(node.__aexit__())
    await asyncio.wait_for(cancelled.wait(), 10)
    await asyncio.wait({leaving}, timeout=0.3)
    assert not leaving.done()
    may_end.set()
    await leaving


async def test_a_stale_owner_cannot_write(world: World) -> None:
    started, may_end = asyncio.Event(), asyncio.Event()

    async def work(context: RunContext) -> Any:
        started.set()
        await may_end.wait()
        return "stale"

    execution = await world.run(task(max_retries=1))
    async with world.node(Does(work)) as node:
        await asyncio.wait_for(started.wait(), 5)
        await world.rows.update(
            {"_id": execution.id}, {"$set": {"owner": "another node"}, "$inc": {"epoch": 1}}
        )
        may_end.set()
        await eventually(lambda: _idle(node))
    assert (await world.get(execution)).output is None
    assert world.metrics.value("executions_fenced") == 1


async def _idle(node: Any) -> bool:
    return bool(node.runner.running == 0)


async def test_the_catch_up_of_a_deleted_or_disabled_task_is_cancelled(world: World) -> None:
    disabled = task(enabled=False)
    execution = await world.run(disabled)
    scheduled = replace(
        execution,
        id=execution.id[::-1].replace("-", "0")[:8] + execution.id[8:],
        triggered_by="schedule",
        scheduled_for=execution.created_at - timedelta(minutes=1),
    )
    await world.executions.insert(scheduled)
    orphan = await world.run(task())
    await world.tasks.delete(orphan.org_id, orphan.task_id)
    executor = Does(nothing)
    async with world.node(executor):
        await world.until(execution, "completed")
        assert (await world.until(scheduled, "cancelled")).started_at is None
        assert "deleted" in ((await world.until(orphan, "cancelled")).error_message or "")
    assert executor.runs == 1
