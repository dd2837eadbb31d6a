"""The program `git`, run without anybody's settings: no hooks, no file of the user, no network."""

import asyncio
import os
import shutil
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from netautod.core.errors import InvalidInput, UpstreamFailed

_QUIET = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.directory=*"),
    *("-c", "log.showSignature=false", "-c", "protocol.allow=never", "-c", "core.quotePath=false"),
    *("-c", "gc.auto=0", "-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null"),
)
_CHUNK = 1 << 16
MOST_OUTPUT = 500


class Git:
    """A repository, handled by the program git. Raises InvalidInput where the program is not installed."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("git")
        if program is None:
            raise InvalidInput("git is not installed (or not in PATH)")
        self._program = program
        self._folder = folder

    async def run(self, *arguments: str) -> str:
        """Return what git printed; UpstreamFailed with its own words when it fails."""
        async with self.process(*arguments) as process:
            assert process.stdout is not None
            return (await process.stdout.read()).decode(errors="surrogateescape")

    async def tokens(self, *arguments: str) -> AsyncIterator[bytes]:
        """Yield what git prints, cut at each NUL: as it comes, however much that is."""
        async with self.process(*arguments) as process:
            assert process.stdout is not None
            rest = b""
            while chunk := await process.stdout.read(_CHUNK):
                *whole, rest = (rest + chunk).split(b"\0")
                for token in whole:
                    yield token
            if rest:
                yield rest

    @asynccontextmanager
    async def process(self, *arguments: str) -> AsyncIterator[Process]:
        """Start the program with its pipes; at the end of the block it has to end well by itself."""
        process = await asyncio.create_subprocess_exec(
            *(self._program, "-C", str(self._folder), "--no-pager", *_QUIET, *arguments),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=_environment(),
        )
        assert process.stderr is not None
        stderr = asyncio.create_task(process.stderr.read())
        try:
            yield process
            if process.stdin is not None:
                process.stdin.close()
            code = await process.wait()
            words = (await stderr).decode(errors="replace").strip()
        except BaseException as exc:
            if process.returncode is None:
                process.kill()
            await process.wait()
            words = (await stderr).decode(errors="replace").strip()
            if isinstance(exc, ConnectionError | asyncio.IncompleteReadError):  # it ended before we were done
                raise UpstreamFailed(f"git {arguments[0]} failed: {words[-MOST_OUTPUT:]}") from exc
            raise
        if code:
            raise UpstreamFailed(f"git {arguments[0]} failed: {words[-MOST_OUTPUT:] or f'exit code {code}'}")


def _environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
