"""One rendering child as the service sees it: started, asked, and killed with all of its forks."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress

from netautod.docs.render_protocol import (
    ANSWER_HEADER,
    MAX_ANSWER,
    OUTPUT,
    READY,
    answer_head,
    request_frame,
)

START_SECONDS = 20.0
# The path of this interpreter instead of its environment: the child finds our package however it was
# installed, and inherits no variable that could hold a secret.
_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from netautod.docs.render_child import main; main()"


class ChildLostError(Exception):
    """The child does not start, has died, or writes what no honest child writes; kill it."""


class RenderProcess:
    """Made by `await RenderProcess.start()`; serves one request at a time."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    @classmethod
    async def start(cls) -> "RenderProcess":
        """A warm child, in a process group of its own. Raises ChildLostError."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-E", "-P", "-B", "-c", _BOOT),
            *_import_paths(),
            stdin=PIPE,
            stdout=PIPE,
            env={"LC_ALL": "C.UTF-8"},
            cwd="/",
            start_new_session=True,
            limit=2 * MAX_ANSWER,
        )
        made = cls(process)
        try:
            async with asyncio.timeout(START_SECONDS):
                await made._read(len(READY))
        except BaseException as error:
            await made.kill()
            if isinstance(error, TimeoutError):
                raise ChildLostError("a rendering child did not start in time") from error
            raise
        return made

    async def render(self, template: bytes, variables: bytes) -> tuple[bool, str]:
        """Whether it worked, and the output or the error. The caller bounds the time, and kills."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request_frame(template, variables))
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChildLostError("a rendering child has gone away") from error
        try:
            status, length = answer_head(await self._read(ANSWER_HEADER))
        except ValueError as error:
            raise ChildLostError(str(error)) from error
        text = (await self._read(length)).decode("utf-8", "replace")
        return status == OUTPUT, text

    async def kill(self) -> None:
        """Ends the child and a render under way; returns when it is gone."""
        # The group, so that the fork that renders goes too. Both may be dead already.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()

    async def _read(self, count: int) -> bytes:
        assert self._process.stdout is not None
        try:
            return await self._process.stdout.readexactly(count)
        except asyncio.IncompleteReadError as error:
            raise ChildLostError("a rendering child has died") from error


def _import_paths() -> list[str]:
    return [os.path.abspath(path) for path in sys.path if path]
