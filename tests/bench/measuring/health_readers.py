"""Clients that read /health while something goes on."""

import asyncio
from typing import Self
from urllib.parse import urlsplit

from tests.bench.measuring.pings import ask

PAUSE = 0.02


class HealthReaders:
    """`async with HealthReaders(url, 16) as readers:`; `readers.milliseconds`: of all answers."""

    def __init__(self, url: str, count: int) -> None:
        self._url = urlsplit(url)
        self._count = count
        self._tasks: list[asyncio.Task[None]] = []
        self.milliseconds: list[float] = []

    async def __aenter__(self) -> Self:
        opened = asyncio.Barrier(self._count + 1)
        self._tasks = [asyncio.create_task(self._read(opened)) for _ in range(self._count)]
        await opened.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, opened: asyncio.Barrier) -> None:
        reader, writer = await asyncio.open_connection(self._url.hostname, self._url.port)
        request = f"GET /health HTTP/1.1\r\nHost: {self._url.netloc}\r\n\r\n".encode()
        try:
            await opened.wait()
            while True:
                self.milliseconds.append(await ask(reader, writer, request))
                await asyncio.sleep(PAUSE)
        finally:
            writer.close()
