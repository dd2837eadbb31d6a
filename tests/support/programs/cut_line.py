"""The way to a server on a unix socket, over TCP, that a test can cut: who calls then is refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

BLOCK = 64 * 1024


class CutLine:
    """`port` stays the same. Made by `cut_line`."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self.port = 0

    async def mend(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._call, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """What is on its way is lost."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = asyncio.current_task()
        assert call is not None
        self._calls.add(call)
        try:
            there, back = await asyncio.open_unix_connection(str(self._target))
            try:
                ways = {asyncio.create_task(_copy(reader, back)), asyncio.create_task(_copy(there, writer))}
                try:
                    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for way in ways:
                        way.cancel()
                    await asyncio.gather(*ways, return_exceptions=True)
            finally:
                back.close()
        except (OSError, asyncio.CancelledError):
            pass  # asyncio would log how a call ended
        finally:
            writer.close()
            self._calls.discard(call)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def cut_line(target: Path) -> AsyncIterator[CutLine]:
    line = CutLine(target)
    await line.mend()
    try:
        yield line
    finally:
        await line.cut()
