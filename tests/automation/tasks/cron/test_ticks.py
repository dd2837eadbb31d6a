"""The ticks of schedules, by name: the goldens, the day rule, counting and the cost."""

import zoneinfo
from datetime import UTC, datetime, timedelta, timezone
from time import process_time
from zoneinfo import ZoneInfo

import pytest

from netautod.automation.tasks.cron.ticks import (
    CronSchedule,
    NextTicks,
    count_between,
    last_at_or_before,
    next_after,
    next_runs,
    parse,
)
from netautod.automation.tasks.cron.zones import changes
from netautod.core.errors import InvalidInput
from tests.support.calibration import slowness


def local_runs(expression: str, zone: str, start: str, count: int) -> list[str]:
    """Return the next local times after `start`, to the minute, with the offset."""
    runs = next_runs(parse(expression, zone), datetime.fromisoformat(start), count)
    return [local.isoformat(timespec="minutes") for _, local in runs]


GOLDENS = [
    pytest.param(
        "America/New_York",
        "30 2 * * *",
        "2026-03-07T12:00-05:00",
        ["2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00"],
        id="New York, a swallowed time fires when the gap ends",
    ),
    pytest.param(
        "America/New_York",
        "30 1 * * *",
        "2026-11-01T00:00-04:00",
        ["2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"],
        id="New York, a repeated time fires in its first pass only",
    ),
    pytest.param(
        "America/New_York",
        "*/30 * * * *",
        "2026-11-01T00:30-04:00",
        [
            f"2026-11-01T{time}"
            for time in ("01:00-04:00", "01:30-04:00", "01:00-05:00", "01:30-05:00", "02:00-05:00")
        ],
        id="New York, a wildcard fires in both passes",
    ),
    pytest.param(
        "Australia/Lord_Howe",
        "15 2 * * *",
        "2026-10-04T00:00+10:30",
        ["2026-10-04T02:30+11:00"],
        id="Lord Howe, a gap of half an hour",
    ),
    pytest.param(
        "Australia/Lord_Howe",
        "0 */6 * * *",
        "2027-04-04T00:30+11:00",
        ["2027-04-04T06:00+10:30"],
        id="Lord Howe, a wildcard keeps its six o'clock",
    ),
    pytest.param(
        "America/New_York",
        "*/30 2 * * *",
        "2026-03-07T12:00-05:00",
        ["2026-03-09T02:00-04:00"],
        id="New York, nothing is made up for a wildcard",
    ),
    pytest.param(
        "America/New_York",
        "0,20,40 2-3 * * *",
        "2026-03-08T01:00-05:00",
        ["2026-03-08T03:00-04:00", "2026-03-08T03:20-04:00"],
        id="New York, all of a gap fire together and with the tick due then",
    ),
    pytest.param(
        "Pacific/Apia",
        "0 12 30 12 *",
        "2011-12-29T13:00-10:00",
        ["2011-12-31T00:00+14:00", "2012-12-30T12:00+14:00"],
        id="Apia, a whole day is swallowed",
    ),
    pytest.param(
        "Pacific/Apia",
        "0 12 * * 5",
        "2011-12-29T13:00-10:00",
        ["2011-12-31T00:00+14:00", "2012-01-06T12:00+14:00"],
        id="Apia, the Friday that never was",
    ),
    pytest.param(
        "America/New_York",
        "0-59 0-23 * * *",
        "2026-11-01T01:58-04:00",
        ["2026-11-01T01:59-04:00", "2026-11-01T02:00-05:00"],
        id="New York, full ranges are no wildcards and rest for the second pass",
    ),
]


@pytest.mark.parametrize(("zone", "expression", "start", "expected"), GOLDENS)
def test_schedules_pass_a_change_of_the_clocks(
    zone: str, expression: str, start: str, expected: list[str]
) -> None:
    assert local_runs(expression, zone, start, len(expected)) == expected


