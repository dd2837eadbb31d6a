"""The pace at which bulk work begins sessions: as fast as the event loop stays quick for everybody else.

Key exchange, login and the end of a capture take the loop a few milliseconds each. A hundred that begin in
the same instant stay in step, and whoever else waits for the loop waits for all of them: 0.1 to 0.4 s.
"""

import asyncio
import time

BETWEEN_SECONDS = 0.004  # from one beginning to the next
# What the loop may have worked meanwhile and still have room for one session more. Processor time: on a
# machine that is busy with something else the loop is late, too, and fewer sessions would not help.
QUICK_SECONDS = 0.02
MOST_AT_ONCE = 3  # that a late turn of the loop makes up for
MOST_SECONDS = 0.25  # for one that waits for that: a busy loop slows bulk work, and never stops it


class BulkPace:
    """Lets one after the other begin, each at a moment when the loop turns quickly."""

    def __init__(
        self,
        *,
        between: float = BETWEEN_SECONDS,
        quick: float = QUICK_SECONDS,
        most: float = MOST_SECONDS,
    ) -> None:
        self._between = between
        self._quick = quick
        self._most = most
        self._turns = asyncio.Lock()  # first come, first served
        self._owed = 0  # that may begin at once, because the loop came back late

    async def begin(self) -> None:
        """Returns when a session may begin."""
        async with self._turns:
            if self._owed:
                self._owed -= 1
                return
            latest = time.monotonic() + self._most
            while True:
                worked, slept = time.thread_time(), time.monotonic()
                await asyncio.sleep(self._between)
                now = time.monotonic()
                if time.thread_time() - worked <= self._quick or now >= latest:
                    self._owed = max(0, min(MOST_AT_ONCE, int((now - slept) / self._between)) - 1)
                    return
