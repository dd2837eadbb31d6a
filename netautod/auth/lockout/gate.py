"""How many logins are worked on at the same time: a flood of them must not hold up other requests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from netautod.core.errors import Unavailable

AT_ONCE = 8
"""More than there are threads for passwords, so that those never wait for the database."""
WAITING = 256


class LoginGate:
    """`at_once` logins go on, up to `waiting` others wait their turn, the next one gets Unavailable.

    The passwords are the bottleneck: without it a hundred logins would do their ten database calls each in
    the same moment, and the event loop would be late for everybody.
    """

    def __init__(self, *, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._places = at_once + waiting
        self._inside = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        if self._inside >= self._places:
            raise Unavailable("Too many logins at the same time; try again in a moment")
        self._inside += 1
        try:
            async with self._turns:
                yield
        finally:
            self._inside -= 1
