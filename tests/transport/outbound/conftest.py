"""A hostile server on a random port, written byte by byte, and a client that may reach it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient

Behaviour = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
Serving = Callable[[Behaviour], Awaitable[str]]


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    """Start servers: `url = await serving(behaviour)`: the behaviour gets each request's head and writes the
    answer.
    """
    servers: list[asyncio.Server] = []
    running: set[asyncio.Task[None]] = set()

    async def start(behaviour: Behaviour) -> str:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            running.add(task)
            try:
                await behaviour(await reader.readuntil(b"\r\n\r\n"), writer)
                await writer.drain()
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # the client went away, or the test is over
            finally:
                running.discard(task)
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    yield start
    for server in servers:
        server.close()
    for task in list(running):
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


@pytest.fixture
def client() -> GuardedClient:
    """Return a client that may reach 127.0.0.1, where the tests' servers are, and no other local address."""
    return GuardedClient(AddressRules.allowing(["127.0.0.1"]))
