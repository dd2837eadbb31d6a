"""Requests that take long end when their client goes away, instead of working for nobody."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from netautod.http.handler import JsonHandler

T = TypeVar("T")


class StopsWithClient(JsonHandler):
    _work: asyncio.Task[Any] | None = None
    _client_gone = False

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._client_gone = True
        if self._work is not None:
            self._work.cancel()

    async def while_connected(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What the work comes to; None if the client went away: it was cancelled, and nobody is answered."""
        task = asyncio.create_task(work)
        self._work = task
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            if not self._client_gone:
                raise
            return None
