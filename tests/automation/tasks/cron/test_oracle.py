"""Holds the schedules to a brute-force oracle that walks UTC minutes and shares no code with the product."""

import random
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import and_
from zoneinfo import ZoneInfo

import pytest

from netautod.automation.tasks.cron.ticks import count_between, last_at_or_before, next_after, parse

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
COLUMNS = [(0, 59, []), (0, 23, []), (1, 31, []), (1, 12, MONTHS), (0, 7, WEEKDAYS)]

Columns = tuple[bytes, ...]


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The UTC minutes of a window with their local fields, one byte each."""

    start: datetime
    columns: Columns
    repeated: bytes
    """1 where the clocks show a time that they have shown before."""
    gaps: list[tuple[int, Columns]]
    """The index of the first minute after a gap, and the local fields of the minutes that it swallowed."""


def columns_of(walls: list[datetime]) -> Columns:
    return tuple(
        bytes(column)
        for column in (
            [wall.minute for wall in walls],
            [wall.hour for wall in walls],
            [wall.day for wall in walls],
            [wall.month for wall in walls],
            [wall.isoweekday() % 7 for wall in walls],
        )
    )


def walk(zone: ZoneInfo, start: datetime, days: int) -> Walk:
    # It begins a good day early, to know which times of the window were shown before it.
    at, end = start - timedelta(hours=26), start + days * DAY
    walls: list[datetime] = []
    gaps: list[tuple[int, Columns]] = []
    repeated = bytearray()
    previous = latest = datetime.min
    while at < end:
        wall = at.astimezone(zone).replace(tzinfo=None)
        if at >= start:
            if wall > previous + MINUTE:
                swallowed = [previous + n * MINUTE for n in range(1, (wall - previous) // MINUTE)]
                gaps.append((len(walls), columns_of(swallowed)))
            walls.append(wall)
            repeated.append(wall <= latest)
        previous, latest = wall, max(latest, wall)
        at += MINUTE
    return Walk(start=start, columns=columns_of(walls), repeated=bytes(repeated), gaps=gaps)


def values_of(text: str, low: int, high: int, names: list[str]) -> set[int]:
    values: set[int] = set()
    for item in text.split(","):
        span, _, step = item.partition("/")
        first, _, last = (f"{low}-{high}" if span == "*" else span).partition("-")
        ends = [names.index(end) + low if end in names else int(end) for end in (first, last or first)]
        values.update(range(ends[0], ends[1] + 1, int(step or 1)))
    return values


def matching(expression: str, columns: Columns) -> int:
    """Return bytes of 0 and 1, as one number."""
    masks = []
    for text, (low, high, names), column in zip(expression.split(), COLUMNS, columns, strict=True):
        values = values_of(text, low, high, names)
        if names is WEEKDAYS and 7 in values:
            values.add(0)
        table = bytes(value in values for value in range(256))
        masks.append(int.from_bytes(column.translate(table), "little"))
    minute, hour, day, month, weekday = masks
    texts = expression.split()
    both = texts[2].startswith("*") or texts[4].startswith("*")
    return reduce(and_, (minute, hour, month, day & weekday if both else day | weekday))


def fires(expression: str, window: Walk) -> list[datetime]:
    matches = matching(expression, window.columns)
    minute, hour = expression.split()[:2]
    if not minute.startswith("*") and not hour.startswith("*"):
        matches &= ~int.from_bytes(window.repeated, "little")
        for index, swallowed in window.gaps:
            if matching(expression, swallowed):
                matches |= 1 << (8 * index)
    flags = matches.to_bytes(len(window.repeated), "little")
    found, index = [], flags.find(1)
    while index >= 0:
        found.append(window.start + index * MINUTE)
        index = flags.find(1, index + 1)
    return found


def product_fires(expression: str, zone: str, window: Walk) -> list[datetime]:
    schedule = parse(expression, zone)
    end = window.start + len(window.repeated) * MINUTE
    found, moment = [], window.start - timedelta(seconds=1)
    while (moment := next_after(schedule, moment)) < end:
        found.append(moment)
    assert count_between(schedule, window.start - MINUTE, end - MINUTE) == len(found)
    newest = last_at_or_before(schedule, end - timedelta(seconds=1))
    assert newest == found[-1] if found else newest < window.start
    for minutes in (-61, -1, 0, 1, 29, 31, 59, 61):  # around the change in the middle of the window
        moment = window.start + (end - window.start) // 2 + minutes * MINUTE
        index = bisect_right(found, moment)
        if 0 < index < len(found):
            neighbours = last_at_or_before(schedule, moment), next_after(schedule, moment)
            assert neighbours == (found[index - 1], found[index])
    return found


def differences(zone: str, windows: list[Walk], expressions: list[str]) -> list[str]:
    return [
        f"{expression} from {window.start}: {sorted(map(str, set(ours) ^ set(theirs)))[:5]}"
        for window in windows
        for expression in expressions
        if (ours := product_fires(expression, zone, window)) != (theirs := fires(expression, window))
    ]


def windows_of(zone_name: str, year: int) -> list[Walk]:
    """Return four days around each change of the offset in two years, and 20 random days."""
    zone, first = ZoneInfo(zone_name), datetime(year, 1, 1, tzinfo=UTC)
    hours = [first + timedelta(hours=n) for n in range(2 * 365 * 24)]
    offsets = [hour.astimezone(zone).utcoffset() for hour in hours]
    changed = [hours[n] for n in range(1, len(hours)) if offsets[n] != offsets[n - 1]]
    chance = random.Random(zone_name)
    days = [first + chance.randrange(730) * DAY + chance.randrange(1440) * MINUTE for _ in range(20)]
    return [walk(zone, change - 2 * DAY, 4) for change in changed] + [walk(zone, day, 1) for day in days]


def random_field(chance: random.Random, low: int, high: int) -> str:
    first, last = sorted(chance.choices(range(low, high + 1), k=2))
    return chance.choice(
        [
            f"{first}",
            f"{first},{last}",
            f"{first}-{last}/{chance.randint(1, last - first + 1)}",
            f"*/{chance.randint(2, high - low + 1)}",
        ]
    )


def random_expression(chance: random.Random, *, once_a_day: bool) -> str:
    """Return an expression that fires mostly in the small hours, where the clocks change."""
    minute = f"{chance.randrange(60)}" if once_a_day else random_field(chance, 0, 59)
    hour = f"{chance.choice([0, 0, 1, 2, 2, 3, 4, 23])}" if once_a_day else random_field(chance, 0, 23)
    day = chance.choice(["*", "*", random_field(chance, 1, 29)])
    month = chance.choice(["*", "*", random_field(chance, 1, 12)])
    weekday = chance.choice(["*", "*", random_field(chance, 0, 6), "MON-FRI", "6-7", "SUN,3"])
    return f"{minute} {hour} {day} {month} {weekday}"


CHANCE = random.Random(20261121)
DENSE = ["* * * * *", "*/2 * * * *", "0-59 * * * *", "0-59 0-23 * * *", "*/7 1-4 * * *", "5-59/3 * * * *"]
SELECTED = [
    *(
        "*/15 * * * *",
        "*/30 * * * *",
        "*/60 * * * *",
        "0 * * * *",
        "15 * * * *",
        "30 */2 * * *",
        "0 */6 * * *",
    ),
    *("0,30 0-5 * * *", "0-30/15 1,2,3 * * *", "59 23 * * *", "1-59/29 2 * * *", "* 2 * * *", "*/20 2 * * *"),
    *("0-59 2 * * *", "0-59 1 * * *", "10,50 1-2 * * *", "0 0,12 * * *", "0 0-23 * * *", "*,5 3 * * *"),
    *("0 12 13 * 5", "0 12 13 * */2", "0 12 */2 * 5", "0 12 */10 * */3", "0 12 1-31 * 1", "0 12 15 * 0-6"),
    *("0 12 31 2 1", "0 */8 29 2 *", "0 1 30 12 *", "*/10 * 30 12 *", "0 12 30 DEC FRI", "0 2 * MAR SUN"),
    *("45 1 * 10,11 0", "0 2 * 4,10 7", "30 2 8-14 3 *", "30 1 1-7 11 *", "0 0 29 2 */7", "0 6 5-5 * *"),
]
ONCE_A_DAY = [
    *(
        "0 0 * * *",
        "30 2 * * *",
        "30 1 * * *",
        "15 2 * * *",
        "0 0 1 * *",
        "0 0 1 1 *",
        "0 3 * * 1",
        "0 0 29 2 *",
    ),
    *(
        "5 4 1,15 * 5",
        "0 12 30 12 *",
        "30 0 13 * 5",
        "0 0 31 * *",
        "0 0 29 2 */7",
        "0 2 * * SUN",
        "59 0 */2 * 1",
    ),
    *(random_expression(CHANCE, once_a_day=True) for _ in range(60)),
]
EVERY = DENSE + SELECTED + ONCE_A_DAY + [random_expression(CHANCE, once_a_day=False) for _ in range(90)]

ZONES = [
    pytest.param("America/New_York", 2026, id="New York"),
    pytest.param("Europe/London", 2026, id="London, standard time is UTC"),
    pytest.param("Europe/Berlin", 2026, id="Berlin"),
    pytest.param("Australia/Lord_Howe", 2026, id="Lord Howe, half an hour"),
    pytest.param("Pacific/Apia", 2011, id="Apia, a whole day skipped"),
    pytest.param("Africa/Casablanca", 2024, id="Casablanca, changes around Ramadan"),
    pytest.param("Asia/Kathmandu", 1985, id="Kathmandu, a quarter of an hour in 1986"),
    pytest.param("America/Sao_Paulo", 2018, id="Sao Paulo, changes at midnight"),
    pytest.param("Pacific/Auckland", 2026, id="Auckland"),
    pytest.param("UTC", 2026, id="UTC, no changes"),
]


def test_the_set_of_expressions_is_as_large_as_promised() -> None:
    assert len(set(EVERY)) >= 200


@pytest.mark.parametrize(("zone", "year"), ZONES[:4])
def test_a_tenth_of_the_expressions_fires_like_the_oracle(zone: str, year: int) -> None:
    assert differences(zone, windows_of(zone, year), EVERY[6::10]) == []


def share(expressions: list[str], zone: str) -> list[str]:
    """Return a fifth of the expressions, another one for each of five zones in turn."""
    return expressions[[param.values[0] for param in ZONES].index(zone) % 5 :: 5]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("zone", "year"), ZONES)
def test_every_expression_fires_like_the_oracle(zone: str, year: int) -> None:
    assert differences(zone, windows_of(zone, year), share(EVERY, zone)) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("zone", "year"), ZONES)
def test_daily_expressions_fire_like_the_oracle_for_two_whole_years(zone: str, year: int) -> None:
    window = walk(ZoneInfo(zone), datetime(year, 1, 1, tzinfo=UTC), 2 * 365)
    assert differences(zone, [window], share(ONCE_A_DAY, zone)) == []


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


GOLDENS = [
    pytest.param(
        "America/New_York", "30 2 * * *", "2026-03-08T00:00-05:00", ["2026-03-08T03:00-04:00"], id="gap"
    ),
    pytest.param(
        "America/New_York", "30 1 * * *", "2026-11-01T00:00-04:00", ["2026-11-01T01:30-04:00"], id="fold"
    ),
    pytest.param(
        "Australia/Lord_Howe", "15 2 * * *", "2026-10-04T00:00+10:30", ["2026-10-04T02:30+11:00"], id="half"
    ),
]


@pytest.mark.parametrize(("zone", "expression", "start", "expected"), GOLDENS)
def test_the_oracle_itself_holds_the_goldens_of_fixed_times(
    zone: str, expression: str, start: str, expected: list[str]
) -> None:
    assert fires(expression, walk(ZoneInfo(zone), utc(start), 1)) == list(map(utc, expected))


def test_the_oracle_itself_keeps_both_passes_of_a_repeated_hour() -> None:
    window = walk(ZoneInfo("America/New_York"), utc("2026-11-01T00:31-04:00"), 1)
    texts = ["01:00-04:00", "01:30-04:00", "01:00-05:00", "01:30-05:00", "02:00-05:00"]
    assert fires("*/30 * * * *", window)[:5] == [utc(f"2026-11-01T{text}") for text in texts]


def test_the_oracle_itself_keeps_six_o_clock_at_lord_howe() -> None:
    window = walk(ZoneInfo("Australia/Lord_Howe"), utc("2027-04-04T05:00+10:30"), 1)
    assert fires("0 */6 * * *", window)[0] == utc("2027-04-04T06:00+10:30")
