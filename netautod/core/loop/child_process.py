"""A worker in a process of its own: started clean, spoken to over pipes, killed with its forks."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import dataclass

from netautod.core.loop.child_frames import DONE, HEADER, READY, REFUSED, header

START_SECONDS = 20.0
# The path of this interpreter instead of its environment: the child finds our package however it was
# installed, and inherits no variable that could hold a secret.
_BOOT = "import sys; sys.path[:] = sys.argv[2:]; __import__(sys.argv[1], fromlist=['main']).main()"


class ChildLostError(Exception):
    """The child does not start, has died, or writes what does not belong to the protocol; kill it."""


@dataclass(frozen=True, kw_only=True)
class ChildKind:
    """A kind of child: `main` of the module serves its requests (child_frames.py); `name` is for texts.

    `buffer` is how many bytes of an answer come in one piece, `max_answer` how many an honest child writes.
    `first` is a request without an answer, which comes before all others.
    """

    module: str
    name: str
    buffer: int = 1 << 20  # a large answer would come in hundreds of small pieces otherwise
    max_answer: int | None = None
    first: bytes | None = None


class ChildProcess:
    """A worker process that is spoken to over pipes. Use `await ChildProcess.start(kind)`; the caller sets
    time limits and kills.
    """

    def __init__(self, process: Process, kind: ChildKind) -> None:
        self._process = process
        self._kind = kind

    @property
    def pid(self) -> int:
        return self._process.pid

    @classmethod
    async def start(cls, kind: ChildKind) -> "ChildProcess":
        """Start a child in a process group of its own, and return once it is ready. Raises ChildLostError."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-E", "-P", "-B", "-c", _BOOT, kind.module),
            *_import_paths(),
            stdin=PIPE,
            stdout=PIPE,
            limit=kind.buffer,
            env={"LC_ALL": "C.UTF-8"},
            cwd="/",
            start_new_session=True,  # Ctrl-C in the terminal is for the service, which closes the pipe
        )
        child = cls(process, kind)
        try:
            async with asyncio.timeout(START_SECONDS):
                await child._read(len(READY))
                if kind.first is not None:
                    await child._write(kind.first)
        except BaseException as error:
            await child.kill()
            if isinstance(error, TimeoutError):
                raise ChildLostError(f"{kind.name} did not start in time") from error
            raise
        return child

    async def ask(self, request: bytes) -> tuple[bool, bytes]:
        """Return whether the request was done, and the answer. After an error or a cancelled call an answer
        may be half read: kill the child. Raises ChildLostError.
        """
        await self._write(request)
        status, length = HEADER.unpack(await self._read(HEADER.size))
        most = self._kind.max_answer
        if status not in (DONE, REFUSED) or (most is not None and length > most):
            raise ChildLostError(f"not the answer of {self._kind.name}")
        return status == DONE, await self._read(length)

    async def _write(self, content: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(header(content))
            self._process.stdin.write(content)
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChildLostError(f"{self._kind.name} has gone away") from error

    async def _read(self, count: int) -> bytes:
        assert self._process.stdout is not None
        try:
            return await self._process.stdout.readexactly(count)
        except asyncio.IncompleteReadError as error:
            raise ChildLostError(f"{self._kind.name} has died") from error

    async def kill(self) -> None:
        """Kill the child and its forks, and wait until it is gone."""
        with suppress(ProcessLookupError):  # both may be dead already
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()


def _import_paths() -> list[str]:
    return [os.path.abspath(path) for path in sys.path if path]
