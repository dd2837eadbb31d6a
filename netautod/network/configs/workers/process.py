"""The service's end of one text worker: starts it, sends it requests, kills it."""

import asyncio
from typing import Any

from netautod.core.loop.child_process import START_SECONDS, ChildLostError, ChildProcess
from netautod.network.configs.workers.protocol import HEADER, READY, Status, frame, value_of

NAME = "a text worker"
BUFFER = 1 << 20  # a large answer would come in hundreds of small pieces otherwise


class WorkerProcess:
    """A worker process made by `await WorkerProcess.start(first)`; it serves one request at a time."""

    def __init__(self, child: ChildProcess) -> None:
        self._child = child

    @property
    def pid(self) -> int:
        return self._child.pid

    @classmethod
    async def start(cls, first: Any) -> "WorkerProcess":
        """Start a worker. `first` is sent to it before all requests. Raises ChildLostError."""
        child = await ChildProcess.start(
            "netautod.network.configs.workers.child", name=NAME, ready=READY, buffer=BUFFER
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                await child.write(frame(first))
        except BaseException as error:
            await child.kill()
            if isinstance(error, TimeoutError):
                raise ChildLostError(f"{NAME} did not start in time") from error
            raise
        return cls(child)

    async def ask(self, work: str, arguments: dict[str, Any]) -> tuple[Status, Any]:
        """Return the status and the value of one request. The caller bounds the time, and kills."""
        await self._child.write(frame((work, arguments)))
        (length,) = HEADER.unpack(await self._child.read(HEADER.size))
        answer: tuple[Status, Any] = value_of(await self._child.read(length))
        return answer

    async def kill(self) -> None:
        """Kill the worker and wait until it is gone."""
        await self._child.kill()