NEIGHBOURS = [
    pytest.param(
        "30 1 * * *",
        "2026-11-01T01:10-05:00",
        ("2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"),
        id="a fixed time, in the second pass before it shows again",
    ),
    pytest.param(
        "30 1 * * *",
        "2026-11-01T01:40-05:00",
        ("2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"),
        id="a fixed time, in the second pass after it showed again",
    ),
    pytest.param(
        "40 * * * *",
        "2026-11-01T01:10-05:00",
        ("2026-11-01T01:40-04:00", "2026-11-01T01:40-05:00"),
        id="a wildcard, early in the second pass",
    ),
    pytest.param(
        "10 */1 * * *",
        "2026-11-01T01:20-04:00",
        ("2026-11-01T01:10-04:00", "2026-11-01T01:10-05:00"),
        id="a wildcard, in the first pass",
    ),
    pytest.param(
        "30 * 1 11 *",
        "2026-11-01T01:20-05:00",
        ("2026-11-01T01:30-04:00", "2026-11-01T01:30-05:00"),
        id="a wildcard, back over the end of the first pass",
    ),
    pytest.param(
        "30 2 * * *",
        "2026-03-08T03:00-04:00",
        ("2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00"),
        id="a fixed time, as the gap ends",
    ),
    pytest.param(
        "*/30 2 * * *",
        "2026-03-08T03:10-04:00",
        ("2026-03-07T02:30-05:00", "2026-03-09T02:00-04:00"),
        id="a wildcard, after a gap that swallowed it",
    ),
    pytest.param(
        "* 12 * * *",
        "2026-03-08T03:10-04:00",
        ("2026-03-07T12:59-05:00", "2026-03-08T12:00-04:00"),
        id="a wildcard, far from the gap on both sides",
    ),
]


@pytest.mark.parametrize(("expression", "moment", "expected"), NEIGHBOURS)
def test_the_ticks_on_both_sides_of_a_moment_in_new_york(
    expression: str, moment: str, expected: tuple[str, str]
) -> None:
    schedule, at = parse(expression, "America/New_York"), datetime.fromisoformat(moment)
    found = last_at_or_before(schedule, at), next_after(schedule, at)
    assert (
        tuple(f"{tick.astimezone(schedule.zone).isoformat(timespec='minutes')}" for tick in found) == expected
    )


DAY_RULES = [
    pytest.param("0 0 13 * 5", [2, 9, 13, 16], id="neither begins with a star: either"),
    pytest.param("0 0 13 * */5", [13], id="a stepped star as weekday: both"),
    pytest.param("0 0 */2 * 5", [9, 23], id="a stepped star as day: both"),
    pytest.param("0 0 *,13 * 5", [2, 9, 16, 23], id="a list that begins with a star: both"),
    pytest.param("0 0 13 * 0-6", [1, 2, 3], id="all weekdays without a star: either, so every day"),
    pytest.param("0 0 1-31 * 5", [1, 2, 3], id="all days without a star: either, so every day"),
    pytest.param("0 0 13,* * 5", [1, 2, 3], id="a star later in the list is no star at the beginning"),
]


@pytest.mark.parametrize(("expression", "days"), DAY_RULES)
def test_days_of_month_and_week_combine_as_in_debians_cron(expression: str, days: list[int]) -> None:
    # October 2026 begins on a Thursday and its 13th is a Tuesday; 13 November is a Friday.
    runs = next_runs(parse(expression, "UTC"), datetime(2026, 9, 30, 12, tzinfo=UTC), len(days))
    assert [utc.day for utc, _ in runs] == days


def test_29_february_on_a_weekday_is_found_over_a_century_without_leap_day() -> None:
    start = datetime(2088, 3, 1, tzinfo=UTC)
    assert next_after(parse("0 0 29 2 */7", "UTC"), start) == datetime(2128, 2, 29, tzinfo=UTC)
    assert last_at_or_before(parse("0 0 29 2 */7", "Europe/Berlin"), start).year == 2088


def test_ticks_are_strictly_after_and_the_newest_includes_the_moment() -> None:
    schedule = parse("*/5 * * * *", "UTC")
    tick = datetime(2026, 1, 1, 12, 5, tzinfo=UTC)
    assert next_after(schedule, tick - timedelta(milliseconds=1)) == tick
    assert next_after(schedule, tick) == tick + timedelta(minutes=5)
    assert last_at_or_before(schedule, tick) == tick
    assert last_at_or_before(schedule, tick - timedelta(milliseconds=1)) == tick - timedelta(minutes=5)


def test_a_moment_may_be_given_in_any_zone_but_not_in_none() -> None:
    schedule = parse("0 12 * * *", "UTC")
    moment = datetime(2026, 1, 1, 13, 30, tzinfo=timezone(timedelta(hours=2)))
    assert next_after(schedule, moment) == datetime(2026, 1, 1, 12, tzinfo=UTC)
    with pytest.raises(ValueError, match="time zone"):
        next_after(schedule, datetime(2026, 1, 1))


COUNTS = [
    pytest.param("* * * * *", "2026-03-07T00:00Z", "2026-03-07T00:00Z", 0, id="an empty span"),
    pytest.param("* * * * *", "2026-03-07T00:00Z", "2026-03-06T00:00Z", 0, id="a reversed span"),
    pytest.param("* * * * *", "2026-01-01T00:00Z", "2027-01-01T00:00Z", 525_600, id="a year of minutes"),
    pytest.param(
        "30 2 * * *", "2026-03-01T05:00Z", "2026-03-31T04:00Z", 30, id="a swallowed time counts once"
    ),
    pytest.param("0-59 2 * * *", "2026-03-08T05:00Z", "2026-03-08T09:00Z", 1, id="a gap is one tick"),
    pytest.param("30 1 * * *", "2026-11-01T05:00Z", "2026-11-01T09:00Z", 1, id="a repeated time counts once"),
    pytest.param("30 * * * *", "2026-11-01T05:00Z", "2026-11-01T07:00Z", 2, id="both passes of a wildcard"),
]


