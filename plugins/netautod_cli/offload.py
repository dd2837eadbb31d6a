"""The process that parses outputs: templates hold the interpreter for half a second and more."""

import asyncio
import ctypes
import pickle
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from netautod_cli.unreadable import Unreadable

PARSE_SECONDS = 60.0
AT_ONCE = 200  # rows that are unpacked in a turn of the loop: about a millisecond
_PR_SET_PDEATHSIG = 1  # prctl(2)


@dataclass(frozen=True)
class _Pieces:
    pieces: list[bytes]


class Offload:
    """A child process for parsing, created without effects; it starts at the first use, and ends with the
    service.
    """

    def __init__(self, *, seconds: float = PARSE_SECONDS) -> None:
        self._seconds = seconds
        self._pool: ProcessPoolExecutor | None = None
        self._turn = asyncio.Lock()

    async def call(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function of a module in the process; Unreadable for one that does not end.

        A long list comes in pieces: to unpack all of it at once would hold the loop.
        """
        async with self._turn:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin)
            try:
                async with asyncio.timeout(self._seconds):
                    loop = asyncio.get_running_loop()
                    packed = await loop.run_in_executor(self._pool, _packed, work, *arguments)
            except TimeoutError as exc:
                self.end()
                raise Unreadable(f"the output was not read within {self._seconds:g} s") from exc
            except BrokenProcessPool as exc:
                self.end()
                raise Unreadable("the process that reads outputs has ended") from exc
            except asyncio.CancelledError:
                self.end()  # no caller waits for the answer, and the next call would wait behind it
                raise
        return await _unpacked(packed)

    def end(self) -> None:
        """Kill the process: its work is of no use any more."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)


def _packed(work: Callable[..., Any], *arguments: Any) -> Any:
    """Call the function in the child; return a list as the bytes of its pieces, anything else as it is."""
    answer = work(*arguments)
    if not isinstance(answer, list):
        return answer
    return _Pieces([pickle.dumps(answer[at : at + AT_ONCE]) for at in range(0, len(answer), AT_ONCE)])


async def _unpacked(packed: Any) -> Any:
    if not isinstance(packed, _Pieces):
        return packed
    rows: list[Any] = []
    for piece in packed.pieces:
        rows += pickle.loads(piece)
        await asyncio.sleep(0)
    return rows


def _begin() -> None:
    """Prepare the child: it ends with the service, however that ends; Ctrl-C is for the service."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
