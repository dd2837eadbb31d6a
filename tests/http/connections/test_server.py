"""The server with real sockets: who is kept, who is turned away, and who is cut off."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from netautod.core.clock import SystemClock
from netautod.core.errors import Unauthenticated
from netautod.core.identity.caller import Caller, RequestInfo
from netautod.http.access import public
from netautod.http.bodies.reader import BodyReader
from netautod.http.connections import connection
from netautod.http.connections.connection import LINGER_BYTES
from netautod.http.connections.server import HttpServer
from netautod.http.context import HttpContext
from netautod.http.handler import JsonHandler
from netautod.http.limits import Rate, RequestLimits
from netautod.http.routing.routes import Route, application
from netautod.http.settings import ServerSettings
from tests.attacks.attackers.crowds import crowd
from tests.attacks.attackers.raw import ask, raw
from tests.support.execution import eventually
from tests.support.serving import serve_application

QUICK = b"GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n"
LONG = b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"
MANY_MIB = 64 * 1024 * 1024


@dataclass
class Work:
    """A request in work: `/long` begins, and ends when it may."""

    started: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    may_end: asyncio.Event = field(default_factory=asyncio.Event)


class QuickHandler(JsonHandler):
    @public(limited=False, body_limit=MANY_MIB)
    async def get(self) -> None:
        """Answer at once."""
        self.answer({})


class LargeHandler(JsonHandler):
    @public(limited=False)
    async def get(self) -> None:
        """Answer more than any buffer between us holds."""
        self.finish(b"x" * MANY_MIB)


class StreamHandler(JsonHandler):
    work: Work

    @public(limited=False)
    async def get(self) -> None:
        """Answer until it may end."""
        cast(Any, self.request.connection).goes_on()
        self.write("started")
        await self.flush()
        await self.work.may_end.wait()


class SlowCheckHandler(JsonHandler):
    """A handler that waits for something before it lets the body in."""

    work: Work

    async def prepare(self) -> None:
        self.work.started.release()
        await self.work.may_end.wait()
        await super().prepare()

    @public(limited=False, body_limit=MANY_MIB)
    async def post(self) -> None:
        """Take a body."""
        self.answer({})


class LongHandler(JsonHandler):
    work: Work

    @public(limited=False)
    async def get(self) -> None:
        """Wait until it may end."""
        self.work.started.release()
        await self.work.may_end.wait()
        self.answer({"done": True})


async def refuse_token(token: str, info: RequestInfo) -> Caller:
    raise Unauthenticated("no token is valid")


@dataclass(frozen=True, kw_only=True)
class Served:
    url: str
    server: HttpServer
    work: Work

    async def until_all_are_disconnected(self) -> None:
        async def empty() -> bool:
            return self.server.connected == 0

        await eventually(empty, seconds=20)


@asynccontextmanager
async def served(
    connections: int = 10, streams: int = 0, limits: RequestLimits | None = None, **settings: object
) -> AsyncIterator[Served]:
    context = HttpContext(
        authenticate=refuse_token,
        limits=limits or RequestLimits.none(SystemClock()),
        bodies=BodyReader(),
        trusted_proxies=(),
        cors_origins=frozenset(),
    )
    routes = [
        Route(path="/quick", handler=QuickHandler),
        Route(path="/long", handler=LongHandler),
        Route(path="/large", handler=LargeHandler),
        Route(path="/stream", handler=StreamHandler),
        Route(path="/slow-check", handler=SlowCheckHandler),
    ]
    work = Work()
    server, url = serve_application(
        application(routes, context, [work]),
        server=ServerSettings(**settings),  # type: ignore[arg-type]
        connections=connections,
        streams=streams,
    )
    yield Served(url=url, server=server, work=work)
    work.may_end.set()
    server.stop()
    await server.close_all_connections()


async def test_a_request_in_work_never_gives_way() -> None:
    async with served(connections=3) as node, AsyncExitStack() as stack:
        working = [await stack.enter_async_context(raw(node.url, source="127.0.0.2")) for _ in range(2)]
        for client in working:
            client.send(LONG)
            await node.work.started.acquire()
        async with crowd(node.url, 20, b"", sources=["127.0.0.3"]):
            assert (await ask(node.url, QUICK)).status == 200
        node.work.may_end.set()
        assert [(await client.answer()).json for client in working] == [{"done": True}] * 2


async def test_where_all_are_busy_a_new_connection_is_refused() -> None:
    async with served(connections=1) as node, raw(node.url) as working:
        working.send(LONG)
        await node.work.started.acquire()
        async with raw(node.url) as newcomer:
            answer = await newcomer.answer()
        assert (answer.status, answer.json) == (503, {"error": "Too many connections"})
        node.work.may_end.set()
        assert (await working.answer()).status == 200
        working.send(QUICK)  # once this is answered the other one is over for good
        assert (await working.answer()).status == 200
        assert (await ask(node.url, QUICK)).status == 200


async def test_a_stream_takes_no_connection_from_others_while_it_lasts() -> None:
    """Open as many as there may be beside them; a stream is not idle, so it never gives way, either."""
    stream = b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with served(connections=1, streams=1) as node, raw(node.url) as first:
        first.send(stream)
        assert (await first.answer(to_head=True)).status == 200
        assert (await ask(node.url, QUICK)).status == 200
        async with raw(node.url) as second:
            second.send(stream)
            assert (await second.answer(to_head=True)).status == 200
            async with raw(node.url) as newcomer:
                assert (await newcomer.answer()).status == 503
        node.work.may_end.set()
        assert b"started" in await first.rest(b"0\r\n\r\n")
        first.send(QUICK)  # from here on it is a connection as any other
        assert (await first.answer()).status == 200


async def test_a_request_without_its_body_gives_way() -> None:
    async with served(connections=1) as node, raw(node.url) as slow:
        slow.send(b"POST /slow-check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
        await node.work.started.acquire()
        assert (await ask(node.url, QUICK)).status == 200
        assert await slow.everything() == b""


@pytest.mark.parametrize("sent", [pytest.param(b"", id="nothing"), pytest.param(QUICK[:9], id="half a line")])
async def test_who_does_not_ask_is_cut_off(sent: bytes) -> None:
    async with served(header_timeout=0.4) as node, raw(node.url) as client:
        client.send(sent)
        assert b" 200 " not in await client.everything()


async def test_connections_of_a_trusted_proxy_never_give_way() -> None:
    async with (
        served(connections=3, trusted_proxies=("127.0.0.9",)) as node,
        crowd(node.url, 3, QUICK, sources=["127.0.0.9"]) as proxied,
    ):
        assert [(await client.answer()).status for client in proxied] == [200] * 3
        async with raw(node.url) as newcomer:
            assert (await newcomer.answer()).status == 503
        for client in proxied:
            client.send(QUICK)
            assert (await client.answer()).status == 200


async def test_a_reader_who_takes_nothing_is_cut_off() -> None:
    async with served(answer_timeout=0.4) as node, raw(node.url) as client:
        client.send(LARGE)
        await node.until_all_are_disconnected()


async def test_a_reader_who_takes_it_all_is_served_whatever_the_size() -> None:
    async with served(answer_timeout=60) as node:
        assert len((await ask(node.url, LARGE)).body) == MANY_MIB


async def test_a_client_that_hangs_up_leaves_nothing_behind() -> None:
    async with served() as node:
        for sent in (b"", b"GET", QUICK, LONG, LARGE, b"NONSENSE\r\n\r\n"):
            async with raw(node.url) as client:
                client.send(sent)
        await node.until_all_are_disconnected()


async def test_a_reset_leaves_nothing_behind() -> None:
    async with served() as node:
        host, port = node.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            connection.sendall(LARGE)
        await node.until_all_are_disconnected()


@pytest.mark.parametrize("size", [MANY_MIB // 2, MANY_MIB])
async def test_a_large_body_is_read_over_and_the_answer_arrives(size: int) -> None:
    async with served() as node, raw(node.url) as client:
        client.send(b"GET /quick HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % size)
        client.send(b"x" * size)
        assert (await client.answer()).status == 200


@pytest.mark.parametrize(
    ("proxies", "statuses"),
    [
        pytest.param((), [400, 400, 429, 429], id="a client"),
        pytest.param(("127.0.0.9",), [400] * 4, id="a trusted proxy"),
        pytest.param(("127.0.0.8",), [400, 400, 429, 429], id="a client where another one is the proxy"),
    ],
)
async def test_what_is_no_request_counts_for_who_sends_it_unless_that_is_a_proxy(
    proxies: tuple[str, ...], statuses: list[int]
) -> None:
    two_a_day = Rate(per_second=2 / 86_400, burst=2)
    limits = RequestLimits(clock=SystemClock(), callers=two_a_day, anonymous=two_a_day)
    async with served(limits=limits, trusted_proxies=proxies) as node:
        found = []
        for _ in statuses:
            async with raw(node.url, source="127.0.0.9") as client:
                client.send(b"NONSENSE\r\n\r\n")
                found.append((await client.answer()).status)
    assert found == statuses


@pytest.mark.parametrize(
    ("size", "status"), [pytest.param(65536, 200, id="64 KiB"), pytest.param(65537, 431, id="one byte more")]
)
async def test_a_head_may_have_so_many_bytes(size: int, status: int) -> None:
    head = QUICK.removesuffix(b"\r\n") + b"X: "
    async with served() as node:
        assert (await ask(node.url, head + b"x" * (size - len(head) - 4) + b"\r\n\r\n")).status == status


async def test_of_what_follows_a_refusal_so_much_is_dropped_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert LINGER_BYTES == 1024 * 1024
    monkeypatch.setattr(connection, "LINGER_SECONDS", 3600.0)
    async with served() as node, raw(node.url) as client:
        client.send(b"NONSENSE\r\n\r\n")
        assert (await client.answer()).status == 400
        client.send(b"x" * LINGER_BYTES)
        await node.until_all_are_disconnected()
