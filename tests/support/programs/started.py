"""A program that a test starts: its process, its ports, and when it is ready."""

import asyncio
import os
import shutil
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import pytest

from netautod.store.embedded.program import tied_to_parent
from tests.support.programs.forked import FORKS, Refused

ROOT = Path(__file__).parents[3]
LEAVE_SECONDS = 40.0


def program(name: str) -> str | None:
    """Its path, also where the system keeps its servers; None if it is not installed."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def not_installed(reason: str) -> NoReturn:
    """Skips the test; fails it in CI, where the suite must be complete."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@asynccontextmanager
async def started(
    *command: str, slow_to_leave: bool = False, log: Path | None = None, **options: Any
) -> AsyncIterator[Process]:
    """The process until the end of the block: then it is terminated, or killed if it is `slow_to_leave`.

    Its standard error is added to `log`; `options` are those of create_subprocess_exec. If the tests are
    killed, so is the process.
    """
    with _appended(log or Path(os.devnull)) as errors:
        process = await _begun(command, {"stdin": DEVNULL, "stdout": DEVNULL, "stderr": errors, **options})
    try:
        yield process
    finally:
        if process.returncode is None:
            (process.kill if slow_to_leave else process.terminate)()
        try:
            await asyncio.wait_for(process.wait(), LEAVE_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()


async def _begun(command: Sequence[str], options: Mapping[str, Any]) -> Process:
    try:
        return await FORKS.start(command, options)
    except Refused:
        return await asyncio.create_subprocess_exec(*tied_to_parent(command, os.getpid()), **options)


def _appended(path: Path) -> BinaryIO:
    return path.open("ab")


@asynccontextmanager
async def module_listening(module: str, *arguments: str, ports: Iterable[int]) -> AsyncIterator[None]:
    """A module of the tests in a process of its own, where its threads disturb no test, once it listens."""
    command = (sys.executable, "-W", "ignore", "-m", module, *arguments)
    async with started(*command, cwd=ROOT, slow_to_leave=True):
        for port in ports:
            await listening(port)
        yield


def free_port() -> int:
    """A port of loopback that nobody listens on at this moment."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


async def listening(at: int | Path) -> None:
    """Waits until a port or unix socket accepts connections: most servers do not say that they are ready."""
    async with asyncio.timeout(10):
        while True:
            try:
                _, writer = await (
                    asyncio.open_connection("127.0.0.1", at)
                    if isinstance(at, int)
                    else asyncio.open_unix_connection(at)
                )
            except (FileNotFoundError, ConnectionRefusedError):
                await asyncio.sleep(0.02)
            else:
                writer.close()
                await writer.wait_closed()
                return
