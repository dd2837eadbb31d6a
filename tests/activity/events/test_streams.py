"""The listeners of streams: permissions, limits, tokens, the comment, clients that do not read."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from netautod.activity.events import service
from netautod.activity.events.models import Resumed
from netautod.activity.events.streaming import journal, listeners, stream
from netautod.core.identity.caller import OrgId
from tests.activity.events.nodes import DEVICES, OPERATE, Node, Nodes
from tests.activity.events.test_sources import line, poll_of
from tests.support.client import assert_error
from tests.support.databases import stores_of
from tests.support.execution import Does, eventually, nothing, task
from tests.support.listening import Listening

ELSEWHERE = OrgId("00000000-0000-4000-8000-000000000000")
UNKNOWN = "00000000-0000-4000-8000-000000000001"


async def names(received: Listening, last: str) -> list[str]:
    """Return the names of received events up to one that all listeners get."""
    await received.next(f"plugin.{last}")
    return [each.name for each in received.received if each.name != f"plugin.{last}"]


async def everything(nodes: Nodes, *, last: str) -> None:
    """Create an execution with its log, a poll, an event of a plugin for managers, then one for all."""
    world, node = nodes.world, await nodes.start()
    run = await world.run(task(org_id=nodes.org_id))
    async with world.node(Does(nothing)):
        await world.until(run, "completed")
    await stores_of(nodes.database).polls.queue(poll_of(nodes, "manual"))
    await nodes.publish(node, "managers", permission="system.manage")
    await asyncio.sleep(0.01)  # the order is that of milliseconds
    await nodes.publish(node, last)


async def test_a_listener_gets_what_it_may_see(nodes: Nodes) -> None:
    node = await nodes.start()
    of_all, of_devices, of_tasks = nodes.token("*"), nodes.token(DEVICES), nodes.token(OPERATE)
    foreign, unprivileged = nodes.callers.add(ELSEWHERE, "*"), nodes.token("docs.manage")
    async with (
        node.listen(of_all) as all_of_it,
        node.listen(of_devices) as devices,
        node.listen(of_tasks) as tasks,
        node.listen(unprivileged) as least,
        node.listen(foreign) as elsewhere,
    ):
        await everything(nodes, last="last")
        states = ["execution"] * 3
        assert sorted(await names(all_of_it, "last")) == [*states, "plugin.managers", "poll"]
        assert await names(devices, "last") == ["poll"]
        assert await names(tasks, "last") == states
        assert await names(least, "last") == []
        await node.publisher.publish(org_id=ELSEWHERE, name="plugin.own", data={}, permission=None)
        assert (await elsewhere.next()).name == "plugin.own"


async def test_what_was_missed_is_shown_to_who_may_see_it_now(nodes: Nodes) -> None:
    first, second, token = await nodes.start(), await nodes.start(), nodes.token("*")
    async with first.listen(token) as received:
        place = received.last_id
    await everything(nodes, last="last")
    nodes.callers.change(token, DEVICES)
    async with second.listen(token, last_id=place) as received:
        assert await names(received, "last") == ["poll"]
    foreign = nodes.callers.add(ELSEWHERE, "*")
    async with second.listen(foreign, last_id=place) as received:
        await second.publisher.publish(org_id=ELSEWHERE, name="plugin.own", data={}, permission=None)
        assert (await received.next()).name == "plugin.own"


async def test_a_permission_that_is_taken_away_ends_what_it_showed(nodes: Nodes) -> None:
    node, token = await nodes.start(), nodes.token(OPERATE, DEVICES)
    world = nodes.world
    run = await world.run(task(org_id=nodes.org_id))
    async with node.listen(token, query=f"?execution_id={run.id}") as received:
        await stores_of(nodes.database).execution_logs.append(nodes.org_id, run.id, [line(1)])
        await received.next("log")
        nodes.callers.change(token, DEVICES)
        await asyncio.sleep(stream.FRESH_SECONDS)  # as long as permissions are kept
        await stores_of(nodes.database).execution_logs.append(nodes.org_id, run.id, [line(2)])
        await everything(nodes, last="last")
        await asyncio.sleep(0.5)  # longer than a look at the log
        await nodes.publish(node, "very-last")
        received.received.clear()
        assert await names(received, "very-last") == ["poll", "plugin.last"]


async def test_nothing_is_sent_before_a_token_that_is_too_old_was_checked(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hold the checks back: events wait, and go out by the permissions of then."""
    node, token = await nodes.start(), nodes.token("*")
    answers, original = asyncio.Event(), nodes.callers.callers

    async def waits(tokens: set[str]) -> object:
        await answers.wait()
        return await original(tokens)

    monkeypatch.setattr(node.streams._listeners, "_check", waits)
    async with node.listen(token) as received:
        await asyncio.sleep(stream.FRESH_SECONDS)
        await nodes.publish(node, "secret", permission="system.manage")
        await nodes.publish(node, "open")
        nodes.callers.change(token, DEVICES)
        await eventually(lambda: _waits_for_its_check(node.streams._listeners))
        answers.set()
        assert (await received.next()).name == "plugin.open"


