"""The requests in work, for a server that stops and waits until those that it had begun are answered."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class ActiveRequests:
    """The requests from head to end of their answer. Once it is closed, each is the last of its
    connection.
    """

    def __init__(self) -> None:
        self._count = 0
        self._none = asyncio.Event()
        self._none.set()
        self._closing = False

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    @contextmanager
    def one(self) -> Iterator["ActiveRequests"]:
        self._count += 1
        self._none.clear()
        try:
            yield self
        finally:
            self._count -= 1
            if not self._count:
                self._none.set()

    async def ended(self, seconds: float) -> None:
        """Wait until no request is left, for so many seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._none.wait()
