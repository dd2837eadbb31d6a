"""Approvals: a decided run goes on from its saved state, before anything else of its task starts."""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from netautod.automation.executions.models import Execution
from netautod.automation.executions.records.claims import Candidate
from netautod.automation.executions.running.node import lease_times
from netautod.core.clock import SystemClock
from netautod.plugin_api import ApprovalDecision, ExecutionFailed, NeedsApproval, RunContext
from tests.automation.tasks.conftest import Tasks
from tests.support.client import ApiClient, assert_error
from tests.support.execution import (
    FAST,
    Does,
    DoesOnce,
    World,
    due_task,
    eventually,
    manual_run,
    nothing,
    task,
)

EXECUTIONS = "/api/tasks/executions"


async def requests_approval(context: RunContext) -> Any:
    """Request an approval once, then return the decision and state that the run continues with."""
    if context.approval is None:
        raise NeedsApproval({"command": "reload"}, state={"step": 2})
    return {"decision": context.approval.decision, "by": context.approval.by, "resume": context.resume}


def approver(tasks: Tasks, execution: Execution) -> ApiClient:
    return tasks.served.client("tasks.operate", "config.deploy", org_id=execution.org_id)[0]


def decision_of(decision: str) -> ApprovalDecision:
    return ApprovalDecision(decision=decision, by="ann", comment=None, at=SystemClock().now())


async def parked(world: World, execution: Execution | None = None) -> Execution:
    """Return an execution that a node has run up to its request, and no node since."""
    waiting = execution or await world.run(task())
    async with world.node(Does(requests_approval)):
        return await world.until(waiting, "approval_pending")


@pytest.mark.parametrize(
    ("route", "decision"), [("approve", "approved"), ("reject", "rejected")], ids=["approved", "rejected"]
)
async def test_an_approved_run_continues_from_its_saved_state_with_the_decision(
    tasks: Tasks, world: World, route: str, decision: str
) -> None:
    execution = await parked(world)
    client = approver(tasks, execution)
    answer = (await client.post(f"{EXECUTIONS}/{execution.id}/{route}", {"comment": "after noon"})).expect(
        200
    )
    approval = {**answer["approval"], "at": None}
    assert (answer["state"], answer["completed_at"], answer["error_message"]) == ("pending", None, None)
    assert approval["decision"] == decision
    assert approval["comment"] == "after noon"
    assert_error(await client.post(f"{EXECUTIONS}/{execution.id}/approve"), 409, "not waiting")
    async with world.node(Does(requests_approval)):
        done = await world.until(execution, "completed")
    assert done.output == {"decision": decision, "by": approval["by"], "resume": {"step": 2}}
    assert (done.retry_count, [attempt.outcome for attempt in done.attempts]) == (
        0,
        ["approval_pending", "completed"],
    )
    assert done.approval is not None
    assert done.approval.decision == decision


async def test_of_many_decisions_at_the_same_time_one_wins(tasks: Tasks, world: World) -> None:
    execution = await parked(world)
    client = approver(tasks, execution)
    routes = ["approve", "reject"] * 50
    answers = await asyncio.gather(*(client.post(f"{EXECUTIONS}/{execution.id}/{route}") for route in routes))
    assert Counter(answer.status for answer in answers) == {200: 1, 409: 99}
    [won] = [route for route, answer in zip(routes, answers, strict=True) if answer.status == 200]
    stored = (await world.get(execution)).approval
    assert stored is not None
    assert stored.decision.startswith(won)


async def test_an_expired_request_accepts_no_decision(tasks: Tasks, world: World) -> None:
    execution = await world.run(task())
    async with world.node(Does(requests_approval), runs=replace(FAST, approval_hours=0)) as node:
        await world.until(execution, "approval_pending", "failed")
        await node.drain(0)
    # A node that died right after the parking: the row waits for one that expires it.
    await world.rows.update({"_id": execution.id}, {"$set": {"state": "approval_pending"}})
    client = approver(tasks, execution)
    assert_error(await client.post(f"{EXECUTIONS}/{execution.id}/approve"), 409, "The approval has expired")
    async with world.node(Does(requests_approval)):
        done = await world.until(execution, "failed")
    assert (done.error_message, done.approval) == ("approval expired", None)


REQUEST = {"text": "Send a line", "lines": ["no shutdown"], "devices": [{"id": "d1", "name": "sw1"}]}
ODD = {"lines": ["exit", 7], "devices": [{"id": "d1"}, "sw1", {"id": "d2", "name": "sw2"}]}


