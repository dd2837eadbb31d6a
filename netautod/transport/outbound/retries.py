"""The pause before a request is tried again; pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MOST_DOUBLINGS = 64  # of any pause: more would be no number of seconds any more


def retry_pause(tried: int, first: float, *, longest: float, chance: float) -> float:
    """Return the seconds to wait after `tried` attempts: doubled with each attempt; `chance`, from 0 to 1,
    spreads them by half.
    """
    doubled = first * 2.0 ** min(tried - 1, MOST_DOUBLINGS)
    return float(min(longest, doubled) * (0.5 + chance / 2))


def asked_pause(headers: Mapping[str, str], now: datetime, *, longest: float) -> float:
    """Return the seconds that Retry-After (RFC 9110, 10.2.3: seconds or a date) requests, at most `longest`.

    Returns 0 without the header, or if it is neither.
    """
    text = headers.get("Retry-After", "").strip()
    if text.isdecimal() and text.isascii():
        return min(longest, float(text))
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(longest, max(0.0, (moment - now).total_seconds()))
