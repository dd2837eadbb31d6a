"""The decision of a scan about one task: fire it, skip its ticks, or wait; pure.

A schedule whose minute and hour are both fixed fires a tick once, however often the clock shows it; any other
follows the clock, as in Debian's cron (cron(8), "when the clock is changed").
"""

from collections.abc import Collection
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
    """A run for the tick `scheduled_for`; `missed` older ticks get none.

    `clock_step` is part of the identity of the run: a tick fires once under each number.
    """

    scheduled_for: datetime
    next_run_at: datetime
    missed: int
    clock_step: int = 0


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
    task: DueTask,
    now: datetime,
    catch_up_window: timedelta,
    previous_active: bool,
    ticks: NextTicks,
    clock_step: int = 0,
) -> Fire | Skip | Wait:
    """Decide about one task.

    Ticks that passed are coalesced: the newest one fires if it lies within the window, never several.
    `next_run_at` of the answer is the first tick after `now`. `clock_step` is how often the clock was set
    back. Raises InvalidInput if the stored expression or
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
    return Fire(
        scheduled_for=newest,
        next_run_at=upcoming,
        missed=due - 1,
        clock_step=step_of(schedule, clock_step),
    )


def step_of(schedule: CronSchedule, clock_step: int) -> int:
    """Return the number under which the schedule fires: always 0 if its ticks do not repeat."""
    return 0 if schedule.fields.fixed_time else clock_step


def tick_by_new_clock(
    task: DueTask, now: datetime, fired: Collection[datetime], ticks: NextTicks
) -> datetime | None:
    """Return the tick by which a task goes on when the clock was set back to `now`.

    It is the first one after `now`; with minute and hour fixed the first one that is not among `fired`, the
    ticks that have had their run. None: the tick that the task waits for comes no later. Raises InvalidInput
    as `decide`.
    """
    schedule = ticks.schedule(task.cron_expression, task.timezone)
    tick = ticks.next_after(schedule, now)
    while schedule.fields.fixed_time and tick in fired:
        tick = ticks.next_after(schedule, tick)
    return tick if tick < task.next_run_at else None


def _count_due(schedule: CronSchedule, first: datetime, newest: datetime) -> int:
    if first == newest:
        return 1
    return count_between(schedule, first - timedelta(microseconds=1), newest)