async def _waits_for_its_check(all_of_them: listeners.Listeners) -> bool:
    return any(one.stale_since is not None for one in all_of_them._all())


@pytest.mark.parametrize("blocked", [False, True], ids=["refused", "blocked"])
async def test_a_stream_ends_with_its_token(nodes: Nodes, blocked: bool) -> None:
    node, token = await nodes.start(), nodes.token()
    async with node.listen(token) as received, node.listen(nodes.token()) as other:
        if blocked:
            caller = nodes.callers.by_token[token]
            nodes.callers.by_token[token] = replace(caller, blocked="Change your password first")
        else:
            del nodes.callers.by_token[token]
        assert [(each.name, each.data) for each in await received.until_end()] == [
            ("end", {"reason": "token"})
        ]
        await nodes.publish(node, "news")
        assert (await other.next()).name == "plugin.news"


async def test_requests_that_are_refused(nodes: Nodes) -> None:
    node, token = await nodes.start(listeners=1), nodes.token(DEVICES)
    run = await nodes.world.run(task(org_id=nodes.org_id))
    foreign = await nodes.world.run(task(org_id=ELSEWHERE))
    api = node.api.with_token(token)
    assert_error(await node.api.get("/api/events"), 401)
    assert_error(await api.get("/api/events?execution_id=7"), 400, "execution_id")
    for one in (foreign.id, UNKNOWN):
        assert_error(await api.get(f"/api/events?execution_id={one}"), 404, "Execution not found")
    for wrong in ("7", "1-2-3", "1-g", "1-0~12345678", "9" * 15 + "-0"):
        answer = await api.get("/api/events", headers={"Last-Event-ID": wrong})
        assert_error(answer, 400, "Last-Event-ID")
    async with node.listen(token, query=f"?execution_id={run.id}") as received:
        assert (received.status, received.headers["content-type"]) == (200, "text/event-stream")
        full = await api.get("/api/events")
        assert_error(full, 503, "All 1 event streams of this node are in use")
        assert int(full.headers["Retry-After"]) > 0
    await eventually(lambda: _begins(nodes, node))


async def _begins(nodes: Nodes, node: Node) -> bool:
    """Return whether the place of a client that has left is free."""
    return (await node.api.with_token(nodes.token()).request("HEAD", "/api/events")).status == 200


async def test_a_comment_keeps_an_idle_stream_and_its_place(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check against the specification: a block with an id alone moves the last id and is no event."""
    assert stream.COMMENT_SECONDS == 15
    monkeypatch.setattr(stream, "COMMENT_SECONDS", 0.05)
    monkeypatch.setattr(service, "OVERLAP", timedelta(0))  # or the place would be five seconds behind
    node = await nodes.start()
    async with node.listen(nodes.token()) as received:
        began = Resumed.parse(received.last_id).position
        while Resumed.parse(received.last_id).position <= began:
            await received.comment()
        assert received.received == []


async def test_who_does_not_read_is_dropped_and_holds_nothing(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that another client, which reads, gets everything meanwhile."""
    monkeypatch.setattr(listeners, "MOST_UNSENT", 15)
    held, add = [0], journal.Journal.add

    def noting(self: journal.Journal[object], entry: object, size: int) -> None:
        add(self, entry, size)
        held.append(self.end - self.first)

    monkeypatch.setattr(journal.Journal, "add", noting)
    node, token = await nodes.start(), nodes.token()
    async with node.listen(token) as deaf, node.listen(token) as hearing:
        deaf.reader._transport.pause_reading()  # type: ignore[attr-defined]
        numbers, large = count(), "x" * 60_000

        async def publish() -> None:
            data = {"number": next(numbers), "text": large}
            await node.publisher.publish(org_id=nodes.org_id, name="plugin.large", data=data, permission=None)

        while node.streams.listening == 2:  # what the kernel keeps for a reader ends somewhere
            await asyncio.gather(*(publish() for _ in range(10)))
            for _ in range(10):
                await hearing.next()
        received = [each.data["number"] for each in hearing.received]
        assert sorted(received) == list(range(next(numbers)))
        assert node.streams.listening == 1
        assert max(held) <= 15


async def test_streams_end_at_once_when_a_node_stops(nodes: Nodes) -> None:
    node, token = await nodes.start(), nodes.token()
    async with node.listen(token) as received:
        await node.streams.drain(30)
        assert [each.data for each in await received.until_end()] == [{"reason": "draining"}]
        assert_error(await node.api.with_token(token).get("/api/events"), 503)
        assert node.streams.listening == 0
