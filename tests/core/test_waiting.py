"""What a request waits for the database is counted over all of its calls, and once for those at one time."""

import asyncio

import pytest

from netautod.core.clock import SystemClock
from netautod.core.errors import Unavailable
from netautod.core.loop.shared_reads import SharedReads
from netautod.core.work.deadlines import (
    REQUEST_SECONDS,
    Patience,
    begin_request,
    call_by_call,
    context_for_many,
    current_patience,
    unhurried,
    waits,
    within_patience,
)


class Now:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def now() -> Now:
    return Now()


def request(now: Now) -> Patience:
    return Patience(seconds=REQUEST_SECONDS, in_all=True, clock=now)


def test_the_calls_of_a_request_share_its_time(now: Now) -> None:
    patience = request(now)
    for _ in range(3):
        with patience.spent():
            now.seconds += 1.0
        now.seconds += 60.0  # what a device took
    assert patience.left() == pytest.approx(0.5)


def test_calls_at_the_same_time_count_once(now: Now) -> None:
    patience = request(now)
    with patience.spent():
        now.seconds += 1.0
        with patience.spent():
            now.seconds += 1.0
    assert patience.left() == pytest.approx(1.5)


def test_a_wait_counts_while_it_lasts(now: Now) -> None:
    patience = request(now)
    with patience.spent():
        now.seconds += 3.0
        assert patience.left() == pytest.approx(0.5)


def test_what_a_request_leaves_behind_counts_call_by_call(now: Now) -> None:
    patience = request(now)
    with patience.spent():
        now.seconds += 60.0
    patience.end()
    assert patience.left() == REQUEST_SECONDS


async def test_what_is_declared_holds_for_the_tasks_that_it_starts_and_no_longer() -> None:
    @waits(unhurried)
    async def sweep() -> Patience | None:
        return await asyncio.create_task(_lookup())

    swept = await sweep()
    assert swept is not None
    assert swept.lane == "bulk"
    assert current_patience() is None
    begin_request(REQUEST_SECONDS)
    with call_by_call():
        long = current_patience()
        assert long is not None
        assert not long.in_all


async def _lookup() -> Patience | None:
    return current_patience()


async def test_a_task_that_works_for_many_has_the_time_of_none() -> None:
    begin_request(0.01)
    assert await asyncio.create_task(_lookup(), context=context_for_many()) is None
    with unhurried():
        bulk = await asyncio.create_task(_lookup(), context=context_for_many())
    assert bulk is not None
    assert bulk.lane == "bulk"


async def test_a_request_waits_for_what_another_began_no_longer_than_for_its_own() -> None:
    shared: SharedReads[str] = SharedReads(clock=SystemClock(), seconds=60, size=10)
    answered = asyncio.Event()

    async def slow() -> str:
        await answered.wait()
        return "user"

    async def asks(seconds: float) -> str | None:
        begin_request(seconds)
        return await shared.get("key", slow)

    first = asyncio.create_task(asks(0.01))
    with pytest.raises(Unavailable):
        await first
    patient = asyncio.create_task(asks(60))
    await asyncio.sleep(0)
    answered.set()
    assert await patient == "user"


async def test_time_that_is_used_up_is_not_waited_again() -> None:
    begin_request(0)
    with pytest.raises(Unavailable):
        await within_patience(asyncio.Event().wait())