@pytest.mark.parametrize(
    ("request_", "lines", "devices"),
    [
        pytest.param(REQUEST, REQUEST["lines"], REQUEST["devices"], id="lines for devices"),
        pytest.param({"command": "reload"}, [], [], id="something else"),
        pytest.param({"lines": "reload", "devices": {}}, [], [], id="neither is a list"),
        pytest.param(ODD, ["exit"], [{"id": "d2", "name": "sw2"}], id="what else is in the lists"),
    ],
)
async def test_a_waiting_run_is_listed_until_its_decision(
    tasks: Tasks, world: World, request_: dict[str, Any], lines: list[str], devices: list[dict[str, str]]
) -> None:
    async def wants(context: RunContext) -> Any:
        raise NeedsApproval(request_)

    one = task()
    waiting = await world.run(one)
    async with world.node(Does(wants)):
        parked_one = await world.until(waiting, "approval_pending")
    client = approver(tasks, waiting)
    answer = (await client.get("/api/tasks/approvals")).expect()
    assert (answer["total"], answer["limit"], answer["offset"]) == (1, 50, 0)
    whole = (await client.get(f"{EXECUTIONS}/{waiting.id}")).expect()
    [listed] = answer["approvals"]
    assert listed == {
        "execution_id": waiting.id,
        "task_id": one.id,
        "task_name": one.name,
        "requested_by": {"id": parked_one.requested_by, "username": None},
        "requested_at": whole["attempts"][-1]["completed_at"],
        "expires_at": whole["approval_expires_at"],
        "request": request_,
        "lines": lines,
        "devices": devices,
    }
    assert (await tasks.served.client("tasks.operate")[0].get("/api/tasks/approvals")).expect()["total"] == 0
    (await client.post(f"{EXECUTIONS}/{waiting.id}/reject")).expect()
    assert (await client.get("/api/tasks/approvals")).expect()["approvals"] == []


async def test_an_expired_request_is_not_listed(tasks: Tasks, world: World) -> None:
    waiting = await parked(world)
    client = approver(tasks, waiting)
    assert (await client.get("/api/tasks/approvals")).expect()["total"] == 1
    await expire(tasks, world, waiting)
    answer = (await client.get("/api/tasks/approvals")).expect()
    assert (answer["total"], answer["approvals"]) == (0, [])


async def let_go_on(tasks: Tasks, world: World, waiting: Execution) -> None:
    await approver(tasks, waiting).post(f"{EXECUTIONS}/{waiting.id}/reject")


async def cancel(tasks: Tasks, world: World, waiting: Execution) -> None:
    await approver(tasks, waiting).post(f"{EXECUTIONS}/{waiting.id}/cancel")


async def expire(tasks: Tasks, world: World, waiting: Execution) -> None:
    await world.rows.update(
        {"_id": waiting.id}, [{"$set": {"approval_expires_at": {"$subtract": ["$$NOW", 1]}}}]
    )


@pytest.mark.parametrize(
    ("end", "order"),
    [
        pytest.param(let_go_on, ["asks", "asks", "other"], id="decided: it goes on before the others"),
        pytest.param(cancel, ["asks", "other"], id="cancelled"),
        pytest.param(expire, ["asks", "other"], id="expired"),
    ],
)
async def test_nothing_else_of_the_task_starts_while_one_waits(
    tasks: Tasks, world: World, end: Any, order: list[str]
) -> None:
    one = task()
    waiting = await world.run(one)
    started: list[str] = []

    async def work(context: RunContext) -> Any:
        started.append(context.execution.id)
        return await requests_approval(context) if context.execution.id == waiting.id else None

    async with world.node(Does(work)), world.node(Does(work)):
        await world.until(waiting, "approval_pending")
        other = manual_run(one)  # older than the decision, so it would be first in the queue
        await world.executions.insert(other)
        neighbour = await world.run(task())
        await world.until(neighbour, "completed")  # the nodes have looked for work since
        assert (await world.get(other)).state == "pending"
        await end(tasks, world, waiting)
        await world.until(other, "completed")
    names = {waiting.id: "asks", other.id: "other"}
    assert [names[one] for one in started if one in names] == order


async def test_two_nodes_cannot_claim_beside_one_that_waits_or_goes_on(world: World) -> None:
    """Check the claim itself: the candidates that a look has found may be outdated."""
    one = task()
    waiting = await parked(world, await world.run(one))
    other = manual_run(one)
    await world.executions.insert(other)
    keepers = [
        world.executions.lease_keeper(node, clock=world.clock, times=lease_times(FAST)) for node in "ab"
    ]

    async def claims(of: Execution) -> list[bool]:
        [row] = await world.all(_id=of.id)
        wanted = Candidate(id=of.id, org_id=of.org_id, task_type=of.task_type, epoch=row["epoch"])
        made = await asyncio.gather(
            *(world.executions.claim(keeper, wanted, idempotent=True) for keeper in keepers)
        )
        return sorted(claim is not None for claim in made)

    assert await claims(other) == [False, False]
    assert await world.executions.decide_approval(waiting.org_id, waiting.id, decision_of("rejected"))
    assert await claims(other) == [False, False]
    assert [found.id for found in await world.executions.claimable(10)] == [waiting.id]
    assert await claims(waiting) == [False, True]


