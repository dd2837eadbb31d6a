"""How often a mongod that ends by itself is started again: decided from the moments of the restarts."""

import pytest

from netautod.store.embedded.restarts import RestartRule

RULE = RestartRule(times=3, seconds=600, pauses=(0, 1, 5))


@pytest.mark.parametrize(
    ("restarts", "now", "pause"),
    [
        pytest.param([], 0, 0, id="the first time at once"),
        pytest.param([0], 1, 1, id="the second time after a moment"),
        pytest.param([0, 1], 599, 5, id="the third time later"),
        pytest.param([0, 1, 2], 599, None, id="three within ten minutes are enough"),
        pytest.param([0, 1, 2], 600, 5, id="the oldest of three is ten minutes old"),
        pytest.param([0, 100, 200, 650], 699, None, id="three of four are younger than ten minutes"),
        pytest.param([0, 1, 2], 7200, 0, id="all that was hours ago"),
    ],
)
def test_a_restart_waits_longer_each_time_and_the_fourth_is_none(
    restarts: list[float], now: float, pause: float | None
) -> None:
    assert RULE.pause(restarts, now) == pause


def test_by_default_three_times_in_ten_minutes() -> None:
    assert str(RestartRule()) == "3 times in 10 minutes"
