"""The HTTP server: at most so many connections, of which the longest idle makes room for a new one."""

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
from netautod.http.connections.active_requests import ActiveRequests
from netautod.http.connections.connection import ServerConnection
from netautod.http.connections.deadlines import Deadlines
from netautod.http.connections.eviction import ConnectionTable
from netautod.http.connections.exchange import Exchange, Turns
from netautod.http.connections.refusal import Refusal
from netautod.http.context import HttpContext, Network, is_within

logger = logging.getLogger(__name__)
CHECK_EVERY = 1.0


@dataclass(frozen=True, kw_only=True)
class Peer:
    """The other end of a connection; requests take their address and protocol from it."""

    remote_ip: str
    protocol: str

    def __str__(self) -> str:
        return self.remote_ip


class HttpServer:
    """The server of `application`, which may be another one later.

    `connections`: how many at most, without those of so many `streams` (answers that have no end of their
    own).
    """

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
        self._in_work = ActiveRequests()
        self._checks: asyncio.TimerHandle | None = None

    def use_certificate(self, context: ssl.SSLContext) -> None:
        """Use this certificate for the connections from now on."""
        self._tls = context

    @property
    def connected(self) -> int:
        """The number of connections, streams included."""
        return len(self._table.all())

    @property
    def metrics(self) -> Metrics:
        """The metrics of the application."""
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
            logger.warning("a connection was refused: all %d are in use", self._most)
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

    def refuse_further(self, application: Application) -> ActiveRequests:
        """Hand further requests to `application`, each as the last of its connection; return those
        in work.
        """
        self.application = application
        in_work, self._in_work = self._in_work, ActiveRequests()
        for requests in (in_work, self._in_work):
            requests.close()
        return in_work

    def _make_room(self) -> bool:
        evicted = self._table.candidate()
        if evicted is None:
            return False
        logger.warning("an idle connection was closed for a new one: all %d are in use", self._most)
        evicted.evict()
        return True

    def _count_malformed(self, address: str) -> None:
        """Count a malformed request for the peer, unless it is a trusted proxy: the client is not known
        then."""
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


def _turn_away(stream: IOStream) -> None:
    """Close a connection, with a 503 if that needs no handshake. It waits for nothing: there is no room for
    it.
    """
    try:
        if not isinstance(stream, SSLIOStream):
            stream.write(Refusal(503, "Too many connections").answer(uuid4().hex))
    except StreamClosedError:
        pass
    stream.close()
