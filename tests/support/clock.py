"""Clocks that the test moves or sets."""

from datetime import UTC, datetime, timedelta

from netautod.core.clock import SystemClock
from netautod.core.metrics import Metrics
from netautod.store.client import Database
from netautod.store.clock.server_clock import ServerClock, steady_seconds


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


class SetClocks:
    """The clocks of one node as they seem to be set: the database's `database` seconds ahead of where it was,
    and the machine's own.

    The true clock of the database cannot be set here; so the seconds are counted differently.
    """

    def __init__(self) -> None:
        self.database = 0.0
        self.machine = 0.0

    def steady(self) -> float:
        return steady_seconds() - self.database

    def machine_time(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.machine - self.database)

    def of(self, database: Database, metrics: Metrics | None = None) -> ServerClock:
        """The server's clock as this node sees it."""
        return ServerClock(database, metrics=metrics, steady=self.steady, machine=self.machine_time)
