"""One text worker as the service sees it: started, asked, and killed when it dies or takes too long."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from typing import Any

from netautod.configs.worker_protocol import HEADER, READY, Status, frame, value_of

START_SECONDS = 20.0
BUFFER = 1 << 20  # a large answer would come in hundreds of small pieces otherwise
# The path of this interpreter instead of its environment: the child finds our package however it was
# installed, and inherits no variable that could hold a secret.
_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from netautod.configs.worker_child import main; main()"


class WorkerLostError(Exception):
    """The worker does not start, or has died."""


class WorkerProcess:
    """Made by `await WorkerProcess.start(first)`; serves one request at a time."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    @classmethod
    async def start(cls, first: Any) -> "WorkerProcess":
        """`first` is what the worker is told before all requests. Raises WorkerLostError."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-E", "-P", "-B", "-c", _BOOT),
            *_import_paths(),
            stdin=PIPE,
            stdout=PIPE,
            limit=BUFFER,
            env={"LC_ALL": "C.UTF-8"},
            cwd="/",
            start_new_session=True,  # a Ctrl-C in the terminal is for the service, which closes the pipe
        )
        made = cls(process)
        try:
            async with asyncio.timeout(START_SECONDS):
                await made._read(len(READY))
                await made._write(frame(first))
        except BaseException as error:
            await made.kill()
            if isinstance(error, TimeoutError):
                raise WorkerLostError("a text worker did not start in time") from error
            raise
        return made

    async def ask(self, work: str, arguments: dict[str, Any]) -> tuple[Status, Any]:
        """The status and the value of one request. The caller bounds the time, and kills."""
        await self._write(frame((work, arguments)))
        (length,) = HEADER.unpack(await self._read(HEADER.size))
        answer: tuple[Status, Any] = value_of(await self._read(length))
        return answer

    async def kill(self) -> None:
        """Ends the worker; returns when it is gone."""
        with suppress(ProcessLookupError):
            self._process.kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()

    async def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise WorkerLostError("a text worker has gone away") from error

    async def _read(self, count: int) -> bytes:
        assert self._process.stdout is not None
        try:
            return await self._process.stdout.readexactly(count)
        except asyncio.IncompleteReadError as error:
            raise WorkerLostError("a text worker has died") from error


def _import_paths() -> list[str]:
    return [os.path.abspath(path) for path in sys.path if path]
