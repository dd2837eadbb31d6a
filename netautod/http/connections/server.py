"""The HTTP server: at most so many connections, of which the idlest make room for newcomers."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from tornado.httputil import HTTPMessageDelegate
from tornado.iostream import IOStream, SSLIOStream, StreamClosedError
from tornado.netutil import add_accept_handler, ssl_wrap_socket
from tornado.web import Application

from netautod.core.errors import TooManyRequests
from netautod.core.metrics import Metrics
from netautod.core.net.addresses import group_of
from netautod.http.connections.active_requests import InWork
from netautod.http.connections.connection import ServerConnection
from netautod.http.connections.deadlines import Deadlines
from netautod.http.connections.eviction import ConnectionTable
from netautod.http.connections.exchange import Exchange, Turns
from netautod.http.connections.refusal import Refusal
from netautod.http.context import HttpContext, Network, is_within

logger = logging.getLogger(__name__)
SAID_EVERY = 10.0
CHECK_EVERY = 1.0


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Who is at the other end; requests take their address and protocol from it."""

    remote_ip: str
    protocol: str

    def __str__(self) -> str:
        return self.remote_ip


class HttpServer:
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
        self._tls = tls
        self._sockets: list[socket.socket] = []
        self._stop_accepting: list[Callable[[], None]] = []
        self.application = application
        self._most = connections
        self._deadlines = deadlines
        self._trusted = trusted_proxies
        self._table: ConnectionTable[ServerConnection] = ConnectionTable(most_apart=streams)
        self._turns = Turns()
        self._in_work = InWork()
        self._checks: asyncio.TimerHandle | None = None
        self._turned_away = _Counted(f"connections were turned away: all {connections} are in use")
        self._evictions = _Counted(f"idle connections were evicted: all {connections} are in use")

    def use_certificate(self, context: ssl.SSLContext) -> None:
        """For the connections from now on."""
        self._tls = context

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

    def add_sockets(self, listeners: Sequence[socket.socket]) -> None:
        """Accept connections on these sockets, which are the server's from now on."""
        self._sockets += listeners
        self._stop_accepting += [add_accept_handler(one, self._accept) for one in listeners]

    def pause_accepting(self) -> None:
        """Leave new connections to other processes on the same sockets."""
        for stop in self._stop_accepting:
            stop()
        self._stop_accepting.clear()

    def go_on_accepting(self) -> None:
        """Accept connections again after a pause."""
        if not self._stop_accepting:
            self._stop_accepting = [add_accept_handler(one, self._accept) for one in self._sockets]

    def stop(self) -> None:
        """Accept no more connections, and close the sockets; what is connected stays so."""
        self.pause_accepting()
        for listener in self._sockets:
            listener.close()
        self._sockets.clear()

    def _accept(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        try:
            stream = self._stream(connection)
        except OSError:  # the client has gone already
            connection.close()
        else:
            self._take(stream, address)

    def _stream(self, connection: socket.socket) -> IOStream:
        if self._tls is None:
            return IOStream(connection)
        wrapped = ssl_wrap_socket(connection, self._tls, server_side=True, do_handshake_on_connect=False)
        return SSLIOStream(wrapped)

    def _take(self, stream: IOStream, address: tuple[Any, ...]) -> None:
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
            peer,
            start_request=self._start_request,
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
        connection.start()

    def _start_request(self, connection: object, exchange: Exchange) -> HTTPMessageDelegate:
        return self.application.start_request(connection, exchange)

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
