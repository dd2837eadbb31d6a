"""The HTTP server: at most so many connections, of which the idlest make room for newcomers."""

import asyncio
import logging
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from tornado.http1connection import HTTP1ConnectionParameters
from tornado.httputil import HTTPConnection, HTTPMessageDelegate, HTTPServerConnectionDelegate
from tornado.iostream import IOStream, SSLIOStream, StreamClosedError
from tornado.tcpserver import TCPServer
from tornado.web import Application

from netautod.core.errors import TooManyRequests
from netautod.core.metrics import Metrics
from netautod.core.net.addresses import group_of
from netautod.http.connections.active_requests import InWork
from netautod.http.connections.connection import ServerConnection
from netautod.http.connections.deadlines import Deadlines
from netautod.http.connections.eviction import ConnectionTable
from netautod.http.connections.exchange import Turns
from netautod.http.connections.refusal import Refusal
from netautod.http.context import HttpContext, Network, is_within

logger = logging.getLogger(__name__)
MAX_HEADER = 64 * 1024
# Handlers set the real limit of each request before its body is read (http/handler.py).
MAX_BODY = 32 * 1024 * 1024
SAID_EVERY = 10.0
CHECK_EVERY = 1.0


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Who is at the other end; requests take their address and protocol from it."""

    remote_ip: str
    protocol: str

    def __str__(self) -> str:
        return self.remote_ip


class HttpServer(TCPServer, HTTPServerConnectionDelegate):
    """Serves `application`, which may be another one later. `connections`: how many at most, without those of
    so many `streams` (answers that have no end of their own)."""

    def __init__(
        self,
        application: Application,
        *,
        connections: int,
        streams: int = 0,
        deadlines: Deadlines,
        trusted_proxies: Sequence[Network] = (),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(ssl_options=tls)
        self.application = application
        self._most = connections
        self._deadlines = deadlines
        self._trusted = trusted_proxies
        self._parameters = HTTP1ConnectionParameters(max_header_size=MAX_HEADER, max_body_size=MAX_BODY)
        self._table: ConnectionTable[ServerConnection] = ConnectionTable(most_apart=streams)
        self._turns = Turns()
        self._in_work = InWork()
        self._paused = False
        self._checks: asyncio.TimerHandle | None = None
        self._turned_away = _Counted(f"connections were turned away: all {connections} are in use")
        self._evictions = _Counted(f"idle connections were evicted: all {connections} are in use")

    def use_certificate(self, context: ssl.SSLContext) -> None:
        """For the connections from now on."""
        self.ssl_options = context

    @property
    def held(self) -> int:
        """How many connections there are, streams included."""
        return len(self._table.all())

    @property
    def metrics(self) -> Metrics:
        """Those of the application."""
        return self._context.metrics

    @property
    def _context(self) -> HttpContext:
        return cast(HttpContext, self.application.settings["context"])

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        if len(self._table) >= self._most and not self._make_room():
            self._turned_away.one(stream.io_loop.time())
            _turn_away(stream)
            return
        peer = Peer(
            remote_ip=str(address[0]) if address else "unknown",
            protocol="https" if isinstance(stream, SSLIOStream) else "http",
        )
        connection = ServerConnection(
            stream,
            self._parameters,
            peer,
            deadlines=self._deadlines,
            table=self._table,
            count=self._count_malformed,
            turns=self._turns,
            in_work=lambda: self._in_work,
            metrics=self.metrics,
            hsts=self._context.hsts_over(peer.protocol),
        )
        exempt = is_within(peer.remote_ip, self._trusted)
        self._table.add(connection, None if exempt else group_of(peer.remote_ip))
        self._keep_checking()
        connection.start_serving(self)

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        return self.application.start_request(server_conn, request_conn)

    def on_close(self, server_conn: object) -> None:
        self._table.remove(cast(ServerConnection, server_conn))

    async def close_all_connections(self) -> None:
        for connection in self._table.all():
            await connection.close()
        if self._checks is not None:
            self._checks.cancel()
            self._checks = None

    def refuse_further(self, application: Application) -> InWork:
        """Further requests go to `application`, each the last of its connection; answers what has begun."""
        self.application = application
        begun, self._in_work = self._in_work, InWork()
        for requests in (begun, self._in_work):
            requests.close()
        return begun

    def pause_accepting(self) -> None:
        """Leaves new connections to other processes on the same socket."""
        for descriptor, remove in list(self._handlers.items()):
            remove()
            self._handlers[descriptor] = _nothing
        self._paused = True

    def go_on_accepting(self) -> None:
        if self._paused:
            self._paused = False
            self.add_sockets(list(self._sockets.values()))

    def _make_room(self) -> bool:
        evicted = self._table.candidate()
        if evicted is None:
            return False
        self._evictions.one(evicted.stream.io_loop.time())
        evicted.evict()
        return True

    def _count_malformed(self, address: str) -> None:
        """What is no request has no headers to believe: it counts for the peer, unless that is a proxy."""
        if is_within(address, self._trusted):
            return
        try:
            self._context.limits.anonymous(address)
        except TooManyRequests as error:
            raise Refusal(429, error.text, retry_after=error.retry_after) from error

    def _keep_checking(self) -> None:
        if self._checks is None:
            pause = min(CHECK_EVERY, self._deadlines.shortest / 4)
            self._checks = asyncio.get_running_loop().call_later(pause, self._check)

    def _check(self) -> None:
        self._checks = None
        held = self._table.all()
        for connection in held:
            connection.check()
        if held:
            self._keep_checking()


class _Counted:
    """Says how often something happened, in one line every few seconds."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._count = 0
        self._said_at = -SAID_EVERY

    def one(self, now: float) -> None:
        self._count += 1
        if now - self._said_at >= SAID_EVERY:
            logger.warning("%d %s", self._count, self._text)
            self._count, self._said_at = 0, now


def _nothing() -> None:
    """In place of what would stop accepting: that is done."""


def _turn_away(stream: IOStream) -> None:
    """In a word, if that needs no handshake. Nothing is waited for: there is no room to wait in."""
    try:
        if not isinstance(stream, SSLIOStream):
            stream.write(Refusal(503, "Too many connections").answer(uuid4().hex))
    except StreamClosedError:
        pass
    stream.close()
