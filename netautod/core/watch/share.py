"""The share of a turn of the event loop that runs have: whatever else waits for the loop comes in between."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context

SHARE_SECONDS = 0.005
MOST_WAITS = 4  # turns of the loop; a request takes about twice as many


class RunShare:
    """The steps of runs that are ready, first come, first served.

    A hundred device sessions have a hundred steps ready at a time, and a request takes several turns of the
    loop: it would wait for all of them each time. While there is something else to do in each turn, runs
    wait for a few turns.
    """

    def __init__(self, call_soon: Callable[..., object], *, seconds: float = SHARE_SECONDS) -> None:
        self._call_soon = call_soon
        self._seconds = seconds
        self._ready: deque[asyncio.Handle] = deque()
        self._waits = MOST_WAITS
        self._turn_is_due = False
        self.others_are_ready = False  # set for each step of anybody else

    def add(self, handle: asyncio.Handle) -> asyncio.Handle:
        """Run the handle in one of the next turns, unless it is cancelled before."""
        self._ready.append(handle)
        if not self._turn_is_due:
            self._turn_is_due = True
            self._call_soon(self._take_turn, context=Context())
        return handle

    def _take_turn(self) -> None:
        try:
            if self.others_are_ready and self._waits:
                self._waits -= 1
            else:
                self._waits = MOST_WAITS
                self._take_steps()
        finally:  # also behind one that ended with an exit
            self.others_are_ready = False
            self._turn_is_due = bool(self._ready)
            if self._turn_is_due:
                self._call_soon(self._take_turn, context=Context())

    def _take_steps(self) -> None:
        """Run at least one step; what becomes ready meanwhile waits for the next turn."""
        ends = time.perf_counter() + self._seconds
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle.cancelled():
                handle._run()
            if time.perf_counter() >= ends:
                return
