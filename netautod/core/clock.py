"""Time as the service sees it: UTC moments in whole milliseconds, and a clock that tests can replace."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the rest of the service may ask about time."""

    def now(self) -> datetime:
        """The moment in UTC, cut to milliseconds (what BSON keeps)."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards; for intervals, never for dates."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return whole_milliseconds(datetime.now(UTC))

    def monotonic(self) -> float:
        return time.monotonic()


def whole_milliseconds(moment: datetime) -> datetime:
    """Cuts what BSON would cut, so that a value read back equals the value written."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def to_text(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and `Z`: `2026-11-21T06:44:12.345Z`."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def optional_text(moment: datetime | None) -> str | None:
    """`to_text` for a value that may be absent."""
    return None if moment is None else to_text(moment)