@pytest.mark.parametrize(("expression", "after", "until", "count"), COUNTS)
def test_ticks_are_counted_without_walking(expression: str, after: str, until: str, count: int) -> None:
    schedule = parse(expression, "America/New_York")
    assert count_between(schedule, datetime.fromisoformat(after), datetime.fromisoformat(until)) == count


def test_next_runs_give_utc_and_local_time() -> None:
    (utc, local), *rest = next_runs(parse("0 6 * * *", "Asia/Kathmandu"), datetime(2026, 1, 1, tzinfo=UTC), 3)
    assert (utc.isoformat(), local.isoformat()) == ("2026-01-01T00:15:00+00:00", "2026-01-01T06:00:00+05:45")
    assert len(rest) == 2


def test_schedules_are_equal_by_their_texts() -> None:
    assert parse("0 0 * * *", "UTC") == parse("0 0 * * *", "UTC")
    assert len({parse("0 0 * * *", "UTC"), parse("0 0 * * *", "Europe/Berlin")}) == 2


def test_remembered_ticks_are_the_same_ticks() -> None:
    ticks, moment = NextTicks(capacity=2), datetime(2026, 3, 8, 6, 59, 59, tzinfo=UTC)
    for expression in ("0 * * * *", "30 2 * * *", "* * * * *", "0 * * * *"):
        schedule = ticks.schedule(expression, "America/New_York")
        for at in (moment, moment + timedelta(seconds=1), moment.replace(second=0)):
            assert ticks.next_after(schedule, at) == next_after(schedule, at)
            assert ticks.last_at_or_before(schedule, at) == last_at_or_before(schedule, at)


def test_one_expression_in_several_zones_by_turns_has_the_ticks_of_each() -> None:
    ticks, moment = NextTicks(), datetime(2026, 3, 8, 6, 59, tzinfo=UTC)
    for _ in range(3):
        for zone in ("America/New_York", "Europe/Berlin", "Asia/Kolkata"):
            schedule, alone = ticks.schedule("30 2 * * *", zone), parse("30 2 * * *", zone)
            assert ticks.last_at_or_before(schedule, moment) == last_at_or_before(alone, moment)
            assert ticks.next_after(schedule, moment) == next_after(alone, moment)
        moment += timedelta(hours=7)


def test_a_remembered_schedule_is_parsed_once() -> None:
    ticks = NextTicks()
    assert ticks.schedule("0 0 * * *", "UTC") is ticks.schedule("0 0 * * *", "UTC")
    with pytest.raises(InvalidInput):
        ticks.schedule("0 0 * *", "UTC")


def milliseconds_per_call(schedule: CronSchedule, calls: int) -> float:
    moment, started = datetime(2026, 3, 7, tzinfo=UTC), process_time()
    for _ in range(calls):
        moment = next_after(schedule, moment)
    return (process_time() - started) * 1000 / calls


@pytest.mark.parametrize(
    "expression", ["* * * * *", "0 2 * * *", "30 3 * * 1", "0 0 1 1 *", "5 4 1,15 * 5", "0 0 31 2,4,6,9,11 1"]
)
def test_an_ordinary_tick_costs_well_under_a_millisecond(expression: str) -> None:
    assert milliseconds_per_call(parse(expression, "Europe/Berlin"), 100) < 1 * slowness()


@pytest.mark.parametrize("expression", ["0 0 29 2 */7", "* * 29 2 */7", "0 0 29 2 1"])
def test_a_rare_tick_costs_a_bounded_time(expression: str) -> None:
    assert milliseconds_per_call(parse(expression, "Europe/Berlin"), 3) < 50 * slowness()


def test_no_change_of_a_zone_is_overlooked() -> None:
    found = changes(ZoneInfo("Africa/Casablanca"), datetime(2024, 3, 9), datetime(2026, 1, 1))
    days = [change.at.date().isoformat() for change in found]
    assert days == ["2024-03-10", "2024-04-14", "2025-02-23", "2025-04-06"]


def test_zone_data_come_from_the_package_alone() -> None:
    assert zoneinfo.TZPATH == ()
    assert ZoneInfo("Europe/Berlin").utcoffset(datetime(2026, 7, 1)) == timedelta(hours=2)
