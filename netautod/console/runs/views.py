"""The view models of the pages of runs."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from netautod.automation.executions.models import Execution, ResultCounts
from netautod.automation.tasks.cron.upcoming import UpcomingRun
from netautod.automation.tasks.models import DEFAULT_RETRIES, DEFAULT_RETRY_DELAY, DEFAULT_TIMEOUT, Task
from netautod.console.base.rendering import lasted
from netautod.console.runs.advice import Advice
from netautod.core.pages import PageOf
from netautod.network.devices.models import DeviceItem
from netautod.plugin_api import DeviceResult


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The preview of a schedule.

    `devices` is None if the task's devices are not known in advance, or if the reader may not see devices.
    """

    runs: Sequence[UpcomingRun]
    zone: str
    devices: PageOf[DeviceItem] | None
    device_filter: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A task as the editor begins with it."""

    name: str = ""
    description: str | None = None
    task_type: str = ""
    cron_expression: str = ""
    timezone: str = "UTC"
    enabled: bool = True
    max_retries: int = DEFAULT_RETRIES
    retry_delay_seconds: int = DEFAULT_RETRY_DELAY
    timeout_seconds: int = DEFAULT_TIMEOUT

    @classmethod
    def of(cls, task: Task) -> "Draft":
        return cls(**{name: getattr(task, name) for name in cls.__dataclass_fields__})


@dataclass(frozen=True, kw_only=True)
class ResultsView:
    """A page of results by device; the counts are of all of them."""

    listed: PageOf[DeviceResult]
    counts: ResultCounts
    advice_on: Callable[[str | None], Advice]

    @property
    def total(self) -> int:
        return self.counts.succeeded + self.counts.failed


@dataclass(frozen=True, kw_only=True)
class Run:
    """An execution as the row of a list."""

    execution: Execution
    now: datetime

    @property
    def attempts(self) -> int:
        return 0 if self.execution.started_at is None else self.execution.retry_count + 1

    @property
    def seconds(self) -> float | None:
        """Return how long the run has taken, until now if it has not ended."""
        started, ended = self.execution.started_at, self.execution.completed_at
        return None if started is None else max(0.0, ((ended or self.now) - started).total_seconds())

    @property
    def duration(self) -> str:
        return "" if self.seconds is None else lasted(self.seconds)

    @property
    def share(self) -> tuple[int, int] | None:
        """Return the counts of finished and of all devices while both are known."""
        progress: Mapping[str, Any] = self.execution.progress or {}
        total = progress.get("total", 0)
        return (progress.get("done", 0), total) if total else None


def runs_of(executions: Sequence[Execution]) -> list[Run]:
    now = datetime.now(UTC)
    return [Run(execution=execution, now=now) for execution in executions]


def output_text(execution: Execution) -> str:
    """Return the executor's output as JSON without the results by device, which have their own table."""
    output = execution.output
    if isinstance(output, Mapping):
        output = {name: value for name, value in output.items() if name != "results"}
    return "" if output is None or output == {} else json_text(output)


def answer_of(execution: Execution) -> str:
    """Return the final answer of an agent."""
    answer = execution.output.get("answer") if isinstance(execution.output, Mapping) else None
    return answer if isinstance(answer, str) else ""


def json_text(value: Any) -> str:
    """Format a value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
