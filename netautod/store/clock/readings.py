"""Readings of a clock, and how far it was set between two of them; pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

NO_JUMP: Final = timedelta(seconds=5)
"""A clock that is off by less was corrected, or is that of a new primary: nothing follows from it."""

UNCHANGED: Final = timedelta(0)


@dataclass(frozen=True, kw_only=True)
class Look:
    """A look at a clock that has begun, at `sent` (as in ClockReading); later ones have higher numbers."""

    number: int
    sent: float


@dataclass(frozen=True, kw_only=True)
class ClockReading:
    """A time that a clock showed, at some moment from `sent` to `received`.

    These two are seconds of a clock that nobody sets, and that goes on while the machine is suspended.
    """

    shown: datetime
    sent: float
    received: float

    @property
    def middle(self) -> float:
        return (self.sent + self.received) / 2

    @property
    def uncertainty(self) -> timedelta:
        """Return how far from `middle` the clock may have been read."""
        return timedelta(seconds=(self.received - self.sent) / 2)

    def jump_since(self, before: "ClockReading") -> timedelta:
        """Return how far the clock was set between the two, negative: back.

        A jump is reported only where even the slowest answers leave more than NO_JUMP unexplained.
        """
        passed = timedelta(seconds=self.middle - before.middle)
        difference = self.shown - before.shown - passed
        known = abs(difference) - self.uncertainty - before.uncertainty
        return difference if known > NO_JUMP else UNCHANGED
