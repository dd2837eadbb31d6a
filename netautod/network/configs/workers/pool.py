"""The text workers of a node: one that compares, one that searches and remembers redacted texts.

They are apart so that a diff never waits for a search, and processes since both are pure computing: in a
thread they would take the interpreter from the event loop in turns of 5 ms and more.
"""

import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from netautod.core.errors import InvalidInput, Unavailable
from netautod.core.loop import child_pool
from netautod.core.loop.child_pool import ChildPool, ChildStartError
from netautod.core.loop.child_process import ChildKind, ChildLostError
from netautod.transport.ssh.platform.registry import PlatformRegistry

REQUEST_SECONDS = 20.0


class Turn:
    """The exclusive use of a worker for some requests in a row."""

    def __init__(self, turn: child_pool.Turn, *, seconds: float) -> None:
        self._turn = turn
        self._seconds = seconds

    async def ask(self, work: str, **arguments: Any) -> Any:
        """Return what the worker answers to a kind of request, such as `compare` (child.py has them all).

        Raises InvalidInput as they do, and Unavailable for a worker that died or took too long. A cancelled
        call still waits for the end of its request: its answer would be taken for that of the next one.
        """
        try:
            done, content = await self._turn.ask(pickled((work, arguments)), seconds=self._seconds)
        except TimeoutError as error:
            text = f"Comparing or searching these texts took longer than {self._seconds:g} s"
            raise Unavailable(text) from error
        except ChildLostError as error:
            raise Unavailable("The worker process for texts died; try again") from error
        value = pickle.loads(content)
        if not done:
            raise InvalidInput(value)
        return value


class TextWorker:
    """A text worker that starts its process with the first request, and anew after one that was not ended
    properly.
    """

    def __init__(
        self, platforms: PlatformRegistry, *, cache_bytes: int = 0, seconds: float = REQUEST_SECONDS
    ) -> None:
        child = ChildKind(
            module="netautod.network.configs.workers.child",
            name="a text worker",
            first=pickled((platforms, cache_bytes)),
        )
        self._pool = ChildPool(child, finish_cancelled=True)
        self._seconds = seconds

    @property
    def pid(self) -> int | None:
        return next((child.pid for child in self._pool.children), None)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        try:
            async with self._pool.turn() as turn:
                yield Turn(turn, seconds=self._seconds)
        except ChildStartError as error:
            raise Unavailable("The worker process for texts does not start") from error

    async def stop(self) -> None:
        await self._pool.close()


class TextWorkers:
    """The text workers of a node: `async with TextWorkers(platforms, cache_bytes=...)`; the processes end
    with the block.
    """

    def __init__(
        self, platforms: PlatformRegistry, *, cache_bytes: int, seconds: float = REQUEST_SECONDS
    ) -> None:
        self.comparing = TextWorker(platforms, seconds=seconds)
        self.searching = TextWorker(platforms, cache_bytes=cache_bytes, seconds=seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in (self.comparing, self.searching):
            await worker.stop()


def pickled(value: Any) -> bytes:
    """Return the bytes of a request. Both ends are this very program and the pipes are private, so pickle is
    safe here: it never holds anything but values that our own code made.
    """
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
