"""The limit of concurrent logins with a password, which keeps the event loop free for other requests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.core.errors import Unavailable

# More logins at once than there are threads for passwords, so that those never wait for the database.
LOGINS_AT_ONCE = 8
LOGINS_WAITING = 256


class LoginGate:
    """A gate: `at_once` logins run, up to `waiting` others wait, the next one gets Unavailable.

    Passwords are the bottleneck: without the gate a hundred logins would make their ten database calls each
    in the same moment, and the event loop would be late for all other requests.
    """

    def __init__(self, *, at_once: int = LOGINS_AT_ONCE, waiting: int = LOGINS_WAITING) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._places = at_once + waiting
        self._inside = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a place while the block runs. Raises Unavailable if too many logins wait."""
        if self._inside >= self._places:
            raise Unavailable("Too many logins at the same time; try again in a moment")
        self._inside += 1
        try:
            async with self._turns:
                yield
        finally:
            self._inside -= 1
