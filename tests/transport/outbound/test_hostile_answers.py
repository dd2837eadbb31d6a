"""The guarded client against servers that send too much, too slowly, or something else."""

import asyncio
import gzip

import pytest

from netautod.transport.outbound.client import GuardedClient, OutboundRequest
from netautod.transport.outbound.errors import RequestFailed
from tests.transport.outbound.conftest import Serving


async def bomb(head: bytes, writer: asyncio.StreamWriter) -> None:
    packed = gzip.compress(bytes(50_000_000))
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n")
    writer.write(b"Content-Length: %d\r\n\r\n" % len(packed) + packed)


async def endless_chunks(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1000\r\n" + bytes(0x1000) + b"\r\n")
        await writer.drain()


async def one_huge_chunk(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffff\r\n")
    while True:
        writer.write(bytes(0x1000))
        await writer.drain()


async def huge_length(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")


async def no_length(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(bytes(0x1000))
        await writer.drain()


async def endless_headers(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: " + b"y" * 1000 + b"\r\n")
        await writer.drain()


async def endless_patience(head: bytes, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()


async def no_http(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 mail.example ESMTP\r\n\r\n")


async def cut_off(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")


async def nothing(head: bytes, writer: asyncio.StreamWriter) -> None:
    return


@pytest.mark.parametrize(
    ("behaviour", "kinds"),
    [
        pytest.param(bomb, {"encoding"}, id="a gzip bomb"),
        pytest.param(endless_chunks, {"answer"}, id="chunks without end"),
        pytest.param(one_huge_chunk, {"answer"}, id="one huge chunk"),
        pytest.param(huge_length, {"answer"}, id="a huge content length"),
        pytest.param(no_length, {"answer"}, id="a body without length and end"),
        pytest.param(endless_headers, {"answer"}, id="headers without end"),
        pytest.param(endless_patience, {"answer", "timeout"}, id="100 Continue without end"),
        pytest.param(no_http, {"answer"}, id="another protocol"),
        pytest.param(cut_off, {"answer"}, id="a body that is cut off"),
        pytest.param(nothing, {"answer"}, id="a connection that is closed"),
    ],
)
async def test_hostile_answers(
    client: GuardedClient, serving: Serving, behaviour: object, kinds: set[str]
) -> None:
    url = await serving(behaviour)  # type: ignore[arg-type]
    with pytest.raises(RequestFailed) as failure:
        await client.fetch(OutboundRequest(url=url, max_bytes=100_000, timeout_seconds=5))
    assert failure.value.kind in kinds


async def test_a_body_of_exactly_the_limit_is_read(client: GuardedClient, serving: Serving) -> None:
    async def full(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + bytes(1000))

    url = await serving(full)
    assert len((await client.fetch(OutboundRequest(url=url, max_bytes=1000))).body) == 1000
    with pytest.raises(RequestFailed):
        await client.fetch(OutboundRequest(url=url, max_bytes=999))


async def silence(head: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def dripping(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "behaviour",
    [pytest.param(silence, id="a silent server"), pytest.param(dripping, id="a byte now and then")],
)
async def test_slow_servers_are_given_up(client: GuardedClient, serving: Serving, behaviour: object) -> None:
    url = await serving(behaviour)  # type: ignore[arg-type]
    with pytest.raises(RequestFailed) as failure:
        await client.fetch(OutboundRequest(url=url, timeout_seconds=0.3))
    assert failure.value.kind == "timeout"
