"""The ticks of a cron schedule, in UTC, with Debian cron's rules for the days when the clocks change.

croniter finds the matching minutes of a plain wall clock that never jumps; this module decides what a jump
does to them, as cron(8) of Debian describes it. A schedule whose minute and hour both name times (neither
begins with `*`) fires each of these times once: a swallowed one when the gap ends, a repeated one in its
first pass. Any other schedule fires whenever the clocks show a matching minute.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Final
from zoneinfo import ZoneInfo

from croniter import croniter

from netautod.automation.tasks.cron.fields import CronFields, parse_expression
from netautod.automation.tasks.cron.zones import (
    MINUTE,
    OffsetChange,
    changes,
    first_change,
    first_instant,
    last_change,
    latest_wall,
    offset_at,
    parse_timezone,
)

_LONGEST_WAIT_YEARS: Final = 41
"""29 February on one weekday comes every 28 years, or 40 where a century without a leap day lies between."""


@dataclass(frozen=True, kw_only=True)
class CronSchedule:
    """A valid expression in a valid zone; equal if both texts are equal. `parse` makes it."""

    expression: str
    timezone: str
    fields: CronFields = field(compare=False, repr=False)
    zone: ZoneInfo = field(compare=False, repr=False)
    _walls: croniter = field(compare=False, repr=False)

    def wall_after(self, wall: datetime) -> datetime:
        """Return the first matching minute of a wall clock without jumps later than `wall`; both naive."""
        return self._walls.get_next(datetime, start_time=wall)

    def wall_at_or_before(self, wall: datetime) -> datetime:
        """Return the last matching minute of a wall clock without jumps up to `wall`; both naive."""
        return self._walls.get_prev(datetime, start_time=wall + MINUTE)


def parse(expression: str, timezone: str) -> CronSchedule:
    """Parse an expression and a zone.

    Raises InvalidInput with a sentence that begins with `cron_expression` or `timezone`.
    """
    return _schedule(expression, timezone, _walls_of)


def _schedule(
    expression: str, timezone: str, walls_of: Callable[[str], tuple[CronFields, croniter]]
) -> CronSchedule:
    fields, walls = walls_of(expression)
    zone = parse_timezone(timezone)
    return CronSchedule(expression=expression, timezone=timezone, fields=fields, zone=zone, _walls=walls)


def _walls_of(expression: str) -> tuple[CronFields, croniter]:
    fields = parse_expression(expression)
    return fields, _wall_matcher(fields)


def next_after(schedule: CronSchedule, moment: datetime) -> datetime:
    """Return the first tick strictly later than `moment` (aware); UTC, a whole minute."""
    at = _utc_minute(moment)
    if schedule.fields.fixed_time:
        wall = schedule.wall_after(latest_wall(schedule.zone, at))
        return first_instant(schedule.zone, wall).replace(tzinfo=UTC)
    offset = offset_at(schedule.zone, at)
    tick = schedule.wall_after(at + offset)
    while change := first_change(schedule.zone, at, tick - offset):
        at, offset = change.at, change.after
        if tick < change.wall_after or _repeats_a_tick(schedule, change):
            tick = schedule.wall_after(change.wall_after - MINUTE)
    return (tick - offset).replace(tzinfo=UTC)


def last_at_or_before(schedule: CronSchedule, moment: datetime) -> datetime:
    """Return the newest tick up to and including `moment` (aware); UTC, a whole minute."""
    at = _utc_minute(moment)
    if schedule.fields.fixed_time:
        wall = schedule.wall_at_or_before(latest_wall(schedule.zone, at))
        return first_instant(schedule.zone, wall).replace(tzinfo=UTC)
    offset = offset_at(schedule.zone, at)
    tick = schedule.wall_at_or_before(at + offset)
    while change := last_change(schedule.zone, tick - offset, at):
        at, offset = change.at - MINUTE, change.before
        if tick >= change.wall_before or _repeats_a_tick(schedule, change):
            tick = schedule.wall_at_or_before(change.wall_before - MINUTE)
    return (tick - offset).replace(tzinfo=UTC)


def count_between(schedule: CronSchedule, after: datetime, until: datetime) -> int:
    """Count the ticks later than `after`, up to and including `until` (both aware).

    The count is exact. The cost grows with the days in between (about 0.8 ms a year), not with the ticks.
    """
    start, end = _utc_minute(after), _utc_minute(until)
    if end <= start:
        return 0
    passed = changes(schedule.zone, start, end)
    if schedule.fields.fixed_time:
        return _count_fixed(schedule, start, end, passed)
    count, begin, offset = 0, start + MINUTE, offset_at(schedule.zone, start)
    for change in passed:
        count += schedule.fields.count_walls(begin + offset, change.wall_before)
        begin, offset = change.at, change.after
    return count + schedule.fields.count_walls(begin + offset, end + offset + MINUTE)


def next_runs(schedule: CronSchedule, moment: datetime, count: int) -> list[tuple[datetime, datetime]]:
    """Return the next `count` ticks after `moment`, each as (UTC, local time with the zone's offset)."""
    runs: list[tuple[datetime, datetime]] = []
    for _ in range(count):
        moment = next_after(schedule, moment)
        runs.append((moment, moment.astimezone(schedule.zone)))
    return runs


class NextTicks:
    """A cache of schedules and their ticks around a minute, as many tasks share a few expressions.

    Every moment of a minute has the same neighbouring ticks, so one computation (about 0.1 ms) serves all
    tasks with that expression and zone in it. At most `capacity` entries of each kind are kept.

    Use it in one thread only: a croniter object serves all zones and remembers where it was.
    """

    def __init__(self, *, capacity: int = 4096) -> None:
        walls_of = lru_cache(maxsize=capacity)(_walls_of)
        self._parse = lru_cache(maxsize=capacity)(partial(_schedule, walls_of=walls_of))
        self._next = lru_cache(maxsize=capacity)(next_after)
        self._last = lru_cache(maxsize=capacity)(last_at_or_before)

    def schedule(self, expression: str, timezone: str) -> CronSchedule:
        """Return the same as `parse`."""
        return self._parse(expression, timezone)

    def next_after(self, schedule: CronSchedule, moment: datetime) -> datetime:
        """Return the same as the function `next_after`."""
        return self._next(schedule, _utc_minute(moment).replace(tzinfo=UTC))

    def last_at_or_before(self, schedule: CronSchedule, moment: datetime) -> datetime:
        """Return the same as the function `last_at_or_before`."""
        return self._last(schedule, _utc_minute(moment).replace(tzinfo=UTC))


def _utc_minute(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    return moment.astimezone(UTC).replace(second=0, microsecond=0, tzinfo=None)


def _repeats_a_tick(schedule: CronSchedule, change: OffsetChange) -> bool:
    return schedule.fields.count_walls(change.wall_after, change.wall_before) > 0


def _count_fixed(
    schedule: CronSchedule, start: datetime, end: datetime, passed: Sequence[OffsetChange]
) -> int:
    first = latest_wall(schedule.zone, start) + MINUTE
    count = schedule.fields.count_walls(first, latest_wall(schedule.zone, end) + MINUTE)
    for change in passed:
        # The times that a gap swallows fire together with the one that is due when the gap ends.
        if change.after > change.before:
            together = schedule.fields.count_walls(change.wall_before, change.wall_after + MINUTE)
            count -= max(together - 1, 0)
    return count


def _wall_matcher(fields: CronFields) -> croniter:
    """Build a croniter on plain numbers, so that its own reading of ranges, names and stars never matters.

    It would read `5-5` as every value, and `0-6` like `*`, which turns "either day" into "both days".
    """
    days, weekdays = _listed(fields.days, 31), _listed(fields.weekdays, 7)
    if fields.either_day and "*" in (days, weekdays):
        days = weekdays = "*"
    elif fields.either_day and not fields.day_of_month_occurs():
        # Only the day of week is left; croniter would look 41 years ahead for the other one on each call.
        days = "*"
    text = " ".join(
        (_listed(fields.minutes, 60), _listed(fields.hours, 24), days, _listed(fields.months, 12), weekdays)
    )
    return croniter(text, 0, day_or=fields.either_day, max_years_between_matches=_LONGEST_WAIT_YEARS)


def _listed(values: Sequence[int], all_of_them: int) -> str:
    return "*" if len(values) == all_of_them else ",".join(map(str, values))
