"""Time as the service sees it: UTC moments in whole milliseconds, and a clock that tests can replace."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The clock that the rest of the service asks."""

    def now(self) -> datetime:
        """Return the moment in UTC, cut to milliseconds (what BSON keeps)."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards: for intervals, never for dates."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return whole_milliseconds(datetime.now(UTC))

    def monotonic(self) -> float:
        return time.monotonic()


def whole_milliseconds(moment: datetime) -> datetime:
    """Cut what BSON would cut, so that a value read back equals the value written."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
