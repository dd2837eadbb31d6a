"""The decision of a scan about one task: fire it, skip its ticks, or wait; pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from netautod.automation.tasks.cron.ticks import CronSchedule, NextTicks, count_between

ON_TIME: Final = timedelta(minutes=1)
"""A tick this young was not missed, however small the catch-up window is: a scan takes its time."""

SkipReason = Literal["too_late", "previous_active", "no_tick"]


@dataclass(frozen=True, kw_only=True)
class DueTask:
    """The fields of a task that the decision needs.

    `next_run_at` is UTC, the earliest tick not yet decided.
    """

    id: str
    cron_expression: str
    timezone: str
    enabled: bool
    next_run_at: datetime


@dataclass(frozen=True, kw_only=True)
class Fire:
    """A run for the tick `scheduled_for`; `missed` older ticks get none."""

    scheduled_for: datetime
    next_run_at: datetime
    missed: int


@dataclass(frozen=True, kw_only=True)
class Skip:
    """A decision to run none of `missed` ticks.

    The reason is that of the newest tick. too_late: it is older than the catch-up window. previous_active:
    the task's last execution has not ended. no_tick: the stored `next_run_at` is no tick (any more: new zone
    data), none has come since, missed is 0.
    """

    next_run_at: datetime
    missed: int
    reason: SkipReason


@dataclass(frozen=True, kw_only=True)
class Wait:
    """A decision to change nothing: the task is disabled, or not due yet."""


def decide(
    task: DueTask, now: datetime, catch_up_window: timedelta, previous_active: bool, ticks: NextTicks
) -> Fire | Skip | Wait:
    """Decide about one task.

    Ticks that passed are coalesced: the newest one fires if it lies within the window, never several.
    `next_run_at` of the answer is the first tick after `now`. Raises InvalidInput if the stored expression or
    zone is not valid (any more: tzdata drops a name at times).
    """
    if not task.enabled or task.next_run_at > now:
        return Wait()
    schedule = ticks.schedule(task.cron_expression, task.timezone)
    upcoming = ticks.next_after(schedule, now)
    newest = ticks.last_at_or_before(schedule, now)
    if newest < task.next_run_at:
        return Skip(next_run_at=upcoming, missed=0, reason="no_tick")
    due = _count_due(schedule, task.next_run_at, newest)
    if now - newest > max(catch_up_window, ON_TIME):
        return Skip(next_run_at=upcoming, missed=due, reason="too_late")
    if previous_active:
        return Skip(next_run_at=upcoming, missed=due, reason="previous_active")
    return Fire(scheduled_for=newest, next_run_at=upcoming, missed=due - 1)


def _count_due(schedule: CronSchedule, first: datetime, newest: datetime) -> int:
    if first == newest:
        return 1
    return count_between(schedule, first - timedelta(microseconds=1), newest)
