"""How long the far end is given, how often it is asked again, and how large a page is asked for."""

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
class Bounds:
    """Of one request with all its tries; waits that a 429 asks for come on top, none over `longest_wait`."""

    seconds: float
    most_bytes: int
    longest_wait: float


@dataclass(frozen=True, kw_only=True)
class Pace:
    """The probe's two requests together stay within half a minute, because somebody waits for it."""

    status: Bounds = Bounds(seconds=10.0, most_bytes=256 * 1024, longest_wait=5.0)
    count: Bounds = Bounds(seconds=15.0, most_bytes=1024 * 1024, longest_wait=5.0)
    page: Bounds = Bounds(seconds=30.0, most_bytes=16 * 1024 * 1024, longest_wait=60.0)
    tries: int = 4
    throttled: int = 5
    backoff_seconds: float = 0.5
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


STANDARD = Pace()


class Tries:
    """What is left to one request."""

    def __init__(self, pace: Pace, bounds: Bounds) -> None:
        self._pace = pace
        self._longest_wait = bounds.longest_wait
        self._failures = 0
        self._throttled = 0
        self.seconds = bounds.seconds

    def after_failure(self, took: float) -> float | None:
        """Seconds to wait before the next try; None if there is to be none."""
        self._failures += 1
        wait = self._pace.backoff_seconds * 2.0 ** (self._failures - 1)
        self.seconds -= took + wait
        return wait if self._failures < self._pace.tries and self.seconds > 0 else None

    def after_throttling(self, retry_after: str | None) -> float | None:
        """The same for a 429. The wait that is asked for costs no time of the request's own."""
        self._throttled += 1
        asked = seconds_of(retry_after, now=datetime.now(UTC))
        wait = self._pace.backoff_seconds * 2.0**self._throttled if asked is None else asked
        return wait if self._throttled <= self._pace.throttled and wait <= self._longest_wait else None


class PageSize:
    """How many devices to ask for: more of a quick server, fewer of a slow one or if they are too large."""

    def __init__(self) -> None:
        self.limit = FIRST_PAGE

    def took(self, seconds: float) -> None:
        """After a page that came whole."""
        if seconds < QUICK_SECONDS:
            self.limit = min(LARGEST_PAGE, 4 * self.limit)
        elif seconds > SLOW_SECONDS:
            self.shrink()

    def shrink(self) -> None:
        self.limit = max(SMALLEST_PAGE, self.limit // 2)


def seconds_of(retry_after: str | None, *, now: datetime) -> float | None:
    """The header Retry-After: seconds or an HTTP date (RFC 9110 10.2.3); None if it is neither."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # the latter for numbers beyond all time
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
