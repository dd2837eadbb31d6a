"""The rule of restarts of a mongod that ends by itself."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RestartRule:
    """A limit of `times` restarts within any `seconds`. The pauses before them grow: the cause may pass."""

    times: int = 3
    seconds: float = 600.0
    pauses: tuple[float, ...] = (0.0, 1.0, 5.0)

    def pause(self, restarts: Sequence[float], now: float) -> float | None:
        """Return the seconds until the next restart, or None after too many. `restarts` are the moments so
        far.
        """
        recent = sum(1 for moment in restarts if now - moment < self.seconds)
        if recent >= self.times:
            return None
        return self.pauses[min(recent, len(self.pauses) - 1)]

    def __str__(self) -> str:
        return f"{self.times} times in {self.seconds / 60:g} minutes"
