"""What a lease allows at which age, and who is told when it ends; the clock is the test's."""

import asyncio
from collections.abc import Callable

import pytest

from netautod.core.clock import SystemClock
from netautod.core.work.guard import LeaseLostError
from netautod.store.leases.lease import Lease, LeaseTimes

TIMES = LeaseTimes(lease=30.0, heartbeat=5.0, abandon=20.0)
CLAIMED = 1000.0


class StandingClock(SystemClock):
    """A monotonic clock that moves only when it is told to."""

    at = CLAIMED

    def monotonic(self) -> float:
        return self.at


class Told(asyncio.Queue[str]):
    """What a lease tells: its loss, and that it wants a heartbeat."""

    async def next(self) -> str:
        async with asyncio.timeout(30):
            return await self.get()


def aged(seconds: float, *, told: Told | None = None) -> Lease:
    """A lease whose claim was sent so many seconds ago."""
    clock, calls = StandingClock(), Told() if told is None else told
    clock.at = CLAIMED + seconds
    return Lease(
        row_id="x",
        epoch=1,
        row={"owner": "a"},
        clock=clock,
        times=TIMES,
        acknowledged_at=CLAIMED,
        on_lost=lambda: calls.put_nowait("lost"),
        hurry=lambda: calls.put_nowait("hurry"),
    )


def allows(asked: Callable[[], None]) -> bool:
    try:
        asked()
    except LeaseLostError:
        return False
    return True


@pytest.mark.parametrize(
    ("seconds", "used_up", "acts", "writes"),
    [
        pytest.param(0, False, True, True, id="just claimed"),
        pytest.param(10, False, True, True, id="two thirds are left"),
        pytest.param(10.1, True, True, True, id="less than two thirds are left"),
        pytest.param(20, True, True, True, id="at the end of its own time"),
        pytest.param(20.1, True, False, False, id="beyond it"),
    ],
)
def test_what_it_allows_by_its_age(seconds: float, used_up: bool, acts: bool, writes: bool) -> None:
    assert aged(seconds).used_up is used_up
    assert allows(aged(seconds).guard) is acts
    assert allows(aged(seconds).writable) is writes


def test_what_was_stopped_may_write_and_what_was_lost_may_not() -> None:
    held = aged(0)
    held.stop()
    assert (allows(held.guard), allows(held.writable)) == (False, True)
    held.lose()
    assert (allows(held.guard), allows(held.writable)) == (False, False)


def test_an_older_answer_takes_no_time_away() -> None:
    held = aged(19)
    held.confirm(CLAIMED + 15)
    held.confirm(CLAIMED + 5)
    assert held.acknowledged_at == CLAIMED + 15


async def test_its_end_is_told_once() -> None:
    told = Told()
    held = aged(0, told=told)
    held.stop()
    held.stop()
    held.lose()
    assert await told.next() == "lost"
    assert told.empty()


async def test_who_waits_asks_for_a_heartbeat_and_goes_on_with_its_answer() -> None:
    told = Told()
    held = aged(25, told=told)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        known = group.create_task(held.known())
        assert await told.next() == "hurry"
        held.confirm(CLAIMED + 1)  # of a heartbeat that was sent too long ago: it is asked again
        assert await told.next() == "hurry"
        assert not known.done()
        held.confirm(CLAIMED + 24)
    assert told.empty()


@pytest.mark.parametrize("asked", ["known", "fresh"])
async def test_who_waits_hears_of_the_loss(asked: str) -> None:
    told = Told()
    held = aged(25, told=told)
    waiting = asyncio.create_task(getattr(held, asked)())
    await told.next()
    held.lose()
    async with asyncio.timeout(30):
        with pytest.raises(LeaseLostError, match="another node"):
            await waiting


async def test_who_needs_most_of_it_waits_for_that_and_not_only_for_what_is_known() -> None:
    told = Told()
    held = aged(15, told=told)
    await held.known()
    assert told.empty()
    waiting = asyncio.create_task(held.fresh())
    await told.next()
    held.confirm(CLAIMED + 14)
    async with asyncio.timeout(30):
        await waiting


async def test_nothing_is_begun_with_a_lease_whose_work_was_stopped() -> None:
    held = aged(0)
    held.stop()
    with pytest.raises(LeaseLostError, match="no longer"):
        await held.fresh()
