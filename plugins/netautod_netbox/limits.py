"""The limits of requests: how long one may take, how often it is repeated, how large its page may be."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_PAGE = 250
LARGEST_PAGE = 1000
SMALLEST_PAGE = 25
SLOW_SECONDS = 10.0
QUICK_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """The limits of one request with all its attempts, in seconds and bytes.

    Waits that a 429 demands come on top, each of at most `longest_wait` seconds.
    """

    seconds: float
    most_bytes: int
    longest_wait: float


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of all requests to one inventory. The probe's two together stay within 30 s: a user waits
    for them.

    `tries` counts attempts in all, `throttled` those that a 429 may cost besides.
    """

    status: RequestLimits = RequestLimits(seconds=10.0, most_bytes=256 * 1024, longest_wait=5.0)
    count: RequestLimits = RequestLimits(seconds=15.0, most_bytes=1024 * 1024, longest_wait=5.0)
    page: RequestLimits = RequestLimits(seconds=30.0, most_bytes=16 * 1024 * 1024, longest_wait=60.0)
    tries: int = 4
    throttled: int = 5
    backoff_seconds: float = 0.5
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


STANDARD = Limits()


class Tries:
    """The rest of the limits of one request."""

    def __init__(self, limits: Limits, request: RequestLimits) -> None:
        self._limits = limits
        self._longest_wait = request.longest_wait
        self._failures = 0
        self._throttled = 0
        self.seconds = request.seconds

    def after_failure(self, took: float) -> float | None:
        """Return the seconds to wait before the next attempt; None if there is to be none."""
        self._failures += 1
        wait = self._limits.backoff_seconds * 2.0 ** (self._failures - 1)
        self.seconds -= took + wait
        return wait if self._failures < self._limits.tries and self.seconds > 0 else None

    def after_throttling(self, retry_after: str | None) -> float | None:
        """Return the seconds to wait after a 429. The wait that it demands is not taken off the request's own
        time.
        """
        self._throttled += 1
        demanded = seconds_to_wait(retry_after, now=datetime.now(UTC))
        wait = self._limits.backoff_seconds * 2.0**self._throttled if demanded is None else demanded
        return wait if self._throttled <= self._limits.throttled and wait <= self._longest_wait else None


class PageSize:
    """A count of devices to request: more of a fast server, fewer of a slow one or if a page was too
    large.
    """

    def __init__(self) -> None:
        self.limit = FIRST_PAGE

    def took(self, seconds: float) -> None:
        """Adjust the size after a page that came whole."""
        if seconds < QUICK_SECONDS:
            self.limit = min(LARGEST_PAGE, 4 * self.limit)
        elif seconds > SLOW_SECONDS:
            self.shrink()

    def shrink(self) -> None:
        self.limit = max(SMALLEST_PAGE, self.limit // 2)


def seconds_to_wait(retry_after: str | None, *, now: datetime) -> float | None:
    """Parse the header Retry-After: seconds or an HTTP date (RFC 9110 10.2.3); None if it is neither."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for years that no date has
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