async def test_a_tick_is_skipped_and_counted_while_one_waits(world: World) -> None:
    due = due_task()
    await world.add(due)
    await parked_of(world, manual_run(due))
    await world.node(Does(nothing)).scheduler.scan()
    assert len(await world.all(task_id=due.id)) == 1
    assert world.metrics.value("scheduler_skipped") == 1


async def parked_of(world: World, execution: Execution) -> None:
    await world.executions.insert(execution)
    await world.rows.update(
        {"_id": execution.id}, {"$set": {"state": "approval_pending", "holds_task": True}}
    )


async def test_a_second_request_knows_nothing_of_the_first_decision(tasks: Tasks, world: World) -> None:
    seen: list[str | None] = []

    async def work(context: RunContext) -> Any:
        seen.append(None if context.approval is None else context.approval.decision)
        if context.resume != "second":
            raise NeedsApproval({}, state="second" if context.approval else "first")
        return None

    execution = await world.run(task())
    client = approver(tasks, execution)
    async with world.node(Does(work)):
        await world.until(execution, "approval_pending")
        (await client.post(f"{EXECUTIONS}/{execution.id}/approve")).expect(200)
        await eventually(lambda: _attempts(world, execution, 2))
        again = await world.until(execution, "approval_pending")
        assert (again.resume, again.approval) == ("second", None)
        (await client.post(f"{EXECUTIONS}/{execution.id}/reject")).expect(200)
        await world.until(execution, "completed")
    assert seen == [None, "approved", "rejected"]


async def _attempts(world: World, execution: Execution, count: int) -> bool:
    found = await world.get(execution)
    return len(found.attempts) == count and found.attempts[-1].outcome is not None


async def test_the_retry_of_an_approved_run_knows_the_decision_too(world: World) -> None:
    seen: list[str] = []

    async def work(context: RunContext) -> Any:
        answer = await requests_approval(context)
        seen.append(answer["decision"])
        if len(seen) < 3:
            raise ExecutionFailed("no answer")
        return answer

    execution = await world.run(task(max_retries=2))
    async with world.node(Does(work)):
        await world.until(execution, "approval_pending")
        assert await world.executions.decide_approval(execution.org_id, execution.id, decision_of("rejected"))
        done = await world.until(execution, "completed")
    assert seen == ["rejected"] * 3
    assert (done.retry_count, done.output["resume"]) == (2, {"step": 2})


@pytest.mark.parametrize(
    ("kind", "ends"),
    [(Does, ("completed", "rejected")), (DoesOnce, ("failed", None))],
    ids=["idempotent: it goes on elsewhere", "not idempotent: failed"],
)
async def test_an_approved_run_on_a_node_that_dies(
    world: World, kind: type[Does], ends: tuple[str, Any]
) -> None:
    going_on = asyncio.Event()

    async def hangs(context: RunContext) -> Any:
        await requests_approval(context)
        going_on.set()
        await asyncio.Event().wait()

    execution = await world.run(task(task_type=kind.task_type, max_retries=1))
    doomed = world.node(kind(hangs))
    await doomed.__aenter__()
    await world.until(execution, "approval_pending")
    assert await world.executions.decide_approval(execution.org_id, execution.id, decision_of("rejected"))
    await asyncio.wait_for(going_on.wait(), 10)
    await doomed.__aexit__()  # without drain: as after kill -9
    await world.rows.update(
        {"_id": execution.id}, [{"$set": {"lease_until": {"$subtract": ["$$NOW", 60_000]}}}]
    )
    async with world.node(kind(requests_approval)):
        done = await world.until(execution, "completed", "failed")
    assert (done.state, done.output and done.output["decision"]) == ends


async def test_a_run_parked_before_the_upgrade_continues_after_its_decision(world: World) -> None:
    """Check rows that do not hold their task; a task may have several of them."""
    one = task()
    waiting = [await parked(world, await world.run(one)), manual_run(one)]
    await world.executions.insert(waiting[1])
    await world.rows.update_many({}, {"$unset": {"holds_task": 1}})
    later = {"state": "approval_pending", "approval_expires_at": SystemClock().now().replace(year=2999)}
    await world.rows.update({"_id": waiting[1].id}, {"$set": later})
    other = manual_run(one)
    await world.executions.insert(other)
    assert await world.executions.claimable(10) == []
    assert await world.executions.cancel(other.org_id, other.id, by=None)
    for execution in waiting:
        assert await world.executions.decide_approval(execution.org_id, execution.id, decision_of("approved"))
    async with world.node(Does(requests_approval)):
        for execution in waiting:
            await world.until(execution, "completed")
