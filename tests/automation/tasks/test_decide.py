"""The decisions of a scan about one task, as a table."""

from datetime import UTC, datetime, timedelta

import pytest

from netautod.automation.tasks.cron.ticks import NextTicks
from netautod.automation.tasks.decide import DueTask, Fire, Skip, Wait, decide, tick_by_new_clock
from netautod.core.errors import InvalidInput

WINDOW = timedelta(hours=1)


def at(text: str) -> datetime:
    """Return a time of day on Tuesday 2026-11-03, UTC."""
    return datetime.fromisoformat(f"2026-11-03T{text}").replace(tzinfo=UTC)


def task(expression: str, due: datetime, *, timezone: str = "UTC", enabled: bool = True) -> DueTask:
    return DueTask(id="t", cron_expression=expression, timezone=timezone, enabled=enabled, next_run_at=due)


def fire(scheduled_for: str, next_run_at: str, missed: int = 0) -> Fire:
    return Fire(scheduled_for=at(scheduled_for), next_run_at=at(next_run_at), missed=missed)


IDLE = [
    pytest.param("*/5 * * * *", "12:05", "12:04:59.999", Wait(), id="not due yet"),
    pytest.param("*/5 * * * *", "12:05", "12:05", fire("12:05", "12:10"), id="due this very moment"),
    pytest.param("*/5 * * * *", "12:05", "12:05:00.412", fire("12:05", "12:10"), id="due"),
    pytest.param("*/5 * * * *", "12:05", "12:09:59", fire("12:05", "12:10"), id="late, nothing missed"),
    pytest.param("*/5 * * * *", "12:05", "12:10", fire("12:10", "12:15", 1), id="two due: the newest fires"),
    pytest.param("*/5 * * * *", "08:00", "12:03", fire("12:00", "12:05", 48), id="four hours down: one run"),
    pytest.param("0 12 * * *", "12:00", "13:00", Fire(
        scheduled_for=at("12:00"), next_run_at=at("12:00") + timedelta(days=1), missed=0
    ), id="exactly as old as the window"),
    pytest.param("0 12 * * *", "12:00", "13:00:00.001", Skip(
        next_run_at=at("12:00") + timedelta(days=1), missed=1, reason="too_late"
    ), id="older than the window"),
    pytest.param("0 0,6,12 * * *", "00:00", "17:00", Skip(
        next_run_at=at("00:00") + timedelta(days=1), missed=3, reason="too_late"
    ), id="several, all older than the window"),
    pytest.param("0 12 * * *", "11:30", "12:00", Fire(
        scheduled_for=at("12:00"), next_run_at=at("12:00") + timedelta(days=1), missed=0
    ), id="a stored time that is no tick: the tick since then fires"),
    pytest.param("0 13 * * *", "12:00", "12:00:01", Skip(
        next_run_at=at("13:00"), missed=0, reason="no_tick"
    ), id="a stored time that is no tick: yesterday's does not fire again"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "due", "now", "expected"), IDLE)
def test_a_task_without_an_active_run(
    expression: str, due: str, now: str, expected: Fire | Skip | Wait
) -> None:
    assert decide(task(expression, at(due)), at(now), WINDOW, False, NextTicks()) == expected


ACTIVE = [
    pytest.param("12:04", Wait(), id="not due"),
    pytest.param(
        "12:05:01", Skip(next_run_at=at("12:10"), missed=1, reason="previous_active"), id="one tick skipped"
    ),
    pytest.param(
        "12:15:01",
        Skip(next_run_at=at("12:20"), missed=3, reason="previous_active"),
        id="three ticks skipped",
    ),
]


@pytest.mark.parametrize(("now", "expected"), ACTIVE)
def test_a_task_with_an_active_previous_run(now: str, expected: Skip | Wait) -> None:
    assert decide(task("*/5 * * * *", at("12:05")), at(now), WINDOW, True, NextTicks()) == expected


def test_a_disabled_task_waits_however_late_it_is() -> None:
    assert (
        decide(task("* * * * *", at("00:00"), enabled=False), at("12:00"), WINDOW, False, NextTicks())
        == Wait()
    )


