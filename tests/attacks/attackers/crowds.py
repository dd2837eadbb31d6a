"""Connections that are held without using them, each in its own way of saying next to nothing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from tests.attacks.attackers.raw import RawClient, raw

ASKED = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
LOGIN = b"POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\n"
BEGINNINGS = {
    "says nothing": b"",
    "begins a head": b"GET /health HTTP/1.1\r\nHost:",
    "announces a body": LOGIN + b"Content-Length: 1000\r\n\r\n",
    "begins a body": LOGIN + b"Content-Length: 1000\r\n\r\n{",
    "begins a chunk": LOGIN + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{",
    "asked once and stays": ASKED,
    "reads no answer": b"GET /api/docs-ui HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "asks for something refused": b"POST /api/nothing HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 100\r\n\r\n",
}


@asynccontextmanager
async def crowd(
    url: str, count: int, beginning: bytes, *, sources: Sequence[str]
) -> AsyncIterator[list[RawClient]]:
    """So many connections from these addresses in turn, all of which have sent the beginning."""
    async with AsyncExitStack() as stack:
        made = [
            await stack.enter_async_context(raw(url, source=sources[number % len(sources)]))
            for number in range(count)
        ]
        for client in made:
            client.send(beginning)
        yield made


async def trickle(client: RawClient, byte: bytes, *, every: float = 0.2) -> bytes:
    """Sends the byte again and again until the server hangs up, and answers what that one said."""
    hung_up = asyncio.create_task(client.everything())
    while not hung_up.done():
        client.send(byte)
        await asyncio.wait([hung_up], timeout=every)
    return hung_up.result()
