"""Reading of a client's bytes, however the network cuts them into pieces."""

import re
import socket

import pytest
from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, ResponseStartLine
from tornado.iostream import IOStream

from netautod.http.connections.exchange import CHUNK_COST, TURN, Exchange, Turns
from netautod.http.connections.incoming import Incoming, TooLong

END = re.compile(rb"\r\n\r\n")


class Pieces(IOStream):
    """A stream where each read brings the next piece."""

    def __init__(self, *pieces: bytes) -> None:
        super().__init__(socket.socket())
        self._pieces = list(pieces)

    async def read_bytes(self, num_bytes: int, partial: bool = False) -> bytes:
        return self._pieces.pop(0)


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b"ab\r\n\r\nc"], id="at once"),
        pytest.param([b"a", b"b\r\n\r\nc"], id="in two pieces"),
        pytest.param([b"ab\r", b"\n\r\nc"], id="cut behind the first of the end"),
        pytest.param([b"ab\r\n", b"\r\nc"], id="cut in the middle of the end"),
        pytest.param([b"ab\r\n\r", b"\nc"], id="cut before the last of the end"),
        pytest.param([bytes([byte]) for byte in b"ab\r\n\r\nc"], id="byte by byte"),
    ],
)
@pytest.mark.parametrize("limit", [6, 100])
async def test_the_end_is_found_in_whatever_pieces(pieces: list[bytes], limit: int) -> None:
    stream = Pieces(*pieces)
    incoming = Incoming(stream)
    assert await incoming.until(END, limit) == b"ab\r\n\r\n"
    assert await incoming.some(10) == b"c"
    stream.close()


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b"ab\r\n\r\n"], id="the end is one byte behind the limit"),
        pytest.param([b"abcd", b"ef"], id="no end within the limit"),
    ],
)
async def test_an_end_behind_the_limit_is_too_late(pieces: list[bytes]) -> None:
    stream = Pieces(*pieces)
    with pytest.raises(TooLong):
        await Incoming(stream).until(END, 5)
    stream.close()


class CountedTurns(Turns):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    async def next(self) -> None:
        self.count += 1


class Answering(HTTPMessageDelegate):
    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def finish(self) -> None:
        self._exchange.write_headers(ResponseStartLine("HTTP/1.1", 204, ""), HTTPHeaders())
        self._exchange.finish()


def chunks(count: int, size: int) -> bytes:
    return (f"{size:x}\r\n".encode() + b"x" * size + b"\r\n") * count + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("framing", "body", "turns"),
    [
        pytest.param(f"Content-Length: {TURN - 1}", [b"x" * (TURN - 1)], 0, id="less than a turn"),
        pytest.param(f"Content-Length: {TURN}", [b"x" * TURN], 1, id="a turn"),
        pytest.param("Transfer-Encoding: chunked", [chunks(64, 0x10)], 1, id="many small chunks"),
        pytest.param("Transfer-Encoding: chunked", [chunks(63, 0x10)], 0, id="one less"),
    ],
)
async def test_a_body_lets_others_go_first_for_its_bytes_and_its_chunks(
    framing: str, body: list[bytes], turns: int
) -> None:
    assert (TURN, CHUNK_COST) == (65536, 1024)
    ours, theirs = socket.socketpair()
    with theirs:
        ours.setblocking(False)
        stream = Pieces(f"POST / HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n".encode(), *body)
        counted = CountedTurns()
        exchange = Exchange(
            IOStream(ours),
            None,
            incoming=Incoming(stream),
            enter=lambda stage: None,
            received=lambda size: None,
            turns=counted,
        )
        await exchange.serve(await exchange.read(), Answering(exchange))
        exchange.close()
        stream.close()
    assert counted.count == turns
