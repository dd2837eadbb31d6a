"""A client that sends whatever bytes it likes, from an address of loopback of its choice."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

SECONDS = 60.0


class Garbled(AssertionError):
    """What came is no answer."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def ends(self) -> bool:
        return self.headers.get("connection", "").lower() == "close"


class RawClient:
    """One connection. `rest` is what came beyond the answers that were read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @property
    def ended(self) -> bool:
        """The server has hung up, as far as is known by now."""
        return self._reader.at_eof() or self._reader.exception() is not None

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def sent(self) -> None:
        """All that was given to `send` is on its way, as long as the server takes it."""
        self._writer.transport.set_write_buffer_limits(0)
        async with asyncio.timeout(SECONDS):
            await self._writer.drain()

    async def answer(self, *, to_head: bool = False) -> Answer:
        """The next final answer; 1xx ones are read over."""
        async with asyncio.timeout(SECONDS):
            while True:
                status, headers = await self._head()
                if status >= 200:
                    break
            if to_head or status in (204, 304):
                body = b""
            elif "content-length" in headers:
                body = await self._reader.readexactly(int(headers["content-length"]))
            else:
                body = await self._reader.read()
            return Answer(status=status, headers=headers, body=body)

    async def interim(self) -> int:
        """The status of the next answer, of which only the head is read."""
        async with asyncio.timeout(SECONDS):
            return (await self._head())[0]

    async def rest(self, end: bytes) -> bytes:
        """What comes up to and with `end`."""
        async with asyncio.timeout(SECONDS):
            return await self._reader.readuntil(end)

    async def everything(self) -> bytes:
        """All that comes until the server hangs up, and all that came before it cut the connection."""
        said = bytearray()
        with suppress(ConnectionResetError):
            async with asyncio.timeout(SECONDS):
                while piece := await self._reader.read(65_536):
                    said += piece
        return bytes(said)

    async def _head(self) -> tuple[int, dict[str, str]]:
        try:
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except asyncio.IncompleteReadError as error:
            raise Garbled(f"the connection ended after {error.partial!r}") from error
        if not head[0].startswith("HTTP/1.1 "):
            raise Garbled(head[0])
        pairs = (line.partition(":") for line in head[1:] if line)
        return int(head[0].split(" ")[1]), {name.lower(): value.strip() for name, _, value in pairs}


@asynccontextmanager
async def raw(url: str, *, source: str = "127.0.0.1") -> AsyncIterator[RawClient]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, local_addr=(source, 0))
    try:
        yield RawClient(reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError, TimeoutError):
            await writer.wait_closed()


async def ask(url: str, data: bytes, *, source: str = "127.0.0.1") -> Answer:
    """The first answer to these bytes on a connection of their own."""
    async with raw(url, source=source) as client:
        client.send(data)
        return await client.answer(to_head=data.startswith(b"HEAD "))
