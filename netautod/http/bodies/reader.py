"""Reads bodies: small ones at once, large ones by a few child processes, started when needed.

A body goes to the child as it came, and its value comes back pickled. It is made of JSON types by our own
code, so that pickle is safe here; and it holds no more than `MOST_VALUES` values.
"""

import asyncio
import pickle
from io import BytesIO
from typing import Any, Self

from netautod.core.errors import InvalidInput, Overloaded, Unavailable
from netautod.core.json import values as json_values
from netautod.core.loop.child_pool import ChildPool, ChildStartError, PoolFullError
from netautod.core.loop.child_process import ChildKind, ChildLostError

CHILD = ChildKind(module="netautod.http.bodies.child", name="a body reader")
# Up to here the worst body takes the loop some 3 ms.
SMALL_BYTES = 256 * 1024
SMALL_VALUES = 4000
CHILDREN = 2
MOST_WAITING = 64
SECONDS = 20.0
RETRY_AFTER = 5


def is_small(body: bytes) -> bool:
    return len(body) <= SMALL_BYTES and json_values.separators(body) <= SMALL_VALUES


class BodyReader:
    """A reader of JSON bodies, used as `async with BodyReader() as bodies:`; its children end with
    the block.
    """

    def __init__(self, *, children: int = CHILDREN, seconds: float = SECONDS) -> None:
        self._pool = ChildPool(CHILD, children=children, max_pending=MOST_WAITING)
        self.seconds = seconds

    @property
    def pids(self) -> frozenset[int]:
        """The process ids of the children that are alive, idle or not."""
        return frozenset(child.pid for child in self._pool.children)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    async def value_of(self, body: bytes) -> Any:
        """Return the checked JSON value. Raises InvalidInput for a bad one, Overloaded when too many wait."""
        if is_small(body):
            return json_values.decode(body)
        done, content = await self._by_child(body)
        if not done:
            raise InvalidInput(content.decode())
        return await asyncio.to_thread(unpickled, content)

    async def _by_child(self, body: bytes) -> tuple[bool, bytes]:
        try:
            return await self._pool.ask(body, seconds=self.seconds)
        except PoolFullError as error:
            raise Overloaded("Too many large bodies are being read", retry_after=RETRY_AFTER) from error
        except TimeoutError as error:
            raise Unavailable("Reading the request body took too long") from error
        except ChildLostError as error:
            raise Unavailable("The process that reads large bodies died; try again") from error
        except ChildStartError as error:
            raise Unavailable("Large bodies cannot be read at the moment") from error


def unpickled(content: bytes) -> Any:
    """Return the value. Call it in a thread: it lets other threads go on after each frame of 64 KiB."""
    return pickle.Unpickler(_Frames(content)).load()


class _Frames:
    """A file in Python: each reading is a chance for other threads, which the C code alone does not give."""

    def __init__(self, content: bytes) -> None:
        self._content = BytesIO(content)

    def read(self, size: int = -1, /) -> bytes:
        return self._content.read(size)

    def readline(self) -> bytes:
        return self._content.readline()
