"""Reads bodies: small ones at once, large ones by a few child processes, started when needed."""

import asyncio
import logging
from typing import Any, Self

from netautod.core.errors import InvalidInput, Overloaded, Unavailable
from netautod.core.json import values as json_values
from netautod.core.loop.child_process import ChildLostError, ChildProcess
from netautod.http.bodies.protocol import ANSWER, READY, REQUEST, VALUE, unpickled

logger = logging.getLogger(__name__)
# Up to here the worst body takes the loop some 3 ms.
SMALL_BYTES = 256 * 1024
SMALL_VALUES = 4000
CHILDREN = 2
MOST_WAITING = 64
SECONDS = 20.0
RETRY_AFTER = 5
BUFFER = 1 << 20  # a large value would come in hundreds of small pieces otherwise
NAME = "a body reader"


def is_small(body: bytes) -> bool:
    return len(body) <= SMALL_BYTES and json_values.separators(body) <= SMALL_VALUES


class BodyReader:
    """A reader of JSON bodies, used as `async with BodyReader() as bodies:`; its children end with
    the block.
    """

    def __init__(self, *, children: int = CHILDREN, seconds: float = SECONDS) -> None:
        self._turns = asyncio.Semaphore(children)
        self.seconds = seconds
        self._idle: list[ChildProcess] = []
        self._alive: set[ChildProcess] = set()
        self._waiting = 0

    @property
    def pids(self) -> frozenset[int]:
        """The process ids of the children that are alive, idle or not."""
        return frozenset(child.pid for child in self._alive)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(child.kill() for child in self._alive))
        self._alive.clear()
        self._idle.clear()

    async def value_of(self, body: bytes) -> Any:
        """Return the checked JSON value. Raises InvalidInput for a bad one, Overloaded when too many wait."""
        if is_small(body):
            return json_values.decode(body)
        if self._waiting >= MOST_WAITING:
            raise Overloaded("Too many large bodies are being read", retry_after=RETRY_AFTER)
        self._waiting += 1
        try:
            async with self._turns:
                status, content = await self._by_child(body)
        finally:
            self._waiting -= 1
        if status != VALUE:
            raise InvalidInput(content.decode())
        return await asyncio.to_thread(unpickled, content)

    async def _by_child(self, body: bytes) -> tuple[int, bytes]:
        child = self._idle.pop() if self._idle else await self._start()
        whole = False
        try:
            async with asyncio.timeout(self.seconds):
                await child.write(REQUEST.pack(len(body)) + body)
                status, length = ANSWER.unpack(await child.read(ANSWER.size))
                content = await child.read(length)
            whole = True
        except TimeoutError as error:
            raise Unavailable("Reading the request body took too long") from error
        except ChildLostError as error:
            logger.warning("%s", error)
            raise Unavailable("The process that reads large bodies died; try again") from error
        finally:
            # Also when the request is cancelled: an answer may be half read.
            if whole:
                self._idle.append(child)
            else:
                self._alive.discard(child)
                await asyncio.shield(child.kill())
        return status, content

    async def _start(self) -> ChildProcess:
        try:
            child = await ChildProcess.start(
                "netautod.http.bodies.child", name=NAME, ready=READY, buffer=BUFFER
            )
        except (ChildLostError, OSError) as error:
            logger.error("large bodies cannot be read: %s", error)
            raise Unavailable("Large bodies cannot be read at the moment") from error
        self._alive.add(child)
        return child
