"""The next runs of a schedule as people see them, with the effect of clock changes on each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from netautod.automation.tasks.cron.ticks import CronSchedule, next_runs
from netautod.automation.tasks.cron.zones import MINUTE, OffsetChange, changes, wall_at

Mark = Literal["shifted", "skipped", "doubled", "clocks"]


@dataclass(frozen=True, kw_only=True)
class UpcomingRun:
    """A coming run of a schedule.

    `local` is in the zone of the schedule. `mark` is None where no change of the clocks matters. shifted: a
    time that does not exist on that day runs when the gap ends; skipped: runs before it fall into a gap;
    doubled: its time comes twice on that day; clocks: the offset is another than at the run before.
    """

    utc: datetime
    local: datetime
    mark: Mark | None = None
    note: str = ""


def upcoming(schedule: CronSchedule, moment: datetime, count: int) -> list[UpcomingRun]:
    """Return the next `count` runs after `moment` (aware)."""
    found: list[UpcomingRun] = []
    before = moment.astimezone(UTC).replace(second=0, microsecond=0, tzinfo=None)
    for utc, local in next_runs(schedule, moment, count):
        at = utc.replace(tzinfo=None)
        marked = _marked(schedule, local, changes(schedule.zone, before, at), at)
        mark, note = (None, "") if marked is None else marked
        found.append(UpcomingRun(utc=utc, local=local, mark=mark, note=note))
        before = at
    return found


def _marked(
    schedule: CronSchedule, local: datetime, passed: Sequence[OffsetChange], at: datetime
) -> tuple[Mark, str] | None:
    gaps = [change for change in passed if _swallowed(schedule, change)]
    if gaps and schedule.fields.fixed_time and gaps[-1].at == at:
        return "shifted", _shift(schedule, gaps[-1])
    if gaps and not schedule.fields.fixed_time:
        count = sum(_swallowed(schedule, change) for change in gaps)
        return "skipped", f"{_gap(gaps[-1])}: {_runs(count)} skipped"
    if local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset() and _is_repeated(
        schedule, local, at
    ):
        return "doubled", _doubling(schedule, local)
    if passed and passed[0].before != passed[-1].after:
        return "clocks", f"the clocks change on {passed[-1].wall_after:%Y-%m-%d} to UTC{_offset(passed[-1])}"
    return None


def _swallowed(schedule: CronSchedule, change: OffsetChange) -> int:
    """Count the times of the schedule that a change leaves out."""
    return schedule.fields.count_walls(change.wall_before, change.wall_after)


def _is_repeated(schedule: CronSchedule, local: datetime, at: datetime) -> bool:
    """Return whether the clocks show this time twice; a gap has two offsets as well."""
    wall = wall_at(schedule.zone, at)
    other = local.replace(fold=1 - local.fold).astimezone(UTC).replace(tzinfo=None)
    return other != at and wall_at(schedule.zone, other) == wall


def _shift(schedule: CronSchedule, gap: OffsetChange) -> str:
    missed = schedule.wall_at_or_before(gap.wall_after - MINUTE)
    return f"{_gap(gap)}: shifted from {missed:%H:%M} to {gap.wall_after:%H:%M}"


def _doubling(schedule: CronSchedule, local: datetime) -> str:
    time = f"{local:%H:%M} comes twice on this day"
    if schedule.fields.fixed_time:
        return f"{time}: it runs once, the first time"
    return f"{time}: it runs both times, and this is the {'second' if local.fold else 'first'}"


def _gap(change: OffsetChange) -> str:
    before, after = change.wall_before, change.wall_after
    return f"on {before:%Y-%m-%d} the clocks jump from {before:%H:%M} to {after:%H:%M}"


def _runs(count: int) -> str:
    return "one run is" if count == 1 else f"{count} runs are"


def _offset(change: OffsetChange) -> str:
    minutes = change.after // timedelta(minutes=1)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"
