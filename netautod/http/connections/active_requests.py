"""The requests in work, for a server that stops: when have those that it had begun been answered?"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class InWork:
    """Requests from head to end of their answer; once it is closed, each is the last of its connection."""

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
    def one(self) -> Iterator["InWork"]:
        self._count += 1
        self._none.clear()
        try:
            yield self
        finally:
            self._count -= 1
            if not self._count:
                self._none.set()

    async def ended(self, seconds: float) -> None:
        """Returns when none is left, or after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._none.wait()
