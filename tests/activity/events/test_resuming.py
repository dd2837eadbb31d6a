"""Streams that go on: on another node, with a log, after an outage; and what cannot be resumed any more."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest

from netautod.activity.events.models import Event, Position, Resumed, key_of
from netautod.activity.events.streaming import replay
from netautod.activity.events.streaming.ordering import Ordering
from netautod.activity.events.tailer import Tailer
from netautod.core.clock import SystemClock
from netautod.core.identity.caller import OrgId
from netautod.store.connection import connect
from netautod.store.driver.changes import Changes, HistoryLost
from tests.activity.events.nodes import Node, Nodes
from tests.activity.events.test_sources import line
from tests.support.databases import stores_of
from tests.support.execution import eventually, task
from tests.support.listening import Listening, ReceivedEvent
from tests.support.programs.cut_line import cut_line

STREAMS = pytest.mark.parametrize("change_streams", [True, False], ids=["change streams", "looking"])


async def next_names(received: Listening, count: int) -> list[str]:
    return [(await received.next()).name.removeprefix("plugin.") for _ in range(count)]


async def publish(nodes: Nodes, node: Node, *names: str) -> None:
    """Publish in this order, which is that of milliseconds."""
    for name in names:
        await nodes.publish(node, name)
        await asyncio.sleep(0.002)


@STREAMS
async def test_a_stream_goes_on_at_another_node(nodes: Nodes, change_streams: bool) -> None:
    """Check nodes with and without earlier listeners: missed events come in order, and once."""
    first = await nodes.start()
    others = [await nodes.start(change_streams=change_streams) for _ in range(2)]
    token = nodes.token()
    async with others[0].listen(token):
        async with first.listen(token) as received:
            await publish(nodes, first, "a", "b")
            assert await next_names(received, 2) == ["a", "b"]
            place = received.last_id
        await publish(nodes, first, "c", "d")
        for other in others:
            async with other.listen(token, last_id=place) as received:
                assert await next_names(received, 2) == ["c", "d"]
                # Longer than the node may still come to know of what was sent as missed.
                await asyncio.sleep(0.6)
                await publish(nodes, first, "e")
                assert await next_names(received, 1) == ["e"]
                await publish(nodes, first, "f")
                assert await next_names(received, 1) == ["f"]
            await publish(nodes, first, "g")
            async with other.listen(token, last_id=received.last_id) as received:
                assert await next_names(received, 1) == ["g"]
            place = str((await _started_at(other, token, nodes)).id)
            await publish(nodes, first, "c", "d")


async def _started_at(node: Node, token: str, nodes: Nodes) -> ReceivedEvent:
    async with node.listen(token) as received:
        await publish(nodes, node, "begun")
        while True:
            found = await received.next()
            if found.name == "plugin.begun":
                return found


async def test_a_log_goes_on_behind_its_last_line(nodes: Nodes) -> None:
    """Check a log that has other listeners, too; the place in another log does not count."""
    logs, node, token = stores_of(nodes.database).execution_logs, await nodes.start(), nodes.token()
    run = await nodes.world.run(task(org_id=nodes.org_id))
    query = f"?execution_id={run.id}"
    async with node.listen(token, query=query) as received:
        await logs.append(nodes.org_id, run.id, [line(number) for number in range(1, 4)])
        assert [(await received.next("log")).data["seq"] for _ in range(3)] == [1, 2, 3]
        second = received.received[1].id
        for _ in range(2):
            async with node.listen(token, query=query, last_id=second) as again:
                assert (await again.next("log")).data["seq"] == 3
                await asyncio.sleep(0)
        await logs.append(nodes.org_id, run.id, [line(4)])
        assert (await received.next("log")).data["seq"] == 4
    async with node.listen(token, query=query, last_id=second) as alone:
        assert [(await alone.next("log")).data["seq"] for _ in range(2)] == [3, 4]
    other = str(second).replace(run.id[:8], "00000000")
    async with node.listen(token, query=query, last_id=other) as elsewhere:
        await logs.append(nodes.org_id, run.id, [line(5)])
        assert (await elsewhere.next("log")).data["seq"] == 5


async def test_a_place_that_is_too_old_is_reported(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check a place that is too old, and too many events; the stream continues from its beginning."""
    node, token = await nodes.start(), nodes.token()
    now = SystemClock().now()
    for moment in (now - timedelta(minutes=5, seconds=5), now + timedelta(hours=1)):
        async with node.listen(token, last_id=f"{Position.before(moment)}") as received:
            reset = await received.next()
            assert (reset.name, list(reset.data)) == ("reset", ["reason"])
            await publish(nodes, node, "news")
            assert await next_names(received, 1) == ["news"]
        assert abs(Resumed.parse(str(reset.id)).position.at - now) < timedelta(minutes=1)
    async with node.listen(token, last_id=str(reset.id)) as received:
        assert await next_names(received, 1) == ["news"]
    monkeypatch.setattr(replay, "MOST", 3)
    await publish(nodes, node, "b", "c", "d")
    async with node.listen(token, last_id=str(reset.id)) as received:
        assert (await received.next()).name == "reset"


