"""An answer on its way to the client: its head, the framing of its body, and its end (RFC 9112, 6)."""

from asyncio import Future

from tornado.httputil import HTTPHeaders, HTTPOutputError, RequestStartLine, ResponseStartLine
from tornado.iostream import IOStream, StreamClosedError

from netautod.http.connections import message

BODILESS = (204, 304)
END_OF_CHUNKS = b"0\r\n\r\n"


class Outgoing:
    """The answer to one request. `pending`: resolves when all that was written has gone out.

    Each write returns such a future. The client may have gone: then it fails with StreamClosedError.
    """

    def __init__(self, stream: IOStream, request: RequestStartLine) -> None:
        self._stream = stream
        self._request = request
        self._left: int | None = None  # of what Content-Length announces
        self._in_chunks = False
        self.pending: Future[None] | None = None
        self.has_started = False
        self.has_ended = False

    def needs_close(self, headers: HTTPHeaders) -> bool:
        """Return whether nothing but the end of the connection says where the answer ends."""
        return self._is_old and "Content-Length" not in headers

    def begin(
        self, start: ResponseStartLine, headers: HTTPHeaders, body: bytes, *, closes: bool
    ) -> "Future[None]":
        """Write the head and the beginning of the body. `closes`: the connection ends with the answer.

        Raises ValueError for a header with a line break.
        """
        self.has_started = True
        if closes and not self._is_old:
            headers["Connection"] = "close"
        elif not closes and self._is_old:
            headers["Connection"] = "Keep-Alive"
        if self._request.method == "HEAD" or start.code == 304:
            self._left = 0
        elif "Content-Length" in headers:
            self._left = int(headers["Content-Length"])
        elif not self._is_old and start.code not in BODILESS:
            self._in_chunks = True
            headers["Transfer-Encoding"] = "chunked"
        return self._write(message.answer_head(start, headers) + self._framed(body))

    def write(self, piece: bytes) -> "Future[None]":
        """Write a piece of the body. Raises HTTPOutputError for more than Content-Length announces."""
        return self._write(self._framed(piece))

    def end(self) -> None:
        """Write the end. Raises HTTPOutputError for a body that is shorter than Content-Length announces."""
        if self._left:
            self._break(f"an answer lacks {self._left} bytes of its Content-Length")
        if self._in_chunks:
            self._write(END_OF_CHUNKS)
        self.has_ended = True

    @property
    def _is_old(self) -> bool:
        return self._request.version == "HTTP/1.0"

    def _framed(self, piece: bytes) -> bytes:
        if self._left is not None:
            self._left -= len(piece)
            if self._left < 0:
                self._break("an answer is longer than its Content-Length")
        # An empty chunk would be the end.
        return b"%x\r\n%b\r\n" % (len(piece), piece) if self._in_chunks and piece else piece

    def _break(self, text: str) -> None:
        """Close the connection, so that nothing passes for the rest of this answer."""
        if not self._stream.closed():
            self._stream.close()
            raise HTTPOutputError(text)

    def _write(self, data: bytes) -> "Future[None]":
        if self._stream.closed():
            failed: Future[None] = Future()
            failed.set_exception(StreamClosedError())
            failed.exception()  # not every caller waits for it
            return failed
        self.pending = self._stream.write(data)
        return self.pending
