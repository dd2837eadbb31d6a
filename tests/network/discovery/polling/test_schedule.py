"""When a device is polled next: spread, steady, and later and later while it does not answer."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from netautod.network.discovery.polling.schedule import DEFAULT_INTERVAL, interval_of, next_due, wait_of

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
DEVICE = "6f0c4f0e-7a53-4a3e-9d6c-5d6f6f7f8f90"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
IDS = [str(UUID(int=number)) for number in range(3000)]


@pytest.mark.parametrize(
    ("minutes", "interval"),
    [
        pytest.param(None, 15 * MINUTE, id="none: the default"),
        pytest.param(1, MINUTE, id="the shortest"),
        pytest.param(10080, timedelta(days=7), id="the longest"),
    ],
)
def test_intervals(minutes: int | None, interval: timedelta) -> None:
    assert interval_of(minutes) == interval


@pytest.mark.parametrize(
    ("interval", "failures", "wait"),
    [
        pytest.param(15 * MINUTE, 0, 15 * MINUTE, id="it answers"),
        pytest.param(15 * MINUTE, 1, 30 * MINUTE, id="from the first failure on"),
        pytest.param(15 * MINUTE, 2, HOUR, id="doubling"),
        pytest.param(15 * MINUTE, 4, 4 * HOUR, id="the last below the limit"),
        pytest.param(15 * MINUTE, 5, 6 * HOUR, id="up to six hours"),
        pytest.param(15 * MINUTE, 10**9, 6 * HOUR, id="for years"),
        pytest.param(MINUTE, 8, 256 * MINUTE, id="of a minute"),
        pytest.param(MINUTE, 9, 6 * HOUR, id="of a minute, the limit"),
        pytest.param(4 * HOUR, 1, 6 * HOUR, id="not twice, the limit"),
        pytest.param(12 * HOUR, 3, 12 * HOUR, id="never sooner than its interval"),
    ],
)
def test_waits(interval: timedelta, failures: int, wait: timedelta) -> None:
    assert wait_of(interval, failures) == wait


@pytest.mark.parametrize("failures", [0, 1, 3, 50])
@pytest.mark.parametrize("minutes", [1, 15, 60, 1440])
def test_the_next_moment_is_one_of_the_device_s_own_within_its_wait(minutes: int, failures: int) -> None:
    interval = interval_of(minutes)
    moments = {
        next_due(DEVICE, interval, after=NOW + second * MINUTE / 7, failures=0) for second in range(50)
    }
    own = {(moment - NOW) % interval for moment in moments}
    assert len(own) == 1
    due = next_due(DEVICE, interval, after=NOW, failures=failures)
    wait = wait_of(interval, failures)
    assert NOW + wait - interval < due <= NOW + wait
    assert (due - NOW) % interval in own


def test_a_device_that_is_polled_when_it_is_due_is_polled_once_an_interval() -> None:
    due = next_due(DEVICE, DEFAULT_INTERVAL, after=NOW)
    for seconds in (0, 2, 119):
        assert (
            next_due(DEVICE, DEFAULT_INTERVAL, after=due + timedelta(seconds=seconds))
            == due + DEFAULT_INTERVAL
        )


def test_devices_that_come_at_once_are_spread_over_the_interval() -> None:
    """Of 3,000 devices 200 belong to each of the 15 minutes; 70 more or less are five times the deviation."""
    minutes = Counter((next_due(each, DEFAULT_INTERVAL, after=NOW) - NOW) // MINUTE for each in IDS)
    assert set(minutes) <= set(range(16))
    assert all(130 < minutes[minute] < 270 for minute in range(1, 15))


def test_the_spread_is_the_same_in_every_process() -> None:
    assert next_due(DEVICE, DEFAULT_INTERVAL, after=NOW) == datetime(
        2026, 11, 23, 12, 9, 46, 375_000, tzinfo=UTC
    )
