"""Child processes of a benchmark: modules of tests/bench that print one JSON line when they are ready."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.bench.measuring.report import ROOT, BenchmarkError

START_SECONDS = 300.0  # some say what they measured first
STOP_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class Child:
    """A running child; `said` is the JSON value of its first line."""

    process: Process
    said: Any


@asynccontextmanager
async def child(module: str, *arguments: str) -> AsyncIterator[Child]:
    """Runs `python -m tests.bench.<module>`, ready, until the end of the block, which closes its stdin.

    A child ends by itself when its stdin does, so that it cannot outlive us.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", f"tests.bench.{module}", *arguments, stdin=PIPE, stdout=PIPE, cwd=ROOT
    )
    try:
        async with asyncio.timeout(START_SECONDS):
            said = await _line(process, module)
        yield Child(process=process, said=said)
    finally:
        await _end(process)


async def parent_gone() -> None:
    """For the child: returns when the parent's end of stdin closes."""
    stop = asyncio.Event()

    class Parent(asyncio.Protocol):
        def connection_lost(self, exc: Exception | None) -> None:
            stop.set()

    await asyncio.get_running_loop().connect_read_pipe(Parent, sys.stdin)
    await stop.wait()


def say(value: Any) -> None:
    """For the child: one JSON line."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


async def _line(process: Process, module: str) -> Any:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line:
        raise BenchmarkError(f"{module} ended with exit code {await process.wait()}")
    return json.loads(line)


async def _end(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
