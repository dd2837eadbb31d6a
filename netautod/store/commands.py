"""Counts what the driver says of its commands and connections (CommandListener, ConnectionPoolListener)."""

from typing import Any

from pymongo import monitoring

from netautod.core.metrics import Metrics

# The names of the wire protocol; another one is counted as `other`.
COMMANDS = frozenset(
    {
        *("find", "getMore", "insert", "update", "delete", "findAndModify", "bulkWrite"),
        *("aggregate", "count", "distinct", "createIndexes", "listIndexes"),
        *("commitTransaction", "abortTransaction", "killCursors", "endSessions", "hello", "ping"),
    }
)


class CommandTimes(monitoring.CommandListener):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """Of no interest before it ends."""

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        self._observe(event)

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        self._observe(event)

    def _observe(self, event: Any) -> None:
        name = event.command_name if event.command_name in COMMANDS else "other"
        self._metrics.observe("database_command_seconds", event.duration_micros / 1e6, name)


class PoolWaits(monitoring.ConnectionPoolListener):
    """The time from asking for a connection to having it, or to giving up."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def connection_checked_out(self, event: monitoring.ConnectionCheckedOutEvent) -> None:
        self._metrics.observe("database_pool_wait_seconds", event.duration or 0.0)

    def connection_check_out_failed(self, event: monitoring.ConnectionCheckOutFailedEvent) -> None:
        self._metrics.observe("database_pool_wait_seconds", event.duration or 0.0)

    def _ignored(self, event: object) -> None:
        """The driver calls each of these."""

    connection_check_out_started = _ignored
    connection_checked_in = _ignored
    connection_closed = _ignored
    connection_created = _ignored
    connection_ready = _ignored
    pool_cleared = _ignored
    pool_closed = _ignored
    pool_created = _ignored
    pool_ready = _ignored
