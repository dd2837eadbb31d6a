"""Guards of work that only one node may do: called before it sends anything, and before it writes anything.

Before it sends, it asks this node alone (`Guard`): without a word from the database for too long, the work
may belong to another node by now. What has been done is written as soon as the database answers (`Persist`):
the fence there decides whether the work is still this node's.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from netautod.core.errors import NetautodError

T = TypeVar("T")


class LeaseLostError(NetautodError):
    """The work belongs to another node by now, or may do so: nothing more may be written or sent."""


Guard = Callable[[], None]
"""Raises LeaseLostError once the work may be another node's."""


def no_guard() -> None:
    """Do nothing: the guard of work that no other node can take over."""


class Persist(Protocol):
    """A writer that repeats a call while the database does not answer, for as long as the work is this
    node's.

    `act` may have happened and still be called again. Raises LeaseLostError once the work is another node's.
    """

    async def __call__(self, act: Callable[[], Awaitable[T]]) -> T: ...


async def ask_once(act: Callable[[], Awaitable[T]]) -> T:
    """Call the database once: for work that a client waits for, whose failure the client sees."""
    return await act()
