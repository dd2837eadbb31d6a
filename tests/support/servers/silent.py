"""SSH servers that stop speaking at some point, and the address that nothing answers at."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

import asyncssh

IDENTIFICATION = b"SSH-2.0-silent_1.0\r\n"
# RFC 4253 6 and 7.1: the beginning of a packet of 508 bytes, with the number of the message and its cookie.
HALF_A_KEXINIT = struct.pack(">IBB", 508, 4, 20) + bytes(16)


@asynccontextmanager
async def speaking(words: bytes) -> AsyncIterator[int]:
    """A server that says this to whoever connects, and nothing else; its port."""
    gone = asyncio.Event()

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(words)
        try:
            await gone.wait()
        finally:
            writer.transport.abort()

    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
        gone.set()


class _Undecided(asyncssh.SSHServer):
    def __init__(self) -> None:
        self._never: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def password_auth_supported(self) -> bool:
        return True

    async def validate_password(self, username: str, password: str) -> bool:
        return await self._never


@asynccontextmanager
async def undecided(host_key: asyncssh.SSHKey) -> AsyncIterator[int]:
    """A server that takes the password and never says whether it is right."""
    server = await asyncssh.create_server(_Undecided, "127.0.0.1", 0, server_host_keys=[host_key])
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


@contextmanager
def black_hole() -> Iterator[int]:
    """A port at which no connection comes about: Linux drops the SYN for a listener whose queue is full."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield int(listener.getsockname()[1])
