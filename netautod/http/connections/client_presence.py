"""The work of a request that ends when its client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from netautod.core.errors import Unavailable

T = TypeVar("T")


class ClientPresence:
    """The presence of one request's client."""

    def __init__(self) -> None:
        self.has_left = False
        self._work: asyncio.Future[Any] | None = None

    def leave(self) -> None:
        """Note that the client has disconnected, and cancel the work that is done for it."""
        self.has_left = True
        if self._work is not None:
            self._work.cancel()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, which is cancelled when the client disconnects.

        Raises Unavailable then.
        """
        self._work = asyncio.ensure_future(work)
        if self.has_left:
            self._work.cancel()
        try:
            return await self._work  # type: ignore[no-any-return]  # the attribute holds any kind of work
        except asyncio.CancelledError as error:
            if not self.has_left:
                raise
            raise Unavailable("the client went away") from error
        finally:
            self._work = None
