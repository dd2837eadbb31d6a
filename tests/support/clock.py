"""A clock that the test moves."""

from datetime import datetime, timedelta

from netautod.core.clock import SystemClock


class MovableClock:
    """Stands still until `move` is called."""

    def __init__(self) -> None:
        self._now = SystemClock().now()
        self._monotonic = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def move(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
