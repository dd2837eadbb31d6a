"""How far a clock was set between two readings, as a table."""

from datetime import UTC, datetime, timedelta

import pytest

from netautod.store.clock.readings import ClockReading

NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)


def reading(shown: float, at: float, *, took: float = 0.0) -> ClockReading:
    """`shown` seconds after noon, in an answer that took so long and came `at`."""
    return ClockReading(shown=NOON + timedelta(seconds=shown), sent=at - took, received=at)


@pytest.mark.parametrize(
    ("before", "after", "jump"),
    [
        pytest.param(reading(0, 0), reading(30, 30), 0, id="it goes on"),
        pytest.param(reading(0, 0), reading(-570, 30), -600, id="set back by ten minutes"),
        pytest.param(reading(0, 0), reading(630, 30), 600, id="set forward by ten minutes"),
        pytest.param(reading(0, 0), reading(25, 30), 0, id="back by 5 s: a correction"),
        pytest.param(reading(0, 0), reading(24.9, 30), -5.1, id="back by more than 5 s"),
        pytest.param(reading(0, 0), reading(35, 30), 0, id="forward by 5 s: a correction"),
        pytest.param(reading(0, 0), reading(35.1, 30), 5.1, id="forward by more than 5 s"),
        pytest.param(reading(0, 0), reading(3600, 3600), 0, id="an hour without an answer, or asleep"),
        pytest.param(reading(0, 0), reading(1, 61, took=60), 0, id="read at once, the answer took a minute"),
        pytest.param(reading(0, 0), reading(61, 61, took=60), 0, id="read late, the answer took a minute"),
        pytest.param(reading(0, 60, took=60), reading(1, 61), 0, id="the reading before was a slow one"),
        pytest.param(reading(0, 0), reading(-540, 61, took=60), -571, id="back, and a slow answer as well"),
    ],
)
def test_a_jump(before: ClockReading, after: ClockReading, jump: float) -> None:
    assert after.jump_since(before).total_seconds() == pytest.approx(jump)
