"""The way to a server, over TCP, that a test can cut, so that who calls is refused, or hold up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

BLOCK = 64 * 1024


class CutLine:
    """`port` stays the same, `target` may become another server. Made by `cut_line`."""

    def __init__(self, target: Path | int) -> None:
        self.target = target
        self._passes = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self.port = 0

    async def mend(self) -> None:
        self._passes.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._call, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    def hold(self) -> None:
        """Who calls is connected, and hears nothing until the line is mended."""
        self._passes.clear()

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
            there, back = await self._connected()
            try:
                ways = {asyncio.create_task(self._copy(*ends)) for ends in ((reader, back), (there, writer))}
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

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.target, int):
            return await asyncio.open_connection("127.0.0.1", self.target)
        return await asyncio.open_unix_connection(str(self.target))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(BLOCK):
                await self._passes.wait()
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def cut_line(target: Path | int) -> AsyncIterator[CutLine]:
    line = CutLine(target)
    await line.mend()
    try:
        yield line
    finally:
        await line.cut()
