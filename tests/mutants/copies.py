"""Copies of the tree in which mutants live, and pytest run in them; the checkout stays as it is."""

import asyncio
import json
import os
import shutil
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mutants.forking import NOT_POSSIBLE
from tests.mutants.mutant import Mutant
from tests.mutants.watching import VARIABLE

LEFT_OUT = (".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", "build", "*.egg-info")
# A test that a mutant brings to a halt counts as failed after this time.
TEST_SECONDS = 60
START_SECONDS = 300
NO_TESTS = 5
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, kw_only=True)
class Ended:
    """`code` is that of pytest, None of a run that was ended; `test` is the first that failed."""

    code: int | None
    test: str
    text: str


class Copy:
    """One copy; one pytest at a time."""

    def __init__(self, checkout: Path, root: Path, mongo_uri: str) -> None:
        shutil.copytree(checkout, root, ignore=shutil.ignore_patterns(*LEFT_OUT))
        self.root = root
        self._mongo_uri = mongo_uri
        self.with_slow = False
        self._written = 0
        self._originals: dict[str, str] = {}

    @contextmanager
    def holding(self, mutant: Mutant) -> Iterator[None]:
        """The mutant stands in its file. The time of the file changes, so that no compiled one is taken."""
        path = self.root / mutant.path
        source, stat = path.read_bytes(), path.stat()
        self._written += 1
        self._originals[mutant.path] = source.decode()
        path.write_bytes(mutant.of(source))
        os.utime(path, (stat.st_atime, stat.st_mtime + self._written))
        try:
            yield
        finally:
            path.write_bytes(source)
            os.utime(path, (stat.st_atime, stat.st_mtime))

    def original(self, path: str) -> str:
        """The text of a file that holds a mutant."""
        return self._originals[path]

    async def map(self, tests: Iterable[str], files: Iterable[str], limit: float) -> dict[str, Any]:
        out = self.root.parent / f"{self.root.name}.map"
        orders = {"what": "map", "files": list(files), "root": str(self.root), "out": str(out)}
        async with self._pytest(tests, orders, []) as process, asyncio.timeout(limit):
            await process.wait()
        made: dict[str, Any] = json.loads(out.read_text())
        return made

    async def run(self, tests: list[str], limit: float) -> Ended:
        """Up to the first test that fails, everything imported anew."""
        out = self._failure()
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        orders = {"what": "run", "tests": tests, "out": str(out)}
        code = None
        with suppress(TimeoutError):
            async with self._pytest(files, orders, ["-x"]) as process, asyncio.timeout(limit):
                code = await process.wait()
        return _ended(code, out)

    @asynccontextmanager
    async def serving(self, tests: Iterable[str]) -> AsyncIterator["Server"]:
        """A pytest that has collected the tests and waits for orders."""
        path = self.root.parent / f"{self.root.name}.socket"
        path.unlink(missing_ok=True)
        came: asyncio.Future[Streams] = asyncio.get_running_loop().create_future()
        listening = await asyncio.start_unix_server(
            lambda reader, writer: came.set_result((reader, writer)), path, limit=1 << 24
        )
        orders = {"what": "serve", "socket": str(path), "out": str(self._failure())}
        async with listening, self._pytest(tests, orders, ["-x"]), asyncio.timeout(START_SECONDS) as start:
            streams = await came
            start.reschedule(None)
            try:
                yield Server(self, streams)
            finally:
                streams[1].close()

    def _marked(self) -> list[str]:
        return ["-m", "slow or not slow"] if self.with_slow else []

    def _failure(self) -> Path:
        out = self.root.parent / f"{self.root.name}.failure"
        out.unlink(missing_ok=True)
        return out

    @asynccontextmanager
    async def _pytest(
        self, tests: Iterable[str], orders: dict[str, Any], options: list[str]
    ) -> AsyncIterator[Process]:
        told = self.root.parent / f"{self.root.name}.orders"
        told.write_text(json.dumps({"mongo_uri": self._mongo_uri, **orders}))
        paths = f"{self.root}{os.pathsep}{self.root / 'plugins'}"
        existing = [test for test in tests if (self.root / test).exists()]
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-p",
                "tests.mutants.watching",
                "-p",
                "no:cacheprovider",
                "-n",
                "0",
            ),
            *("--timeout", str(TEST_SECONDS), "--tb=line", *options, *self._marked(), *existing),
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": paths, VARIABLE: str(told)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):  # what the tests have started ends with them
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


class Server:
    """Made by `Copy.serving`."""

    def __init__(self, copy: Copy, streams: Streams) -> None:
        self._copy = copy
        self._reader, self._writer = streams

    async def run(
        self, mutant: Mutant | None, tests: list[str], limit: float, *, anew: bool = False
    ) -> Ended:
        """Like `Copy.run`, in a fork; by that one if the mutant has to be imported (`anew`: it has)."""
        if mutant is not None and (mutant.imported or anew):
            return await self._copy.run(tests, limit)
        out = self._copy._failure()
        order: dict[str, Any] = {"tests": tests, "limit": limit, "path": ""}
        if mutant is not None:
            path = self._copy.root / mutant.path
            order |= {
                "path": str(path),
                "before": self._copy.original(mutant.path),
                "after": path.read_text(),
            }
        self._writer.write(json.dumps(order).encode() + b"\n")
        await self._writer.drain()
        code = json.loads(await self._reader.readline())
        return await self._copy.run(tests, limit) if code == NOT_POSSIBLE else _ended(code, out)


def _ended(code: int | None, out: Path) -> Ended:
    failure = json.loads(out.read_text()) if out.exists() else {}
    return Ended(code=code, test=failure.get("test", ""), text=failure.get("text", ""))