def test_without_a_catch_up_window_a_tick_still_has_a_minute() -> None:
    due = task("0 12 * * *", at("12:00"))
    assert isinstance(decide(due, at("12:00:59"), timedelta(0), False, NextTicks()), Fire)
    assert isinstance(decide(due, at("12:01:01"), timedelta(0), False, NextTicks()), Skip)


def test_a_year_of_missed_minutes_is_counted_exactly() -> None:
    due = task("* * * * *", at("12:00") - timedelta(days=365), timezone="America/New_York")
    assert decide(due, at("12:00:30"), WINDOW, False, NextTicks()) == fire("12:00", "12:01", 525_600)


def test_a_swallowed_tick_fires_once_after_the_gap() -> None:
    gap_end = datetime(2026, 3, 8, 7, tzinfo=UTC)
    due = task("30 2 * * *", gap_end, timezone="America/New_York")
    decision = decide(due, gap_end + timedelta(seconds=1), WINDOW, False, NextTicks())
    assert decision == Fire(
        scheduled_for=gap_end, next_run_at=datetime(2026, 3, 9, 6, 30, tzinfo=UTC), missed=0
    )


def test_a_stored_schedule_that_is_no_longer_valid_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="timezone"):
        decide(task("* * * * *", at("12:00"), timezone="Old/Name"), at("12:00"), WINDOW, False, NextTicks())


@pytest.mark.parametrize(
    ("expression", "clock_step"),
    [
        pytest.param("*/5 * * * *", 3, id="a wildcard minute: the tick under the number that counts"),
        pytest.param("0 * * * *", 3, id="a wildcard hour"),
        pytest.param("*/30 12 * * *", 3, id="a minute that begins with a star"),
        pytest.param("0 12 * * *", 0, id="minute and hour fixed: the one number that it ever has"),
        pytest.param("0,30 8-18 * * *", 0, id="lists and ranges are fixed as well"),
    ],
)
def test_a_tick_fires_under_the_number_of_the_clock_step(expression: str, clock_step: int) -> None:
    decision = decide(task(expression, at("12:00")), at("12:00:01"), WINDOW, False, NextTicks(), 3)
    assert isinstance(decision, Fire)
    assert decision.clock_step == clock_step


TOMORROW = timedelta(days=1)


@pytest.mark.parametrize(
    ("expression", "waits_for", "fired", "expected"),
    [
        pytest.param("* * * * *", at("12:11"), [], at("12:01"), id="every minute: the next minute"),
        pytest.param(
            "* * * * *", at("12:11"), ["12:01", "12:02"], at("12:01"), id="whatever has fired before"
        ),
        pytest.param("*/15 * * * *", at("12:15"), [], None, id="a quarter that is still to come"),
        pytest.param("5 * * * *", at("13:05"), ["12:05"], at("12:05"), id="a wildcard hour repeats its tick"),
        pytest.param("* 12 * * *", at("12:11"), ["12:01"], at("12:01"), id="a wildcard minute, too"),
        pytest.param("5 12 * * *", at("12:05") + TOMORROW, ["12:05"], None, id="fixed, has fired"),
        pytest.param("5 12 * * *", at("12:05") + TOMORROW, [], at("12:05"), id="fixed, has not fired"),
        pytest.param(
            "2,5,8 12 * * *",
            at("12:02") + TOMORROW,
            ["12:02", "12:05"],
            at("12:08"),
            id="fixed: the first that has not fired",
        ),
        pytest.param("5 12 * * *", at("12:05"), [], None, id="fixed, waits for it anyway"),
    ],
)
def test_the_tick_by_which_a_task_goes_on_when_the_clock_was_set_back_to_noon(
    expression: str, waits_for: datetime, fired: list[str], expected: datetime | None
) -> None:
    found = tick_by_new_clock(
        task(expression, waits_for), at("12:00:20"), [at(one) for one in fired], NextTicks()
    )
    assert found == expected


def test_a_clock_that_had_been_a_year_ahead_stops_no_schedule() -> None:
    waiting = task("30 1 * * *", at("01:30") + timedelta(days=365))
    fired = [at("01:30") + timedelta(days=364)]
    assert tick_by_new_clock(waiting, at("12:00"), fired, NextTicks()) == at("01:30") + TOMORROW
