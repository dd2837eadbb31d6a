"""The text workers of a node: one that compares, one that searches and remembers redacted texts.

They are apart so that a diff never waits for a search, and processes since both are pure computing: in a
thread they would take the interpreter from the event loop in turns of 5 ms and more.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.loop.child_process import ChildLostError
from netautod.network.configs.workers.process import WorkerProcess
from netautod.transport.ssh.platform.registry import PlatformRegistry

logger = logging.getLogger(__name__)
REQUEST_SECONDS = 20.0


class Turn:
    """The exclusive use of a worker for some requests in a row."""

    def __init__(self, process: WorkerProcess, *, seconds: float) -> None:
        self._process = process
        self._seconds = seconds
        self.whole = True  # no answer is half read

    async def ask(self, work: str, **arguments: Any) -> Any:
        """Return what the worker answers to a kind of request, such as `compare` (child.py has them all).

        Raises InvalidInput as they do, and Unavailable for a worker that died or took too long. A cancelled
        call still waits for the end of its request: its answer would be taken for that of the next one.
        """
        self.whole = False
        request = asyncio.create_task(self._ask(work, arguments))
        try:
            status, value = await asyncio.shield(request)
        except asyncio.CancelledError:
            try:
                await asyncio.wait({request})
                self.whole = not request.cancelled() and request.exception() is None
            finally:
                request.cancel()
            raise
        self.whole = True
        if status == "refused":
            raise InvalidInput(value)
        return value

    async def _ask(self, work: str, arguments: dict[str, Any]) -> Any:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._process.ask(work, arguments)
        except TimeoutError as error:
            text = f"Comparing or searching these texts took longer than {self._seconds:g} s"
            raise Unavailable(text) from error
        except ChildLostError as error:
            logger.warning("%s", error)
            raise Unavailable("The worker process for texts died; try again") from error


class TextWorker:
    """A text worker that starts its process with the first request, and anew after one that was not ended
    properly.
    """

    def __init__(
        self, platforms: PlatformRegistry, *, cache_bytes: int = 0, seconds: float = REQUEST_SECONDS
    ) -> None:
        self._first = (platforms, cache_bytes)
        self._seconds = seconds
        self._lock = asyncio.Lock()
        self._process: WorkerProcess | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        async with self._lock:
            if self._process is None:
                self._process = await self._start()
            turn = Turn(self._process, seconds=self._seconds)
            try:
                yield turn
            finally:
                if not turn.whole:
                    await self.stop()

    async def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await asyncio.shield(process.kill())

    async def _start(self) -> WorkerProcess:
        try:
            return await WorkerProcess.start(self._first)
        except (ChildLostError, OSError) as error:
            logger.error("texts cannot be compared or searched: %s", error)
            raise Unavailable("The worker process for texts does not start") from error


class TextWorkers:
    """The text workers of a node: `async with TextWorkers(platforms, cache_bytes=...)`; the processes end
    with the block.
    """

    def __init__(
        self, platforms: PlatformRegistry, *, cache_bytes: int, seconds: float = REQUEST_SECONDS
    ) -> None:
        self.comparing = TextWorker(platforms, seconds=seconds)
        self.searching = TextWorker(platforms, cache_bytes=cache_bytes, seconds=seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in (self.comparing, self.searching):
            await worker.stop()
