"""Private names of Tornado that netautod/http uses: each has a test that fails when Tornado changes it."""

import ast
import asyncio
import socket
from asyncio import Future
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream
from tornado.web import Application, RequestHandler

import netautod.http

LARGE = 8 * 1024 * 1024  # more than the buffers of a socket hold


class RecordedConnection(HTTPConnection):
    """A connection that keeps what Tornado writes."""

    def __init__(self) -> None:
        self.start = ResponseStartLine("HTTP/1.1", 0, "")
        self.headers = HTTPHeaders()
        self.body = b""
        self.finished = asyncio.Event()

    def set_close_callback(self, callback: object) -> None:
        pass

    def write_headers(
        self,
        start_line: RequestStartLine | ResponseStartLine,
        headers: HTTPHeaders,
        chunk: bytes | None = None,
    ) -> "Future[None]":
        assert isinstance(start_line, ResponseStartLine)
        self.start, self.headers, self.body = start_line, headers, chunk or b""
        return self._written()

    def write(self, chunk: bytes) -> "Future[None]":
        self.body += chunk
        return self._written()

    def finish(self) -> None:
        self.finished.set()

    def _written(self) -> "Future[None]":
        written: Future[None] = Future()
        written.set_result(None)
        return written


async def answered(get: Callable[[RequestHandler], None]) -> RecordedConnection:
    """Return what Tornado writes for a request whose handler method is `get`."""
    failures: list[AssertionError] = []

    class Handler(RequestHandler):
        def get(self) -> None:
            try:
                get(self)
            except AssertionError as error:
                failures.append(error)

    connection = RecordedConnection()
    delegate = Application([("/", Handler)]).start_request(object(), connection)
    delegate.headers_received(RequestStartLine("GET", "/", "HTTP/1.1"), HTTPHeaders({"Host": "a"}))
    delegate.finish()
    await connection.finished.wait()
    for failure in failures:
        raise failure
    return connection


@contextmanager
def streams() -> Iterator[tuple[IOStream, IOStream]]:
    ours, theirs = socket.socketpair()
    with closing(IOStream(ours)) as writing, closing(IOStream(theirs)) as reading:
        yield writing, reading


async def written_bytes_are_counted() -> None:
    with streams() as (writing, _):
        writing.write(b"x" * LARGE)
        writing.write(b"more")
        assert writing._total_write_index == LARGE + 4


async def bytes_that_the_reader_took_are_counted() -> None:
    with streams() as (writing, reading):
        written = writing.write(b"x" * LARGE)
        assert writing._total_write_done_index < LARGE
        await reading.read_bytes(LARGE)
        await written
        assert writing._total_write_done_index == LARGE


async def headers_are_those_of_the_answer() -> None:
    def get(handler: RequestHandler) -> None:
        handler.set_header("X-Before", "1")
        assert handler._headers["X-Before"] == "1"
        handler._headers = HTTPHeaders({"X-After": "2"})

    connection = await answered(get)
    assert "X-Before" not in connection.headers
    assert connection.headers["X-After"] == "2"


async def the_status_is_that_of_the_answer() -> None:
    def get(handler: RequestHandler) -> None:
        handler._status_code = 201
        assert handler.get_status() == 201

    assert (await answered(get)).start.code == 201


async def the_reason_is_that_of_the_answer() -> None:
    def get(handler: RequestHandler) -> None:
        handler._reason = "Because"

    assert (await answered(get)).start.reason == "Because"


async def the_buffer_is_the_body_of_the_answer() -> None:
    def get(handler: RequestHandler) -> None:
        handler.write(b"dropped")
        handler._write_buffer = []
        handler.write(b"sent")

    assert (await answered(get)).body == b"sent"


async def a_handler_knows_whether_its_headers_are_written() -> None:
    def get(handler: RequestHandler) -> None:
        assert handler._headers_written is False
        handler.flush()
        assert handler._headers_written is True

    await answered(get)


CHECKS = {
    "_total_write_index": written_bytes_are_counted,
    "_total_write_done_index": bytes_that_the_reader_took_are_counted,
    "_headers": headers_are_those_of_the_answer,
    "_status_code": the_status_is_that_of_the_answer,
    "_reason": the_reason_is_that_of_the_answer,
    "_write_buffer": the_buffer_is_the_body_of_the_answer,
    "_headers_written": a_handler_knows_whether_its_headers_are_written,
}


@pytest.mark.parametrize("name", CHECKS)
async def test_tornado_means_by_the_name_what_we_take_it_for(name: str) -> None:
    await CHECKS[name]()


async def test_no_other_private_name_of_tornado_is_used() -> None:
    """Find names of Tornado's in our code, also where an attribute of ours has such a name by accident."""
    with streams() as (stream, _):
        theirs = {*dir(stream)}

        def get(handler: RequestHandler) -> None:
            theirs.update(dir(handler), dir(handler.request))

        await answered(get)
    sources = Path(netautod.http.__file__).parent.rglob("*.py")
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sources]
    used = {
        node.attr if isinstance(node, ast.Attribute) else node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name for name in used & theirs if name.startswith("_") and not name.endswith("__")} == set(CHECKS)
