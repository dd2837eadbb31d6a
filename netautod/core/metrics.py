"""The counters and gauges of the service, by name."""

from collections import Counter
from collections.abc import Mapping

HELP: Mapping[str, str] = {
    "scheduler_fired": "Executions inserted by the due scan.",
    "scheduler_missed": "Ticks that got no run because nobody was there in time.",
    "scheduler_skipped": "Ticks skipped because the task's previous execution was still active.",
    "scheduler_failures": "Scans that the database did not answer.",
    "executions_started": "Attempts started on this node.",
    "executions_finished": "Attempts that ended on this node.",
    "executions_fenced": "Results dropped because the lease was gone.",
    "executions_taken_over": "Executions whose node died, taken over by this one.",
    "executions_abandoned": "Executors that ignored their cancellation.",
    "executions_running": "Executions running on this node now.",
    "polls_started": "Polls of devices begun on this node.",
    "polls_finished": "Polls that read something.",
    "polls_failed": "Polls that read nothing.",
    "polls_taken_over": "Polls whose node died or stopped, begun again by this one.",
    "polls_abandoned": "Polls that did not end within their time, and were left behind.",
    "polls_running": "Polls running on this node now.",
    "collectors_abandoned": "Collectors of polls that ignored their cancellation.",
    "database_disk_free_mb": "MiB free on the disk of the service's own database.",
    "loop_stalls": "Times that the event loop was held up for two seconds and more.",
    "plugins_observer_dropped": "Events that an observer was too far behind to be told.",
    "plugins_observer_failures": "Observers of plugins that raised.",
}


class Metrics:
    """Values of this process; a name that is not in HELP is a mistake in the program."""

    def __init__(self) -> None:
        self._values: Counter[str] = Counter(dict.fromkeys(HELP, 0))

    def add(self, name: str, amount: int = 1) -> None:
        self._require_known(name)
        self._values[name] += amount

    def set(self, name: str, value: int) -> None:
        self._require_known(name)
        self._values[name] = value

    def value(self, name: str) -> int:
        self._require_known(name)
        return self._values[name]

    def snapshot(self) -> dict[str, int]:
        return dict(self._values)

    def _require_known(self, name: str) -> None:
        if name not in HELP:
            raise KeyError(name)
