"""The guarded client against servers that send too much, too slowly, or something else."""

import asyncio
import gzip

import pytest

from netautod.transport.outbound.client import GuardedClient, OutboundRequest
from netautod.transport.outbound.errors import RequestFailed
from tests.transport.outbound.conftest import Behaviour, Serving


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


def accepting(rest: bytes) -> Behaviour:
    """Accept the request, send the rest of an answer, and keep the connection open."""

    async def accepted(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 202 Accepted\r\n" + rest)
        await writer.drain()
        await asyncio.Event().wait()

    return accepted


async def after_hints(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    writer.write(b"HTTP/1.1 202 Accepted\r\n\r\n")


async def accepted_and_closed(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\nhalf")


ACCEPTED_ANSWERS = [
    pytest.param(accepting(b"Content-Length: 0\r\n\r\n"), id="an empty body"),
    pytest.param(accepting(b"Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!"), id="bad gzip"),
    pytest.param(
        accepting(b"Content-Encoding: br\r\nContent-Length: 3\r\n\r\nabc"), id="an unknown encoding"
    ),
    pytest.param(
        accepting(b"Content-Type: text/html; charset=utf-99\r\nContent-Length: 2\r\n\r\n\xff\xfe"),
        id="an unknown charset",
    ),
    pytest.param(accepting(b"Content-Length: 99999999999\r\n\r\n"), id="a huge content length"),
    pytest.param(accepting(b"Content-Length: many\r\n\r\n"), id="a length that is no number"),
    pytest.param(accepting(b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx"), id="two lengths"),
    pytest.param(
        accepting(b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\nx"), id="a length beside chunks"
    ),
    pytest.param(accepting(b"Transfer-Encoding: gzip\r\n\r\n"), id="an unknown transfer encoding"),
    pytest.param(accepting(b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), id="malformed chunks"),
    pytest.param(accepting(b"Content-Length: 100\r\n\r\nhalf"), id="a body that never ends"),
    pytest.param(accepted_and_closed, id="a body that is cut off"),
    pytest.param(after_hints, id="informational answers before"),
]


@pytest.mark.parametrize("behaviour", ACCEPTED_ANSWERS)
async def test_a_request_that_reads_no_body_is_answered_by_the_status(
    client: GuardedClient, serving: Serving, behaviour: Behaviour
) -> None:
    request = OutboundRequest(url=await serving(behaviour), method="POST", body=b"{}", reads_body=False)
    answer = await client.fetch(request)
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(endless_chunks, id="chunks without end"),
        pytest.param(one_huge_chunk, id="one huge chunk"),
        pytest.param(no_length, id="a body without length and end"),
        pytest.param(dripping, id="a byte now and then"),
    ],
)
async def test_an_endless_body_that_is_not_read_ends_with_the_connection(
    client: GuardedClient, serving: Serving, behaviour: Behaviour
) -> None:
    ended = asyncio.Event()

    async def noted(head: bytes, writer: asyncio.StreamWriter) -> None:
        try:
            await behaviour(head, writer)
        finally:
            ended.set()

    request = OutboundRequest(url=await serving(noted), method="POST", body=b"{}", reads_body=False)
    assert (await client.fetch(request)).status == 200
    await asyncio.wait_for(ended.wait(), 30)


async def test_a_large_request_that_is_answered_before_it_is_read(
    client: GuardedClient, serving: Serving
) -> None:
    url = await serving(accepting(b"Content-Length: 0\r\n\r\n"))
    request = OutboundRequest(url=url, method="POST", body=bytes(50_000_000), reads_body=False)
    assert (await client.fetch(request)).status == 202


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        pytest.param(silence, "timeout", id="a silent server"),
        pytest.param(no_http, "answer", id="another protocol"),
        pytest.param(nothing, "answer", id="a connection that is closed"),
        pytest.param(endless_headers, "answer", id="headers without end"),
    ],
)
async def test_a_request_that_reads_no_body_needs_a_status(
    client: GuardedClient, serving: Serving, behaviour: Behaviour, kind: str
) -> None:
    url = await serving(behaviour)
    with pytest.raises(RequestFailed) as failure:
        await client.fetch(
            OutboundRequest(url=url, method="POST", body=b"", reads_body=False, timeout_seconds=1)
        )
    assert failure.value.kind == kind
