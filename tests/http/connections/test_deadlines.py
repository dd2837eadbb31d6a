"""The time that a client may take, second by second."""

from collections.abc import Sequence

import pytest

from netautod.http.connections.deadlines import Deadlines, Stage, Timing

DEADLINES = Deadlines(head=20, body=30, answer=30, idle=60, bytes_per_second=100)


def cut_at(timing: Timing, seconds: Sequence[tuple[float, int]]) -> float | None:
    """Return the second at which it is cut off; of each moment the bytes of the body are given that came
    until then.
    """
    for now, size in seconds:
        timing.received(size)
        if timing.overdue(now, taken=0, written=0):
            return now
    return None


@pytest.mark.parametrize(
    ("stage", "limit"),
    [
        pytest.param(Stage.HEAD, 20, id="a head"),
        pytest.param(Stage.IDLE, 60, id="the next request"),
        pytest.param(Stage.BODY, 30, id="a body of which nothing comes"),
        pytest.param(Stage.ENDING, 30, id="a body that is dropped"),
        pytest.param(Stage.WORK, None, id="our own work"),
        pytest.param(Stage.ANSWER, None, id="an answer that is taken"),
    ],
)
def test_how_long_a_stage_may_take(stage: Stage, limit: float | None) -> None:
    timing = Timing(DEADLINES, 0)
    timing.enter(stage, 0)
    assert cut_at(timing, [(second, 0) for second in range(200)]) == limit


@pytest.mark.parametrize(
    ("per_second", "limit"),
    [
        pytest.param(1, 30, id="a byte a second"),
        pytest.param(99, 30, id="just less than enough"),
        pytest.param(100, None, id="just enough"),
        pytest.param(100_000, None, id="a quick line"),
    ],
)
def test_a_body_goes_on_while_it_keeps_up(per_second: int, limit: float | None) -> None:
    timing = Timing(DEADLINES, 0)
    timing.enter(Stage.BODY, 0)
    assert cut_at(timing, [(second, per_second) for second in range(1, 1000)]) == limit


def test_a_quick_beginning_buys_no_long_silence() -> None:
    timing = Timing(DEADLINES, 0)
    timing.enter(Stage.BODY, 0)
    assert cut_at(timing, [(1, 10**9), *((second, 0) for second in range(2, 200))]) == 60


@pytest.mark.parametrize(
    ("per_second", "limit"),
    [
        pytest.param(0, 30, id="nothing"),
        pytest.param(99, 30, id="a little"),
        pytest.param(100, None, id="just enough"),
    ],
)
def test_a_reader_has_to_keep_up_too(per_second: int, limit: float | None) -> None:
    timing = Timing(DEADLINES, 0)
    timing.enter(Stage.ANSWER, 0)
    cut = [now for now in range(300) if timing.overdue(now, taken=per_second * now, written=10**6)]
    assert (cut[0] if cut else None) == limit


def test_a_long_answer_in_small_pieces_is_no_slow_reader() -> None:
    """Keep a piece under way at each check, which has been taken by the next one."""
    timing = Timing(DEADLINES, 0)
    timing.enter(Stage.WORK, 0)
    assert not any(timing.overdue(now, taken=10 * now, written=10 * now + 10) for now in range(300))
