"""A node that is told to stop: what has begun is finished, what is new is told to come again later."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from netautod.assembly.settings import Settings
from netautod.http.settings import ServerSettings
from netautod.server.draining import drain
from tests.attacks.attackers.raw import Answer, ask, raw
from tests.http.connections.test_server import LONG, QUICK, Served, served
from tests.support.execution import eventually

UPLOAD = b"POST /slow-check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"


@dataclass
class Runs:
    """Stands for the runs of a node: `begun` tells that the drain is on, `ended` lets it end."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def drain(self, seconds: float) -> None:
        self.begun.set()
        await self.ended.wait()


@dataclass(frozen=True, kw_only=True)
class Stopping(Served):
    """A node whose runs have not ended yet."""

    runs: Runs
    whole: asyncio.Event
    drain_seconds: float = 600.0

    @asynccontextmanager
    async def draining_while(self) -> AsyncIterator["asyncio.Task[None]"]:
        settings = Settings(server=ServerSettings(drain_seconds=self.drain_seconds))
        stopping = asyncio.create_task(drain(self.server, [self.runs], settings, whole=self.whole))
        await self.runs.begun.wait()
        yield stopping
        self.runs.ended.set()
        self.work.may_end.set()
        await stopping


@asynccontextmanager
async def node(*, whole: bool = True, drain_seconds: float = 600.0) -> AsyncIterator[Stopping]:
    async with served() as one:
        told = asyncio.Event()
        if whole:
            told.set()
        yield Stopping(
            url=one.url,
            server=one.server,
            work=one.work,
            runs=Runs(),
            whole=told,
            drain_seconds=drain_seconds,
        )


def assert_turned_away(answer: Answer) -> None:
    assert answer.status == 503
    assert answer.json == {"error": "draining"}
    assert int(answer.headers["retry-after"]) > 0
    assert answer.ends


@pytest.mark.parametrize(
    "request_line",
    ["GET /quick", "GET /health", "GET /api/nowhere", "POST /slow-check", "OPTIONS /quick"],
)
async def test_a_new_connection_is_told_to_come_again(request_line: str) -> None:
    async with node() as stopping, stopping.draining_while():
        sent = f"{request_line} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        assert_turned_away(await ask(stopping.url, sent))


async def test_a_request_in_work_is_answered_and_what_follows_on_its_connection_is_turned_away() -> None:
    async with node() as stopping, raw(stopping.url) as working, raw(stopping.url) as idle:
        idle.send(QUICK)
        assert not (await idle.answer()).ends
        working.send(LONG)
        await stopping.work.started.acquire()
        async with stopping.draining_while():
            idle.send(QUICK)
            assert_turned_away(await idle.answer())
            stopping.work.may_end.set()
            answer = await working.answer()
            assert (answer.status, answer.json, answer.ends) == (200, {"done": True}, True)
            assert await working.everything() == b""


async def test_a_body_on_its_way_may_arrive() -> None:
    async with node() as stopping, raw(stopping.url) as client:
        client.send(UPLOAD)
        await stopping.work.started.acquire()
        async with stopping.draining_while():
            stopping.work.may_end.set()
            client.send(b"{  }")
            assert (await client.answer()).status == 200


async def test_a_head_that_was_half_there_is_turned_away() -> None:
    async with node() as stopping, raw(stopping.url) as client:
        client.send(QUICK[:10])
        await _held(stopping, 1)
        async with stopping.draining_while():
            client.send(QUICK[10:])
            assert_turned_away(await client.answer())


async def test_the_node_waits_for_its_runs_and_for_the_answers_that_it_owes() -> None:
    async with node() as stopping, raw(stopping.url) as client:
        client.send(LONG)
        await stopping.work.started.acquire()
        async with stopping.draining_while() as drained:
            stopping.runs.ended.set()
            assert_turned_away(await ask(stopping.url, QUICK))
            assert not drained.done()
            stopping.work.may_end.set()
            assert (await client.answer()).status == 200
            await drained


async def test_an_answer_that_never_ends_holds_the_node_for_its_drain_seconds_only() -> None:
    async with node(drain_seconds=0.2) as stopping, raw(stopping.url) as client:
        client.send(LONG)
        await stopping.work.started.acquire()
        async with stopping.draining_while() as drained:
            stopping.runs.ended.set()
            await drained
            assert not stopping.work.may_end.is_set()


async def test_a_worker_that_stops_alone_leaves_new_connections_to_its_siblings() -> None:
    """And answers them again when it is told that all stop."""
    async with node(whole=False) as stopping, raw(stopping.url) as idle:
        idle.send(QUICK)
        await idle.answer()
        async with stopping.draining_while(), raw(stopping.url) as newcomer:
            newcomer.send(QUICK)
            idle.send(QUICK)
            assert_turned_away(await idle.answer())
            assert stopping.server.connected == 0  # the newcomer waits in the queue of the socket
            stopping.whole.set()
            assert_turned_away(await newcomer.answer())


async def _held(stopping: Stopping, count: int) -> None:
    async def look() -> bool:
        return stopping.server.connected == count

    await eventually(look)
