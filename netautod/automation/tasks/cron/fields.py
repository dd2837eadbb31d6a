"""The grammar of cron expressions: five fields of text become numbers, or an error that says why not."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from netautod.core.errors import InvalidInput

_LONGEST: Final = 1000
"""Characters; every value of every field written out needs fewer than 400."""

_LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ONE_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class _Field:
    """The range of one column; `highest` is the largest number that may be written (7 for a Sunday)."""

    name: str
    low: int
    high: int
    highest: int
    names: tuple[str, ...] = ()


_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MINUTE: Final = _Field(name="minute", low=0, high=59, highest=59)
_HOUR: Final = _Field(name="hour", low=0, high=23, highest=23)
_DAY: Final = _Field(name="day-of-month", low=1, high=31, highest=31)
_MONTH: Final = _Field(name="month", low=1, high=12, highest=12, names=_MONTHS)
_WEEKDAY: Final = _Field(name="day-of-week", low=0, high=6, highest=7, names=_WEEKDAYS)

_VALUE: Final = "[0-9]+|[A-Za-z]+"
_ITEM: Final = re.compile(rf"(?:\*|(?P<first>{_VALUE})(?:-(?P<last>{_VALUE}))?)(?:/(?P<step>[0-9]+))?")


@dataclass(frozen=True, kw_only=True)
class CronFields:
    """The values of the five fields, ascending; Sunday is 0.

    `fixed_time`: neither minute nor hour begins with `*`, which decides how the schedule passes a change of
    the clocks. `either_day`: neither day field begins with `*`, so that one matching day field is enough
    (the rule of Debian's cron; `*/2` begins with `*`, `0-6` does not).
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    fixed_time: bool
    either_day: bool

    def matches_day(self, day: date) -> bool:
        """Return whether the three date fields let anything fire on that date."""
        if day.month not in self.months:
            return False
        in_days, in_weekdays = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return (in_days or in_weekdays) if self.either_day else (in_days and in_weekdays)

    def count_walls(self, start: datetime, end: datetime) -> int:
        """Count the wall-clock minutes that match from `start` (included) to `end` (excluded); both naive.

        The cost grows with the days in between (about 0.3 ms a year), not with the matches.
        """
        if end <= start:
            return 0
        per_day, count = len(self.minutes) * len(self.hours), 0
        day, last_day = start.date(), end.date()
        if self.matches_day(day):
            count -= self._count_of_day_before(start)
        while day < last_day:
            count += per_day if self.matches_day(day) else 0
            day += _ONE_DAY
        return count + (self._count_of_day_before(end) if self.matches_day(last_day) else 0)

    def _count_of_day_before(self, wall: datetime) -> int:
        whole_hours = bisect_left(self.hours, wall.hour) * len(self.minutes)
        return whole_hours + (bisect_left(self.minutes, wall.minute) if wall.hour in self.hours else 0)

    def day_of_month_occurs(self) -> bool:
        """Return whether any of the months is ever as long as the smallest day (29 February counts)."""
        return any(self.days[0] <= _LONGEST_MONTHS[month - 1] for month in self.months)


def single_spaced(expression: str) -> str:
    """Return the expression as it is stored: one space between two fields, none around them."""
    return " ".join(_split(expression))


def parse_expression(expression: str) -> CronFields:
    """Parse `minute hour day-of-month month day-of-week`, separated by spaces or tabs.

    A field is a list of `*`, a number, a name (JAN-DEC, SUN-SAT, either case) or an ascending range; `*` and
    ranges take a step that is at most the number of values in the range. A step after a single number
    (`5/10`) is refused: cron implementations disagree about what it means. Raises InvalidInput with a
    sentence that names the field, also for an expression that never occurs (`0 0 31 2 *`).
    """
    if len(expression) > _LONGEST:
        raise InvalidInput(f"cron_expression is longer than {_LONGEST} characters")
    texts = _split(expression)
    if len(texts) != 5 or not texts[0]:
        raise InvalidInput(
            "cron_expression must have exactly five fields (minute hour day-of-month month day-of-week), "
            f"not {len(texts) if texts[0] else 0}"
        )
    minute, hour, day, month, weekday = texts
    fields = CronFields(
        minutes=_values(_MINUTE, minute),
        hours=_values(_HOUR, hour),
        days=_values(_DAY, day),
        months=_values(_MONTH, month),
        weekdays=_values(_WEEKDAY, weekday),
        fixed_time=not (minute.startswith("*") or hour.startswith("*")),
        either_day=not (day.startswith("*") or weekday.startswith("*")),
    )
    if not fields.either_day and not fields.day_of_month_occurs():
        raise InvalidInput(f"cron_expression never occurs: no month in {month!r} has a day {fields.days[0]}")
    return fields


def _split(expression: str) -> list[str]:
    return re.split(r"[ \t]+", expression.strip(" \t"))


def _values(field: _Field, text: str) -> tuple[int, ...]:
    values: set[int] = set()
    for item in text.split(","):
        values.update(_item(field, item))
    if field is _WEEKDAY and 7 in values:
        values = values - {7} | {0}
    return tuple(sorted(values))


def _item(field: _Field, item: str) -> range:
    match = _ITEM.fullmatch(item)
    if match is None:
        raise _bad(field, item, "only numbers, names, * , - and / are understood")
    first, last, step_text = match["first"], match["last"], match["step"]
    if first is None:
        low, high = field.low, field.high
    else:
        low = _number(field, item, first)
        high = low if last is None else _number(field, item, last)
    if high < low:
        raise _bad(field, item, "the range runs backwards")
    if step_text is None:
        return range(low, high + 1)
    if first is not None and last is None:
        raise _bad(field, item, f"a step needs * or a range, such as {low}-{field.high}/{int(step_text)}")
    step, size = int(step_text), high - low + 1
    if not 1 <= step <= size:
        raise _bad(field, item, f"the step must be 1 to {size}, the number of values in its range")
    return range(low, high + 1, step)


def _number(field: _Field, item: str, text: str) -> int:
    if text.isdigit():
        number = int(text)
        if not field.low <= number <= field.highest:
            raise _bad(field, item, f"values are {field.low} to {field.highest}")
        return number
    if text.upper() not in field.names:
        names = f"one of {', '.join(field.names)}" if field.names else "a number"
        raise _bad(field, item, f"{text[:40]!r} is not {names}")
    return field.low + field.names.index(text.upper())


def _bad(field: _Field, item: str, reason: str) -> InvalidInput:
    return InvalidInput(f"cron_expression has a bad {field.name} field {item[:40]!r}: {reason}")
