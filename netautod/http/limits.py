"""The general request limit: one token bucket per caller, on this node."""

import math
from collections import OrderedDict

from netautod.core.clock import Clock
from netautod.core.errors import TooManyRequests

REMEMBERED = 10_000


class RateLimiter:
    """`rate` requests a second and `burst` at once for each key; a rate of 0 turns it off."""

    def __init__(self, *, clock: Clock, rate: float, burst: int) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = float(burst)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        """Takes one request's worth; raises TooManyRequests with the seconds until the next one."""
        if self._rate <= 0:
            return
        now = self._clock.monotonic()
        level, seen = self._buckets.pop(key, (self._burst, now))
        level = min(self._burst, level + (now - seen) * self._rate)
        if level < 1:
            self._keep(key, level, now)
            wait = math.ceil((1 - level) / self._rate)
            raise TooManyRequests("Too many requests", retry_after=max(1, wait))
        self._keep(key, level - 1, now)

    def _keep(self, key: str, level: float, now: float) -> None:
        self._buckets[key] = (level, now)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)  # the key that was used longest ago