@STREAMS
async def test_an_outage_of_the_database_loses_nothing(
    nodes: Nodes, mongo_uri: str, change_streams: bool
) -> None:
    """Cut off the node alone: others write meanwhile."""
    writing, token = await nodes.start(), nodes.token()
    place = Path(unquote(mongo_uri.removeprefix("mongodb://").partition("/")[0]))
    async with AsyncExitStack() as stack:
        line = await stack.enter_async_context(cut_line(place))
        uri = f"mongodb://127.0.0.1:{line.port}/?directConnection=true"
        cut_off = connect(uri, nodes.database.name, timeout_seconds=1.0)
        stack.callback(cut_off.close)
        node = await nodes.start(database=cut_off, change_streams=change_streams)
        received = await stack.enter_async_context(node.listen(token))
        await publish(nodes, writing, "before")
        assert await next_names(received, 1) == ["before"]
        await line.cut()
        await publish(nodes, writing, "a", "b")
        await line.mend()
        assert await next_names(received, 2) == ["a", "b"]
        await publish(nodes, writing, "after")
        assert await next_names(received, 1) == ["after"]


async def test_changes_that_are_not_kept_any_more_are_looked_for(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check an outage that was longer than the history of the database."""
    node, token = await nodes.start(), nodes.token()
    take, lost = Tailer._take, asyncio.Event()

    async def loses(self: Tailer, changes: Changes) -> None:
        if not lost.is_set():
            await nodes.publish(node, "missed")
            lost.set()
            raise HistoryLost("the oplog is too short")
        await take(self, changes)

    async with node.listen(token) as received:
        await publish(nodes, node, "before")
        assert await next_names(received, 1) == ["before"]
        monkeypatch.setattr(Tailer, "_take", loses)
        assert await next_names(received, 1) == ["missed"]
        assert lost.is_set()


async def test_listeners_are_reset_when_the_database_was_away_for_too_long(nodes: Nodes) -> None:
    node, token = await nodes.start(change_streams=False), nodes.token()
    async with node.listen(token) as received:
        tailer = node.streams._tailer
        assert tailer._place is not None
        tailer._place -= timedelta(minutes=6)
        assert (await received.next()).name == "reset"
        await publish(nodes, node, "after")
        assert await next_names(received, 1) == ["after"]


@pytest.mark.parametrize("change_streams", [True, False], ids=["by change streams", "by looking"])
async def test_events_go_on_when_the_databases_clock_was_set_back(nodes: Nodes, change_streams: bool) -> None:
    node, token = await nodes.start(change_streams=change_streams), nodes.token()
    async with node.listen(token) as received:
        await publish(nodes, node, "before")
        assert await next_names(received, 1) == ["before"]
        tailer = node.streams._tailer
        assert tailer._place is not None
        ahead = tailer._place = tailer._place + timedelta(minutes=10)

        async def followed() -> bool:
            return tailer._place is not None and tailer._place < ahead

        await eventually(followed)
        await publish(nodes, node, "after")
        assert await next_names(received, 1) == ["after"]


async def test_events_that_come_in_the_wrong_order_go_out_in_the_right_one() -> None:
    out: list[Event] = []
    done = asyncio.Event()

    def on(events: Sequence[Event]) -> None:
        out.extend(events)
        if len(out) == 3:
            done.set()

    now = SystemClock().now()
    events = [
        Event(
            at=now + timedelta(milliseconds=number),
            key=key_of("c", "r", number),
            name="plugin.x",
            org_id=OrgId("o"),
            permission=None,
            data={},
        )
        for number in range(3)
    ]
    ordering = Ordering(on, seconds=0.05)
    ordering.add([events[2]])
    ordering.add([events[0]])
    ordering.add([events[1]])
    await done.wait()
    assert out == events
