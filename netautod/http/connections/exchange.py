"""One request and its answer on a connection: reads the request, hands it over, and waits for the answer."""

import asyncio
import re
from asyncio import Future
from collections.abc import Callable
from typing import cast

from tornado.concurrent import future_add_done_callback
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPInputError,
    HTTPMessageDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream

from netautod.http.connections import message
from netautod.http.connections.deadlines import Stage
from netautod.http.connections.incoming import BLOCK, Incoming, TooLong
from netautod.http.connections.message import Head
from netautod.http.connections.outgoing import Outgoing
from netautod.http.connections.refusal import Refusal

MAX_HEADER = 64 * 1024
# Handlers set the real limit of each request before its body is read (http/handler.py).
MAX_BODY = 32 * 1024 * 1024
HEAD_END = re.compile(rb"\r?\n\r?\n")
LINE_END = re.compile(rb"\n")
TRAILERS = 64
CHUNK_COST = 1024  # a chunk is as much work as so many bytes
TURN = 64 * 1024  # after so many bytes the others have their turn
AT_ONCE = 16


class Turns:
    """The turns of the large bodies that arrive: only so many go on in one round of the event loop."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def next(self) -> None:
        """Wait for the next turn."""
        async with self._turns:
            await asyncio.sleep(0)


class Exchange(HTTPConnection):
    """The connection that Tornado's handlers answer on; it lives for one request.

    `peer`: what requests take their address and protocol from. `enter` and `received` are called as the
    request gets on, `is_last` when the answer begins.
    """

    def __init__(
        self,
        stream: IOStream,
        peer: object,
        *,
        incoming: Incoming,
        enter: Callable[[Stage], None],
        received: Callable[[int], None],
        turns: Turns,
    ) -> None:
        self.stream = stream
        self.context = peer  # the name that Tornado's requests look for
        self._incoming = incoming
        self._enter = enter
        self._received = received
        self._turns = turns
        self._work = 0
        self._max_body_size = MAX_BODY
        self._outgoing: Outgoing | None = None
        self._is_read = False
        self._closes = False
        self._answered: Future[None] = Future()
        self._on_close: Callable[[], None] | None = None
        self.has_handler = False
        self.is_last: Callable[[], bool] = lambda: False

    @property
    def answer_started(self) -> bool:
        return self._outgoing is not None and self._outgoing.has_started

    @property
    def _answer_ended(self) -> bool:
        return self._outgoing is not None and self._outgoing.has_ended

    async def read(self) -> Head:
        """Return the head of the next request. Raises Refusal."""
        try:
            await self._incoming.begin()
        except TooLong as error:
            raise Refusal(400, "Malformed request: too many empty lines before it") from error
        self._enter(Stage.HEAD)
        try:
            data = await self._incoming.until(HEAD_END, MAX_HEADER)
        except TooLong as error:
            if b"\n" in self._incoming.buffered[:MAX_HEADER]:
                raise Refusal(431, f"The headers are longer than {MAX_HEADER} bytes") from error
            raise Refusal(414, f"The request line is longer than {MAX_HEADER} bytes") from error
        head = message.read_head(data)
        # With a body to come it is not in work yet, whatever the handler has to look up first.
        self._enter(Stage.BODY if head.has_body else Stage.WORK)
        return head

    async def serve(self, head: Head, delegate: HTTPMessageDelegate) -> bool:
        """Hand the request over and wait for its answer; return False if it was the last. Raises Refusal."""
        self._outgoing = Outgoing(self.stream, head.start)
        self._closes = not head.keeps
        self._is_read = not head.has_body
        handed_over = False
        try:
            prepared = self._hand_over(head, delegate)
            self.has_handler = True
            if head.has_body:
                await self._take_body(head, delegate, prepared)
            else:  # nothing is waited for that could only be answered by then
                delegate.finish()
            handed_over = True
            await self._wait_for_answer()
        finally:
            if not handed_over:
                delegate.on_connection_close()
            self._drop_callbacks()
        if self._closes:
            self.close()
        return not self.stream.closed()

    async def _take_body(
        self, head: Head, delegate: HTTPMessageDelegate, prepared: "Future[None] | None"
    ) -> None:
        if prepared is not None:
            await prepared
        if not (head.waits and self._answer_ended):
            await self._read_whole_body(head, delegate)
        self._is_read = True
        if not self._answer_ended:
            self._enter(Stage.WORK)
            delegate.finish()

    def _hand_over(self, head: Head, delegate: HTTPMessageDelegate) -> Future[None] | None:
        try:
            return cast("Future[None] | None", delegate.headers_received(head.start, head.headers))
        except HTTPInputError as error:
            raise message.malformed(error) from error

    async def _wait_for_answer(self) -> None:
        if not self._answered.done() and not self.stream.closed():
            self.stream.set_close_callback(self._client_left)
            await self._answered

    async def _read_whole_body(self, head: Head, delegate: HTTPMessageDelegate) -> None:
        self._enter(Stage.ENDING if self._answer_ended else Stage.BODY)
        if head.waits and not self._answer_ended:
            await self.stream.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if head.length is not None:
            self._check_size(head.length)
            await self._pass_on(head.length, delegate)
            return
        total = 0
        while size := await self._chunk_size():
            total += size
            self._check_size(total)
            await self._pass_on(size, delegate)
            if await self._incoming.exactly(2) != b"\r\n":
                raise Refusal(400, "Malformed request: a chunk is longer than it says")
            await self._worked(CHUNK_COST)
        await self._read_trailers()

    def _check_size(self, size: int) -> None:
        # What is dropped anyway is bounded by time.
        if size > self._max_body_size and not self._answer_ended:
            raise Refusal(413, f"The request body is larger than {self._max_body_size} bytes")

    async def _pass_on(self, left: int, delegate: HTTPMessageDelegate) -> None:
        while left:
            piece = await self._incoming.some(min(left, BLOCK))
            left -= len(piece)
            self._received(len(piece))
            if not self._answer_ended:
                taken = delegate.data_received(piece)
                if taken is not None:
                    await taken
            await self._worked(len(piece))

    async def _chunk_size(self) -> int:
        return message.chunk_size(await self._line("chunk"))

    async def _read_trailers(self) -> None:
        for _ in range(TRAILERS):
            line = await self._line("trailer")
            if line == b"\r\n":
                return
            message.check_trailer(line)
        raise Refusal(400, "Malformed request: too many trailers")

    async def _line(self, what: str) -> bytes:
        try:
            return await self._incoming.until(LINE_END, message.MAX_CHUNK_LINE)
        except TooLong as error:
            raise Refusal(400, f"Malformed request: the line of a {what} is too long") from error

    async def _worked(self, cost: int) -> None:
        self._work += cost
        if self._work >= TURN:
            self._work = 0
            await self._turns.next()

    def set_max_body_size(self, size: int) -> None:
        """Refuse a longer body, instead of one that is longer than MAX_BODY."""
        self._max_body_size = size

    def write_headers(
        self,
        start_line: RequestStartLine | ResponseStartLine,
        headers: HTTPHeaders,
        chunk: bytes | None = None,
    ) -> "Future[None]":
        assert self._outgoing is not None
        if self.is_last() or not self._is_read or self._outgoing.needs_close(headers):
            self._closes = True
        start = cast(ResponseStartLine, start_line)
        return self._outgoing.begin(start, headers, chunk or b"", closes=self._closes)

    def write(self, chunk: bytes) -> "Future[None]":
        assert self._outgoing is not None
        return self._outgoing.write(chunk)

    def goes_on(self) -> None:
        """Mark the answer as a stream, which does not count among those that the node serves at once."""
        self._enter(Stage.STREAM)

    def finish(self) -> None:
        assert self._outgoing is not None
        self._outgoing.end()
        if not self._is_read:
            self._closes = True
        if self._outgoing.pending is None:
            self._end()
        else:
            future_add_done_callback(self._outgoing.pending, lambda _: self._end())
        if not self._is_read:
            self._enter(Stage.ENDING)
        elif not self._answered.done():
            self._enter(Stage.ANSWER)

    def close(self) -> None:
        """Close the connection, whatever is under way."""
        self.stream.close()
        self._drop_callbacks()
        self._set_answered()

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Set the function that is called when the client disconnects before it is answered."""
        self._on_close = callback

    def _client_left(self) -> None:
        callback = self._on_close
        self._drop_callbacks()
        if callback is not None:
            callback()
        self._set_answered()

    def _end(self) -> None:
        """End the exchange when all of the answer has gone out.

        A connection whose request is not read to its end stays open for now: the reset that follows its close
        would take the answer away from a client that is still sending.
        """
        self._drop_callbacks()
        if self._is_read and self._closes:
            self.close()
        else:
            self._set_answered()

    def _set_answered(self) -> None:
        if not self._answered.done():
            self._answered.set_result(None)

    def _drop_callbacks(self) -> None:
        """Let go of the handler, which refers to this exchange."""
        self._on_close = None
        self.stream.set_close_callback(None)
