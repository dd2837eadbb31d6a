"""The events of each kind of record: the same on every node, with change streams and without."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from netautod.automation.executions.logs.store import ExecutionLogStore
from netautod.automation.executions.models import LogEntry
from netautod.core.clock import SystemClock
from netautod.core.errors import InvalidInput
from netautod.core.work.context import Work
from netautod.network.configs.models import FROM_DEVICE, IMPORTED, Config
from netautod.network.discovery.polling.models import COMPLETED, MANUAL, QUEUED, SCHEDULE, Poll
from netautod.network.discovery.polling.outcome import Outcome
from netautod.plugin_api import ApprovalDecision, ExecutionFailed, NeedsApproval, RunContext
from tests.activity.events.nodes import Node, Nodes, content_of
from tests.support.databases import stores_of
from tests.support.execution import Does, task
from tests.support.listening import Listening


@asynccontextmanager
async def listening_everywhere(nodes: Nodes, **options: Any) -> AsyncIterator[tuple[Listening, Listening]]:
    """Listen at a node with change streams, and at one that looks."""
    token = nodes.token()
    async with AsyncExitStack() as stack:
        by = [await nodes.start(change_streams=streams) for streams in (True, False)]
        one, other = [await stack.enter_async_context(node.listen(token, **options)) for node in by]
        yield one, other


async def both(one: Listening, other: Listening, count: int, *names: str) -> list[tuple[str, Any]]:
    """Return the next events, which are the same on both nodes."""
    found = [await one.next(*names) for _ in range(count)]
    again = [await other.next(*names) for _ in range(count)]
    assert [content_of(each) for each in found] == [content_of(each) for each in again]
    return [(each.name, each.data) for each in found]


async def test_the_states_of_an_execution(nodes: Nodes) -> None:
    tries = iter((False, True))

    async def second_time(context: RunContext) -> Any:
        if not next(tries):
            raise ExecutionFailed("not yet")
        return {}

    world = nodes.world
    async with listening_everywhere(nodes) as (one, other):
        run = await world.run(task(org_id=nodes.org_id, max_retries=1))
        async with world.node(Does(second_time)):
            ended = await world.until(run, "completed")
        found = await both(one, other, 5)
    assert {name for name, _ in found} == {"execution"}
    assert [(data["state"], data["retry_count"], data["error_message"]) for _, data in found] == [
        ("pending", 0, None),
        ("running", 0, None),
        ("pending", 1, "not yet"),
        ("running", 1, "not yet"),
        ("completed", 1, ended.error_message),
    ]
    assert {key: found[-1][1][key] for key in ended.to_list_item()} == ended.to_list_item()
    assert [data["completed_at"] is None for _, data in found] == [True, True, True, True, False]


async def test_approvals(nodes: Nodes) -> None:
    async def requests_approval(context: RunContext) -> Any:
        if context.approval is None:
            raise NeedsApproval({"command": "reload"}, state={})

    world = nodes.world
    async with listening_everywhere(nodes) as (one, other):
        run = await world.run(task(org_id=nodes.org_id))
        async with world.node(Does(requests_approval)):
            await world.until(run, "approval_pending")
            request = await both(one, other, 1, "approval")
            decision = ApprovalDecision(
                decision="approved", by="bob", comment="after noon", at=SystemClock().now()
            )
            await world.executions.decide_approval(nodes.org_id, run.id, decision)
            await world.until(run, "completed")
        decision_events = await both(one, other, 1, "approval")
        states = [each.data["state"] for each in one.received if each.name == "execution"]
        while states[-1] != "completed":
            states.append((await one.next("execution")).data["state"])
    assert [data["decision"] for _, data in (*request, *decision_events)] == [None, "approved"]
    assert request[0][1]["expires_at"] is not None
    assert (decision_events[0][1]["by"], decision_events[0][1]["comment"]) == ("bob", "after noon")
    assert states == ["pending", "running", "approval_pending", "pending", "running", "completed"]


async def test_a_parked_execution_that_is_cancelled(nodes: Nodes) -> None:
    async def requests_approval(context: RunContext) -> Any:
        raise NeedsApproval({"command": "reload"}, state={})

    world = nodes.world
    async with listening_everywhere(nodes) as (one, other):
        run = await world.run(task(org_id=nodes.org_id))
        async with world.node(Does(requests_approval)):
            await world.until(run, "approval_pending")
        await world.executions.cancel(nodes.org_id, run.id, by="u", name="ann")
        found = await both(one, other, 2, "approval")
    assert [data["decision"] for _, data in found] == [None, "cancelled"]


def poll_of(nodes: Nodes, triggered_by: str) -> Poll:
    return Poll(
        id=str(uuid4()),
        org_id=nodes.org_id,
        device_id=str(uuid4()),
        state=QUEUED,
        triggered_by=triggered_by,
        queued_at=SystemClock().now(),
    )


async def test_polls(nodes: Nodes) -> None:
    polls, now = stores_of(nodes.database).polls, SystemClock().now
    done = Outcome(state=COMPLETED, method="snmp", sources={"interfaces": "snmp"}, error=None, counts={})
    async with listening_everywhere(nodes) as (one, other):
        queued = await polls.queue(poll_of(nodes, MANUAL))
        started = await polls.begin(queued, at=now())
        assert started is not None
        await polls.end(started, done, at=now())
        due = await polls.insert_running(poll_of(nodes, SCHEDULE), at=now())
        await polls.end(due, done, at=now())
        found = await both(one, other, 5)
    assert {name for name, _ in found} == {"poll"}
    of_first = [data for _, data in found if data["id"] == queued.id]
    assert [data["state"] for data in of_first] == ["queued", "running", "completed"]
    assert [data["method"] for data in of_first] == [None, None, "snmp"]
    assert [data["state"] for _, data in found if data["id"] == due.id] == ["running", "completed"]


def version(nodes: Nodes, number: int, source: str) -> Config:
    now = SystemClock().now()
    return Config(
        id=str(uuid4()),
        org_id=nodes.org_id,
        device_id="d",
        version=number,
        config_hash="h",
        config_format="cli",
        source=source,
        pulled_via="task",
        created_by="u",
        created_at=now,
        last_seen_at=now,
        size=1,
        notes=None,
        text_id="t",
        platform="linux",
    )


async def test_configs_and_what_is_published(nodes: Nodes) -> None:
    configs, caller = stores_of(nodes.database).configs, nodes.callers.by_token[nodes.token()]
    work = Work(caller=caller)
    imported, captured = version(nodes, 1, IMPORTED), version(nodes, 2, FROM_DEVICE)
    async with listening_everywhere(nodes) as (one, other):
        await configs.insert(imported, work)
        await configs.insert(captured, work)
        await configs.set_notes(nodes.org_id, "d", 2, "seen")
        await nodes.publish(await nodes.start(), "news")
        found = await both(one, other, 2)
    assert found == [("config", captured.to_json()), ("plugin.news", {"name": "news"})]


async def test_the_lines_of_one_log(nodes: Nodes) -> None:
    """Compare with the route of the log; a line that becomes visible late is not left out."""
    world, logs = nodes.world, ExecutionLogStore(nodes.database)
    run = await world.run(task(org_id=nodes.org_id))
    other_run = await world.run(task(org_id=nodes.org_id))
    await logs.append(nodes.org_id, run.id, [line(1)])
    async with listening_everywhere(nodes, query=f"?execution_id={run.id}") as (one, other):
        await logs.append(nodes.org_id, other_run.id, [line(1)])
        await logs.append(nodes.org_id, run.id, [line(2), line(4)])
        assert [data["seq"] for _, data in await both_lines(one, other, 1)] == [2]
        await logs.append(nodes.org_id, run.id, [line(3)])
        found = await both_lines(one, other, 2)
    assert [data["seq"] for _, data in found] == [3, 4]
    entries = await logs.read(nodes.org_id, run.id, 2, 10)
    assert [data for _, data in found] == [{"execution_id": run.id, **each.to_json()} for each in entries]


async def both_lines(one: Listening, other: Listening, count: int) -> list[tuple[str, Any]]:
    found = [await one.next("log") for _ in range(count)]
    again = [await other.next("log") for _ in range(count)]
    assert [each.data for each in found] == [each.data for each in again]
    return [(each.name, each.data) for each in found]


def line(seq: int) -> LogEntry:
    return LogEntry(seq=seq, at=SystemClock().now(), level="info", device_id=None, message=f"line {seq}")


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("news", {}, "PLUGIN.NAME"),
        ("plugin.", {}, "PLUGIN.NAME"),
        ("plugin.a\nid: 1", {}, "PLUGIN.NAME"),
        ("plugin.news", {"at": SystemClock().now()}, "Not JSON"),
        ("plugin.news", {"text": "x" * 70_000}, "64 KiB"),
    ],
)
async def test_what_is_no_event_is_not_published(
    nodes: Nodes, name: str, data: dict[str, Any], complaint: str
) -> None:
    node: Node = await nodes.start()
    with pytest.raises(InvalidInput, match=complaint):
        await node.publisher.publish(org_id=nodes.org_id, name=name, data=data, permission=None)


async def test_an_execution_that_never_started(nodes: Nodes) -> None:
    """Cancel it while it waits."""
    world = nodes.world
    async with listening_everywhere(nodes) as (one, other):
        run = await world.run(task(org_id=nodes.org_id))
        await world.executions.cancel(nodes.org_id, run.id, by="u", name="ann")
        found = await both(one, other, 2)
    assert [data["state"] for _, data in found] == ["pending", "cancelled"]
    assert [data["cancelled_by"] for _, data in found] == [None, "u"]
