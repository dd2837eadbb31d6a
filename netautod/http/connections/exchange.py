"""One request and its answer on a connection: reads the request, Tornado's connection writes the answer."""

import asyncio
import logging
import re
from asyncio import Future
from collections.abc import Callable
from typing import cast

from tornado.concurrent import future_add_done_callback
from tornado.http1connection import HTTP1Connection, HTTP1ConnectionParameters
from tornado.httputil import (
    HTTPHeaders,
    HTTPInputError,
    HTTPMessageDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream, StreamClosedError

from netautod.http.connections import message
from netautod.http.connections.deadlines import Stage
from netautod.http.connections.incoming import BLOCK, Incoming, TooLong
from netautod.http.connections.message import Head
from netautod.http.connections.refusal import Refusal

logger = logging.getLogger(__name__)
HEAD_END = re.compile(rb"\r?\n\r?\n")
LINE_END = re.compile(rb"\n")
TRAILERS = 64
CHUNK_COST = 1024  # a chunk is as much work as so many bytes
TURN = 64 * 1024  # after so many bytes the others have their turn
AT_ONCE = 16
BODILESS = (204, 304)


class Turns:
    """Of all the large bodies that arrive only so many go on in one round of the event loop."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def next(self) -> None:
        async with self._turns:
            await asyncio.sleep(0)


class Exchange(HTTP1Connection):
    """`enter` and `received` are told how far it is; `is_last` is asked when the answer begins."""

    def __init__(
        self,
        stream: IOStream,
        params: HTTP1ConnectionParameters,
        context: object,
        *,
        incoming: Incoming,
        enter: Callable[[Stage], None],
        received: Callable[[int], None],
        turns: Turns,
    ) -> None:
        super().__init__(stream, False, params, context)
        self._incoming = incoming
        self._enter = enter
        self._received = received
        self._turns = turns
        self._work = 0
        self.answer_begun = False
        self.has_handler = False
        self.is_last: Callable[[], bool] = lambda: False

    async def read(self) -> Head:
        """The head of the next request. Raises Refusal."""
        try:
            await self._incoming.begin()
        except TooLong as error:
            raise Refusal(400, "Malformed request: too many empty lines before it") from error
        self._enter(Stage.HEAD)
        most = self.params.max_header_size
        try:
            data = await self._incoming.until(HEAD_END, most)
        except TooLong as error:
            if b"\n" in self._incoming.held[:most]:
                raise Refusal(431, f"The headers are longer than {most} bytes") from error
            raise Refusal(414, f"The request line is longer than {most} bytes") from error
        head = message.read_head(data)
        # With a body to come it is not in work yet, whatever the handler has to ask first.
        self._enter(Stage.BODY if head.has_body else Stage.WORK)
        return head

    async def serve(self, head: Head, delegate: HTTPMessageDelegate) -> bool:
        """Hands the request over and waits for the answer; False if it was the last one. Raises Refusal."""
        self._request_start_line, self._request_headers = head.start, head.headers
        self._disconnect_on_finish = not head.keeps
        self._read_finished = not head.has_body
        handed_over = False
        try:
            prepared = self._hand_over(head, delegate)
            self.has_handler = True
            if head.has_body:
                await self._take_body(head, delegate, prepared)
            else:  # nothing is waited for that could only be answered by then
                delegate.finish()
            handed_over = True
            await self._answered()
        finally:
            if not handed_over:
                delegate.on_connection_close()
            self._clear_callbacks()
        if self._disconnect_on_finish:
            self.close()
        return not self.stream.closed()

    async def _take_body(
        self, head: Head, delegate: HTTPMessageDelegate, prepared: "Future[None] | None"
    ) -> None:
        if prepared is not None:
            await prepared
        if not (head.waits and self._write_finished):
            await self._read_whole_body(head, delegate)
        self._read_finished = True
        if not self._write_finished:
            self._enter(Stage.WORK)
            delegate.finish()

    def _hand_over(self, head: Head, delegate: HTTPMessageDelegate) -> Future[None] | None:
        try:
            return cast("Future[None] | None", delegate.headers_received(head.start, head.headers))
        except HTTPInputError as error:
            raise message.malformed(error) from error

    async def _answered(self) -> None:
        if not self._finish_future.done() and not self.stream.closed():
            self.stream.set_close_callback(self._on_connection_close)
            await self._finish_future

    async def _read_whole_body(self, head: Head, delegate: HTTPMessageDelegate) -> None:
        self._enter(Stage.ENDING if self._write_finished else Stage.BODY)
        if head.waits and not self._write_finished:
            await self.stream.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if head.length is not None:
            self._check_size(head.length)
            await self._read_bytes(head.length, delegate)
            return
        total = 0
        while size := await self._chunk_size():
            total += size
            self._check_size(total)
            await self._read_bytes(size, delegate)
            if await self._incoming.exactly(2) != b"\r\n":
                raise Refusal(400, "Malformed request: a chunk is longer than it says")
            await self._worked(CHUNK_COST)
        await self._read_trailers()

    def _check_size(self, size: int) -> None:
        # What is dropped anyway is bounded by time.
        if size > self._max_body_size and not self._write_finished:
            raise Refusal(413, f"The request body is larger than {self._max_body_size} bytes")

    async def _read_bytes(self, left: int, delegate: HTTPMessageDelegate) -> None:
        while left:
            piece = await self._incoming.some(min(left, BLOCK))
            left -= len(piece)
            self._received(len(piece))
            if not self._write_finished:
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

    def write_headers(
        self,
        start_line: RequestStartLine | ResponseStartLine,
        headers: HTTPHeaders,
        chunk: bytes | None = None,
    ) -> "Future[None]":
        self.answer_begun = True
        assert self._request_start_line is not None
        assert self._request_headers is not None
        old = self._request_start_line.version == "HTTP/1.0"
        # The end of such an answer is the end of the connection.
        if self.is_last() or not self._read_finished or (old and "Content-Length" not in headers):
            self._disconnect_on_finish = True
            self._request_headers["Connection"] = "close"
        if old or self._disconnect_on_finish or not self._is_whole(start_line, headers, chunk):
            return super().write_headers(start_line, headers, chunk)
        return self._write_whole(cast(ResponseStartLine, start_line), headers, chunk or b"")

    def _is_whole(
        self, start: RequestStartLine | ResponseStartLine, headers: HTTPHeaders, chunk: bytes | None
    ) -> bool:
        """Whether the answer has a body and all of it is there, as it is for nearly all requests."""
        assert self._request_start_line is not None
        if self._request_start_line.method == "HEAD" or cast(ResponseStartLine, start).code in BODILESS:
            return False
        return chunk is not None and headers.get("Content-Length") == str(len(chunk))

    def _write_whole(self, start: ResponseStartLine, headers: HTTPHeaders, body: bytes) -> "Future[None]":
        """As Tornado does it, in a quarter of the time: it looks at each header by itself."""
        self._response_start_line = start
        self._chunking_output = False
        self._expected_content_remaining = 0
        future = self._write_future = Future()
        if self.stream.closed():
            future.set_exception(StreamClosedError())
            future.exception()
            return future
        self._pending_write = self.stream.write(message.answer_head(start, headers) + body)
        future_add_done_callback(self._pending_write, self._on_write_complete)
        return future

    def goes_on(self) -> None:
        """The answer has no end of its own: it does not count among those that the node serves at once."""
        self._enter(Stage.STREAM)

    def finish(self) -> None:
        if self._expected_content_remaining == 0 and not self._chunking_output and self._read_finished:
            self._write_finished = True
            if self._pending_write is None:
                self._finish_request(None)
            else:
                future_add_done_callback(self._pending_write, self._finish_request)
        else:
            super().finish()
        if self._read_finished and not self._finish_future.done():
            self._enter(Stage.ANSWER)
        elif not self._read_finished:
            self._enter(Stage.ENDING)

    def _finish_request(self, future: "Future[None] | None") -> None:
        """Tornado would close a connection whose request is not read to its end, and the reset that follows
        takes the answer away from a client that is still sending. It also has Nagle's algorithm on between
        two answers, for two system calls a request; ours is off from the beginning to the end.
        """
        self._clear_callbacks()
        if self._read_finished and self._disconnect_on_finish:
            self.close()
        elif not self._finish_future.done():
            self._finish_future.set_result(None)
