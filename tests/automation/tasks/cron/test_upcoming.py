"""The next runs of a schedule as people see them when the clocks change."""

from datetime import UTC, datetime

import pytest

from netautod.automation.tasks.cron.ticks import next_runs, parse
from netautod.automation.tasks.cron.upcoming import upcoming

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "zone", "after", "marks"),
    [
        ("30 2 * * *", BERLIN, "2026-03-27T12:00", [None, "shifted", None]),
        ("0,30 2,3 * * *", BERLIN, "2026-03-28T12:00", ["shifted", None, None]),
        ("*/30 2 * * *", BERLIN, "2026-03-28T00:40", [None, None, "skipped"]),
        ("0 * * * *", BERLIN, "2026-03-29T00:10", ["skipped", None]),
        ("30 2 * * *", BERLIN, "2026-10-23T12:00", [None, "doubled", "clocks", None]),
        ("30 * * * *", BERLIN, "2026-10-24T22:40", [None, "doubled", "doubled", None]),
        ("0 6 * * 1", "America/New_York", "2026-10-28T00:00", ["clocks", None]),
        ("30 1 4 10 *", "Australia/Lord_Howe", "2026-01-01T00:00", ["clocks"]),
        ("15 2 4 10 *", "Australia/Lord_Howe", "2026-01-01T00:00", ["shifted"]),
        ("30 2 29 3 *", BERLIN, "2026-04-01T00:00", [None, None, None, "clocks", None, "clocks"]),
        ("30 2 * * *", "UTC", "2026-03-28T12:00", [None, None]),
    ],
)
def test_runs_are_marked_where_the_clocks_change(
    expression: str, zone: str, after: str, marks: list[str | None]
) -> None:
    schedule = parse(expression, zone)
    found = upcoming(schedule, at(after), len(marks))
    assert [run.mark for run in found] == marks
    assert all(bool(run.note) == (run.mark is not None) for run in found)
    assert [(run.utc, run.local) for run in found] == next_runs(schedule, at(after), len(marks))


def test_a_note_says_which_times_it_is_about() -> None:
    shifted = upcoming(parse("30 2 29 3 *", BERLIN), at("2026-01-01T00:00"), 1)[0]
    assert shifted.note == "on 2026-03-29 the clocks jump from 02:00 to 03:00: shifted from 02:30 to 03:00"
    skipped = upcoming(parse("*/30 * * * *", BERLIN), at("2026-03-29T00:40"), 1)[0]
    assert skipped.note == "on 2026-03-29 the clocks jump from 02:00 to 03:00: 2 runs are skipped"
    first, second = upcoming(parse("30 * * * *", BERLIN), at("2026-10-25T00:10"), 2)
    assert first.note == "02:30 comes twice on this day: it runs both times, and this is the first"
    assert second.note == "02:30 comes twice on this day: it runs both times, and this is the second"
    back = upcoming(parse("0 6 * * 1", "America/New_York"), at("2026-10-28T00:00"), 1)[0]
    assert back.note == "the clocks change on 2026-11-01 to UTC-05:00"
