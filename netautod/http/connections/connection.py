"""One client connection: its requests one after the other, and what ends it."""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from uuid import uuid4

from tornado.httputil import HTTPMessageDelegate
from tornado.iostream import IOStream, SSLIOStream, StreamClosedError

from netautod.core.logs.lines import Belonging, current, event
from netautod.core.metrics import Metrics
from netautod.http.connections.active_requests import ActiveRequests
from netautod.http.connections.deadlines import Deadlines, Stage, Timing
from netautod.http.connections.eviction import ConnectionTable
from netautod.http.connections.exchange import Exchange, Turns
from netautod.http.connections.incoming import BLOCK, Incoming
from netautod.http.connections.refusal import Refusal
from netautod.http.request_log import REQUEST
from netautod.secrets.redaction.patterns import without_secret_patterns

logger = logging.getLogger(__name__)
STEP = 16 * 1024
"""A body is heard of by so many bytes: trickling does not make a connection look lively."""
LINGER_SECONDS = 2.0
LINGER_BYTES = 1024 * 1024


class ServerConnection:
    """The connection of one client. `start_request` hands a request to the application.

    `count` is called before a refusal is written, and may raise another one in its place.
    """

    def __init__(
        self,
        stream: IOStream,
        peer: object,
        *,
        start_request: Callable[["ServerConnection", Exchange], HTTPMessageDelegate],
        deadlines: Deadlines,
        table: "ConnectionTable[ServerConnection]",
        count: Callable[[str], None],
        turns: Turns,
        in_work: Callable[[], ActiveRequests],
        metrics: Metrics,
        hsts: str | None = None,
    ) -> None:
        stream.set_nodelay(True)  # answers are written as a whole, or in large parts
        self.stream = stream
        self._peer = peer
        self._start_request = start_request
        self._in_work = in_work
        self._table = table
        self._count = count
        self._turns = turns
        self._metrics = metrics
        self._hsts = hsts
        self._incoming = Incoming(stream)
        self._timing = Timing(deadlines, self._now())
        self._exchange: Exchange | None = None
        self._serving: asyncio.Task[None] | None = None
        self._unlisted_bytes = 0

    def start(self) -> None:
        """Serve the client's requests until the connection ends."""
        self._serving = asyncio.ensure_future(self._serve())

    async def close(self) -> None:
        """Close the connection and wait for the end of what serves it."""
        self.stream.close()
        if self._serving is not None:
            await asyncio.gather(self._serving, return_exceptions=True)

    def evict(self) -> None:
        self._table.remove(self)
        self.stream.close()

    def check(self) -> None:
        """End the connection if the client takes too long; with an error, if it has begun a request."""
        if self.stream.closed():
            return
        written, taken = self.stream._total_write_index, self.stream._total_write_done_index
        if not self._timing.overdue(self._now(), taken=taken, written=written):
            return
        logger.info("%s takes too long (%s)", self._peer, self._timing.stage.name.lower())
        has_request = self._timing.stage is Stage.BODY or (
            self._timing.stage is Stage.HEAD and self._incoming.buffered
        )
        if has_request and (self._exchange is None or not self._exchange.answer_started):
            refusal, request_id = Refusal(408, "The request took too long to arrive"), uuid4().hex
            if self._timing.stage is Stage.HEAD:  # else its handler logs it
                self._log_refusal(refusal, request_id)
            with suppress(StreamClosedError):
                self.stream.write(refusal.answer(request_id, hsts=self._hsts))
        self.stream.close()

    async def _serve(self) -> None:
        try:
            while await self._one_request():
                self._enter(Stage.IDLE)
                await asyncio.sleep(0)
        except (StreamClosedError, asyncio.CancelledError):
            return
        except Exception:
            logger.exception("a request of %s failed", self._peer)
            self.stream.close()
        finally:
            self._table.remove(self)

    async def _one_request(self) -> bool:
        exchange = self._exchange = Exchange(
            self.stream,
            self._peer,
            incoming=self._incoming,
            enter=self._enter,
            received=self._received,
            turns=self._turns,
        )
        try:
            head = await exchange.read()
            with self._in_work().one() as in_work:
                exchange.is_last = in_work.is_closing
                return await exchange.serve(head, self._start_request(self, exchange))
        except Refusal as refusal:
            if not exchange.answer_started:
                await self._refuse(refusal)
            self.stream.close()
            return False

    async def _refuse(self, refusal: Refusal) -> None:
        request_id = uuid4().hex
        self._log_refusal(refusal, request_id)
        try:
            self._count(str(self._peer))
        except Refusal as other:
            refusal = other
        self._enter(Stage.ENDING)
        await self.stream.write(refusal.answer(request_id, hsts=self._hsts))
        await self._linger()

    def _log_refusal(self, refusal: Refusal, request_id: str) -> None:
        """Log and count a request that is refused before a handler has it; a handler counts its own."""
        if self._exchange is None or not self._exchange.has_handler:
            self._metrics.add("http_requests", 1, "other", "unknown", str(refusal.status))
        text = without_secret_patterns(refusal.text)
        fields = {"status": refusal.status, "client": str(self._peer), "error": text}
        token = current.set(Belonging(request=request_id))
        logger.info("%s: %d %s", self._peer, refusal.status, text, extra=event(REQUEST, fields))
        current.reset(token)

    async def _linger(self) -> None:
        """Wait for the client to hang up: closing while it still sends would take the answer from it."""
        if not isinstance(self.stream, SSLIOStream):
            with suppress(OSError):
                self.stream.socket.shutdown(socket.SHUT_WR)
        dropped = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while dropped < LINGER_BYTES:
                    dropped += len(await self.stream.read_bytes(BLOCK, partial=True))

    def _enter(self, stage: Stage) -> None:
        self._timing.enter(stage, self._now())
        self._table.set_apart(self, apart=stage is Stage.STREAM)
        if stage in (Stage.WORK, Stage.STREAM):
            self._table.busy(self)
        else:
            self._table.idle(self)

    def _received(self, size: int) -> None:
        self._timing.received(size)
        self._unlisted_bytes += size
        if self._unlisted_bytes >= STEP:
            self._unlisted_bytes = 0
            self._table.idle(self)

    def _now(self) -> float:
        return float(self.stream.io_loop.time())
