"""Requests that were refused for want of a permission or a valid token, and who records them."""

from dataclasses import dataclass
from typing import Protocol

from netautod.core.errors import Unauthenticated
from netautod.core.identity.caller import Caller, RequestInfo


class TokenRefused(Unauthenticated):
    """A token that is not good (any more). `caller`: whose it is or was, as far as that is certain."""

    def __init__(self, text: str, caller: Caller | None = None) -> None:
        super().__init__(text)
        self.caller = caller


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A refused request. `route` is the pattern of its path; `permission` the one that the route needs.

    `caller` None: it is not known who sent it.
    """

    status: int
    reason: str
    method: str
    route: str
    permission: str | None
    caller: Caller | None
    info: RequestInfo


@dataclass(frozen=True, kw_only=True)
class UnrecordedChange:
    """A request that was done. `caller` None: the route needs no token."""

    method: str
    route: str
    caller: Caller | None
    info: RequestInfo


class Refusals(Protocol):
    """The observer of refused requests and of unrecorded changes. It is notified before the client gets the
    answer.
    """

    async def record(self, refusal: Refusal) -> None: ...

    async def record_change(self, change: UnrecordedChange) -> None:
        """Record a request that may have changed something and recorded no event of its own."""


class IgnoredRefusals:
    """An observer that ignores all refusals."""

    async def record(self, refusal: Refusal) -> None:
        return

    async def record_change(self, change: UnrecordedChange) -> None:
        return
