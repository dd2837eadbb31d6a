"""The counters, gauges and histograms of the service, by name."""

import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

# Seconds; of requests and calls, and of what waits for a clock.
QUICK = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SLOW = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
NONE: tuple[str, ...] = ()
# How sessions with devices end: by the kind of a failure (FailureKind in transport/ssh/failures.py), or
# otherwise.
SESSION_RESULTS = (
    *("ok", "cancelled", "error"),
    *("dns", "refused", "timeout", "kex", "host_key", "auth", "enable", "prompt", "pager", "incomplete"),
    *("refused_command", "lost", "flood"),
    *("not_found", "credential", "suspended", "address", "not_vouched", "busy"),
)
# Those of all events of the audit that alert rules and the dashboard ask for.
WATCHED_EVENTS = ("auth.login", "auth.login_failed", "auth.lockout", "auth.refresh_replay")

CLOCK_JUMPS = tuple((clock, to) for clock in ("database", "node") for to in ("back", "forward"))


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A declared metric. `labels` take few values each, never an id or what a client has sent.

    `from_zero` are values of the labels (of the only one, or one for each) that exist from the start:
    Prometheus sees no increase in a series that begins with 1. `at_first` is false for a gauge that is
    unknown, not 0, until it is set.
    """

    kind: Literal["counter", "gauge", "histogram"] = "counter"
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    from_zero: tuple[str | tuple[str, ...], ...] = ()
    at_first: bool = True

    def first_labels(self) -> Iterator[tuple[str, ...]]:
        """Yield the labels of the series that exist before anything was counted."""
        if not self.labels and self.kind != "histogram" and self.at_first:
            yield NONE
        for value in self.from_zero:
            yield (value,) if isinstance(value, str) else value


def _gauge(text: str) -> Declared:
    return Declared(kind="gauge", help=text)


def _learned(text: str) -> Declared:
    """Declare a gauge that is not on the page while its value is unknown."""
    return Declared(kind="gauge", help=text, at_first=False)


def _seconds(text: str, *labels: str, buckets: tuple[float, ...] = QUICK) -> Declared:
    return Declared(kind="histogram", help=text, labels=labels, buckets=buckets)


DECLARED: Mapping[str, Declared] = {
    "scheduler_fired": Declared(help="Executions inserted by the due scan."),
    "scheduler_missed": Declared(help="Ticks that got no run because they were found too late."),
    "scheduler_skipped": Declared(
        help="Ticks skipped because the task's previous execution was still active."
    ),
    "scheduler_blocked": Declared(help="Ticks not run because the owner of the task is disabled or deleted."),
    "scheduler_failures": Declared(help="Scans that the database did not answer."),
    "scheduler_lag_seconds": _seconds("From the tick of a task to its execution.", buckets=SLOW),
    "scheduler_oldest_due_seconds": _learned("How long the longest overdue task has been due."),
    "clock_jumps": Declared(
        help="Times that a clock was seen to have been set by more than 5 s: the clock of the database or of "
        "this node, back or forward.",
        labels=("clock", "direction"),
        from_zero=CLOCK_JUMPS,
    ),
    "executions_started": Declared(help="Attempts started on this node."),
    "executions_finished": Declared(help="Attempts that ended on this node."),
    "executions_ended": Declared(
        help="Attempts that ended on this node, by outcome.",
        labels=("outcome",),
        from_zero=("completed", "failed", "cancelled", "timeout"),
    ),
    "executions_fenced": Declared(help="Results dropped because the lease was gone."),
    "executions_leases_lost": Declared(
        help="Attempts ended in the middle: their execution was cancelled, or another node has it by now."
    ),
    "executions_taken_over": Declared(help="Executions whose node died, taken over by this one."),
    "executions_abandoned": Declared(help="Executors that ignored their cancellation."),
    "executions_running": _gauge("Executions running on this node now."),
    "executions_slots": _gauge("Executions that this node runs at once, at most."),
    "executions_pending": _learned("Executions that wait for a node, of all organizations."),
    "device_sessions": Declared(
        help="Sessions with devices, by how they ended: ok, the kind of the device's failure, cancelled "
        "(also by the time limit of a run), or error.",
        labels=("result",),
        from_zero=SESSION_RESULTS,
    ),
    "device_sessions_open": _gauge("Sessions with devices that are open on this node now."),
    "polls_started": Declared(help="Polls of devices begun on this node."),
    "device_failures": Declared(
        help="Devices that could not be reached or read, by the way to them and the kind of failure.",
        labels=("transport", "kind"),
    ),
    "polls_finished": Declared(help="Polls that read something."),
    "polls_failed": Declared(help="Polls that read nothing."),
    "polls_taken_over": Declared(help="Polls whose node died or stopped, begun again by this one."),
    "polls_abandoned": Declared(help="Polls that did not end within their time, and were left behind."),
    "polls_running": _gauge("Polls running on this node now."),
    "polls_waiting": _learned("Polls that were requested and have not begun, of all organizations."),
    "collectors_abandoned": Declared(help="Collectors of polls that ignored their cancellation."),
    "database_disk_free_bytes": _learned("Bytes free on the disk of the service's own database."),
    "database_command_seconds": _seconds("Answers of the database, by command.", "command"),
    "database_up": _learned("Whether the database answered when this page was made."),
    "database_failures": Declared(help="Calls that the database refused or did not answer in time."),
    "database_thread_wait_seconds": _seconds(
        "Waits of calls to the database for a free thread: ordinary, bulk, leases, changes.", "lane"
    ),
    "http_requests": Declared(
        help="Requests that were answered, by route template.", labels=("method", "route", "status")
    ),
    "http_request_seconds": _seconds("From a request's head to the end of its answer.", "route"),
    "http_connections": _gauge("Connections of clients that are open."),
    "event_listeners": _gauge("Listeners at the event stream."),
    "audit_events": Declared(
        help="Events of the audit: auth.login_failed and the like.",
        labels=("action",),
        from_zero=WATCHED_EVENTS,
    ),
    "credentials_suspended": _learned("Logins on devices that are suspended for background use."),
    "notes_vaults_unlocked": _learned("Organizations whose notes can be read at the moment."),
    "certificate_ends_at_seconds": _gauge("When the server's certificate ends, in seconds since 1970."),
    "process_restarts": Declared(help="Times that the process was started again because it had ended."),
    "loop_stalls": Declared(help="Times that the event loop was held up for two seconds and more."),
    "loop_lag_seconds": _seconds("How late the event loop comes to what is due."),
    "webhook_deliveries": Declared(
        help="Tries of deliveries to webhooks on this node, by outcome: delivered, retried, failed; expired.",
        labels=("outcome",),
        from_zero=("delivered", "retried", "failed", "expired"),
    ),
    "webhook_deliveries_waiting": _learned("Deliveries that wait for a webhook, of all organizations."),
    "webhook_deliveries_oldest_seconds": _learned("How long the oldest waiting delivery has waited."),
    "plugins_observer_dropped": Declared(help="Events dropped because an observer was too far behind."),
    "plugins_observer_failures": Declared(help="Observers of plugins that raised."),
}


@dataclass(kw_only=True)
class Observed:
    """The buckets of a histogram: how many values fell into each (the last one: above all), and their sum."""

    counts: list[int]
    total: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Series:
    """A value with those of its labels, in the order in which they are declared."""

    name: str
    labels: tuple[str, ...]
    value: float | Observed = field(hash=False)


class Metrics:
    """The metric values of this process. A name that is not in DECLARED is a mistake in the program.

    Any thread may count: the driver of the database counts from its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[tuple[str, tuple[str, ...]], float] = {
            (name, labels): 0 for name, one in DECLARED.items() for labels in one.first_labels()
        }
        self._observed: dict[tuple[str, tuple[str, ...]], Observed] = {}

    def add(self, name: str, amount: int = 1, *labels: str) -> None:
        key = self._key(name, labels)
        with self._lock:
            self._values[key] = self._values.get(key, 0) + amount

    def set(self, name: str, value: float) -> None:
        self._values[self._key(name, NONE)] = value

    def forget(self, *names: str) -> None:
        """Drop gauges whose value is no longer known; they are left off the page until they are set again."""
        with self._lock:
            for name in names:
                self._values.pop(self._key(name, NONE), None)

    def observe(self, name: str, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        key = self._key(name, labels)
        buckets = DECLARED[name].buckets
        with self._lock:
            found = self._observed.get(key)
            if found is None:
                found = self._observed[key] = Observed(counts=[0] * (len(buckets) + 1))
            found.counts[bisect_left(buckets, value)] += 1
            found.total += value

    def value(self, name: str, *labels: str) -> int:
        return int(self._values.get(self._key(name, labels), 0))

    def snapshot(self) -> dict[str, int]:
        """Return the counters and gauges without labels."""
        return {name: int(value) for (name, labels), value in self._values.items() if not labels}

    def series(self) -> Iterator[Series]:
        with self._lock:
            values = list(self._values.items())
            observed = [
                (key, Observed(counts=list(one.counts), total=one.total))
                for key, one in self._observed.items()
            ]
        for (name, labels), value in values:
            yield Series(name=name, labels=labels, value=value)
        for (name, labels), found in observed:
            yield Series(name=name, labels=labels, value=found)

    def _key(self, name: str, labels: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        if len(DECLARED[name].labels) != len(labels):
            raise KeyError(name)
        return name, labels
