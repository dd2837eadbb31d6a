"""The share of runs: some steps in a turn of the loop, none for a while when others have something to do."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextvars import Context

import pytest

from netautod.core.watch.share import MOST_WAITS, RunShare


class Turns:
    """A loop that is turned by hand; steps are noted when they run."""

    def __init__(self, *, seconds: float) -> None:
        self.ran: list[int] = []
        self.share = RunShare(self._call_soon, seconds=seconds)
        self._soon: list[Callable[[], None]] = []
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        self._loop.close()

    def add(self, number: int, *, then: int | None = None) -> asyncio.Handle:
        def step() -> None:
            self.ran.append(number)
            if then is not None:
                self.add(then)

        return self.share.add(self.handle(step))

    def handle(self, step: Callable[[], object]) -> asyncio.Handle:
        return asyncio.Handle(step, (), self._loop)

    def turn(self, *, others: bool = False) -> list[int]:
        """The steps of the next turn."""
        self.share.others_are_ready = others
        now, self._soon = self._soon, []
        before = len(self.ran)
        for callback in now:
            callback()
        return self.ran[before:]

    def _call_soon(self, callback: Callable[[], None], *, context: Context) -> None:
        assert len(context) == 0
        self._soon.append(callback)


@pytest.fixture
def slow() -> Iterator[Turns]:
    """Each step takes the whole share."""
    turns = Turns(seconds=0.0)
    yield turns
    turns.close()


@pytest.fixture
def quick() -> Iterator[Turns]:
    """No step takes any of it."""
    turns = Turns(seconds=60.0)
    yield turns
    turns.close()


def test_a_slow_step_is_the_only_one_of_its_turn(slow: Turns) -> None:
    for number in range(3):
        slow.add(number)
    assert [slow.turn() for _ in range(4)] == [[0], [1], [2], []]


def test_quick_ones_run_together_and_what_they_make_ready_in_the_next_turn(quick: Turns) -> None:
    quick.add(0, then=2)
    quick.add(1)
    assert [quick.turn() for _ in range(3)] == [[0, 1], [2], []]


def test_while_others_have_something_to_do_runs_wait_and_never_for_long(slow: Turns) -> None:
    for number in range(2):
        slow.add(number)
    assert [slow.turn(others=True) for _ in range(2 * MOST_WAITS + 2)] == [
        *([[]] * MOST_WAITS),
        [0],
        *([[]] * MOST_WAITS),
        [1],
    ]


def test_the_waiting_ends_with_the_first_turn_in_which_nobody_else_is_ready(slow: Turns) -> None:
    slow.add(0)
    assert [slow.turn(others=others) for others in (True, True, False)] == [[], [], [0]]


def test_a_cancelled_step_does_not_run(quick: Turns) -> None:
    quick.add(0).cancel()
    quick.add(1)
    assert quick.turn() == [1]


def test_an_exit_of_one_step_keeps_none_of_the_others(quick: Turns) -> None:
    quick.share.add(quick.handle(sys.exit))
    quick.add(1)
    with pytest.raises(SystemExit):
        quick.turn()
    assert [quick.turn(), quick.turn()] == [[1], []]
