"""The pace at which bulk work begins sessions: as fast as the event loop stays quick for everybody else.

Key exchange, login and the end of a capture take the loop a few milliseconds each. A hundred that begin in the
same instant stay in step, and whoever else waits for the loop waits for all of them: 0.1 to 0.4 s.
"""

import asyncio

BETWEEN_SECONDS = 0.004  # from one beginning to the next
QUICK_SECONDS = 0.01  # a turn of the loop that leaves room for one session more
MOST_SECONDS = 0.25  # for one that waits for a quick turn: a slow loop slows bulk work, and never stops it


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

    async def begin(self) -> None:
        """Returns when a session may begin."""
        now = asyncio.get_running_loop().time
        async with self._turns:
            latest = now() + self._most
            while True:
                due = now() + self._between
                await asyncio.sleep(self._between)
                # A timer comes late by what the loop had to do before it.
                if now() - due <= self._quick or now() >= latest:
                    return
