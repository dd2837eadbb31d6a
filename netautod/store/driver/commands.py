"""Counts what the driver says of its commands (CommandListener)."""

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
        """Ignore the start: a command counts when it ends."""

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        self._observe(event)

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        self._observe(event)

    def _observe(self, event: Any) -> None:
        name = event.command_name if event.command_name in COMMANDS else "other"
        self._metrics.observe("database_command_seconds", event.duration_micros / 1e6, name)
