"""Which answers are tried again, and after which pause; pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST = 300.0  # seconds between two tries, whatever a receiver asks for
TOO_MANY = 429
# Of RequestFailed: no connection, no answer, half of one. Not a redirect, nor an answer that came compressed.
RETRIED = frozenset({"dns", "connect", "certificate", "timeout", "answer"})


def is_retried(status: int) -> bool:
    """Other 3xx and 4xx say that the same request will not be accepted later either."""
    return status == TOO_MANY or status >= 500


def pause(tried: int, first: float, *, chance: float) -> float:
    """Seconds after `tried` tries: doubled with each one; `chance`, from 0 to 1, spreads them by half."""
    return min(LONGEST, first * 2.0 ** (tried - 1)) * (0.5 + chance / 2)


def asked_pause(headers: Mapping[str, str], now: datetime) -> float:
    """What Retry-After (RFC 9110, 10.2.3: seconds or a date) asks for; 0 for none, or one that is neither."""
    text = headers.get("Retry-After", "").strip()
    if text.isdecimal() and text.isascii():
        return min(LONGEST, float(text))
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(LONGEST, max(0.0, (moment - now).total_seconds()))
