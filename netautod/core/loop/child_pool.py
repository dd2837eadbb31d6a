"""A pool of child processes: started with the first request, few at a time, replaced when lost or late."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

from netautod.core.loop.child_process import ChildKind, ChildLostError, ChildProcess

logger = logging.getLogger(__name__)


class ChildStartError(Exception):
    """Raised when no child can be started; the reason is in the log."""


class PoolFullError(Exception):
    """Raised when as many requests run and wait as the pool takes."""


class Turn:
    """The exclusive use of a child for some requests in a row."""

    def __init__(self, child: ChildProcess, *, finish_cancelled: bool) -> None:
        self._child = child
        self._finish_cancelled = finish_cancelled
        self.is_whole = True  # no answer is half read

    async def ask(self, request: bytes, *, seconds: float) -> tuple[bool, bytes]:
        """Return whether the request was done, and the answer. Raises ChildLostError, TimeoutError."""
        self.is_whole = False
        call = self._ask(request, seconds)
        found = await (self._finish(asyncio.create_task(call)) if self._finish_cancelled else call)
        self.is_whole = True
        return found

    async def _finish(self, call: asyncio.Task[tuple[bool, bytes]]) -> tuple[bool, bytes]:
        """Wait for the answer, also in a cancelled call: it would be taken for that of the next request."""
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            try:
                await asyncio.wait({call})
                self.is_whole = not call.cancelled() and call.exception() is None
            finally:
                call.cancel()
            raise

    async def _ask(self, request: bytes, seconds: float) -> tuple[bool, bytes]:
        try:
            async with asyncio.timeout(seconds):
                return await self._child.ask(request)
        except ChildLostError as error:
            logger.warning("%s", error)
            raise


class ChildPool:
    """A pool: `async with ChildPool(kind) as pool:` ends its children with the block.

    `max_pending` bounds the requests that run and wait together; children end when none was made for
    `idle_seconds`. The child of a cancelled request is killed, or with `finish_cancelled` waited for.
    """

    def __init__(
        self,
        kind: ChildKind,
        *,
        children: int = 1,
        max_pending: int | None = None,
        idle_seconds: float | None = None,
        finish_cancelled: bool = False,
    ) -> None:
        self._kind = kind
        self._max_pending = max_pending
        self._idle_seconds = idle_seconds
        self._finish_cancelled = finish_cancelled
        self._slots = asyncio.Semaphore(children)
        self._pending = 0
        self._idle: list[ChildProcess] = []
        self._children: set[ChildProcess] = set()
        self._resting: asyncio.Task[None] | None = None

    @property
    def children(self) -> frozenset[ChildProcess]:
        """Return the living children, idle or not."""
        return frozenset(self._children)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all children; the next request starts one again."""
        if self._resting is not None:
            self._resting.cancel()
            await asyncio.gather(self._resting, return_exceptions=True)
        await asyncio.gather(*(self._discard(child) for child in self.children))

    async def ask(self, request: bytes, *, seconds: float) -> tuple[bool, bytes]:
        """Return whether the request was done, and the answer. Raises what `turn` and `Turn.ask` raise."""
        async with self.turn() as turn:
            return await turn.ask(request, seconds=seconds)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Hold a child within the block. Raises PoolFullError, ChildStartError."""
        if self._max_pending is not None and self._pending >= self._max_pending:
            raise PoolFullError
        self._pending += 1
        try:
            async with self._slots:
                child = self._idle.pop() if self._idle else await self._start()
                turn = Turn(child, finish_cancelled=self._finish_cancelled)
                try:
                    yield turn
                finally:
                    await self._end_turn(child, is_whole=turn.is_whole)
        finally:
            self._pending -= 1

    async def _end_turn(self, child: ChildProcess, *, is_whole: bool) -> None:
        if not is_whole:
            await self._discard(child)
        elif child in self._children:  # the pool was not closed meanwhile
            self._idle.append(child)
        if self._idle_seconds is not None:
            if self._resting is not None:
                self._resting.cancel()
            self._resting = asyncio.create_task(self._rest(self._idle_seconds), name="idle children")

    async def _start(self) -> ChildProcess:
        try:
            child = await ChildProcess.start(self._kind)
        except (ChildLostError, OSError) as error:
            logger.error("%s cannot be started: %s", self._kind.name, error)
            raise ChildStartError(str(error)) from error
        self._children.add(child)
        return child

    async def _discard(self, child: ChildProcess) -> None:
        self._children.discard(child)
        if child in self._idle:
            self._idle.remove(child)
        await asyncio.shield(child.kill())

    async def _rest(self, seconds: float) -> None:
        """End the children when there was no request for a while."""
        await asyncio.sleep(seconds)
        while self._idle:
            await self._discard(self._idle[-1])
