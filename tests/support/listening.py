"""Listens to GET /api/events as a client does, and parses what comes."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

SECONDS = 60.0
BUFFER_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class ReceivedEvent:
    id: str | None
    name: str
    data: Any


@dataclass(kw_only=True)
class Listening:
    """A stream that was opened. `last_id`: what EventSource would send as Last-Event-ID. `comments`: how many
    there were, without the first one."""

    status: int
    headers: dict[str, str]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    last_id: str = ""
    comments: int = -1
    received: list[ReceivedEvent] = field(default_factory=list)

    async def next(self, *names: str) -> ReceivedEvent:
        """The next event, or that of one of these names; EOFError when the stream has ended."""
        async with asyncio.timeout(SECONDS):
            while True:
                found = await self._block()
                if found is not None:
                    self.received.append(found)
                    if not names or found.name in names:
                        return found

    async def until_end(self) -> list[ReceivedEvent]:
        """All that comes until the server ends the stream."""
        with suppress(EOFError, ConnectionError):
            while True:
                await self.next()
        return self.received

    async def comment(self) -> None:
        """Returns with the next comment; events before it are in `received`."""
        before = self.comments
        async with asyncio.timeout(SECONDS):
            while self.comments == before:
                found = await self._block()
                if found is not None:
                    self.received.append(found)

    async def _block(self) -> ReceivedEvent | None:
        name, data, event_id = "message", list[str](), None
        while line := await self._line():
            key, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if key == "":
                self.comments += 1
            elif key == "event":
                name = value
            elif key == "data":
                data.append(value)
            elif key == "id":
                self.last_id = event_id = value
        return ReceivedEvent(id=event_id, name=name, data=json.loads("\n".join(data))) if data else None

    _rest: bytes = b""

    async def _line(self) -> str:
        while b"\n" not in self._rest:
            self._rest += await self._chunk()
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    async def _chunk(self) -> bytes:
        try:
            size = int((await self.reader.readuntil(b"\r\n")).strip(), 16)
            chunk = await self.reader.readexactly(size + 2)
        except asyncio.IncompleteReadError as error:
            raise EOFError("the connection was cut") from error
        if not size:
            raise EOFError("the stream has ended")
        return chunk[:-2]


async def _connected(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    family, kind, protocol, _, address = (await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        await loop.sock_connect(made, address)
    except BaseException:
        made.close()
        raise
    return made


@asynccontextmanager
async def listening(
    url: str,
    token: str | None,
    *,
    query: str = "",
    last_id: str | None = None,
    trusting: ssl.SSLContext | None = None,
) -> AsyncIterator[Listening]:
    """Returns with the head and, if that is 200, the first block: what happens from then on is heard."""
    parts = urlsplit(url)
    # A small buffer, so that who does not read is soon noticed.
    reader, writer = await asyncio.open_connection(
        sock=await _connected(parts.hostname or "", parts.port or 0),
        ssl=trusting,
        server_hostname=parts.hostname if trusting else None,
    )
    lines = [f"GET /api/events{query} HTTP/1.1", f"Host: {parts.netloc}", f"Authorization: Bearer {token}"]
    if last_id is not None:
        lines.append(f"Last-Event-ID: {last_id}")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        async with asyncio.timeout(SECONDS):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in head[1:] if line)
        made = Listening(
            status=int(head[0].split(" ")[1]),
            headers={name.lower(): value.strip() for name, _, value in pairs},
            reader=reader,
            writer=writer,
        )
        if made.status == 200:
            async with asyncio.timeout(SECONDS):
                await made._block()
        yield made
    finally:
        writer.close()
        with suppress(ConnectionError, TimeoutError, ssl.SSLError):
            await writer.wait_closed()
