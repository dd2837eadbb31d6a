"""A worker in a process of its own: started clean, spoken to over pipes, killed with its forks."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress

START_SECONDS = 20.0
# The path of this interpreter instead of its environment: the child finds our package however it was
# installed, and inherits no variable that could hold a secret.
_BOOT = "import sys; sys.path[:] = sys.argv[2:]; __import__(sys.argv[1], fromlist=['main']).main()"


class ChildLostError(Exception):
    """The child does not start, has died, or writes what does not belong to the protocol; kill it."""


class ChildProcess:
    """A worker process that is spoken to over pipes. Use `await ChildProcess.start(...)`; the caller sets
    time limits and kills.
    """

    def __init__(self, process: Process, name: str) -> None:
        self._process = process
        self._name = name

    @property
    def pid(self) -> int:
        return self._process.pid

    @classmethod
    async def start(cls, module: str, *, name: str, ready: bytes, buffer: int) -> "ChildProcess":
        """Run `main` of the module in a process group of its own, and return once it has written `ready`.

        `name` is what texts call it, `buffer` how many bytes of an answer come in one piece. Raises
        ChildLostError.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-E", "-P", "-B", "-c", _BOOT, module),
            *_import_paths(),
            stdin=PIPE,
            stdout=PIPE,
            limit=buffer,
            env={"LC_ALL": "C.UTF-8"},
            cwd="/",
            start_new_session=True,  # Ctrl-C in the terminal is for the service, which closes the pipe
        )
        made = cls(process, name)
        try:
            async with asyncio.timeout(START_SECONDS):
                await made.read(len(ready))
        except BaseException as error:
            await made.kill()
            if isinstance(error, TimeoutError):
                raise ChildLostError(f"{name} did not start in time") from error
            raise
        return made

    async def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChildLostError(f"{self._name} has gone away") from error

    async def read(self, count: int) -> bytes:
        assert self._process.stdout is not None
        try:
            return await self._process.stdout.readexactly(count)
        except asyncio.IncompleteReadError as error:
            raise ChildLostError(f"{self._name} has died") from error

    async def kill(self) -> None:
        """Kill the child and its forks, and wait until it is gone."""
        with suppress(ProcessLookupError):  # both may be dead already
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()


def _import_paths() -> list[str]:
    return [os.path.abspath(path) for path in sys.path if path]
