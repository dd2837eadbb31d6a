"""Gives processes a share of a core each: they run for a part of every period, and are stopped for the rest.

`python -m tests.bench.measured.duty <share> <pid> ...`, until its standard input is closed.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress

from tests.bench.measuring.children import parent_gone, say

PERIOD_SECONDS = 0.05


async def main(share: float, pids: Iterable[int]) -> None:
    listed = list(pids)
    going = asyncio.create_task(_turn(share, listed))
    say({})
    await parent_gone()
    going.cancel()
    await asyncio.gather(going, return_exceptions=True)
    _send(listed, signal.SIGCONT)


async def _turn(share: float, pids: list[int]) -> None:
    while True:
        _send(pids, signal.SIGCONT)
        await asyncio.sleep(PERIOD_SECONDS * share)
        _send(pids, signal.SIGSTOP)
        await asyncio.sleep(PERIOD_SECONDS * (1 - share))


def _send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), [int(pid) for pid in sys.argv[2:]]))
