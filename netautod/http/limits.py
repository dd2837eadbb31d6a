"""The request limits of this node: token buckets for callers and for the addresses of all others.

A request with a valid token counts for its caller alone. All others count for the client's address (IPv6: its
/64): without a token, with a refused one, of an unknown path or method, malformed.
"""

import hashlib
import heapq
import math
from collections import OrderedDict
from dataclasses import dataclass

from netautod.core.clock import Clock
from netautod.core.errors import TooManyRequests
from netautod.core.net.addresses import group_of

REMEMBERED = 100_000
RECOGNISED = 10_000


class RateLimiter:
    """A token bucket for each key: `rate` requests a second and `burst` at once; a rate of 0 turns it off.

    Of a bucket only the moment is kept at which it will be full again. A full one is forgotten without loss;
    if too many are not full, the one goes that is next to it. So a sweep of addresses never hands a busy one
    a new bucket.
    """

    def __init__(self, *, clock: Clock, rate: float, burst: int, remembered: int = REMEMBERED) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._remembered = remembered
        self._full_at: dict[str, float] = {}
        # Each key once, with a moment that is its own or an earlier one: put right when it comes to the top.
        self._next: list[tuple[float, str]] = []

    def take(self, key: str) -> None:
        """Take one request's worth. Raises TooManyRequests with the seconds until the next one."""
        if self._rate <= 0:
            return
        now = self._clock.monotonic()
        full_at = max(now, self._full_at.get(key, now)) + 1 / self._rate
        over = full_at - now - self._burst / self._rate
        if over > 1e-9:
            raise TooManyRequests("Too many requests", retry_after=max(1, math.ceil(over)))
        if key not in self._full_at:
            self._make_room(now)
            heapq.heappush(self._next, (full_at, key))
        self._full_at[key] = full_at

    def give_back(self, key: str) -> None:
        """Undo one `take`."""
        if key in self._full_at:
            self._full_at[key] -= 1 / self._rate

    def __len__(self) -> int:
        return len(self._full_at)

    def _make_room(self, now: float) -> None:
        while self._next and (self._next[0][0] <= now or len(self._full_at) >= self._remembered):
            noted, key = self._next[0]
            full_at = self._full_at[key]
            if full_at > noted and full_at > now:
                heapq.heapreplace(self._next, (full_at, key))
            else:
                heapq.heappop(self._next)
                del self._full_at[key]


@dataclass(frozen=True, kw_only=True)
class Rate:
    """The rate of a limit. `per_second` 0: no limit."""

    per_second: float
    burst: int


class RequestLimits:
    """The limits of requests, checked before anything of a request that is not cheap."""

    def __init__(self, *, clock: Clock, callers: Rate, anonymous: Rate) -> None:
        self._callers = RateLimiter(clock=clock, rate=callers.per_second, burst=callers.burst)
        self._anonymous = RateLimiter(clock=clock, rate=anonymous.per_second, burst=anonymous.burst)
        # Checks of tokens that were not seen before: a flood without any leaves room for those with one.
        self._tokens = RateLimiter(clock=clock, rate=anonymous.per_second, burst=anonymous.burst)
        self._recognised: OrderedDict[bytes, None] = OrderedDict()

    @classmethod
    def none(cls, clock: Clock) -> "RequestLimits":
        return cls(clock=clock, callers=Rate(per_second=0, burst=1), anonymous=Rate(per_second=0, burst=1))

    def anonymous(self, address: str) -> None:
        """Count a request without a valid token. Raises TooManyRequests."""
        self._anonymous.take(group_of(address))

    def before_token(self, token: str, address: str) -> None:
        """Count an unknown token before it is checked; one that was valid a while ago is not held back by its
        address.
        """
        if _digest(token) not in self._recognised:
            self._tokens.take(group_of(address))

    def refused(self, token: str, address: str) -> None:
        self._recognised.pop(_digest(token), None)
        self.anonymous(address)

    def accepted(self, token: str, address: str, caller: str) -> None:
        digest = _digest(token)
        if digest in self._recognised:
            self._recognised.move_to_end(digest)
        else:
            self._tokens.give_back(group_of(address))
            self._recognised[digest] = None
            if len(self._recognised) > RECOGNISED:
                self._recognised.popitem(last=False)
        self._callers.take(caller)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
