"""Parses outputs in a process of its own: templates hold the interpreter for half a second and more."""

import asyncio
import ctypes
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from netautod_cli.unreadable import Unreadable

PARSE_SECONDS = 60.0
_PR_SET_PDEATHSIG = 1  # prctl(2)


class Offload:
    """Made without effects; the process starts at the first use, and ends with the service."""

    def __init__(self, *, seconds: float = PARSE_SECONDS) -> None:
        self._seconds = seconds
        self._pool: ProcessPoolExecutor | None = None
        self._turn = asyncio.Lock()

    async def call(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """What a function of a module answers, in the process; Unreadable for one that does not end."""
        async with self._turn:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin)
            try:
                async with asyncio.timeout(self._seconds):
                    return await asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)
            except TimeoutError as exc:
                self.end()
                raise Unreadable(f"the output was not read within {self._seconds:g} s") from exc
            except BrokenProcessPool as exc:
                self.end()
                raise Unreadable("the process that reads outputs has ended") from exc
            except asyncio.CancelledError:
                self.end()  # nobody waits for the answer, and the next one would wait behind it
                raise

    def end(self) -> None:
        """Kills the process: what it works on is of no use any more."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    """In the child: it ends with the service, however that ends; Ctrl-C is for the service."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
