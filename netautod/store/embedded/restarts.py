"""How often a mongod that ends by itself is started again."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RestartRule:
    """At most `times` within any `seconds`. The pauses before them grow: what kills it may pass."""

    times: int = 3
    seconds: float = 600.0
    pauses: tuple[float, ...] = (0.0, 1.0, 5.0)

    def pause(self, restarts: Sequence[float], now: float) -> float | None:
        """Seconds until it is started again; None if that was done too often. `restarts`: when, so far."""
        recent = sum(1 for moment in restarts if now - moment < self.seconds)
        if recent >= self.times:
            return None
        return self.pauses[min(recent, len(self.pauses) - 1)]

    def __str__(self) -> str:
        return f"{self.times} times in {self.seconds / 60:g} minutes"
